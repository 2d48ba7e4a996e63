package db_test

import (
	"context"
	"errors"
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// What happens under one context is committed or rolled back together, whichever room did it; a part that failed and was
// put up with is taken back alone; what waits for the commit waits for that of the whole.
func TestTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, told := t.Context(), []string{}
		add := func(ctx context.Context, name string, then error) error {
			return d.Do(ctx, func(tx *db.Tx) error {
				tx.After(func() {
					var n int // the context is like any other again
					if err := d.Get(ctx, &n, `SELECT count(*) FROM goods`); err != nil || n == 0 {
						t.Errorf("%s is told of before it is there: %d, %v", name, n, err)
					}
					told = append(told, name)
				})
				_, err := tx.Exec(ctx, `INSERT INTO goods (name) VALUES ($1)`, name)
				return errors.Join(err, then)
			})
		}
		if _, err := d.Exec(ctx, `CREATE TABLE goods (name TEXT PRIMARY KEY)`); err != nil {
			t.Fatal(err)
		}
		count := func(want int) {
			t.Helper()
			var n int
			if err := d.Get(ctx, &n, `SELECT count(*) FROM goods`); err != nil || n != want {
				t.Errorf("%d goods, want %d, %v", n, want, err)
			}
		}
		no := errors.New("no")
		err := d.Together(ctx, func(ctx context.Context) error {
			if err := add(ctx, "tea", nil); err != nil {
				return err
			}
			if err := add(ctx, "tea", nil); !db.IsUnique(err) {
				t.Errorf("the same twice: %v", err)
			}
			if err := add(ctx, "salt", no); err != no && !errors.Is(err, no) {
				t.Errorf("%v", err)
			}
			if _, err := d.Exec(ctx, `INSERT INTO goods (name) VALUES ('tea')`); !db.IsUnique(err) {
				t.Errorf("the same twice, alone: %v", err)
			}
			var n int
			if err := d.Get(ctx, &n, `SELECT count(*) FROM goods`); err != nil || n != 1 || len(told) != 0 {
				t.Errorf("inside: %d goods, told of %v, %v", n, told, err)
			}
			return d.Together(ctx, func(ctx context.Context) error { return add(ctx, "jam", nil) })
		})
		if err != nil || len(told) != 2 {
			t.Errorf("told of %v, %v", told, err)
		}
		count(2)
		err = d.Together(ctx, func(ctx context.Context) error {
			if _, err := d.Exec(db.Apart(ctx), `INSERT INTO goods (name) VALUES ('rice')`); err != nil {
				return err
			}
			return errors.Join(add(ctx, "oats", nil), no)
		})
		if !errors.Is(err, no) || len(told) != 2 {
			t.Errorf("told of %v, %v", told, err)
		}
		count(3) // the rice
		func() {
			defer func() { _ = recover() }()
			_ = d.Together(ctx, func(ctx context.Context) error {
				_ = add(ctx, "oats", nil)
				panic("a bug")
			})
		}()
		count(3)
	})
}
