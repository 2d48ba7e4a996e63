package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"parley/config"
)

// tablesOf lists our tables in the order in which they were made: one that points to another comes after it.
func tablesOf(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND n.nspname = current_schema() AND c.relname NOT LIKE 'goose%' ORDER BY c.oid`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// dumpPostgres copies every table as one snapshot sees it.
func dumpPostgres(ctx context.Context, url string, w *tar.Writer) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // nothing was written
	tables, err := tablesOf(ctx, tx)
	if err != nil {
		return err
	}
	for _, name := range tables {
		var rows bytes.Buffer
		if _, err := c.PgConn().CopyTo(ctx, &rows, "COPY "+quoted(name)+" TO STDOUT (FORMAT csv, HEADER true)"); err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: backupPostgres + name, Mode: 0o600, Size: int64(rows.Len())}); err != nil {
			return err
		}
		if _, err := rows.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// postgresRestore fills the tables of an empty database in one transaction.
type postgresRestore struct {
	conn   *pgx.Conn
	tx     pgx.Tx
	tables []string
}

func openPostgresRestore(ctx context.Context, cfg *config.Config) (*postgresRestore, error) {
	d, err := openDatabase(ctx, cfg) // makes the tables
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	p := &postgresRestore{}
	if p.conn, err = pgx.Connect(ctx, cfg.Database.URL); err != nil {
		return nil, err
	}
	if p.tx, err = p.conn.Begin(ctx); err == nil {
		p.tables, err = tablesOf(ctx, p.tx)
	}
	var used bool
	if err == nil {
		err = p.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM accounts)`).Scan(&used)
	}
	if err == nil && used {
		err = errors.New("the database is not empty")
	}
	if err == nil { // rows that migrations put there are in the backup too
		for _, name := range slices.Backward(p.tables) {
			if _, err = p.tx.Exec(ctx, "ALTER TABLE "+quoted(name)+" DISABLE TRIGGER USER"); err != nil { // and what they wrote
				break
			}
			if _, err = p.tx.Exec(ctx, "DELETE FROM "+quoted(name)); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.conn.Close(ctx))
	}
	return p, nil
}

// fill copies rows in, and lets the next id follow the highest one.
func (p *postgresRestore) fill(ctx context.Context, name string, rows io.Reader) error {
	if !slices.Contains(p.tables, name) {
		return fmt.Errorf("this version knows no table %s", name)
	}
	var head bytes.Buffer
	columns, err := firstLine(rows, &head)
	if err != nil {
		return err
	}
	if _, err := p.conn.PgConn().CopyFrom(ctx, rows, "COPY "+quoted(name)+" ("+columns+") FROM STDIN (FORMAT csv)"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var sequence *string
	err = p.tx.QueryRow(ctx, `SELECT pg_get_serial_sequence($1, a.attname) FROM pg_attribute a
		WHERE a.attrelid = $1::regclass AND a.attidentity <> ''`, quoted(name)).Scan(&sequence)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && sequence == nil {
		return nil
	}
	if err == nil {
		_, err = p.tx.Exec(ctx, fmt.Sprintf(`SELECT setval('%s', coalesce((SELECT max(id) FROM %s), 0) + 1, false)`, *sequence, quoted(name)))
	}
	return err
}

// firstLine reads the names of the columns, which need no quotes.
func firstLine(r io.Reader, line *bytes.Buffer) (string, error) {
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(one[0])
	}
}

func (p *postgresRestore) close(ctx context.Context, err error) error {
	for _, name := range p.tables {
		if err == nil {
			_, err = p.tx.Exec(ctx, "ALTER TABLE "+quoted(name)+" ENABLE TRIGGER USER")
		}
	}
	if err == nil {
		err = p.tx.Commit(ctx)
	}
	return errors.Join(err, p.conn.Close(ctx))
}
