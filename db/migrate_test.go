package db_test

import (
	"context"
	"io/fs"
	"strconv"
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

// version is the number of a migration.
func version(t *testing.T, name string) int {
	files, err := fs.Glob(db.Migrations(), "*_"+name+".sql")
	if err != nil || len(files) != 1 {
		t.Fatal(name, files, err)
	}
	n, err := strconv.Atoi(files[0][:4])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Migrations are numbered without gaps.
func TestMigrationNumbers(t *testing.T) {
	files, err := fs.Glob(db.Migrations(), "*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, name := range files {
		if n, err := strconv.Atoi(name[:4]); err != nil || n != i+1 {
			t.Errorf("%s is file %d", name, i+1)
		}
	}
}

// Rooms land in any order: a database that has run a later migration takes an earlier one when it appears.
func TestMigrationsOutOfOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `DELETE FROM goose_db_version WHERE version_id = $1`, version(t, "clock"))
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
