package messaging

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/chats"
	"parley/db"
)

const senderColumns = `id, account_id, phone_number, display_name, status, quality_rating, messaging_limit, limit_known, assistant_id, ai_enabled,
	response_delay, receipts_url, carrier, carrier_ref, credentials, synced_at, created_at, updated_at`

const templateColumns = `id, account_id, sender_id, name, language, category, status, body_text, variables, examples, carrier_ref, asks_call_permission,
	rejected_reason, synced_at, created_at, updated_at`

// Sender reads a sender of the owner.
func (m *Messaging) Sender(ctx context.Context, q db.Q, owner accounts.ID, id SenderID) (Sender, error) {
	var s Sender
	err := q.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1 AND account_id = $2`, id, owner)
	if errors.Is(err, db.ErrNone) {
		return s, noSender()
	}
	return s, err
}

// locked is Sender, and nobody else changes it until tx ends.
func (m *Messaging) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, id SenderID) (Sender, error) {
	var s Sender
	err := tx.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1 AND account_id = $2 {{lock}}`, id, owner)
	if errors.Is(err, db.ErrNone) {
		return s, noSender()
	}
	return s, err
}

// Senders reads the owner's senders by id.
func (m *Messaging) Senders(ctx context.Context, q db.Q, owner accounts.ID) ([]Sender, error) {
	all := []Sender{}
	err := q.Select(ctx, &all, `SELECT `+senderColumns+` FROM wa_senders WHERE account_id = $1 ORDER BY id`, owner)
	return all, err
}

// Templates reads a sender's templates by id.
func (m *Messaging) Templates(ctx context.Context, q db.Q, sender SenderID) ([]Template, error) {
	all := []Template{}
	err := q.Select(ctx, &all, `SELECT `+templateColumns+` FROM wa_templates WHERE sender_id = $1 ORDER BY id`, sender)
	return all, err
}

func (m *Messaging) template(ctx context.Context, q db.Q, sender SenderID, id TemplateID) (t Template, err error) {
	err = q.Get(ctx, &t, `SELECT `+templateColumns+` FROM wa_templates WHERE id = $1 AND sender_id = $2`, id, sender)
	return t, err
}

// TemplateOf reads a template of the owner.
func (m *Messaging) TemplateOf(ctx context.Context, q db.Q, owner accounts.ID, id TemplateID) (t Template, err error) {
	err = q.Get(ctx, &t, `SELECT `+templateColumns+` FROM wa_templates WHERE id = $1 AND account_id = $2`, id, owner)
	return t, err
}

// contact is a customer as one sender knows them. The phone number is one way to know them, not who they are.
type contact struct {
	ID         int64     `db:"id"`
	SenderID   SenderID  `db:"sender_id"`
	Phone      *string   `db:"phone_number"`
	PlatformID *string   `db:"platform_id"`
	Name       *string   `db:"name"`
	TalkID     *chats.ID `db:"conversation_id"`
	EndsAt     db.Time   `db:"window_ends_at"`
	CustomerAt db.Time   `db:"customer_at"`
}

const contactColumns = `id, sender_id, phone_number, platform_id, name, conversation_id, window_ends_at, customer_at`

// Peer is a customer as a message names them: by number, by the platform's identifier, or by both.
type Peer struct {
	Phone string // E.164; empty when the platform hides it
	ID    string // the platform's; empty when it has none beside the number
}

// contactOf finds what a sender knows of a customer; the zero contact when nothing. The identifier goes before the
// number, which may change hands.
func contactOf(ctx context.Context, q db.Q, sender SenderID, p Peer) (c contact, err error) {
	err = q.Get(ctx, &c, `SELECT `+contactColumns+` FROM wa_contacts WHERE sender_id = $1 AND
		(platform_id = $2 AND $2 <> '' OR phone_number = $3 AND $3 <> '' AND (platform_id IS NULL OR $2 = ''))
		ORDER BY CASE WHEN platform_id = $2 THEN 0 ELSE 1 END LIMIT 1`, sender, p.ID, p.Phone)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return c, err
}

// contactIn finds the customer of a conversation.
func contactIn(ctx context.Context, q db.Q, talk chats.ID) (c contact, err error) {
	err = q.Get(ctx, &c, `SELECT `+contactColumns+` FROM wa_contacts WHERE conversation_id = $1`, talk)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return c, err
}

