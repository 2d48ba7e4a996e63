package db

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the embedded files, one or more per room.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return sub
}

// migrate applies what is missing, in whatever order the files were added.
// On PostgreSQL one process does it while the others wait.
func (d *DB) migrate(ctx context.Context) error {
	opts := []goose.ProviderOption{goose.WithAllowOutofOrder(true), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())}
	flavour := goose.DialectSQLite3
	if d.Postgres() {
		flavour = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	pool, err := d.unhurried()
	if err != nil {
		return err
	}
	if pool != d.write {
		defer pool.Close()
	}
	p, err := goose.NewProvider(flavour, pool, worded{Migrations(), d}, opts...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// unhurried are connections for statements that may take as long as they need.
func (d *DB) unhurried() (*sql.DB, error) {
	if !d.Postgres() {
		return d.write, nil
	}
	cfg, err := postgresConfig(d.url)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*cfg), nil
}

// worded is a file system whose files went through Words.
type worded struct {
	fs.FS
	d *DB
}

func (w worded) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return f, err
	}
	defer f.Close()
	b, err := fs.ReadFile(w.FS, name)
	if err != nil {
		return nil, err
	}
	b = []byte(w.d.Words(string(b)))
	return &file{bytes.NewReader(b), name, int64(len(b))}, nil
}

// file is a read-only file in memory.
type file struct {
	*bytes.Reader
	name string
	size int64
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Size() int64                { return f.size }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
