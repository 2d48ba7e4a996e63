package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connectTime bounds the opening of a connection, unless the URL does.
const connectTime = 3 * time.Second

// postgresConfig reads a URL.
func postgresConfig(url string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database.url: %w", err) // pgx leaves the password out
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "parley"
	}
	if cfg.ConnectTimeout == 0 || cfg.ConnectTimeout > connectTime {
		cfg.ConnectTimeout = connectTime
	}
	return cfg, nil
}

func (d *DB) openPostgres(url string, s settings) error {
	cfg, err := postgresConfig(url)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["statement_timeout"] = strconv.FormatInt(patient.Milliseconds(), 10) // for those whose process is gone
	if s.statements != nil {
		cfg.Tracer = tracer(s.statements)
	}
	d.dialect = &postgres
	d.write = sql.OpenDB(prompted{stdlib.GetConnector(*cfg), s.prompt})
	d.write.SetMaxOpenConns(s.conns)
	d.write.SetMaxIdleConns(s.conns)
	d.write.SetConnMaxIdleTime(5 * time.Minute)
	d.read = d.write
	return nil
}

// prompted opens connections whose statements end with the context that unwatched hid, and whose transactions do not begin
// or end for ever.
type prompted struct {
	driver.Connector
	prompt time.Duration
}

func (p prompted) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return promptConn{c.(*stdlib.Conn), p.prompt}, nil
}

type promptConn struct {
	*stdlib.Conn
	prompt time.Duration
}

func (c promptConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(watched(ctx), query, args)
}

func (c promptConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(watched(ctx), query, args)
}

func (c promptConn) BeginTx(ctx context.Context, opts driver.TxOptions) (tx driver.Tx, err error) {
	err = c.within(func() (err error) { tx, err = c.Conn.BeginTx(ctx, opts); return err })
	return promptTx{tx, c}, err
}

// within bounds what is not bound to a context.
func (c promptConn) within(fn func() error) error {
	wire := c.Conn.Conn().PgConn().Conn()
	if err := wire.SetDeadline(time.Now().Add(c.prompt)); err != nil {
		return driver.ErrBadConn
	}
	defer wire.SetDeadline(time.Time{})
	return fn()
}

type promptTx struct {
	tx driver.Tx
	c  promptConn
}

func (t promptTx) Commit() error   { return t.c.within(t.tx.Commit) }
func (t promptTx) Rollback() error { return t.c.within(t.tx.Rollback) }

// tracer hears the statements of a connection.
type tracer func(sql string)

func (t tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	t(data.SQL)
	return ctx
}

func (t tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