// learn keeps what a message tells about the customer that was not known.
func (c *contact) learn(p Peer, name string) {
	if c.Phone == nil {
		c.Phone = orNil(p.Phone)
	}
	if c.PlatformID == nil {
		c.PlatformID = orNil(p.ID)
	}
	if c.Name == nil {
		c.Name = orNil(name)
	}
}

func (c contact) peer() Peer { return Peer{orEmpty(c.Phone), orEmpty(c.PlatformID)} }

func (c contact) customer() chats.Customer {
	return chats.Customer{Phone: orEmpty(c.Phone), Name: orEmpty(c.Name)}
}

func (c contact) window(now time.Time) Window {
	return Window{Known: c.TalkID != nil, EndsAt: c.EndsAt.Time(), Customer: c.CustomerAt.Time(), Now: now}
}

// saveContact stores a contact while its sender is locked. A number goes over to who uses it now.
func saveContact(ctx context.Context, tx *db.Tx, c *contact) error {
	if _, err := tx.Exec(ctx, `UPDATE wa_contacts SET phone_number = NULL WHERE sender_id = $1 AND phone_number = $2 AND id <> $3`,
		c.SenderID, c.Phone, c.ID); err != nil {
		return err
	}
	if c.ID != 0 {
		_, err := tx.Exec(ctx, `UPDATE wa_contacts SET phone_number = $1, platform_id = $2, name = $3, conversation_id = $4, window_ends_at = $5, customer_at = $6 WHERE id = $7`,
			c.Phone, c.PlatformID, c.Name, c.TalkID, c.EndsAt, c.CustomerAt, c.ID)
		return err
	}
	return tx.Get(ctx, &c.ID, `INSERT INTO wa_contacts (sender_id, phone_number, platform_id, name, conversation_id, window_ends_at, customer_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		c.SenderID, c.Phone, c.PlatformID, c.Name, c.TalkID, c.EndsAt, c.CustomerAt, db.At(tx.Now()))
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Message is one WhatsApp message in either direction.
type Message struct {
	ID         int64          `db:"id"`
	Owner      accounts.ID    `db:"account_id"`
	SenderID   SenderID       `db:"sender_id"`
	TalkID     *chats.ID      `db:"conversation_id"`
	EntryID    *int64         `db:"entry_id"`     // of the conversation's history
	Phone      string         `db:"phone_number"` // empty when the platform hides it
	PlatformID string         `db:"platform_id"`  // of the customer; empty when unknown
	Outbound   bool           `db:"outbound"`
	Initiated  bool           `db:"initiated"` // by the business: counts as a unique recipient
	Kind       string         `db:"kind"`      // template category, freeform or inbound
	Text       string         `db:"text"`
	Ref        string         `db:"ref"`
	SID        *string        `db:"sid"`
	Status     DeliveryStatus `db:"status"`
	Price      int64          `db:"price"`
	ErrorCode  *string        `db:"error_code"`
	ErrorText  *string        `db:"error_message"`
	Draft      db.JSON[draft] `db:"draft"`
	CreatedAt  db.Time        `db:"created_at"`
	UpdatedAt  db.Time        `db:"updated_at"`
}

const messageColumns = `id, account_id, sender_id, conversation_id, entry_id, phone_number, platform_id, outbound, initiated, kind, text, ref, sid, status, price,
	error_code, error_message, draft, created_at, updated_at`

func (msg Message) peer() Peer { return Peer{msg.Phone, msg.PlatformID} }

func insertMessage(ctx context.Context, tx *db.Tx, msg *Message) error {
	now := db.At(tx.Now())
	msg.CreatedAt, msg.UpdatedAt = now, now
	return tx.Get(ctx, &msg.ID, `INSERT INTO wa_messages (account_id, sender_id, conversation_id, entry_id, phone_number, platform_id, outbound, initiated, kind, text, ref, sid, status, price, draft, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16) RETURNING id`,
		msg.Owner, msg.SenderID, msg.TalkID, msg.EntryID, msg.Phone, msg.PlatformID, msg.Outbound, msg.Initiated, msg.Kind, msg.Text, msg.Ref,
		msg.SID, msg.Status, msg.Price, msg.Draft, now)
}
