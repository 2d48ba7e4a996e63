package parley

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// TestUniqueNamesExist asks the databases for every unique index that the code names: a name that neither knows would let
// the race of two for one thing through as an outage.
func TestUniqueNamesExist(t *testing.T) {
	named := regexp.MustCompile(`IsUniqueOf\([a-z]+, "([a-z_]+)", "([a-z_., ]+)"\)`)
	lite, postgres, n := dbtest.SQLite(t), dbtest.Postgres(t), 0
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "db.IsUnique(") && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s takes any unique violation for its own: name the index", file)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			n++
			index, columns := m[1], m[2]
			table, _, _ := strings.Cut(columns, ".")
			if have := uniqueIndexes(t, postgres, `SELECT indexname FROM pg_indexes WHERE tablename = $1`, table); !slices.Contains(have, index) {
				t.Errorf("%s: PostgreSQL has no index %s on %s, but %v", file, index, table, have)
			}
			have := uniqueIndexes(t, lite, `SELECT group_concat($1 || '.' || c.name, ', ') FROM pragma_index_list($1) i, pragma_index_info(i.name) c
				WHERE i."unique" = 1 GROUP BY i.name`, table)
			if !slices.Contains(have, columns) {
				t.Errorf("%s: SQLite has no unique index on %s, but %v", file, columns, have)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d names cannot be all", n)
	}
}

func uniqueIndexes(t *testing.T, d *db.DB, query, table string) (have []string) {
	t.Helper()
	if err := d.Select(t.Context(), &have, query, table); err != nil {
		t.Fatal(err)
	}
	return have
}
