package jobs

import (
	"context"
	"log/slog"
	"time"

	"parley/db"
	"parley/safe"
)

// Every runs fn once per slot of the given length of durable time, on exactly one node, and once at the first start.
// It is a job of its kind: it does not overlap with itself, is tried again when it fails, and [Runner.Trigger] runs
// it at once. With a manual clock it runs at the start, and at the end of an advance when that long has passed since.
func (r *Runner) Every(kind string, every time.Duration, fn func(ctx context.Context, now time.Time) error) {
	r.Register(kind, Options{Queue: "periodic", Timeout: 10 * time.Minute, MaxAttempts: 3}, func(ctx context.Context, _ Job) error {
		return fn(ctx, r.db.Now())
	})
	r.periodic[kind] = every
}

// Trigger runs a periodic kind at once; when it is running, once more afterwards.
func (r *Runner) Trigger(ctx context.Context, q db.Q, kind string) error {
	return r.Add(ctx, q, New{Kind: kind, Unique: kind})
}

// tick starts periodic jobs. Every node tries; moving the row's time on lets one through.
func (r *Runner) tick(ctx context.Context) {
	if r.db.IsManual() {
		if err := r.due(ctx); err != nil && ctx.Err() == nil {
			slog.Error("periodic jobs cannot be started", "err", err)
		}
		return // from here on Settle starts them
	}
	next := map[string]time.Time{} // what is known of the rows, to leave them alone until then
	for ctx.Err() == nil {
		wait := r.poll
		for kind, every := range r.periodic {
			now := r.db.Now()
			if now.Before(next[kind]) {
				wait = min(wait, next[kind].Sub(now))
				continue
			}
			slot := now.Truncate(every).Add(every)
			if err := r.slot(ctx, kind, now, slot); err != nil {
				if ctx.Err() == nil {
					slog.Error("periodic job cannot be started", "kind", kind, "err", err)
				}
				continue
			}
			next[kind] = slot
			wait = min(wait, slot.Sub(now))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// due starts what is due by a manual clock.
func (r *Runner) due(ctx context.Context) error {
	now := r.db.Now()
	for kind, every := range r.periodic {
		if err := r.slot(ctx, kind, now, now.Add(every)); err != nil {
			return err
		}
	}
	return nil
}

// slot starts kind unless another node has started this slot.
func (r *Runner) slot(ctx context.Context, kind string, now, next time.Time) error {
	return r.db.Do(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO periodic (kind, next_at) VALUES ($1, $2)
			ON CONFLICT (kind) DO UPDATE SET next_at = excluded.next_at WHERE periodic.next_at <= $3`, kind, db.At(next), db.At(now))
		if n == 0 || err != nil {
			return err
		}
		return r.Trigger(ctx, tx, kind)
	})
}

// pulse is something each node does again and again.
type pulse struct {
	kind  string
	every time.Duration
	fn    func(ctx context.Context, now time.Time) error
	ask   chan chan struct{}
}

// Pulse runs fn on every node, again and again by real time even when the clock is manual, and at the end of each
// advance; now is durable time. Nothing is stored: it is for cheap looks at the database that hold their own locks.
func (r *Runner) Pulse(kind string, every time.Duration, fn func(ctx context.Context, now time.Time) error) {
	r.pulses = append(r.pulses, pulse{kind, every, fn, make(chan chan struct{})})
}

func (p pulse) beat(ctx context.Context, d *db.DB) {
	for {
		var asked chan struct{}
		select {
		case <-ctx.Done():
			return
		case asked = <-p.ask:
		case <-time.After(p.every):
		}
		if err := safe.Do(p.kind, func() error { return p.fn(ctx, d.Now()) }); err != nil && ctx.Err() == nil {
			slog.Error("periodic work failed", "kind", p.kind, "err", err)
		}
		if asked != nil {
			close(asked)
		}
	}
}

// now runs the pulse and waits for it.
func (p pulse) now(ctx context.Context) {
	done := make(chan struct{})
	select {
	case p.ask <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// purge forgets finished jobs: successes after a day, failures after two weeks.
func (r *Runner) purge(ctx context.Context, now time.Time) error {
	for failed, age := range map[bool]time.Duration{false: 24 * time.Hour, true: 14 * 24 * time.Hour} {
		for {
			n, err := r.db.Exec(ctx, `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE done_at < $1 AND failed = $2 ORDER BY done_at LIMIT 2000)`,
				db.At(now.Add(-age)), failed)
			if err != nil {
				return err
			}
			if n < 2000 {
				break
			}
		}
	}
	return nil
}
