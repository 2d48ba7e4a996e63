package jobs

import (
	"context"
	"log/slog"
	"time"

	"parley/db"
)

// Outside is work of pulses that falls due at moments of its own, so that Settle stops the clock there too.
type Outside struct {
	// Next is the first moment after a given one at which something falls due; the zero time is never.
	Next func(ctx context.Context, after time.Time) (time.Time, error)
	// Busy reports that what is due now has not been worked off, and will be in an instant.
	Busy func(ctx context.Context, now time.Time) (bool, error)
}

// Also tells Settle of work outside the queue. It is called before Run.
func (r *Runner) Also(o Outside) { r.outside = append(r.outside, o) }

// patience is how long a clock that moves waits for work outside the queue, at each moment.
const patience = 2 * time.Second

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
		if err := r.still(ctx); err != nil {
			return err
		}
		due, err := r.nextDue(ctx, until)
		if err != nil {
			return err
		}
		if due.IsZero() {
			break
		}
		if err := r.moveTo(ctx, due); err != nil {
			return err
		}
		if len(r.outside) > 0 {
			r.pulse(ctx)
		}
	}
	if err := r.moveTo(ctx, until); err != nil {
		return err
	}
	if err := r.due(ctx); err != nil {
		return err
	}
	r.pulse(ctx)
	return r.still(ctx)
}

func (r *Runner) pulse(ctx context.Context) {
	for _, p := range r.pulses {
		p.now(ctx)
	}
}

// nextDue is the first moment after now and not after until at which something falls due; zero = none.
func (r *Runner) nextDue(ctx context.Context, until time.Time) (time.Time, error) {
	now := r.db.Now()
	var due db.Time
	if err := r.db.Get(ctx, &due, `SELECT min(run_at) FROM jobs WHERE done_at IS NULL AND run_at > $1 AND run_at <= $2`,
		db.At(now), db.At(until)); err != nil {
		return time.Time{}, err
	}
	first := due.Time()
	for _, o := range r.outside {
		at, err := o.Next(ctx, now)
		if err != nil {
			return time.Time{}, err
		}
		if at.After(now) && !at.After(until) && (due.IsZero() || at.Before(first)) {
			first, due = at, db.At(at)
		}
	}
	if due.IsZero() {
		return time.Time{}, nil
	}
	return first, nil
}

// still waits until nothing is due: no job, and outside the queue nothing that takes but an instant.
func (r *Runner) still(ctx context.Context) error {
	limit := time.Now().Add(patience)
	for {
		if err := r.quiet(ctx); err != nil {
			return err
		}
		busy := false
		for _, o := range r.outside {
			b, err := o.Busy(ctx, r.db.Now())
			if err != nil {
				return err
			}
			busy = busy || b
		}
		if !busy || time.Now().After(limit) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		r.pulse(ctx)
	}
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
