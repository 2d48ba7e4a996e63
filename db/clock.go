package db

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

// clock is durable time: real, or moved by hand.
type clock struct {
	manual atomic.Bool
	last   atomic.Int64 // microseconds; the manual time as last seen here
	row    *sql.DB      // PostgreSQL: a connection of its own, so that Now never waits for a busy pool
}

// Now is the durable time, in UTC and whole microseconds: what is stored and what falls due goes by it.
// It is real time, or the manual clock all processes on this database share.
func (d *DB) Now() time.Time {
	if !d.clock.manual.Load() {
		return time.Now().UTC().Truncate(time.Microsecond)
	}
	if d.clock.row != nil && d.vigil.asking.Load() == nil {
		var now int64
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		if err := d.clock.row.QueryRowContext(ctx, `SELECT now FROM clock WHERE id = 1`).Scan(&now); err == nil {
			d.clock.saw(now)
		} else {
			_ = d.judge(context.Background(), err) // the time as last seen will do
		}
	}
	return time.UnixMicro(d.clock.last.Load()).UTC()
}

// IsManual reports whether durable time is moved by hand.
func (d *DB) IsManual() bool { return d.clock.manual.Load() }

// SetManual makes durable time stand still: at the stored manual time, or, the first time ever, at the present.
func (d *DB) SetManual(ctx context.Context) error {
	if _, err := d.Exec(ctx, `INSERT INTO clock (id, now) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, time.Now().UnixMicro()); err != nil {
		return err
	}
	var now int64
	if err := d.Get(ctx, &now, `SELECT now FROM clock WHERE id = 1`); err != nil {
		return err
	}
	if d.Postgres() && d.clock.row == nil {
		if err := d.openClock(); err != nil {
			return err
		}
	}
	d.clock.saw(now)
	d.clock.manual.Store(true)
	return nil
}

// ErrRealClock says that real time cannot be moved.
var ErrRealClock = errors.New("db: the clock is real")

// AdvanceTo moves the manual clock forward to at; it never goes back. Whoever moves it also wakes what fell due.
func (d *DB) AdvanceTo(ctx context.Context, at time.Time) error {
	if !d.IsManual() {
		return ErrRealClock
	}
	if _, err := d.Exec(ctx, `UPDATE clock SET now = $1 WHERE id = 1 AND now < $1`, at.UnixMicro()); err != nil {
		return err
	}
	d.clock.saw(at.UnixMicro())
	return nil
}

// Advance moves the manual clock forward and returns the new time.
func (d *DB) Advance(ctx context.Context, by time.Duration) (time.Time, error) {
	at := d.Now().Add(by)
	return at, d.AdvanceTo(ctx, at)
}

// saw keeps the latest time seen.
func (c *clock) saw(now int64) {
	for {
		last := c.last.Load()
		if now <= last || c.last.CompareAndSwap(last, now) {
			return
		}
	}
}

func (c *clock) close() error {
	if c.row == nil {
		return nil
	}
	return c.row.Close()
}
