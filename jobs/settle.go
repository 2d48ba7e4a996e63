package jobs

import (
	"context"
	"log/slog"
	"time"

	"parley/db"
)

// target is what Settle asked for; done is closed when it is reached.
type target struct {
	until time.Time
	done  chan struct{}
}

// Settle advances the manual clock to until and works off everything that falls due on the way, in order, each job
// with the clock at its own moment; periodic jobs that are due run once, at the end. It reports false when ctx ended first; the
// work then goes on as long as Run does.
func (r *Runner) Settle(ctx context.Context, until time.Time) (settled bool, err error) {
	if !r.db.IsManual() {
		return false, db.ErrRealClock
	}
	r.mu.Lock()
	if until.After(r.goal) {
		r.goal = until
	}
	r.mu.Unlock()
	t := &target{until, make(chan struct{})}
	select {
	case r.targets <- t:
	case <-ctx.Done():
		return false, nil
	}
	select {
	case <-t.done:
		return true, nil
	case <-ctx.Done():
		return false, nil
	}
}

// Advance settles by further than the clock is, or will be when the advances before have settled.
func (r *Runner) Advance(ctx context.Context, by time.Duration) (now time.Time, settled bool, err error) {
	now = r.db.Now()
	r.mu.Lock()
	if r.goal.After(now) {
		now = r.goal
	}
	r.mu.Unlock()
	now = now.Add(by)
	settled, err = r.Settle(ctx, now)
	return now, settled, err
}

// settle serves Settle, one target after the other.
func (r *Runner) settle(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-r.targets:
			if err := r.reach(ctx, t.until); err != nil {
				if ctx.Err() == nil {
					slog.Error("the clock could not be advanced", "until", t.until, "err", err)
				}
				continue
			}
			close(t.done)
		}
	}
}

func (r *Runner) reach(ctx context.Context, until time.Time) error {
	for {
		if err := r.quiet(ctx); err != nil {
			return err
		}
		var due db.Time
		if err := r.db.Get(ctx, &due, `SELECT min(run_at) FROM jobs WHERE done_at IS NULL AND run_at > $1 AND run_at <= $2`,
			db.At(r.db.Now()), db.At(until)); err != nil {
			return err
		}
		if due.IsZero() {
			break
		}
		if err := r.moveTo(ctx, due.Time()); err != nil {
			return err
		}
	}
	if err := r.moveTo(ctx, until); err != nil {
		return err
	}
	if err := r.due(ctx); err != nil {
		return err
	}
	for _, p := range r.pulses {
		p.now(ctx)
	}
	return r.quiet(ctx)
}

func (r *Runner) moveTo(ctx context.Context, at time.Time) error {
	if err := r.db.AdvanceTo(ctx, at); err != nil {
		return err
	}
	r.wake("")
	return nil
}

// quiet waits until nothing is due or running, on any node.
func (r *Runner) quiet(ctx context.Context) error {
	for {
		var due int64
		if err := r.db.Get(ctx, &due, `SELECT count(*) FROM jobs WHERE done_at IS NULL AND run_at <= $1`, db.At(r.db.Now())); err != nil {
			return err
		}
		if due == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.ended:
		case <-time.After(50 * time.Millisecond): // another node may have ended it
		}
	}
}
