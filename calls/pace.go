package calls

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/db"
)

// Span is a time in which an account may place so many outbound calls.
type Span int

// The spans with ceilings.
const (
	Minute Span = iota // of real time, all calls
	Day                // of durable time, calls through carriers of the installation
)

// Placed notes that an outbound call was placed; carrier says that no trunk of the account carries it.
func (c *Calls) Placed(ctx context.Context, tx *db.Tx, owner accounts.ID, carrier bool) error {
	_, err := tx.Exec(ctx, `INSERT INTO placements (account_id, carrier, at, at_real) VALUES ($1, $2, $3, $4)`,
		owner, carrier, db.At(tx.Now()), db.At(time.Now()))
	return err
}

// PlaceableIn is how long the account must wait before it may place another call, when it may place most in a span. It
// reads one row.
func (c *Calls) PlaceableIn(ctx context.Context, q db.Q, owner accounts.ID, span Span, most int) (time.Duration, error) {
	length, now := time.Minute, time.Now()
	query := `SELECT at_real FROM placements WHERE account_id = $1 AND at_real > $2 ORDER BY at_real DESC LIMIT 1 OFFSET $3`
	if span == Day {
		length, now = 24*time.Hour, c.db.Now()
		query = `SELECT at FROM placements WHERE account_id = $1 AND carrier AND at > $2 ORDER BY at DESC LIMIT 1 OFFSET $3`
	}
	if most <= 0 {
		return length, nil
	}
	var at db.Time
	err := q.Get(ctx, &at, query, owner, db.At(now.Add(-length)), most-1)
	if errors.Is(err, db.ErrNone) {
		return 0, nil
	}
	return at.Time().Add(length).Sub(now), err
}

// PlacedToday counts the calls of an account through carriers of the installation in the last 24 hours.
func (c *Calls) PlacedToday(ctx context.Context, q db.Q, owner accounts.ID) (int, error) {
	var n int
	err := q.Get(ctx, &n, `SELECT count(*) FROM placements WHERE account_id = $1 AND carrier AND at > $2`,
		owner, db.At(c.db.Now().Add(-24*time.Hour)))
	return n, err
}

// ForgetPlaced removes what no ceiling looks at any more.
func (c *Calls) ForgetPlaced(ctx context.Context, now time.Time) error {
	_, err := c.db.Exec(ctx, `DELETE FROM placements WHERE at < $1 AND at_real < $2`,
		db.At(now.Add(-24*time.Hour)), db.At(time.Now().Add(-time.Minute)))
	return err
}
