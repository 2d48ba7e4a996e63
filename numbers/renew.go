package numbers

import (
	"context"
	"errors"
	"time"

	"parley/db"
	"parley/jobs"
)

// renew is the job that charges month after month. It lives as long as the number does and sleeps until the paid
// month is over. The number of the month names the charge, so that a crash after it cannot charge it again.
func (n *Numbers) renew(ctx context.Context, job jobs.Job) error {
	var r ref
	if err := job.Decode(&r); err != nil {
		return jobs.Never(err)
	}
	x, err := n.one(ctx, n.db, `id = $1`, r.ID)
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && x.State != Active:
		return nil
	case err != nil:
		return err
	}
	if due := n.renewalDue(x); due.After(n.db.Now()) {
		return jobs.Snooze(due)
	}
	paid, err := n.cfg.Payments.Renew(ctx, x.Owner, *x.Key, x.Months+1)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrRefused):
		return n.refused(ctx, x)
	case err != nil:
		return err
	}
	return n.renewed(ctx, x, paid)
}

// renewalDue is when the next charge is to be tried.
func (n *Numbers) renewalDue(x Number) time.Time {
	if x.Refusals == 0 {
		return x.PaidUntil.Time()
	}
	again, _ := afterRefusal(x.PastDueAt.Time(), x.Refusals)
	return again
}

// renewed books a paid month. A number released while it was charged stays that month longer.
func (n *Numbers) renewed(ctx context.Context, x Number, paid Paid) error {
	_, err := n.db.Exec(ctx, `UPDATE phone_numbers SET months = months + 1, paid_until = $3, past_due_at = NULL, refusals = 0,
		release_at = CASE WHEN state = 'scheduled' THEN $3 ELSE release_at END, updated_at = $4
		WHERE id = $1 AND months = $2 AND`+owned, x.ID, x.Months, db.At(paid.Until), db.At(n.db.Now()))
	if err != nil {
		return err
	}
	return jobs.Snooze(paid.Until)
}

// refused notes a refused renewal; the last one lets the number go at once.
func (n *Numbers) refused(ctx context.Context, x Number) error {
	now := n.db.Now()
	since := x.PastDueAt.Time()
	if x.Refusals == 0 {
		since = now
	}
	again, giveUp := afterRefusal(since, x.Refusals+1)
	err := n.db.Do(ctx, func(tx *db.Tx) error {
		count, err := tx.Exec(ctx, `UPDATE phone_numbers SET refusals = refusals + 1, past_due_at = $3, updated_at = $4
			WHERE id = $1 AND refusals = $2 AND state = 'active'`, x.ID, x.Refusals, db.At(since), db.At(now))
		if err != nil || count == 0 || !giveUp {
			return err
		}
		return n.schedule(ctx, tx, x, now)
	})
	if err != nil {
		return err
	}
	if giveUp {
		return nil
	}
	return jobs.Snooze(again)
}
