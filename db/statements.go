package db

import (
	"container/list"
	"context"
	"database/sql/driver"
	"strings"

	sqlitelib "modernc.org/sqlite"
)

// prepared opens SQLite connections that keep the statements they have compiled: compiling one takes longer than
// most of them take to run.
type prepared struct{ driver.Connector }

func openPrepared(dsn string) (driver.Connector, error) {
	c, err := sqlitelib.NewConnector(dsn)
	return prepared{c}, err
}

func (p prepared) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &preparedConn{sqliteConn: c.(sqliteConn), byText: map[string]*list.Element{}}, nil
}

// sqliteConn is what the driver's connections do for database/sql.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// keepStatements bounds a connection's statements; lists of placeholders make many texts.
const keepStatements = 300

type preparedConn struct {
	sqliteConn
	byText map[string]*list.Element
	recent list.List // of *statement, the latest used first
}

type statement struct {
	driver.Stmt
	text string
	busy bool // its rows are being read
}

// statement is the compiled text, ready to run; nil for texts that are not kept.
func (c *preparedConn) statement(ctx context.Context, text string) (*statement, error) {
	if e := c.byText[text]; e != nil {
		s := e.Value.(*statement)
		if s.busy {
			return nil, nil
		}
		c.recent.MoveToFront(e)
		return s, nil
	}
	if !keeps(text) {
		return nil, nil
	}
	compiled, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: compiled, text: text}
	c.byText[text] = c.recent.PushFront(s)
	if c.recent.Len() > keepStatements {
		oldest := c.recent.Back()
		if old := oldest.Value.(*statement); !old.busy {
			c.recent.Remove(oldest)
			delete(c.byText, old.text)
			return s, old.Close()
		}
	}
	return s, nil
}

// keeps reports whether a text is a single statement of the everyday kinds.
func keeps(text string) bool {
	if strings.Contains(text, ";") {
		return false
	}
	verb, _, _ := strings.Cut(strings.TrimLeft(text, " \n\t"), " ")
	switch strings.ToUpper(strings.TrimSpace(verb)) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}

func (c *preparedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	ctx = watched(ctx)
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (c *preparedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	ctx = watched(ctx)
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return statementRows{rows, s, ctx}, nil
}

func (c *preparedConn) Close() error {
	for e := c.recent.Front(); e != nil; e = e.Next() {
		if err := e.Value.(*statement).Close(); err != nil {
			return err
		}
	}
	return c.sqliteConn.Close()
}

// statementRows give the statement back when they have been read.
type statementRows struct {
	driver.Rows
	s   *statement
	ctx context.Context
}

// Next reads a row unless nobody waits for it any more.
func (r statementRows) Next(dest []driver.Value) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.Rows.Next(dest)
}

func (r statementRows) Close() error {
	r.s.busy = false
	return r.Rows.Close()
}
