package db_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/db"
	"parley/db/dbtest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // connections are lost on purpose here
	goleak.VerifyTestMain(m)
}

type row struct {
	ID   int64
	Name string
	At   db.Time
	Doc  db.JSON[map[string]any]
	Raw  db.JSON[json.RawMessage] `db:"raw_doc"`
	On   bool                     `db:"is_on"`
	Note *string
}

func table(t *testing.T, d *db.DB) {
	t.Helper()
	exec(t, d, d.Words(`CREATE TABLE things (id {{id}}, name TEXT NOT NULL UNIQUE, at BIGINT, doc TEXT, raw_doc TEXT,
		is_on BOOLEAN NOT NULL DEFAULT TRUE, note TEXT, blob {{bytes}})`))
}

func exec(t *testing.T, q db.Q, query string, args ...any) int64 {
	t.Helper()
	n, err := q.Exec(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRowsComeBackAsTheyWent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		ctx := t.Context()
		at := time.Date(2031, 2, 3, 4, 5, 6, 789123000, time.FixedZone("x", 3600))
		raw := json.RawMessage(`{"speed":1.10,"a":null}`)
		var id int64
		err := d.Get(ctx, &id, `INSERT INTO things (name, at, doc, raw_doc) VALUES ($1, $2, $3, $4) RETURNING id`,
			"one", db.At(at), db.JSON[map[string]any]{V: map[string]any{"k": []any{"v"}}}, db.JSON[json.RawMessage]{V: raw})
		if err != nil {
			t.Fatal(err)
		}
		exec(t, d, `INSERT INTO things (name, at) VALUES ($1, $2)`, "two", db.Time(0))
		var got row
		if err := d.Get(ctx, &got, `SELECT id, name, at, doc, raw_doc, is_on, note FROM things WHERE id = $1`, id); err != nil {
			t.Fatal(err)
		}
		if !got.At.Time().Equal(at) || got.Name != "one" || !got.On || got.Note != nil {
			t.Errorf("got %+v", got)
		}
		if !reflect.DeepEqual(got.Doc.V, map[string]any{"k": []any{"v"}}) || string(got.Raw.V) != `{"speed":1.10,"a":null}` {
			t.Errorf("documents %v %s", got.Doc.V, got.Raw.V)
		}
		var all []row
		in, args := db.In(1, []string{"one", "two", "three"})
		if err := d.Select(ctx, &all, `SELECT id, name, at, doc, raw_doc, is_on, note FROM things WHERE name IN `+in+` ORDER BY id`, args...); err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || !all[1].At.Time().IsZero() || all[1].Doc.V != nil {
			t.Errorf("all %+v", all)
		}
		none, _ := db.In[string](1, nil)
		var n int
		if err := d.Get(ctx, &n, `SELECT count(*) FROM things WHERE name IN `+none+` OR at IS NULL`); err != nil || n != 1 {
			t.Error(n, err)
		}
	})
}

func TestErrorsHaveNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		exec(t, d, `CREATE TABLE parts (id BIGINT PRIMARY KEY, thing_id BIGINT REFERENCES things(id))`)
		exec(t, d, `INSERT INTO things (name) VALUES ('one')`)
		exec(t, d, `INSERT INTO parts (id) VALUES (1)`)
		var s string
		if err := d.Get(t.Context(), &s, `SELECT name FROM things WHERE id = $1`, 99); err != db.ErrNone {
			t.Error("no row:", err)
		}
		_, unique := d.Exec(t.Context(), `INSERT INTO things (name) VALUES ('one')`)
		_, primary := d.Exec(t.Context(), `INSERT INTO parts (id) VALUES (1)`)
		_, foreign := d.Exec(t.Context(), `INSERT INTO parts (id, thing_id) VALUES (2, 77)`)
		if !db.IsUnique(unique) || !db.IsUnique(primary) || db.IsUnique(foreign) || db.IsUnique(nil) {
			t.Error("unique:", unique, primary, foreign)
		}
		if !db.IsForeign(foreign) || db.IsForeign(unique) {
			t.Error("foreign:", foreign)
		}
	})
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		ctx := t.Context()
		var calls []string
		stop := errors.New("stop")
		insert := func(name string, err error) error {
			return d.Do(ctx, func(tx *db.Tx) error {
				tx.After(func() { calls = append(calls, name) })
				if _, e := tx.Exec(ctx, `INSERT INTO things (name) VALUES ($1)`, name); e != nil {
					return e
				}
				return db.Within(ctx, tx, func(inner *db.Tx) error {
					if inner != tx {
						t.Error("Within opened another transaction")
					}
					return err
				})
			})
		}
		if err := insert("kept", nil); err != nil {
			t.Error(err)
		}
		if err := insert("dropped", stop); err != stop {
			t.Error(err)
		}
		func() {
			defer func() { recover() }()
			d.Do(ctx, func(tx *db.Tx) error {
				exec(t, tx, `INSERT INTO things (name) VALUES ('panicked')`)
				panic("boom")
			})
		}()
		var names []string
		if err := d.Select(ctx, &names, `SELECT name FROM things`); err != nil || !reflect.DeepEqual(names, []string{"kept"}) {
			t.Error(names, err)
		}
		if !reflect.DeepEqual(calls, []string{"kept"}) {
			t.Error("after:", calls)
		}
	})
}

