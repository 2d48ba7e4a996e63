package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// After the end of a context nothing begins and nothing is committed.
func TestNothingHappensAfterTheEndOfAContext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		add := `INSERT INTO things (name) VALUES ($1)`
		count := func() (n int) {
			t.Helper()
			if err := d.Get(t.Context(), &n, `SELECT count(*) FROM things`); err != nil {
				t.Fatal(err)
			}
			return n
		}
		over, end := context.WithCancel(t.Context())
		end()
		var n []int
		_, err := d.Exec(over, add, "x")
		for _, err := range []error{err, d.Get(over, &n, `SELECT 1`), d.Select(over, &n, `SELECT 1`), d.Do(over, func(*db.Tx) error { return nil })} {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		for name, then := range map[string]func(context.Context, *db.Tx) error{
			"commit": func(context.Context, *db.Tx) error { return nil },
			"exec":   func(ctx context.Context, tx *db.Tx) error { _, err := tx.Exec(ctx, add, "y"); return err },
			"get":    func(ctx context.Context, tx *db.Tx) error { var n int; return tx.Get(ctx, &n, `SELECT 1`) },
			"select": func(ctx context.Context, tx *db.Tx) error { var n []int; return tx.Select(ctx, &n, `SELECT 1`) },
		} {
			ctx, end := context.WithCancel(t.Context())
			err := d.Do(ctx, func(tx *db.Tx) error {
				exec(t, tx, add, "x")
				end()
				return then(ctx, tx)
			})
			if !errors.Is(err, context.Canceled) || count() != 0 {
				t.Error(name, err, count())
			}
		}
	})
}

// What runs after a commit has the database to itself, SQLite's one writing connection too.
func TestAfterACommitTheConnectionIsFree(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		var err error
		if also := d.Do(ctx, func(tx *db.Tx) error {
			tx.After(func() { _, err = d.Exec(ctx, `INSERT INTO things (name) VALUES ('after')`) })
			return nil
		}); also != nil || err != nil {
			t.Error(err, also)
		}
	})
}

// Nobody waits for the one writer of SQLite longer than wanted.
func TestWaitingEndsWithTheContext(t *testing.T) {
	d := dbtest.SQLite(t)
	table(t, d)
	ctx, end := context.WithCancel(t.Context())
	waits := make(chan error, 2)
	err := d.Do(t.Context(), func(tx *db.Tx) error {
		exec(t, tx, `INSERT INTO things (name) VALUES ('kept')`)
		go func() { _, err := d.Exec(ctx, `DELETE FROM things`); waits <- err }()
		go func() { waits <- d.Do(ctx, func(*db.Tx) error { return nil }) }()
		end()
		for range 2 {
			if err := <-waits; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		return nil
	})
	var n int
	if err := errors.Join(err, d.Get(t.Context(), &n, `SELECT count(*) FROM things`)); err != nil || n != 1 {
		t.Error(n, err)
	}
}

// A deadline cuts a statement short.
func TestDeadlineCutsAStatementShort(t *testing.T) {
	for name, q := range map[string]struct {
		d       *db.DB
		endless string
	}{
		"sqlite":   {dbtest.SQLite(t), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`},
		"postgres": {dbtest.Postgres(t), `SELECT 1 FROM pg_sleep(600)`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer end()
			var n int
			if err := q.d.Get(ctx, &n, q.endless); err == nil || ctx.Err() == nil {
				t.Error(n, err)
			}
		})
	}
}
