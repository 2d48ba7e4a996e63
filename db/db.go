// Package db is the one door to SQL. A query is written once, in the part of the language SQLite and
// PostgreSQL share; [DB.Words] fills in the few words that differ.
package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/georgysavva/scany/v2/sqlscan"
)

// ErrNone says that a Get found no row.
var ErrNone = errors.New("db: no row")

// Q runs queries: a [DB] does it on its own, a [Tx] inside a transaction.
// Queries may hold the words of [DB.Words]. The end of a context lets nothing begin and nothing be committed, and cuts a
// statement short; so does its own time, see [Patient]. An error of a database that cannot serve is one of [Away].
type Q interface {
	// Exec runs a statement and tells how many rows it touched.
	Exec(ctx context.Context, query string, args ...any) (rows int64, err error)
	// Get reads one row into a struct (columns by `db:"…"` tag) or a scalar; [ErrNone] when there is none.
	Get(ctx context.Context, dst any, query string, args ...any) error
	// Select reads all rows into a slice of structs or scalars.
	Select(ctx context.Context, dst any, query string, args ...any) error
}

// DB is an open database: SQLite with one writing connection and a pool of readers, or one PostgreSQL pool.
type DB struct {
	write, read *sql.DB
	dialect     *dialect
	url         string
	node        string        // names this opening among the processes that share the database
	prompt      time.Duration // see Prompt
	clock       clock
	bell        bell
	vigil       vigil
	steps       func(ctx context.Context) error
	again       func(err error) // hears why a transaction begins again; nil = nobody
}

// Do runs fn in one transaction (BEGIN IMMEDIATE on SQLite). An error from fn, or a panic, rolls it back.
// When another transaction was in the way it starts again, so fn must do nothing but read and write through tx,
// or do it in [Tx.After]. Inside fn a query on the DB itself, instead of tx, may wait for ever.
// Under the context of [DB.Together] it is a part of that transaction: an error takes back what fn did.
func (d *DB) Do(ctx context.Context, fn func(tx *Tx) error) error {
	if j := d.joint(ctx); j != nil {
		return j.do(ctx, fn)
	}
	return d.retried(ctx, func() error { return d.once(ctx, fn) })
}

// retried runs a transaction again when another one was in its way.
func (d *DB) retried(ctx context.Context, once func() error) error {
	began := time.Now()
	for try := 1; ; try++ {
		err := once()
		if err == nil || try == 5 || !d.dialect.again(err) || time.Since(began) > d.patience(ctx)/2 {
			return err
		}
		if d.again != nil {
			d.again(err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		}
	}
}

func (d *DB) once(ctx context.Context, fn func(tx *Tx) error) error {
	tx, err := d.transact(ctx, fn)
	if err != nil {
		return err
	}
	tx.committed()
	return nil
}

// committed runs what was to wait for the commit.
func (t *Tx) committed() {
	for _, f := range t.after {
		f()
	}
}

// transact runs fn in a transaction and commits it; the connection is free again when it returns.
func (d *DB) transact(ctx context.Context, fn func(tx *Tx) error) (*Tx, error) {
	tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.close()
	if err := fn(tx); err != nil {
		return nil, err
	}
	return tx, tx.commit(ctx)
}

func (d *DB) begin(ctx context.Context) (*Tx, error) {
	tx := &Tx{db: d}
	if err := d.step(ctx); err != nil {
		return nil, err
	}
	begin, stop := d.limited(ctx)
	c, err := d.on(begin, d.write, func(ctx context.Context, c *sql.Conn) (err error) {
		tx.tx, err = c.BeginTx(context.WithoutCancel(ctx), nil)
		return err
	})
	stop()
	tx.conn = c
	return tx, d.judge(ctx, err)
}

func (t *Tx) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.db.step(ctx); err != nil {
		return err
	}
	if err := t.db.judge(context.Background(), t.tx.Commit()); err != nil {
		return err
	}
	return t.db.step(ctx)
}

// step asks whether the program goes on, see [Steps].
func (d *DB) step(ctx context.Context) error {
	if d.steps == nil {
		return nil
	}
	return d.steps(ctx)
}

// close frees the connection. What was not committed is rolled back.
func (t *Tx) close() {
	_ = t.tx.Rollback() // no effect after a commit
	_ = t.conn.Close()
}

// Within runs fn in q when q is a transaction already, else in a new one.
func Within(ctx context.Context, q Q, fn func(tx *Tx) error) error {
	switch q := q.(type) {
	case *Tx:
		return fn(q)
	case *DB:
		return q.Do(ctx, fn)
	}
	return fmt.Errorf("db: no transaction on a %T", q)
}

// Exec runs a statement in a transaction of its own.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (rows int64, err error) {
	if j := d.joint(ctx); j != nil {
		err = j.do(ctx, func(tx *Tx) (err error) {
			rows, err = tx.Exec(ctx, query, args...)
			return err
		})
		return rows, err
	}
	query = d.Words(query)
	err = d.alone(ctx, d.write, func(ctx context.Context, c *sql.Conn) (err error) {
		rows, err = exec(ctx, c, query, args)
		return err
	})
	return rows, err
}

// Get reads one row.
func (d *DB) Get(ctx context.Context, dst any, query string, args ...any) error {
	if j := d.joint(ctx); j != nil && (j.tx != nil || !reads(query)) {
		return j.do(ctx, func(tx *Tx) error { return tx.Get(ctx, dst, query, args...) })
	}
	query = d.Words(query)
	return d.alone(ctx, d.pool(query), func(ctx context.Context, c *sql.Conn) error { return get(ctx, c, dst, query, args) })
}