func TestGuardedUpdateLetsNoneThrough(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `CREATE TABLE purse (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)`)
		exec(t, d, `INSERT INTO purse VALUES (1, 100)`)
		var ok atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				err := d.Do(context.Background(), func(tx *db.Tx) error {
					n, err := tx.Exec(context.Background(), `UPDATE purse SET balance = balance - $1 WHERE id = 1 AND balance >= $1`, 7)
					ok.Add(n)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var left int64
		if err := d.Get(t.Context(), &left, `SELECT balance FROM purse`); err != nil || ok.Load() != 14 || left != 2 {
			t.Error(ok.Load(), left, err)
		}
	})
}

// Two transactions lock two rows in opposite order: PostgreSQL breaks the deadlock, Do runs the victim again.
func TestDoTriesAgainAfterADeadlock(t *testing.T) {
	d := dbtest.Postgres(t)
	exec(t, d, `CREATE TABLE purse (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)`)
	exec(t, d, `INSERT INTO purse VALUES (1, 0), (2, 0)`)
	var tries atomic.Int64
	var meet sync.WaitGroup
	meet.Add(2)
	var wg sync.WaitGroup
	for _, order := range [][2]int{{1, 2}, {2, 1}} {
		wg.Go(func() {
			first := true
			err := d.Do(context.Background(), func(tx *db.Tx) error {
				tries.Add(1)
				for i, id := range order {
					if _, err := tx.Exec(context.Background(), `UPDATE purse SET balance = balance + 1 WHERE id = $1`, id); err != nil {
						return err
					}
					if first && i == 0 {
						first = false
						meet.Done()
						meet.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var sum int64
	if err := d.Get(t.Context(), &sum, `SELECT CAST(sum(balance) AS BIGINT) FROM purse`); err != nil || sum != 4 || tries.Load() < 3 {
		t.Error("sum", sum, "tries", tries.Load(), err)
	}
}

func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		table(t, d)
		err := d.Do(t.Context(), func(tx *db.Tx) error {
			exec(t, tx, `INSERT INTO things (name) VALUES ('unseen')`)
			var n int
			err := d.Get(t.Context(), &n, `WITH x AS (SELECT * FROM things) SELECT count(*) FROM x`)
			if n != 0 {
				t.Error("saw what is not committed")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestOddFileNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b?c#d%41&e.db")
	dbtest.Open(t, "sqlite:"+file)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for url, opt := range map[string]db.Option{"mysql://x": db.Synchronous("FULL"), "sqlite:/tmp/never.db": db.Synchronous("LOUD")} {
		if d, err := db.Open(t.Context(), url, opt); err == nil {
			d.Close()
			t.Error(url, "was opened")
		}
	}
}

type grenade struct{}

func (grenade) Value() (driver.Value, error) { panic("bang") }

// A panic in the middle of a statement keeps no connection.
func TestPanicFreesConnection(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for range 30 { // more than there are connections
			func() {
				defer func() { _ = recover() }()
				_, _ = d.Exec(t.Context(), `UPDATE accounts SET name = $1`, grenade{})
			}()
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		if _, err := d.Exec(ctx, `UPDATE accounts SET name = 'A'`); err != nil {
			t.Fatal(err)
		}
	})
}
