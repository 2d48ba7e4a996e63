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

// Signalling is what KeepSignalling stored, oldest first; empty when there was none.
func (c *Calls) Signalling(ctx context.Context, q db.Q, id ID) ([]Message, error) {
	var kept db.JSON[[]Message]
	err := q.Get(ctx, &kept, `SELECT messages FROM call_signalling WHERE call_id = $1`, id)
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	return kept.V, err
}
