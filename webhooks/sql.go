package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/accounts"
	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/ids"
)

// Delivery is an event on its way to one receiver.
type Delivery struct {
	ID             int64
	Owner          accounts.ID
	WebhookID      string
	Event          string
	URL            string
	Status         string // pending, succeeded, failed
	Body           string
	CallID         calls.ID
	ConversationID ids.Conversation
	Test           bool
	Replayed       bool
	Tried          int // requests made so far
	Attempts       []Attempt
	NextAt         time.Time // zero when nothing more will be tried
	CreatedAt      time.Time

	scope, requestID string
	failures         int // since it was queued, or queued again
}

// Attempt is one request and its answer.
type Attempt struct {
	At       time.Time
	Status   int // 0 = no answer
	Duration time.Duration
	Error    string // empty for an answer, whatever its status
	Response string // the first 64 kB
}

type row struct {
	ID           int64             `db:"id"`
	Owner        accounts.ID       `db:"account_id"`
	WebhookID    string            `db:"webhook_id"`
	Event        string            `db:"event"`
	URL          string            `db:"url"`
	Scope        string            `db:"secret_scope"`
	Body         string            `db:"body"`
	Call         *calls.ID         `db:"call_id"`
	Conversation *ids.Conversation `db:"conversation_id"`
	RequestID    string            `db:"request_id"`
	Test         bool              `db:"is_test"`
	Replayed     bool              `db:"is_replay"`
	Status       string            `db:"status"`
	Tried        int               `db:"tried"`
	Failures     int               `db:"failures"`
	NextAt       db.Time           `db:"next_at"`
	CreatedAt    db.Time           `db:"created_at"`
}

const columns = `d.id, d.account_id, d.webhook_id, d.event, d.url, d.secret_scope, d.body, d.call_id, d.conversation_id, d.request_id,
	d.is_test, d.is_replay, d.status, d.tried, d.failures, d.next_at, d.created_at`

// head holds for the deliveries whose turn it is in their stream.
const head = `NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.stream = d.stream AND e.id < d.id AND e.status = 'pending'
	AND (d.patience = 0 OR e.failures < d.patience))`

const from = ` FROM webhook_deliveries d`

func (r row) delivery() Delivery {
	d := Delivery{ID: r.ID, Owner: r.Owner, WebhookID: r.WebhookID, Event: r.Event, URL: r.URL, Status: r.Status, Body: r.Body,
		Test: r.Test, Replayed: r.Replayed, Tried: r.Tried, NextAt: r.NextAt.Time(), CreatedAt: r.CreatedAt.Time(),
		scope: r.Scope, requestID: r.RequestID, failures: r.Failures}
	if r.Call != nil {
		d.CallID = *r.Call
	}
	if r.Conversation != nil {
		d.ConversationID = *r.Conversation
	}
	return d
}

func (s *Webhooks) load(ctx context.Context, q db.Q, rest string, args ...any) ([]Delivery, error) {
	var rows []row
	if err := q.Select(ctx, &rows, `SELECT `+columns+from+` WHERE `+rest, args...); err != nil {
		return nil, fmt.Errorf("load deliveries: %w", err)
	}
	out := make([]Delivery, len(rows))
	for i, r := range rows {
		out[i] = r.delivery()
	}
	return out, nil
}

func (s *Webhooks) byID(ctx context.Context, q db.Q, id int64) (Delivery, error) {
	list, err := s.load(ctx, q, `d.id = $1`, id)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Delivery{}, err
	}
	return list[0], nil
}

// due are deliveries to a host whose turn it is, as many as may run beside those that do; none of the accounts in off.
func (s *Webhooks) due(ctx context.Context, host string, busy map[int64]bool, off []accounts.ID) ([]Delivery, error) {
	free, others, args := perHost-len(busy), "", []any(nil)
	if len(off) > 0 {
		others, args = db.In(4, off)
		others = ` AND d.account_id NOT IN ` + others
	}
	list, err := s.load(ctx, s.db, `d.host = $1 AND d.status = 'pending' AND d.next_at <= $2`+others+` AND `+head+`
		ORDER BY d.next_at, d.id LIMIT $3`, append([]any{host, db.At(s.db.Now()), perHost}, args...)...)
	var out []Delivery
	for _, d := range list {
		if !busy[d.ID] && len(out) < free {
			out = append(out, d)
		}
	}
	return out, err
}

