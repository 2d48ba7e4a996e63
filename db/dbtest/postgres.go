package dbtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/db"
)

// PostgresURL is the URL of a fresh migrated database, dropped at the end of the test.
func PostgresURL(t testing.TB) string {
	t.Helper()
	return create(t, func(s *pg) string { return s.template + ` STRATEGY wal_log` })
}

// PostgresEmptyURL is the URL of a fresh database without any table, dropped at the end of the test.
func PostgresEmptyURL(t testing.TB) string {
	t.Helper()
	return create(t, func(*pg) string { return `template0` })
}

// create makes a database from a template.
func create(t testing.TB, template func(*pg) string) string {
	t.Helper()
	s, err := server()
	if err != nil {
		t.Fatalf("PostgreSQL for tests: %v", err)
	}
	name := "parley_t_" + strings.ToLower(rand.Text())
	if err := s.exec(`CREATE DATABASE ` + name + ` TEMPLATE ` + template(s)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.exec(`DROP DATABASE ` + name + ` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	return s.url(name)
}

// pg is a server and the migrated database new ones are copied from.
type pg struct {
	base     *url.URL
	template string
}

// server finds or starts the server once per process and prepares the template.
var server = sync.OnceValues(func() (*pg, error) {
	dsn := os.Getenv("PARLEY_TEST_POSTGRES")
	if dsn == "" {
		var err error
		if dsn, err = cluster(); err != nil {
			return nil, err
		}
	}
	base, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	v, err := version()
	if err != nil {
		return nil, err
	}
	s := &pg{base: base, template: "parley_template_" + v}
	return s, s.prepare()
})

// url addresses a database of the server.
func (s *pg) url(name string) string {
	u := *s.base
	u.Path = "/" + name
	return u.String()
}

// exec runs a statement on the server's own database.
func (s *pg) exec(query string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.base.String())
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, query)
	return err
}

// prepare makes the template unless another process has; an advisory lock lets one do it.
func (s *pg) prepare() error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.base.String())
	if err != nil {
		return err
	}
	defer c.Close(ctx) // and with it the lock
	if _, err := c.Exec(ctx, `SELECT pg_advisory_lock(hashtext('parley template'))`); err != nil {
		return err
	}
	var there bool
	if err := c.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_database WHERE datname = $1`, s.template).Scan(&there); err != nil || there {
		return err
	}
	raw := s.template + "_raw"
	for _, q := range []string{`DROP DATABASE IF EXISTS ` + raw + ` WITH (FORCE)`, `CREATE DATABASE ` + raw + ` TEMPLATE template0`} {
		if _, err := c.Exec(ctx, q); err != nil {
			return err
		}
	}
	d, err := db.Open(ctx, s.url(raw), db.Conns(2))
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if err := d.Close(); err != nil {
		return err
	}
	_, err = c.Exec(ctx, `ALTER DATABASE `+raw+` RENAME TO `+s.template)
	return err
}
