package numbers

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/jobs"
)

// Release lets a number of the account go (contract 14.7): a dedicated one at the end of its paid month, a trunk and a
// Caller ID at once. scheduled says which it was. With trunksOnly, other numbers are not found.
func (n *Numbers) Release(ctx context.Context, owner accounts.ID, id ID, trunksOnly bool) (scheduled bool, err error) {
	x, err := n.Get(ctx, n.db, owner, id)
	switch {
	case err != nil:
		return false, err
	case trunksOnly && x.Type != SIP:
		return false, ErrNotFound
	case x.State == Scheduled:
		return false, errCancelled
	case x.Type == Dedicated:
		return true, n.cancelAtEnd(ctx, x)
	}
	if err := n.cfg.Carrier.Release(ctx, Leaving{Owner: owner, Type: x.Type, Number: x.Number}); err != nil {
		return false, releaseFailed(err)
	}
	return false, n.remove(ctx, x)
}

// cancelAtEnd schedules a dedicated number for release and ends its subscription.
func (n *Numbers) cancelAtEnd(ctx context.Context, x Number) error {
	err := n.db.Do(ctx, func(tx *db.Tx) error {
		x, err := n.locked(ctx, tx, x.Owner, x.ID) // a renewal may have come in between
		if err != nil {
			return err
		}
		at := x.PaidUntil.Time()
		if now := n.db.Now(); at.Before(now) { // past due: nothing is paid any more
			at = now
		}
		return n.schedule(ctx, tx, x, at)
	})
	if err != nil {
		return err
	}
	_ = n.cfg.Payments.Cancel(ctx, x.Owner, *x.Key, false) // at once when it works; the job tries until it does
	return nil
}

// schedule sets the moment of release, detaches the number, and leaves the rest to jobs.
func (n *Numbers) schedule(ctx context.Context, tx *db.Tx, x Number, at time.Time) error {
	count, err := tx.Exec(ctx, `UPDATE phone_numbers SET state = 'scheduled', release_at = $2, updated_at = $3 WHERE id = $1 AND state = 'active'`,
		x.ID, db.At(at), db.At(n.db.Now()))
	if err != nil {
		return err
	}
	if count == 0 {
		return errCancelled
	}
	if err := n.detach(ctx, tx, x); err != nil {
		return err
	}
	if err := n.cfg.Jobs.Add(ctx, tx, jobs.New{Kind: jobCancel, Args: ref{x.ID}, Unique: unique(jobCancel, x.ID)}); err != nil {
		return err
	}
	return n.cfg.Jobs.Add(ctx, tx, jobs.New{Kind: jobRelease, Args: ref{x.ID}, Unique: unique(jobRelease, x.ID), RunAt: at})
}

// cancel is the job that ends the subscription of a scheduled number.
func (n *Numbers) cancel(ctx context.Context, job jobs.Job) error {
	x, err := n.scheduled(ctx, job)
	if err != nil || x.ID == 0 {
		return err
	}
	return n.cfg.Payments.Cancel(ctx, x.Owner, *x.Key, false)
}

// release is the job that gives a scheduled number back. A carrier that fails is asked again every hour.
func (n *Numbers) release(ctx context.Context, job jobs.Job) error {
	x, err := n.scheduled(ctx, job)
	if err != nil || x.ID == 0 {
		return err
	}
	now := n.db.Now()
	if at := x.ReleaseAt.Time(); at.After(now) {
		return jobs.Snooze(at)
	}
	if err := n.cfg.Payments.Cancel(ctx, x.Owner, *x.Key, false); err != nil { // never without a number and yet charged
		return jobs.Snooze(now.Add(time.Hour))
	}
	if err := n.cfg.Carrier.Release(ctx, Leaving{Owner: x.Owner, Type: Dedicated, Key: *x.Key, Number: x.Number}); err != nil {
		return jobs.Snooze(now.Add(time.Hour))
	}
	return n.remove(ctx, x)
}

// scheduled loads the number of a job; the zero Number when it is gone or stays.
func (n *Numbers) scheduled(ctx context.Context, job jobs.Job) (Number, error) {
	var r ref
	if err := job.Decode(&r); err != nil {
		return Number{}, jobs.Never(err)
	}
	x, err := n.one(ctx, n.db, `id = $1 AND state = 'scheduled'`, r.ID)
	if errors.Is(err, ErrNotFound) {
		return Number{}, nil
	}
	return x, err
}

// remove deletes a number with everything that hangs on it.
func (n *Numbers) remove(ctx context.Context, x Number) error {
	return n.db.Do(ctx, func(tx *db.Tx) error {
		if x.Type == SIP {
			if err := bump(ctx, tx); err != nil {
				return err
			}
		}
		if err := n.detach(ctx, tx, x); err != nil {
			return err
		}
		count, err := tx.Exec(ctx, `DELETE FROM phone_numbers WHERE id = $1`, x.ID) // its trunk goes with it
		if err == nil && count == 0 {
			err = ErrNotFound
		}
		return err
	})
}
