package calls

import (
	"context"
	"errors"
	"time"

	"parley/db"
)

// Message is one signalling message of a call, such as a SIP request.
type Message struct {
	At     time.Time `json:"at"`     // on the wall clock
	Sent   bool      `json:"sent"`   // by us
	Remote string    `json:"remote"` // transport and address of the far end
	Title  string    `json:"title"`  // INVITE, 180 Ringing, …
	Text   string    `json:"text"`   // the whole message, without secrets
}

// KeepSignalling stores the signalling of a call that is over.
func (c *Calls) KeepSignalling(ctx context.Context, tx *db.Tx, id ID, messages []Message) error {
	if len(messages) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO call_signalling (call_id, messages) VALUES ($1, $2) ON CONFLICT (call_id) DO NOTHING`,
		id, db.JSON[[]Message]{V: messages})
	return err
}

// ForgetSignalling removes the oldest up to limit signalling records of calls made before a moment, and says how many.
func (c *Calls) ForgetSignalling(ctx context.Context, q db.Q, before time.Time, limit int) (int, error) {
	var oldest []struct {
		ID ID      `db:"call_id"`
		At db.Time `db:"created_at"`
	}
	err := q.Select(ctx, &oldest,
		`SELECT s.call_id, c.created_at FROM call_signalling s JOIN calls c ON c.id = s.call_id ORDER BY s.call_id LIMIT $1`, limit)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < len(oldest) && oldest[n].At < db.At(before) { // calls are numbered as they are made
		n++
	}
	if n == 0 {
		return 0, nil
	}
	_, err = q.Exec(ctx, `DELETE FROM call_signalling WHERE call_id <= $1`, oldest[n-1].ID)
	return n, err
}

// Signalling is what KeepSignalling stored, oldest first; empty when there was none.
func (c *Calls) Signalling(ctx context.Context, q db.Q, id ID) ([]Message, error) {
	var kept db.JSON[[]Message]
	err := q.Get(ctx, &kept, `SELECT messages FROM call_signalling WHERE call_id = $1`, id)
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	return kept.V, err
}
