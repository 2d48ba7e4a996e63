package dbtest

import (
	"regexp"
	"strings"
	"testing"

	"parley/db"
)

// Plan is how a database would answer a query: the table accesses of SQLite, or the tree of PostgreSQL as it is when reading
// a whole table and sorting are out of the question, and rows that are read in vain dear, as they are in long tables.
func Plan(t testing.TB, d *db.DB, query string, args ...any) string {
	t.Helper()
	var lines []string
	err := d.Do(t.Context(), func(tx *db.Tx) error {
		if !d.Postgres() {
			var rows []struct {
				ID, Parent, Notused int64
				Detail              string
			}
			err := tx.Select(t.Context(), &rows, `EXPLAIN QUERY PLAN `+query, args...)
			for _, r := range rows {
				lines = append(lines, r.Detail)
			}
			return err
		}
		for _, set := range []string{`enable_seqscan = off`, `enable_sort = off`, `enable_bitmapscan = off`, `cpu_tuple_cost = 10`} {
			if _, err := tx.Exec(t.Context(), `SET LOCAL `+set); err != nil {
				return err
			}
		}
		return tx.Select(t.Context(), &lines, `EXPLAIN (COSTS OFF) `+query, args...)
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return strings.Join(lines, "\n")
}

// whole is what a plan says when it reads all of a table, or sorts what it should find in order. What is counted is read whole.
var whole = regexp.MustCompile(`(?m)^SCAN [a-z_]+$|TEMP B-TREE FOR ORDER|Seq Scan on|Sort`)

// ByIndex fails the test unless a query reads tables by the index, and by indexes alone, and need not sort.
func ByIndex(t testing.TB, d *db.DB, index, query string, args ...any) {
	t.Helper()
	plan := Plan(t, d, query, args...)
	if !strings.Contains(plan, index) || whole.MatchString(strings.ReplaceAll(plan, "SCAN counted", "")) {
		t.Errorf("not by %s:\n%s\n%s", index, query, plan)
	}
}

// Settle lets PostgreSQL learn what is in the tables, as it does by itself after a while.
func Settle(t testing.TB, d *db.DB) {
	t.Helper()
	if d.Postgres() {
		if _, err := d.Exec(t.Context(), `VACUUM ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
}
