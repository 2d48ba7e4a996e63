package calls

import (
	"context"
	"fmt"
	"time"

	"parley/db"
	"parley/ids"
)

// LegID names a further leg of a call.
type LegID int64

// Leg is somebody else whom a caller was to be connected with.
type Leg struct {
	ID           LegID       `db:"id"`
	CallID       ID          `db:"call_id"`
	Target       string      `db:"target"` // E.164 number, extension or sip: URI
	Shown        string      `db:"shown"`  // the caller number
	TrunkID      *ids.Number `db:"trunk_id"`
	PlacedReal   db.Time     `db:"placed_real"`
	AnsweredReal db.Time     `db:"answered_real"`
	JoinedReal   db.Time     `db:"joined_real"` // the two parties hear each other
	EndedReal    db.Time     `db:"ended_real"`
}

const legColumns = `id, call_id, target, shown, trunk_id, placed_real, answered_real, joined_real, ended_real`

// Answered reports whether somebody picked up.
func (l Leg) Answered() bool { return !l.AnsweredReal.IsZero() }

// Seconds are whole ones from answer to end, rounded; while it goes on, to now.
func (l Leg) Seconds(now time.Time) int64 {
	if !l.Answered() {
		return 0
	}
	if !l.EndedReal.IsZero() {
		now = l.EndedReal.Time()
	}
	return seconds(now.Sub(l.AnsweredReal.Time()))
}

// AddLeg records a leg that is about to be dialled.
func (c *Calls) AddLeg(ctx context.Context, tx *db.Tx, l Leg) (Leg, error) {
	l.PlacedReal = db.At(time.Now())
	err := tx.Get(ctx, &l.ID, `INSERT INTO call_legs (call_id, target, shown, trunk_id, placed_real) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
		l.CallID, l.Target, l.Shown, l.TrunkID, l.PlacedReal)
	if err != nil {
		return l, fmt.Errorf("record leg: %w", err)
	}
	return l, nil
}

// SaveLeg stores the moments of a leg. Those that are stored already stay.
func (c *Calls) SaveLeg(ctx context.Context, q db.Q, l Leg) error {
	_, err := q.Exec(ctx, `UPDATE call_legs SET answered_real = coalesce(answered_real, $2), joined_real = coalesce(joined_real, $3),
		ended_real = coalesce(ended_real, $4) WHERE id = $1`, l.ID, l.AnsweredReal, l.JoinedReal, l.EndedReal)
	return err
}

// Legs are the further legs of a call, oldest first.
func Legs(ctx context.Context, q db.Q, id ID) ([]Leg, error) {
	var out []Leg
	err := q.Select(ctx, &out, `SELECT `+legColumns+` FROM call_legs WHERE call_id = $1 ORDER BY id`, id)
	return out, err
}

// endLegs ends what is still open when a call is over.
func endLegs(ctx context.Context, tx *db.Tx, id ID, at time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE call_legs SET ended_real = $2 WHERE call_id = $1 AND ended_real IS NULL`, id, db.At(at))
	return err
}

// Passed is how many transfers of this installation led to a call: 0 = somebody called, 1 = the caller was transferred to us,
// and so on; most at most.
func (c *Calls) Passed(ctx context.Context, q db.Q, call Call, most int) (n int, err error) {
	for ; n < most && call.Type == Inbound && call.ClientPhone != nil && call.AssistantPhone != nil; n++ {
		var from []ID
		err := q.Select(ctx, &from, `SELECT call_id FROM call_legs WHERE target = $1 AND shown = $2 AND ended_real IS NULL ORDER BY id LIMIT 1`,
			*call.AssistantPhone, *call.ClientPhone)
		if err != nil || len(from) == 0 {
			return n, err
		}
		if call, err = c.ByID(ctx, q, from[0]); err != nil {
			return n, err
		}
	}
	return n, nil
}