// Select reads all rows.
func (d *DB) Select(ctx context.Context, dst any, query string, args ...any) error {
	if j := d.joint(ctx); j != nil && (j.tx != nil || !reads(query)) {
		return j.do(ctx, func(tx *Tx) error { return tx.Select(ctx, dst, query, args...) })
	}
	query = d.Words(query)
	return d.alone(ctx, d.pool(query), func(ctx context.Context, c *sql.Conn) error {
		return sqlscan.Select(ctx, c, dst, query, args...)
	})
}

// pool is where a query belongs: what may write (… RETURNING) goes to the writer.
func (d *DB) pool(query string) *sql.DB {
	if reads(query) {
		return d.read
	}
	return d.write
}

// reads reports a query that cannot write.
func reads(query string) bool {
	verb := strings.TrimLeft(query, " \t\n")
	verb = strings.ToUpper(verb[:min(len(verb), len("EXPLAIN"))])
	return strings.HasPrefix(verb, "SELECT") || verb == "EXPLAIN" ||
		strings.HasPrefix(verb, "WITH") && !strings.Contains(strings.ToUpper(query), "RETURNING")
}

// alone runs one statement on a connection that is free again afterwards.
func (d *DB) alone(ctx context.Context, pool *sql.DB, fn func(context.Context, *sql.Conn) error) error {
	if err := d.step(ctx); err != nil {
		return err
	}
	limited, stop := d.limited(ctx)
	defer stop()
	c, err := d.on(limited, pool, fn)
	if err != nil {
		return d.judge(ctx, err)
	}
	return d.judge(ctx, c.Close())
}

// on runs fn on a connection, which is the caller's until closed when fn went well. It waits for a free one no longer
// than ctx lasts, and takes another when the server had hung up before anything was sent.
func (d *DB) on(ctx context.Context, pool *sql.DB, fn func(context.Context, *sql.Conn) error) (*sql.Conn, error) {
	if err := d.vigil.pass(ctx); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		c, err := attempt(ctx, pool, fn)
		if err == nil || try == 3 || !errors.Is(err, driver.ErrBadConn) {
			return c, err
		}
	}
}

// attempt is one try of on. The connection is free again unless fn went well, also when it panics: SQLite has but one that writes.
func attempt(ctx context.Context, pool *sql.DB, fn func(context.Context, *sql.Conn) error) (*sql.Conn, error) {
	c, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	well := false
	defer func() {
		if !well {
			c.Close()
		}
	}()
	err = fn(unwatched(ctx), c)
	well = err == nil
	return c, err
}

// Words fills in what the two databases spell differently: {{id}} (an identity primary key),
// {{bytes}} (a column of bytes), {{skip locked}} (the end of a claiming SELECT) and {{lock}} (the end of a SELECT in a
// transaction whose rows nobody else changes until it ends). A line of a migration that begins
// with {{sqlite}} or {{postgres}} is for that database alone.
func (d *DB) Words(q string) string {
	if !strings.Contains(q, "{{") {
		return q
	}
	return d.dialect.words.Replace(q)
}

// Postgres reports whether the database is PostgreSQL, for the few files that must know.
func (d *DB) Postgres() bool { return d.dialect == &postgres }

// URL is what the database was opened with. It may hold a password.
func (d *DB) URL() string { return d.url }

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	return d.alone(ctx, d.read, func(ctx context.Context, c *sql.Conn) error { return c.PingContext(watched(ctx)) })
}

// Waited counts how often somebody has waited for a connection that writes.
func (d *DB) Waited() int64 { return d.write.Stats().WaitCount }

// Close ends listening and closes all connections.
func (d *DB) Close() error {
	d.bell.close()
	d.vigil.close()
	err := errors.Join(d.clock.close(), d.write.Close())
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	return err
}

// Tx is a running transaction.
type Tx struct {
	tx    *sql.Tx
	conn  *sql.Conn
	db    *DB
	after []func()
}

// After calls fn once the transaction is committed, in order; never when it is rolled back.
func (t *Tx) After(fn func()) { t.after = append(t.after, fn) }

// Now is the durable time, see [DB.Now].
func (t *Tx) Now() time.Time { return t.db.Now() }

// DB is the database of the transaction.
func (t *Tx) DB() *DB { return t.db }

// Exec runs a statement.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (rows int64, err error) {
	err = t.run(ctx, func(ctx context.Context) (err error) {
		rows, err = exec(ctx, t.tx, t.db.Words(query), args)
		return err
	})
	return rows, err
}

// Get reads one row.
func (t *Tx) Get(ctx context.Context, dst any, query string, args ...any) error {
	return t.run(ctx, func(ctx context.Context) error { return get(ctx, t.tx, dst, t.db.Words(query), args) })
}

// Select reads all rows.
func (t *Tx) Select(ctx context.Context, dst any, query string, args ...any) error {
	return t.run(ctx, func(ctx context.Context) error { return sqlscan.Select(ctx, t.tx, dst, t.db.Words(query), args...) })
}

// run runs one statement within its time.
func (t *Tx) run(ctx context.Context, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := errors.Join(t.db.vigil.pass(ctx), t.db.step(ctx)); err != nil {
		return err
	}
	limited, stop := t.db.limited(ctx)
	defer stop()
	return t.db.judge(ctx, fn(unwatched(limited)))
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func exec(ctx context.Context, e execer, query string, args []any) (int64, error) {
	res, err := e.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func get(ctx context.Context, q sqlscan.Querier, dst any, query string, args []any) error {
	err := sqlscan.Get(ctx, q, dst, query, args...)
	if sqlscan.NotFound(err) {
		return ErrNone
	}
	return err
}
