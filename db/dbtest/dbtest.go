// Package dbtest gives a test a fresh database, on SQLite and on PostgreSQL.
package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"parley/db"
)

// Each runs fn twice, as subtests "sqlite" and "postgres", each on a fresh, migrated database.
// PostgreSQL is the server of PARLEY_TEST_POSTGRES, or else a private one that all test processes of a machine
// share. A test fails when there is none.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, Postgres(t)) })
}

// SQLite opens a fresh file and closes it at the end of the test.
func SQLite(t testing.TB, opts ...db.Option) *db.DB {
	t.Helper()
	return Open(t, SQLiteURL(t), opts...)
}

// Postgres opens a fresh PostgreSQL database and drops it at the end of the test.
func Postgres(t testing.TB, opts ...db.Option) *db.DB {
	t.Helper()
	return Open(t, PostgresURL(t), opts...)
}

// Open opens url, without waiting for disks, and closes it at the end of the test. Several may open one url,
// as processes would.
func Open(t testing.TB, url string, opts ...db.Option) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), url, append([]db.Option{db.Synchronous("OFF"), db.Conns(8), db.Steps(step),
		db.Again(func(error) { counter(url).Add(1) })}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// SQLiteURL is the URL of a fresh migrated file in the test's own folder.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	b, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "parley.db")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + file
}

// sqliteTemplate is a migrated empty file, made once per process.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "parley-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "t.db")
	d, err := db.Open(context.Background(), "sqlite:"+file, db.Synchronous("OFF"))
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil { // folds the log into the file
		return nil, err
	}
	return os.ReadFile(file)
})

// version names the set of migrations.
func version() (string, error) {
	h := sha256.New()
	files, err := fs.Glob(db.Migrations(), "*.sql")
	if err != nil {
		return "", err
	}
	for _, f := range files {
		b, err := fs.ReadFile(db.Migrations(), f)
		if err != nil {
			return "", err
		}
		h.Write([]byte(f + "\x00"))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}
