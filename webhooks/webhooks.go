// Package webhooks tells customers' servers what happened. An event is stored in the transaction that makes it true
// and delivered at least once, signed, in order per resource, with retries by durable time.
package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/accounts"
	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/jobs"
	"parley/ssrf"
	"parley/value"
)

// The events.
const (
	CallCompleted        = "call.completed"
	InboundCallCompleted = "inbound_call.completed"
	ConversationEnded    = "conversation.ended"
	MessageStatus        = "message_status"
)

// Event is something a customer's server is to be told.
type Event struct {
	Owner   accounts.ID
	Name    string // one of the events
	URL     string
	Payload any // the JSON body

	RequestID string // what caused it; empty = the request that ctx carries

	CallID         calls.ID         // of call events
	ConversationID ids.Conversation // of conversation and message events
	MessageID      int64            // of message events: their order is per message
	SenderID       ids.Sender       // of message events: whose secret signs; 0 = the account's
	Test           bool             // made up, for trying a receiver
}

// stream is what must arrive in order: the events of one resource at one receiver.
func (e Event) stream() string {
	switch {
	case e.MessageID != 0:
		return fmt.Sprintf("message:%d:%s", e.MessageID, e.URL)
	case e.CallID != 0:
		return fmt.Sprintf("call:%d:%s", e.CallID, e.URL)
	}
	return fmt.Sprintf("conversation:%d:%s", e.ConversationID, e.URL)
}

// patience is after how many failed tries of one event the next of its stream goes ahead; 0 = when it is settled.
func (e Event) patience() int {
	if e.MessageID != 0 {
		return 4
	}
	return 0
}

// scope names whose secret signs the event.
func (e Event) scope() string {
	if e.SenderID != 0 {
		return fmt.Sprintf("sender:%d", e.SenderID)
	}
	return AccountScope(e.Owner)
}

// AccountScope names the secret of an account.
func AccountScope(owner accounts.ID) string { return fmt.Sprintf("account:%d", owner) }

// SenderScope names the secret of a WhatsApp sender.
func SenderScope(id ids.Sender) string { return fmt.Sprintf("sender:%d", id) }

// Sealer encrypts what must not stand readable in the database.
type Sealer interface {
	Seal(plain []byte) (string, error)
	Open(sealed string) ([]byte, error)
}

// Webhooks is the room.
type Webhooks struct {
	db       *db.DB
	runner   *jobs.Runner
	box      Sealer
	client   *http.Client
	seats    seats
	longTail bool
	changed  func(owner accounts.ID, delivery int64)
}

const (
	answerTime  = 10 * time.Second
	connectTime = 5 * time.Second
	perHost     = 4        // requests at once
	kept        = 64 << 10 // bytes of an answer
	kindHost    = "webhooks.host"
)

// New opens the room and registers its work. longTail keeps trying after the first two minutes. changed is told of every
// delivery that was queued or tried; it may be nil.
func New(d *db.DB, runner *jobs.Runner, g *ssrf.Guard, box Sealer, longTail bool,
	changed func(owner accounts.ID, delivery int64)) *Webhooks {
	s := &Webhooks{db: d, runner: runner, box: box, longTail: longTail, changed: changed,
		seats:  seats{taken: map[accounts.ID]int{}, waiting: map[accounts.ID]map[string]bool{}},
		client: g.Client(ssrf.Options{Timeout: answerTime, Connect: connectTime})}
	runner.Register(kindHost, jobs.Options{Queue: "webhooks", Parallel: 4 * perAccount, Timeout: 2 * shift, MaxAttempts: 1 << 30,
		Backoff: func(int) time.Duration { return 5 * time.Second }}, s.serve)
	return s
}

// Close ends idle connections to receivers.
func (s *Webhooks) Close() { s.client.CloseIdleConnections() }

// Add stores an event for delivery; in a transaction it exists exactly when that commits.
func (s *Webhooks) Add(ctx context.Context, q db.Q, e Event) error {
	_, err := s.add(ctx, q, e, "pending")
	return err
}

func (s *Webhooks) add(ctx context.Context, q db.Q, e Event, status string) (id int64, err error) {
	body, err := value.Marshal(e.Payload)
	if err != nil {
		return 0, fmt.Errorf("webhook payload: %w", err)
	}
	host, err := hostOf(e.URL)
	if err != nil {
		return 0, err
	}
	now := db.At(s.db.Now())
	err = q.Get(ctx, &id, `
		INSERT INTO webhook_deliveries (account_id, webhook_id, event, url, host, stream, patience, secret_scope, body, call_id,
			conversation_id, request_id, is_test, status, next_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15) RETURNING id`,
		int64(e.Owner), newID(), e.Name, e.URL, host, e.stream(), e.patience(), e.scope(), string(body), number(e.CallID),
		number(e.ConversationID), cmp.Or(e.RequestID, fault.RequestID(ctx)), e.Test, status, now)
	if err != nil || status != "pending" {
		return id, err
	}
	s.tell(q, e.Owner, id)
	return id, s.wake(ctx, q, host, s.db.Now())
}

// wake has the host served at a time.
func (s *Webhooks) wake(ctx context.Context, q db.Q, host string, at time.Time) error {
	return s.runner.Add(ctx, q, jobs.New{Kind: kindHost, Args: hostArgs{host}, Unique: kindHost + ":" + host, RunAt: at})
}

// tell calls the listeners, after the commit when q is a transaction.
func (s *Webhooks) tell(q db.Q, owner accounts.ID, id int64) {
	if s.changed == nil {
		return
	}
	call := func() { s.changed(owner, id) }
	if tx, ok := q.(*db.Tx); ok {
		tx.After(call)
		return
	}
	call()
}

func hostOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", errors.New("webhook URL has no host")
	}
	return strings.ToLower(u.Host), nil
}

func number[T ~int64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}
