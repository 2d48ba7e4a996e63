package db

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The same text runs again after the table changed, while another reading of it is open, and after it was forgotten.
func TestKeptStatements(t *testing.T) {
	ctx := t.Context()
	d, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), Synchronous("OFF"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := d.Exec(ctx, q, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE n (i BIGINT)`)
	insert := `INSERT INTO n VALUES ($1)`
	exec(insert, 1)
	exec(insert, 2)
	if _, err := d.Exec(ctx, `INSERT INTO nowhere VALUES (1)`); err == nil {
		t.Error("no error for a table that is not there")
	}
	exec(`CREATE TABLE nowhere (i BIGINT)`)
	exec(`INSERT INTO nowhere VALUES (1)`)

	all := `SELECT * FROM n ORDER BY i`
	var rows []struct{ I int64 }
	if err := d.Select(ctx, &rows, all); err != nil || len(rows) != 2 {
		t.Error(rows, err)
	}
	exec(`ALTER TABLE n ADD COLUMN note TEXT`)
	var wider []struct {
		I    int64
		Note *string
	}
	if err := d.Select(ctx, &wider, all); err != nil || len(wider) != 2 {
		t.Error(wider, err)
	}

	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	pairs := 0
	outer, err := tx.QueryContext(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for outer.Next() {
		inner, err := tx.QueryContext(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			pairs++
		}
		if err := inner.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := outer.Err(); err != nil || pairs != 4 {
		t.Error(pairs, err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}

	for range 2 {
		for i := range keepStatements + 50 {
			var got int
			if err := d.Get(ctx, &got, fmt.Sprintf(`SELECT %d FROM n WHERE i = $1`, i), 1); err != nil || got != i {
				t.Fatal(i, got, err)
			}
		}
	}
}
