package db_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// brief is long enough for any statement here.
const brief = time.Second

// What hangs or is gone is away: nobody waits for it longer than an answer of the API may take, and nobody else notices
// when it is back.
func TestAwayAndBack(t *testing.T) {
	t.Parallel()
	s := dbtest.Own(t)
	d := dbtest.Open(t, s.URL(), db.Conns(4), db.Prompt(brief))
	table(t, d)
	heard := make(chan string, 10)
	defer d.Listen("news", func(p string) { heard <- p })()
	all := func() (errs []error) { // more at once than there are connections
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				var n int
				err := d.Ping(t.Context())
				switch i % 3 {
				case 1:
					err = d.Get(t.Context(), &n, `SELECT count(*) FROM things`)
				case 2:
					err = d.Do(t.Context(), func(tx *db.Tx) error {
						_, err := tx.Exec(t.Context(), `INSERT INTO things (name) VALUES ($1)`, fmt.Sprint(time.Now()))
						return err
					})
				}
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			})
		}
		wg.Wait()
		return errs
	}
	for name, outage := range map[string][2]func(){"frozen": {s.Freeze, s.Thaw}, "stopped": {s.Stop, s.Start}} {
		if err := errors.Join(all()...); err != nil {
			t.Fatal(err)
		}
		outage[0]()
		for range 2 {
			began := time.Now()
			for _, err := range all() {
				if !db.Away(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: noticed after %s", name, took)
			}
		}
		outage[1]()
		eventually(t, func() error { return d.Ping(t.Context()) })
	}
	other := dbtest.Open(t, s.URL())
	eventually(t, func() error {
		if err := other.Notify(t.Context(), "news", "good"); err != nil {
			return err
		}
		select {
		case p := <-heard:
			if p == "good" {
				return nil
			}
		case <-time.After(100 * time.Millisecond):
		}
		return errors.New("not heard")
	})
}

// eventually tries until it goes well.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for limit := time.After(30 * time.Second); ; {
		if err = try(); err == nil {
			return
		}
		select {
		case <-limit:
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A server that hangs in the middle of a transaction costs its own time, not more.
func TestHangsInATransaction(t *testing.T) {
	t.Parallel()
	s := dbtest.Own(t)
	d := dbtest.Open(t, s.URL(), db.Prompt(brief))
	table(t, d)
	add := func(then func()) error {
		return d.Do(t.Context(), func(tx *db.Tx) error {
			defer then()
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name) VALUES ($1)`, fmt.Sprint(time.Now()))
			return err
		})
	}
	for name, at := range map[string]func() error{
		"statement": func() error { s.Freeze(); return add(func() {}) },
		"commit":    func() error { return add(s.Freeze) },
	} {
		if err := at(); !db.Away(err) {
			t.Errorf("%s: %v", name, err)
		}
		s.Thaw()
		eventually(t, func() error { return add(func() {}) })
	}
}

// A statement ends when its client has left, also one that was asked to be patient, and on the server too.
func TestStatementsEndWithTheirClient(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]struct {
		d       *db.DB
		endless string
	}{
		"sqlite":   {dbtest.SQLite(t), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`},
		"postgres": {dbtest.Postgres(t), `SELECT count(*) FROM pg_sleep(600), generate_series(1, 2) /* left alone */`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(db.Patient(t.Context()))
			time.AfterFunc(50*time.Millisecond, leave)
			var n int
			if err := q.d.Get(ctx, &n, q.endless); !errors.Is(err, context.Canceled) || db.Away(err) {
				t.Error(err)
			}
			if !q.d.Postgres() {
				return
			}
			eventually(t, func() error {
				const running = `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%left alone%' AND state = 'active' AND pid <> pg_backend_pid()`
				if err := q.d.Get(t.Context(), &n, running); err != nil || n > 0 {
					return fmt.Errorf("%d still run: %w", n, err)
				}
				return nil
			})
		})
	}
}

// A statement that takes too long is the database's failure, not the client's; what may take long is not cut short.
func TestStatementsHaveTheirTime(t *testing.T) {
	t.Parallel()
	d := dbtest.Postgres(t, db.Prompt(brief))
	var n int
	if err := d.Get(t.Context(), &n, `SELECT 1 FROM pg_sleep(600)`); !db.Away(err) {
		t.Error(err)
	}
	if err := d.Get(db.Patient(t.Context()), &n, `SELECT 1 FROM pg_sleep(1.5)`); err != nil {
		t.Error(err)
	}
}

// A SQLite file that another process keeps, or that has no room to grow, is away.
func TestSQLiteAway(t *testing.T) {
	t.Parallel()
	url := dbtest.SQLiteURL(t)
	d, other := dbtest.Open(t, url, db.Prompt(brief)), dbtest.Open(t, url)
	table(t, d)
	err := other.Do(t.Context(), func(*db.Tx) error {
		began := time.Now()
		_, err := d.Exec(t.Context(), `INSERT INTO things (name) VALUES ('x')`)
		if !db.Away(err) || time.Since(began) > 5*time.Second {
			t.Error(err, time.Since(began))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var pages int
	if err := d.Get(t.Context(), &pages, `PRAGMA page_count`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
		t.Fatal(err)
	}
	_, err = d.Exec(t.Context(), `INSERT INTO things (name) VALUES ($1)`, strings.Repeat("x", 1<<20))
	if !db.Away(err) {
		t.Error(err)
	}
	if _, err := d.Exec(t.Context(), `INSERT INTO things (name) VALUES ('x'), ('x')`); err != nil && !db.IsUnique(err) {
		t.Error(err)
	}
	if _, err := db.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "none", "x.db")); err == nil {
		t.Error("opened where nothing can be")
	}
}
