package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/safe"
)

// outage is the error of a statement that the database could not run at present.
type outage struct{ cause error }

func (o *outage) Error() string { return "database away: " + o.cause.Error() }
func (o *outage) Unwrap() error { return o.cause }

// errSilent says that the database left another statement without an answer and has not answered since.
var errSilent = errors.New("it does not answer")

// Away reports whether err says that the database cannot serve at present: it cannot be reached, does not answer in time,
// is starting or stopping, has no connection, lock or disk space to spare, or takes no writes. What it was asked for has
// not happened, but for a commit whose answer was lost.
func Away(err error) bool {
	_, ok := errors.AsType[*outage](err)
	return ok
}

// judge turns the error of a statement into an outage where it is one. A caller who left is told so.
func (d *DB) judge(ctx context.Context, err error) error {
	if err == nil || Away(err) {
		return err
	}
	lost, silent := d.dialect.lost(err)
	switch {
	case !lost:
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return errors.Join(ctx.Err(), err)
	}
	if silent {
		d.vigil.suspect(d)
	}
	return &outage{err}
}

// lostSQLite: busy, locked, out of memory, read-only, interrupted, an error of the disk, a full one, a file that cannot be opened.
func lostSQLite(err error) (lost, silent bool) {
	switch sqliteCode(err) & 0xff {
	case 5, 6, 7, 8, 9, 10, 13, 14:
		return true, false
	}
	return lostAnywhere(err), false
}

// lostPostgres reports whether err says that the server was away, and whether it was silent.
func lostPostgres(err error) (lost, silent bool) {
	if code := pgCode(err); code != "" {
		switch code[:2] {
		case "08", "53", "58": // the connection, resources such as the disk, the system
			return true, false
		}
		switch code {
		case "57014", // a statement that took too long
			"25006",          // it takes no writes
			"25P03",          // a transaction that took too long
			"40001", "40P01", // again and again another transaction was in the way
			"55P03": // so was a lock
			return true, false
		}
		return strings.HasPrefix(code, "57P"), false // starting or stopping
	}
	silent = pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded)
	if silent || lostAnywhere(err) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true, silent
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true, false
	}
	_, lost = errors.AsType[net.Error](err)
	return lost, false
}

func lostAnywhere(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
}

// vigil keeps statements from a PostgreSQL that has left one without an answer: nobody waits for it, and no connection
// is spent on it, until it answers again. A statement that was merely slow costs the others one question.
type vigil struct {
	asking atomic.Pointer[chan struct{}] // closed when it has answered; nil = nothing is wrong
	tasks  safe.Group
	ends   context.Context
	end    context.CancelFunc
}

const (
	hesitate = 500 * time.Millisecond // how long a statement waits for the answer
	askFor   = time.Second            // how long the question waits for it
	askEvery = 250 * time.Millisecond
)

// suspect begins to ask unless that is under way.
func (v *vigil) suspect(d *DB) {
	answered := make(chan struct{})
	if !d.Postgres() || v.ends.Err() != nil || !v.asking.CompareAndSwap(nil, &answered) {
		return
	}
	v.tasks.Go("question to the database", func() {
		defer close(answered)
		defer v.asking.Store(nil)
		for !d.answers(v.ends) && v.ends.Err() == nil {
			select {
			case <-v.ends.Done():
			case <-time.After(askEvery):
			}
		}
	})
}

// answers asks once.
func (d *DB) answers(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	return d.read.PingContext(ctx) == nil
}

// pass lets a statement through when the database answers, as far as is known.
func (v *vigil) pass(ctx context.Context) error {
	answered := v.asking.Load()
	if answered == nil {
		return nil
	}
	select {
	case <-*answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(hesitate):
		return &outage{errSilent}
	}
}

func (v *vigil) close() {
	v.end()
	v.tasks.Wait()
}
