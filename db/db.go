// Package db is the one door to SQL. A query is written once, in the part of the language SQLite and
// PostgreSQL share; [DB.Words] fills in the few words that differ.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/georgysavva/scany/v2/sqlscan"
)

// ErrNone says that a Get found no row.
var ErrNone = errors.New("db: no row")

// Q runs queries: a [DB] does it on its own, a [Tx] inside a transaction.
// Queries may hold the words of [DB.Words].
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
	node        string // names this opening among the processes that share the database
	clock       clock
	bell        bell
}

// Do runs fn in one transaction (BEGIN IMMEDIATE on SQLite). An error from fn, or a panic, rolls it back.
// When another transaction was in the way it starts again, so fn must do nothing but read and write through tx,
// or do it in [Tx.After]. Inside fn a query on the DB itself, instead of tx, may wait for ever.
func (d *DB) Do(ctx context.Context, fn func(tx *Tx) error) error {
	for try := 1; ; try++ {
		err := d.once(ctx, fn)
		if err == nil || try == 5 || !d.dialect.again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		}
	}
}

func (d *DB) once(ctx context.Context, fn func(tx *Tx) error) error {
	t, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // no effect after a commit
	tx := &Tx{tx: t, db: d}
	if err := fn(tx); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return err
	}
	for _, f := range tx.after {
		f()
	}
	return nil
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
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return exec(ctx, d.write, d.Words(query), args)
}

// Get reads one row.
func (d *DB) Get(ctx context.Context, dst any, query string, args ...any) error {
	query = d.Words(query)
	return get(ctx, d.pool(query), dst, query, args)
}

// Select reads all rows.
func (d *DB) Select(ctx context.Context, dst any, query string, args ...any) error {
	query = d.Words(query)
	return sqlscan.Select(ctx, d.pool(query), dst, query, args...)
}

// pool is where a query belongs: what may write (… RETURNING) goes to the writer.
func (d *DB) pool(query string) *sql.DB {
	if d.read == d.write {
		return d.write
	}
	q := strings.ToUpper(strings.TrimSpace(query))
	if strings.HasPrefix(q, "SELECT") || strings.HasPrefix(q, "EXPLAIN") ||
		strings.HasPrefix(q, "WITH") && !strings.Contains(q, "RETURNING") {
		return d.read
	}
	return d.write
}

// Words fills in what the two databases spell differently: {{id}} (an identity primary key),
// {{bytes}} (a column of bytes) and {{skip locked}} (the end of a claiming SELECT). A line of a migration that begins
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
func (d *DB) Ping(ctx context.Context) error { return d.read.PingContext(ctx) }

// Close ends listening and closes all connections.
func (d *DB) Close() error {
	d.bell.close()
	err := errors.Join(d.clock.close(), d.write.Close())
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	return err
}

// Tx is a running transaction.
type Tx struct {
	tx    *sql.Tx
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
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return exec(ctx, t.tx, t.db.Words(query), args)
}

// Get reads one row.
func (t *Tx) Get(ctx context.Context, dst any, query string, args ...any) error {
	return get(ctx, t.tx, dst, t.db.Words(query), args)
}

// Select reads all rows.
func (t *Tx) Select(ctx context.Context, dst any, query string, args ...any) error {
	return sqlscan.Select(ctx, t.tx, dst, t.db.Words(query), args...)
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
