package campaigns

import (
	"context"
	"errors"
	"time"

	"parley/db"
)

// Next is the first moment after a given one at which a running campaign has a lead due inside its hours; zero = none.
// A clock that is moved by hand stops there.
func (c *Campaigns) Next(ctx context.Context, after time.Time) (time.Time, error) {
	var first time.Time
	err := c.running(ctx, func(_ Campaign, w Window, due time.Time) error {
		if due.Before(after) {
			due = after
		}
		if at := w.Next(due); at.After(after) && (first.IsZero() || at.Before(first)) {
			first = at
		}
		return nil
	})
	return first, err
}

// Busy reports that calls of running campaigns are just being placed, or can be at once.
func (c *Campaigns) Busy(ctx context.Context, now time.Time) (bool, error) {
	busy := false
	err := c.running(ctx, func(one Campaign, w Window, due time.Time) error {
		placing, err := c.caller.Placing(ctx, c.db, one.ID)
		if busy = busy || placing > 0; busy || err != nil || due.After(now) || !w.Open(now) {
			return err
		}
		return c.db.Do(ctx, func(tx *db.Tx) error {
			free, err := c.free(ctx, tx, one)
			busy = free > 0
			return err
		})
	})
	return busy, err
}

// running looks at each running campaign, its hours and when its next lead falls due; one without is due far from now.
func (c *Campaigns) running(ctx context.Context, look func(one Campaign, w Window, due time.Time) error) error {
	var all []struct {
		Campaign
		Due db.Time `db:"due"`
	}
	err := c.db.Select(ctx, &all,
		`SELECT `+campaignColumns+`, (`+firstDue+`) AS due FROM campaigns c WHERE status = 'in-progress' ORDER BY id`)
	if err != nil {
		return err
	}
	for _, one := range all {
		w, err := one.Settings.V.Window()
		if err != nil {
			return err
		}
		due := one.Due.Time()
		if one.Due.IsZero() {
			due = c.db.Now().AddDate(100, 0, 0)
		}
		if err := look(one.Campaign, w, due); err != nil {
			return errors.Join(errors.New("campaigns: look ahead"), err)
		}
	}
	return nil
}
