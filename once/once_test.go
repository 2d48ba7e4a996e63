package once_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"parley/db"
	"parley/db/dbtest"
	"parley/once"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lives are two processes on one database.
func lives(t *testing.T, fn func(t *testing.T, d [2]*db.DB, s [2]*once.Store)) {
	for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			var d [2]*db.DB
			var s [2]*once.Store
			for i := range s {
				var err error
				d[i] = dbtest.Open(t, url)
				if s[i], err = once.Open(t.Context(), d[i], fmt.Sprint("node ", i)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d[0].Exec(t.Context(), `CREATE TABLE goods (name TEXT NOT NULL)`); err != nil {
				t.Fatal(err)
			}
			fn(t, d, s)
		})
	}
}

func goods(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	if err := d.Get(t.Context(), &n, `SELECT count(*) FROM goods`); err != nil {
		t.Fatal(err)
	}
	return n
}

func buying(d *db.DB, name string) func(ctx context.Context) (once.Answer, error) {
	return func(ctx context.Context) (once.Answer, error) {
		_, err := d.Exec(ctx, `INSERT INTO goods (name) VALUES ($1)`, name)
		return once.Answer{Status: 201, Body: []byte(name)}, err
	}
}

// Of many at once with one key, in two processes, one has the effect; the others hear that it runs, or its answer.
//
// Contract: 1.14
func TestManyAtOnce(t *testing.T) {
	lives(t, func(t *testing.T, d [2]*db.DB, s [2]*once.Store) {
		for round := range 20 {
			var all sync.WaitGroup
			var did atomic.Int64
			for i := range 8 {
				all.Go(func() {
					c, err := s[i%2].Claim(t.Context(), 1, fmt.Sprint(round), "same")
					switch {
					case errors.Is(err, once.ErrRunning):
					case err != nil:
						t.Error(err)
					case c.Old != nil:
						if string(c.Old.Body) != "tea" || c.Old.Status != 201 {
							t.Errorf("%+v", c.Old)
						}
					default:
						did.Add(1)
						if err := c.Settle(t.Context(), true, buying(d[i%2], "tea")); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if n := goods(t, d[0]); did.Load() != 1 || n != round+1 {
				t.Fatalf("round %d: done %d times, %d goods", round, did.Load(), n)
			}
		}
	})
}

// A claim of which nothing took effect is gone with its process; of any other the next try is told, and only one that has
// taken over may end it. Another process's claims stay.
//
// Contract: 1.14
func TestRestart(t *testing.T) {
	lives(t, func(t *testing.T, d [2]*db.DB, s [2]*once.Store) {
		ctx := t.Context()
		claim := func(s *once.Store, key, hash string, want error) *once.Claim {
			t.Helper()
			c, err := s.Claim(ctx, 1, key, hash)
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", key, err, want)
			}
			return c
		}
		begin := func(c *once.Claim) (string, error) {
			ctx := c.In(ctx)
			ref, _ := once.Ref(ctx)
			return ref, d[0].Do(ctx, func(tx *db.Tx) error { return once.Begun(ctx, tx) })
		}
		claim(s[0], "nothing", "a", nil)
		lost := claim(s[0], "begun", "a", nil)
		ref, err := begin(lost)
		if err != nil {
			t.Fatal(err)
		}
		claim(s[1], "other", "a", nil)
		claim(s[1], "begun", "a", once.ErrRunning)
		claim(s[1], "begun", "b", once.ErrReused)

		next, err := once.Open(ctx, d[0], "node 0")
		if err != nil {
			t.Fatal(err)
		}
		claim(next, "nothing", "b", nil)
		claim(next, "other", "a", once.ErrRunning)
		claim(next, "begun", "b", once.ErrReused)
		again := claim(s[1], "begun", "a", nil)
		if got, tried := once.Ref(again.In(ctx)); got != ref || !tried {
			t.Errorf("the next try names it %s, %v", got, tried)
		}
		if _, err := begin(lost); !errors.Is(err, once.ErrRunning) {
			t.Errorf("the lost try goes on: %v", err)
		}
		if err := lost.Settle(ctx, true, buying(d[0], "tea")); !errors.Is(err, once.ErrRunning) || goods(t, d[0]) != 0 {
			t.Errorf("the lost try ends: %v, %d goods", err, goods(t, d[0]))
		}
		if err := again.Settle(ctx, false, buying(d[1], "tea")); err != nil || goods(t, d[0]) != 1 {
			t.Errorf("the next try: %v", err)
		}
		if old := claim(next, "begun", "a", nil).Old; old == nil || string(old.Body) != "tea" {
			t.Errorf("%+v", old)
		}
	})
}

// What was left for the end of a claim happens with it: with the answer, with a refusal, not when nobody knows.
//
// Contract: 1.14
func TestEnding(t *testing.T) {
	lives(t, func(t *testing.T, d [2]*db.DB, s [2]*once.Store) {
		ctx := t.Context()
		try := func(key string) *once.Claim {
			t.Helper()
			c, err := s[0].Claim(ctx, 1, key, "a")
			if err != nil || c.Old != nil {
				t.Fatal(err)
			}
			err = once.Ending(c.In(ctx), d[0], func(tx *db.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO goods (name) VALUES ('end')`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for i, end := range []func(c *once.Claim) error{
			func(c *once.Claim) error { return c.Leave(ctx) },
			func(c *once.Claim) error { return c.Refused(ctx) },
			func(c *once.Claim) error { return c.Settle(ctx, false, buying(d[0], "tea")) },
		} {
			if err := end(try("key")); err != nil || goods(t, d[0]) != []int{0, 1, 3}[i] {
				t.Errorf("end %d: %v, %d goods", i, err, goods(t, d[0]))
			}
		}
	})
}
