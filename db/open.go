package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// Option changes how a database is opened.
type Option func(*settings)

type settings struct {
	synchronous string
	conns       int
	manual      bool
	statements  func(sql string)
	again       func(err error)
	steps       func(ctx context.Context) error
	prompt      time.Duration
}

// Synchronous sets how hard SQLite pushes a commit to the disk: FULL (default: what was acknowledged survives
// a power cut), NORMAL (survives a crash of the process only) or OFF (tests). PostgreSQL has its own setting.
func Synchronous(mode string) Option { return func(s *settings) { s.synchronous = mode } }

// Conns bounds the connections to PostgreSQL; default 20.
func Conns(n int) Option { return func(s *settings) { s.conns = n } }

// Statements has fn hear every statement that is sent to PostgreSQL, transactions' BEGIN and COMMIT included: for measuring.
func Statements(fn func(sql string)) Option { return func(s *settings) { s.statements = fn } }

// Again has fn hear why a transaction begins again, see [DB.Do]: for measuring. On PostgreSQL it was in a deadlock.
func Again(fn func(err error)) Option { return func(s *settings) { s.again = fn } }

// Steps has fn asked before each statement and before and after each commit. Its error is what the caller gets instead, and
// then what waits for the commit does not happen: a process that is killed at that step.
func Steps(fn func(ctx context.Context) error) Option {
	return func(s *settings) { s.steps = fn }
}

// Manual makes durable time stand still until it is advanced, see [DB.Now].
func Manual() Option { return func(s *settings) { s.manual = true } }

// Open opens "sqlite:/path/file.db" or "postgres://…" and brings its tables up to date.
func Open(ctx context.Context, url string, opts ...Option) (*DB, error) {
	s := settings{synchronous: "FULL", conns: 20, prompt: prompt}
	for _, o := range opts {
		o(&s)
	}
	d := &DB{url: url, node: rand.Text(), again: s.again, steps: s.steps, prompt: s.prompt}
	d.vigil.ends, d.vigil.end = context.WithCancel(context.Background())
	var err error
	switch scheme, path, _ := strings.Cut(url, ":"); scheme {
	case "sqlite":
		err = d.openSQLite(path, s)
	case "postgres", "postgresql":
		err = d.openPostgres(url, s)
	default:
		err = fmt.Errorf("database.url: %q is neither sqlite:FILE nor postgres://…", scheme)
	}
	if err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, s); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *DB) prepare(ctx context.Context, s settings) error {
	if err := d.migrate(ctx); err != nil {
		return err
	}
	if s.manual {
		return d.SetManual(ctx)
	}
	return nil
}

func (d *DB) openSQLite(path string, s settings) error {
	switch s.synchronous {
	case "FULL", "NORMAL", "OFF":
	default:
		return fmt.Errorf("database.synchronous: %q is not FULL, NORMAL or OFF", s.synchronous)
	}
	d.dialect = &sqlite
	// The escaped path is a URI path: ?, # and % in file names stay what they are.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(3000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(" + s.synchronous + ")"
	writer, err := openPrepared(dsn + "&_txlock=immediate")
	if err != nil {
		return err
	}
	reader, err := openPrepared(dsn + "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	d.write, d.read = sql.OpenDB(writer), sql.OpenDB(reader)
	d.write.SetMaxOpenConns(1)
	readers := max(4, 2*runtime.NumCPU())
	d.read.SetMaxOpenConns(readers)
	d.read.SetMaxIdleConns(readers) // the default of 2 reopens the file all the time
	return nil
}

// CopyTo writes the SQLite database as it is at this moment into a new file. Other processes go on reading and writing.
func (d *DB) CopyTo(ctx context.Context, file string) error {
	_, err := d.write.ExecContext(ctx, `VACUUM INTO $1`, file)
	return err
}
