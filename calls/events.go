package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/db"
	"parley/value"
)

// Event is one entry of a call's log.
type Event struct {
	Seq  int64                    `db:"seq"`
	At   db.Time                  `db:"at_real"` // on the wall clock
	Type string                   `db:"type"`
	Data db.JSON[json.RawMessage] `db:"data"`
}

// MakeEvent encodes an event.
func MakeEvent(at time.Time, kind string, data any) (Event, error) {
	b, err := value.Marshal(data)
	return Event{At: db.At(at), Type: kind, Data: db.JSON[json.RawMessage]{V: b}}, err
}

// Log appends events to a call's log, in order.
func (c *Calls) Log(ctx context.Context, tx *db.Tx, id ID, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	if e := events[0]; len(events) == 1 {
		_, err := tx.Exec(ctx, `INSERT INTO call_events (call_id, seq, at_real, type, data)
			SELECT CAST($1 AS BIGINT), coalesce(max(seq), 0) + 1, CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT) FROM call_events WHERE call_id = $1`,
			id, int64(e.At), e.Type, string(e.Data.V))
		if err != nil {
			return fmt.Errorf("log call: %w", err)
		}
		return nil
	}
	var seq int64
	if err := tx.Get(ctx, &seq, `SELECT coalesce(max(seq), 0) FROM call_events WHERE call_id = $1`, id); err != nil {
		return fmt.Errorf("log call: %w", err)
	}
	for len(events) > 0 {
		n := min(len(events), 100)
		var sql strings.Builder
		args := []any{id}
		for i, e := range events[:n] {
			seq++
			k := len(args)
			fmt.Fprintf(&sql, "%s ($1, $%d, $%d, $%d, $%d)", map[bool]string{true: "", false: ","}[i == 0], k+1, k+2, k+3, k+4)
			args = append(args, seq, int64(e.At), e.Type, string(e.Data.V))
		}
		if _, err := tx.Exec(ctx, `INSERT INTO call_events (call_id, seq, at_real, type, data) VALUES`+sql.String(), args...); err != nil {
			return fmt.Errorf("log call: %w", err)
		}
		events = events[n:]
	}
	return nil
}

// SetAnsweredBy notes who picked up a call that goes on.
func (c *Calls) SetAnsweredBy(ctx context.Context, q db.Q, id ID, by AnsweredBy) error {
	_, err := q.Exec(ctx, `UPDATE calls SET answered_by = $1, updated_at = $2 WHERE id = $3 AND status = 'in-progress'`,
		by, db.At(c.db.Now()), id)
	return err
}

// SetTranscript keeps what has been said so far.
func (c *Calls) SetTranscript(ctx context.Context, q db.Q, id ID, entries []Entry, spoke bool) error {
	_, err := q.Exec(ctx, `UPDATE calls SET entries = $1, spoke = $2, updated_at = $3 WHERE id = $4 AND status = 'in-progress'`,
		db.JSON[[]Entry]{V: entries}, spoke, db.At(c.db.Now()), id)
	return err
}

// Events is the log of a call.
func (c *Calls) Events(ctx context.Context, q db.Q, id ID) ([]Event, error) {
	return c.EventsAfter(ctx, q, id, 0)
}

// EventsOf are the events of a type in the log of a call.
func (c *Calls) EventsOf(ctx context.Context, q db.Q, id ID, kind string) ([]Event, error) {
	out := []Event{}
	err := q.Select(ctx, &out, `SELECT seq, at_real, type, data FROM call_events WHERE call_id = $1 AND type = $2 ORDER BY seq`, id, kind)
	return out, err
}

// EventsAfter is what the log of a call says after the event of a number.
func (c *Calls) EventsAfter(ctx context.Context, q db.Q, id ID, seq int64) ([]Event, error) {
	out := []Event{}
	err := q.Select(ctx, &out, `SELECT seq, at_real, type, data FROM call_events WHERE call_id = $1 AND seq > $2 ORDER BY seq`, id, seq)
	return out, err
}

// state logs a change of status, after events that were not in the log yet.
func (c *Calls) state(ctx context.Context, tx *db.Tx, one Call, at time.Time, before ...Event) error {
	e, err := MakeEvent(at, "call.state", struct {
		Status Status  `json:"status"`
		Reason *Reason `json:"reason"`
	}{one.Status, one.Reason})
	if err != nil {
		return err
	}
	return c.Log(ctx, tx, one.ID, append(slices.Clip(before), e))
}
