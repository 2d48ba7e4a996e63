package messaging

import (
	"context"
	"errors"
	"time"

	"parley/db"
)

const senderColumns = `id, account_id, phone_number, display_name, status, quality_rating, messaging_limit, limit_known, assistant_id, ai_enabled,
	response_delay, receipts_url, carrier, carrier_ref, credentials, synced_at, created_at, updated_at`

const templateColumns = `id, account_id, sender_id, name, language, category, status, body_text, variables, examples, carrier_ref, asks_call_permission,
	rejected_reason, synced_at, created_at, updated_at`

// Sender reads a sender of the owner.
func (m *Messaging) Sender(ctx context.Context, q db.Q, owner, id int64) (Sender, error) {
	var s Sender
	err := q.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1 AND account_id = $2`, id, owner)
	if errors.Is(err, db.ErrNone) {
		return s, noSender()
	}
	return s, err
}

// Senders reads the owner's senders by id.
func (m *Messaging) Senders(ctx context.Context, q db.Q, owner int64) ([]Sender, error) {
	all := []Sender{}
	err := q.Select(ctx, &all, `SELECT `+senderColumns+` FROM wa_senders WHERE account_id = $1 ORDER BY id`, owner)
	return all, err
}

// Templates reads a sender's templates by id.
func (m *Messaging) Templates(ctx context.Context, q db.Q, sender int64) ([]Template, error) {
	all := []Template{}
	err := q.Select(ctx, &all, `SELECT `+templateColumns+` FROM wa_templates WHERE sender_id = $1 ORDER BY id`, sender)
	return all, err
}

func (m *Messaging) template(ctx context.Context, q db.Q, sender, id int64) (t Template, err error) {
	err = q.Get(ctx, &t, `SELECT `+templateColumns+` FROM wa_templates WHERE id = $1 AND sender_id = $2`, id, sender)
	return t, err
}

// TemplateOf reads a template of the owner.
func (m *Messaging) TemplateOf(ctx context.Context, q db.Q, owner, id int64) (t Template, err error) {
	err = q.Get(ctx, &t, `SELECT `+templateColumns+` FROM wa_templates WHERE id = $1 AND account_id = $2`, id, owner)
	return t, err
}

// contact is a customer as one sender knows them. The phone number is one way to know them, not who they are.
type contact struct {
	ID         int64   `db:"id"`
	SenderID   int64   `db:"sender_id"`
	Phone      *string `db:"phone_number"`
	PlatformID *string `db:"platform_id"`
	Name       *string `db:"name"`
	TalkID     *int64  `db:"conversation_id"`
	EndsAt     db.Time `db:"window_ends_at"`
	CustomerAt db.Time `db:"customer_at"`
}

const contactColumns = `id, sender_id, phone_number, platform_id, name, conversation_id, window_ends_at, customer_at`

// contactOf finds what a sender knows of a number; the zero contact when nothing.
func contactOf(ctx context.Context, q db.Q, sender int64, phone string) (c contact, err error) {
	err = q.Get(ctx, &c, `SELECT `+contactColumns+` FROM wa_contacts WHERE sender_id = $1 AND phone_number = $2`, sender, phone)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return c, err
}

func (c contact) window(now time.Time) Window {
	return Window{Known: c.TalkID != nil, EndsAt: c.EndsAt.Time(), Customer: c.CustomerAt.Time(), Now: now}
}

// saveContact stores a contact; what was known of the name is kept.
func saveContact(ctx context.Context, tx *db.Tx, c *contact) error {
	return tx.Get(ctx, &c.ID, `INSERT INTO wa_contacts (sender_id, phone_number, name, conversation_id, window_ends_at, customer_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (sender_id, phone_number) DO UPDATE SET name = coalesce(wa_contacts.name, excluded.name), conversation_id = excluded.conversation_id,
		window_ends_at = excluded.window_ends_at, customer_at = excluded.customer_at RETURNING id`,
		c.SenderID, c.Phone, c.Name, c.TalkID, c.EndsAt, c.CustomerAt, db.At(tx.Now()))
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Message is one WhatsApp message in either direction.
type Message struct {
	ID        int64          `db:"id"`
	Owner     int64          `db:"account_id"`
	SenderID  int64          `db:"sender_id"`
	TalkID    *int64         `db:"conversation_id"`
	EntryID   *int64         `db:"entry_id"` // of the conversation's history
	Phone     string         `db:"phone_number"`
	Outbound  bool           `db:"outbound"`
	Initiated bool           `db:"initiated"` // by the business: counts as a unique recipient
	Kind      string         `db:"kind"`      // template category, freeform or inbound
	Text      string         `db:"text"`
	Ref       string         `db:"ref"`
	SID       *string        `db:"sid"`
	Status    DeliveryStatus `db:"status"`
	Price     int64          `db:"price"`
	ErrorCode *string        `db:"error_code"`
	ErrorText *string        `db:"error_message"`
	CreatedAt db.Time        `db:"created_at"`
	UpdatedAt db.Time        `db:"updated_at"`
}

const messageColumns = `id, account_id, sender_id, conversation_id, entry_id, phone_number, outbound, initiated, kind, text, ref, sid, status, price,
	error_code, error_message, created_at, updated_at`

func insertMessage(ctx context.Context, tx *db.Tx, msg *Message) error {
	now := db.At(tx.Now())
	msg.CreatedAt, msg.UpdatedAt = now, now
	return tx.Get(ctx, &msg.ID, `INSERT INTO wa_messages (account_id, sender_id, conversation_id, entry_id, phone_number, outbound, initiated, kind, text, ref, sid, status, price, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14) RETURNING id`,
		msg.Owner, msg.SenderID, msg.TalkID, msg.EntryID, msg.Phone, msg.Outbound, msg.Initiated, msg.Kind, msg.Text, msg.Ref, msg.SID, msg.Status, msg.Price, now)
}