// record stores a try and what follows from it, in one transaction.
func (s *Webhooks) record(ctx context.Context, d Delivery, a Attempt, retry bool) error {
	return s.db.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO webhook_attempts (delivery_id, n, at, status_code, duration_ms, error, response)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			d.ID, d.Tried+1, db.At(a.At), a.Status, a.Duration.Milliseconds(), a.Error, a.Response)
		if err != nil {
			return fmt.Errorf("record attempt: %w", err)
		}
		status, next, result := "pending", db.Time(0), outcome(a)
		switch {
		case a.Status/100 == 2:
			status = "succeeded"
		default:
			pause, more := wait(d.failures+1, s.longTail)
			if retry && more {
				next, result = db.At(a.At.Add(pause)), nil
			} else {
				status = "failed"
			}
		}
		n, err := tx.Exec(ctx, `
			UPDATE webhook_deliveries SET status = $2, next_at = $3, tried = tried + 1,
				failures = CASE WHEN $2 = 'succeeded' THEN failures ELSE failures + 1 END, result = coalesce($4, result)
			WHERE id = $1 AND coalesce(next_at, 0) = $5`, d.ID, status, next, result, int64(db.At(d.NextAt)))
		if err == nil && n == 0 { // a replay was asked for while this try ran: it is still to come
			_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET tried = tried + 1 WHERE id = $1`, d.ID)
		}
		s.tell(tx, d.Owner, d.ID)
		return err
	})
}

// outcome is what a settled delivery leaves in the record of its call.
func outcome(a Attempt) *string {
	var body any
	switch {
	case a.Status/100 != 2:
		reason := a.Error
		if reason == "" {
			reason = fmt.Sprintf("the receiver answered %d", a.Status)
		}
		body = struct {
			Status int    `json:"status"`
			Error  string `json:"error"`
		}{a.Status, reason}
	case isObject(a.Response):
		return &a.Response
	default:
		body = struct {
			Status int    `json:"status"`
			Body   string `json:"body"`
		}{a.Status, first(a.Response, 1000)}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil // two plain fields always encode
	}
	out := string(b)
	return &out
}

func isObject(s string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &m) == nil && m != nil
}

func first(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// ErrNotFound is the answer for a missing or foreign delivery.
var ErrNotFound = fault.New(fault.NotFound, "", "Delivery not found")

// Replay sends a delivery again: same body and webhook-id.
func (s *Webhooks) Replay(ctx context.Context, owner accounts.ID, id int64) error {
	return s.db.Do(ctx, func(tx *db.Tx) error {
		var host string // its time is never that of a try that runs, which is not to settle it
		err := tx.Get(ctx, &host, `
			UPDATE webhook_deliveries SET status = 'pending', is_replay = TRUE, failures = 0,
				next_at = CASE WHEN next_at = $3 THEN $3 + 1 ELSE $3 END
			WHERE id = $1 AND account_id = $2 RETURNING host`, id, int64(owner), int64(db.At(s.db.Now())))
		if errors.Is(err, db.ErrNone) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		s.tell(tx, owner, id)
		return s.wake(ctx, tx, host, s.db.Now())
	})
}

// Filter narrows the log. Zero fields take everything.
type Filter struct {
	Event, Status  string
	CallID         calls.ID
	ConversationID ids.Conversation
}

// Place is a position in the log: entries before (older than) or after an id.
type Place struct{ Before, After int64 }

// Last is the id of the account's newest delivery, 0 when there is none.
func (s *Webhooks) Last(ctx context.Context, owner accounts.ID) (id int64, err error) {
	err = s.db.Get(ctx, &id, `SELECT COALESCE(MAX(id), 0) FROM webhook_deliveries WHERE account_id = $1`, int64(owner))
	return id, err
}

// After are the ids of the account's deliveries after one, oldest first, at most 1000.
func (s *Webhooks) After(ctx context.Context, owner accounts.ID, id int64) (ids []int64, err error) {
	err = s.db.Select(ctx, &ids, `SELECT id FROM webhook_deliveries WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT 1000`,
		int64(owner), id)
	return ids, err
}

// where writes filter and place as SQL with its arguments: only what is asked for, so that an index can serve it.
func (f Filter) where(owner accounts.ID, at Place) (string, []any) {
	sql, args := `d.account_id = $1`, []any{int64(owner)}
	add := func(asked bool, cond string, v any) {
		if asked {
			args = append(args, v)
			sql += fmt.Sprintf(` AND `+cond+` $%d`, len(args))
		}
	}
	add(f.Event != "", `d.event =`, f.Event)
	add(f.Status != "", `d.status =`, f.Status)
	add(f.CallID != 0, `d.call_id =`, f.CallID)
	add(f.ConversationID != 0, `d.conversation_id =`, f.ConversationID)
	add(at.Before != 0, `d.id <`, at.Before)
	add(at.After != 0, `d.id >`, at.After)
	return sql, args
}

// rest is what follows the columns in the query of the log.
func (f Filter) rest(owner accounts.ID, at Place, limit int) (string, []any) {
	order := `DESC`
	if at.After != 0 {
		order = `ASC`
	}
	where, args := f.where(owner, at)
	args = append(args, limit+1)
	return fmt.Sprintf(`%s ORDER BY d.id %s LIMIT $%d`, where, order, len(args)), args
}

// Log gives deliveries newest first with their attempts, up to limit; more says that there are further ones in the
// direction of the place.
func (s *Webhooks) Log(ctx context.Context, owner accounts.ID, f Filter, at Place, limit int) (list []Delivery, more bool, err error) {
	rest, args := f.rest(owner, at, limit)
	list, err = s.load(ctx, s.db, rest, args...)
	if err != nil {
		return nil, false, err
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	if at.After != 0 {
		reverse(list)
	}
	return list, more, s.loadAttempts(ctx, list)
}

func reverse(list []Delivery) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

func (s *Webhooks) loadAttempts(ctx context.Context, list []Delivery) error {
	at := map[int64]*Delivery{}
	ids := make([]int64, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	in, args := db.In(1, ids)
	var rows []struct {
		Delivery int64   `db:"delivery_id"`
		At       db.Time `db:"at"`
		Status   int     `db:"status_code"`
		MS       int64   `db:"duration_ms"`
		Error    string  `db:"error"`
		Response string  `db:"response"`
	}
	err := s.db.Select(ctx, &rows, `SELECT delivery_id, at, status_code, duration_ms, error, response FROM webhook_attempts
		WHERE delivery_id IN `+in+` ORDER BY delivery_id, n`, args...)
	for _, r := range rows {
		d := at[r.Delivery]
		d.Attempts = append(d.Attempts, Attempt{r.At.Time(), r.Status, time.Duration(r.MS) * time.Millisecond, r.Error, r.Response})
	}
	return err
}

// Results are the receivers' answers by call: of the post-call webhook, or of the inbound one where there is no other.
// A call is missing while nothing is settled.
func (s *Webhooks) Results(ctx context.Context, q db.Q, owner accounts.ID, of []calls.ID) (map[calls.ID]json.RawMessage, error) {
	var rows []struct {
		Call   calls.ID `db:"call_id"`
		Result string   `db:"result"`
	}
	query, args := results(owner, of)
	err := q.Select(ctx, &rows, query, args...)
	out := make(map[calls.ID]json.RawMessage, len(rows))
	for _, r := range rows {
		out[r.Call] = json.RawMessage(r.Result)
	}
	return out, err
}

// results is the query of what receivers answered about calls. account_id + 0: by the index of calls, not by that of accounts.
func results(owner accounts.ID, of []calls.ID) (string, []any) {
	in, args := db.In(2, of)
	return `SELECT call_id, result FROM webhook_deliveries
		WHERE call_id IN ` + in + ` AND account_id + 0 = $1 AND result IS NOT NULL AND NOT is_test
		ORDER BY CASE event WHEN 'call.completed' THEN 1 ELSE 0 END, id`, append([]any{int64(owner)}, args...)
}
