package db_test

import (
	"context"
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// Every migration runs on both engines into an empty database (dbtest's templates are made that way), and a
// second start finds nothing to do.
func TestMigrationsLeaveAConsistentDatabase(t *testing.T) {
	for name, url := range urls(t) {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				d := dbtest.Open(t, url)
				var n int
				if err := d.Get(t.Context(), &n, `SELECT count(*) FROM clock`); err != nil || n != 0 {
					t.Error(n, err)
				}
			}
		})
	}
	d := dbtest.SQLite(t)
	var broken []struct {
		Table  string
		Rowid  *int64
		Parent string
		Fkid   int64
	}
	if err := d.Select(t.Context(), &broken, `SELECT * FROM pragma_foreign_key_check`); err != nil || len(broken) != 0 {
		t.Error(broken, err)
	}
}

// Rooms land in any order: a database that has run a later migration takes an earlier one when it appears.
func TestMigrationsOutOfOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `DELETE FROM goose_db_version WHERE version_id = 20`)
		exec(t, d, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
		exec(t, d, `DROP TABLE clock`)
		again, err := db.Open(context.Background(), d.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		var n int
		if err := again.Get(t.Context(), &n, `SELECT count(*) FROM clock`); err != nil {
			t.Error(err)
		}
	})
}
