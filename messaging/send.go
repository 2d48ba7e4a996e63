package messaging

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"parley/assistants"
	"parley/chats"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/wire"
)

var strictE164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// Send is a template to be sent.
type Send struct {
	Sender, Template int64
	To, Name         string
	Values           map[string]string
}

// Receipted is an accepted message.
type Receipted struct {
	Talk    chats.Conversation
	Entry   int64 // id in the conversation's history
	Message Message
	Window  Window
}

// SendTemplate sends an approved template; the checks and their order are those of contract 11.5.
func (m *Messaging) SendTemplate(ctx context.Context, owner int64, s Send) (Receipted, error) {
	sender, err := m.Sender(ctx, m.DB, owner, s.Sender)
	if err != nil {
		return Receipted{}, err
	}
	t, err := m.template(ctx, m.DB, sender.ID, s.Template)
	if errors.Is(err, db.ErrNone) {
		return Receipted{}, fault.New(fault.NotFound, "TEMPLATE_NOT_FOUND", "This sender has no template with this id.")
	}
	if err != nil {
		return Receipted{}, err
	}
	text, params, err := m.sendable(sender, t, s)
	if err != nil {
		return Receipted{}, err
	}
	msg := Message{Owner: owner, SenderID: sender.ID, Phone: s.To, Outbound: true, Initiated: true, Kind: t.Category, Text: text, Price: m.Prices.template(t.Category)}
	if err := (Rate{m.DB, "template"}).Take(ctx, owner); err != nil {
		return Receipted{}, err
	}
	o := Outgoing{Sender: sender, To: s.To, Template: &t, Params: params, Text: text}
	return m.deliver(ctx, sender, msg, o, chats.Outgoing{Text: text, Human: true}, s.Name)
}

// sendable runs the checks that need no more than the sender and the template.
func (m *Messaging) sendable(sender Sender, t Template, s Send) (text string, params []string, err error) {
	invalid := func(code, format string, args ...any) error { return fault.New(fault.Invalid, code, format, args...) }
	if err := reachable(sender, s.To); err != nil {
		return "", nil, err
	}
	switch {
	case t.CarrierRef == "":
		return "", nil, invalid("TEMPLATE_NOT_SYNCED", "Template is not synced with the messaging platform yet.")
	case t.Status != TemplateApproved:
		return "", nil, invalid("TEMPLATE_NOT_APPROVED", "Only approved templates can be sent. The status of this one is %s.", t.Status.Shown())
	}
	if text, params, err = t.Fill(s.Values); err != nil {
		return "", nil, invalid("TEMPLATE_MISMATCH", "%s", err)
	}
	if sender.AssistantID == nil {
		return "", nil, invalid("NO_ASSISTANT_CONFIGURED", "No assistant is configured for this sender.")
	}
	if t.AsksCalls {
		switch {
		case !sender.LimitKnown:
			return "", nil, invalid("MESSAGING_LIMIT_UNAVAILABLE", "Messaging limit is not known yet.")
		case sender.Limit != nil && *sender.Limit < m.CallMinLimit:
			return "", nil, invalid("VOICE_CALL_LIMIT_NOT_MET", "The sender's messaging limit is too low for voice call requests.")
		}
	}
	return text, params, nil
}

func reachable(sender Sender, to string) error {
	if !strictE164.MatchString(to) {
		return badPhone()
	}
	if sender.Status != SenderOnline {
		return fault.New(fault.Invalid, "SENDER_OFFLINE", "This sender cannot send while its status is %s. Bring it online, then try again.", sender.Status.Label())
	}
	return nil
}

// SendFreeform sends any text while the recipient's window is open (contract 11.6).
func (m *Messaging) SendFreeform(ctx context.Context, owner, senderID int64, to, text string) (Receipted, error) {
	sender, err := m.Sender(ctx, m.DB, owner, senderID)
	if err != nil {
		return Receipted{}, err
	}
	if err := reachable(sender, to); err != nil {
		return Receipted{}, err
	}
	c, err := contactOf(ctx, m.DB, sender.ID, to)
	if err != nil {
		return Receipted{}, err
	}
	if w := c.window(m.DB.Now()); c.TalkID == nil || !w.Open() {
		return Receipted{Window: w}, fault.New(fault.Forbidden, "SESSION_EXPIRED", "The 24-hour messaging window is over. Send a template, or wait until the customer writes.")
	}
	if err := (Rate{m.DB, "freeform"}).Take(ctx, owner); err != nil {
		return Receipted{}, err
	}
	return m.freeform(ctx, sender, to, chats.Outgoing{Text: text, Human: true})
}

func (m *Messaging) freeform(ctx context.Context, sender Sender, to string, said chats.Outgoing) (Receipted, error) {
	msg := Message{Owner: sender.Owner, SenderID: sender.ID, Phone: to, Outbound: true, Kind: "freeform", Text: said.Text, Price: m.Prices.Freeform}
	return m.deliver(ctx, sender, msg, Outgoing{Sender: sender, To: to, Text: said.Text}, said, "")
}

// deliver reserves the price, hands the message to the platform and records what it answered. What a crash leaves
// between the two is cleaned up by the job "messaging.abandoned": nothing is charged that was not recorded as sent.
func (m *Messaging) deliver(ctx context.Context, sender Sender, msg Message, o Outgoing, said chats.Outgoing, name string) (Receipted, error) {
	msg.Ref = uuid.NewString()
	msg.Status = "sending"
	o.Ref = msg.Ref
	if err := m.reserve(ctx, sender, &msg); err != nil {
		return Receipted{}, err
	}
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	sid, err := m.Gateway.Send(limited, o)
	stop()
	ctx = context.WithoutCancel(ctx) // the platform has answered: the record is made whether or not the client still waits
	if err != nil {
		return Receipted{}, errors.Join(m.refused(ctx, sender, msg, o, err), carrierFault(err))
	}
	var r Receipted
	err = m.DB.Do(ctx, func(tx *db.Tx) (err error) {
		r, err = m.accepted(ctx, tx, sender, msg, o, said, sid, name)
		return err
	})
	return r, err
}

// reserve checks the unique-recipient limit and the balance, and takes both.
func (m *Messaging) reserve(ctx context.Context, sender Sender, msg *Message) error {
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		if msg.Initiated {
			if err := m.recipientFits(ctx, tx, sender.ID, msg.Phone); err != nil {
				return err
			}
		}
		if err := m.Ledger.Hold(ctx, tx, msg.Owner, msg.Ref, msg.Price); err != nil {
			if fault.Is(err, fault.NeedsPayment) {
				return tooLow()
			}
			return err
		}
		if err := insertMessage(ctx, tx, msg); err != nil {
			return err
		}
		return m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.abandoned", Args: abandonedArgs{msg.ID}, RunAt: tx.Now().Add(10 * time.Minute)})
	})
}

// recipientFits counts the distinct recipients of the last 24 hours while it holds the sender's row.
func (m *Messaging) recipientFits(ctx context.Context, tx *db.Tx, sender int64, phone string) error {
	var s Sender
	if err := tx.Get(ctx, &s, `UPDATE wa_senders SET turns = turns + 1 WHERE id = $1 RETURNING `+senderColumns, sender); err != nil {
		return err
	}
	if !s.LimitKnown || s.Limit == nil {
		return nil
	}
	since := db.At(tx.Now().Add(-24 * time.Hour))
	var n struct {
		Known int64 `db:"known"`
		All   int64 `db:"everybody"`
	}
	err := tx.Get(ctx, &n, `SELECT count(*) FILTER (WHERE phone_number = $1) AS known, count(DISTINCT phone_number) AS everybody
		FROM wa_messages WHERE sender_id = $2 AND initiated AND status <> 'failed' AND created_at > $3`, phone, sender, since)
	if err == nil && n.Known == 0 && n.All >= *s.Limit {
		return fault.New(fault.Invalid, "MESSAGING_LIMIT_UNAVAILABLE", "Messaging limit reached for this sender.")
	}
	return err
}

// accepted books the price and stores the message where it belongs.
func (m *Messaging) accepted(ctx context.Context, tx *db.Tx, sender Sender, msg Message, o Outgoing, said chats.Outgoing, sid, name string) (r Receipted, err error) {
	c, err := contactOf(ctx, tx, sender.ID, msg.Phone)
	if err != nil {
		return r, err
	}
	if r.Talk, err = m.talk(ctx, tx, sender, &c, msg.Phone, name); err != nil {
		return r, err
	}
	var entry chats.Entry
	if o.Template != nil {
		entry, err = m.Chats.TemplateSent(ctx, tx, r.Talk.ID, msg.Text, wire.Money(msg.Price))
		if !c.window(tx.Now()).Open() {
			c.EndsAt = db.At(tx.Now().Add(WindowSpan))
		}
	} else {
		entry, err = m.Chats.Said(ctx, tx, r.Talk.ID, said, wire.Money(msg.Price))
	}
	if err != nil {
		return r, err
	}
	if err := saveContact(ctx, tx, &c); err != nil {
		return r, err
	}
	if err := m.Ledger.Settle(ctx, tx, msg.Owner, msg.Ref, "whatsapp_"+msg.Kind, msg.Price, sender.AssistantID); err != nil {
		return r, err
	}
	msg.SID, msg.Status, msg.TalkID, msg.EntryID = &sid, Queued, (*int64)(&r.Talk.ID), &entry.ID
	_, err = tx.Exec(ctx, `UPDATE wa_messages SET sid = $1, status = $2, conversation_id = $3, entry_id = $4, updated_at = $5 WHERE id = $6`,
		sid, msg.Status, msg.TalkID, msg.EntryID, db.At(tx.Now()), msg.ID)
	r.Message, r.Entry, r.Window = msg, entry.ID, c.window(tx.Now())
	return r, err
}

// talk finds the conversation with a contact or opens it, and keeps what was learnt of the name.
func (m *Messaging) talk(ctx context.Context, tx *db.Tx, s Sender, c *contact, phone, name string) (chats.Conversation, error) {
	c.SenderID, c.Phone = s.ID, &phone
	if c.Name == nil {
		c.Name = orNil(name)
	}
	if c.TalkID != nil {
		id := chats.ID(*c.TalkID)
		if c.Name != nil {
			if err := m.Chats.Rename(ctx, tx, id, *c.Name, s.DisplayName); err != nil {
				return chats.Conversation{}, err
			}
		}
		return m.Chats.ByID(ctx, tx, id)
	}
	if s.AssistantID == nil {
		return chats.Conversation{}, errNobody
	}
	a, err := m.Assistants.ByID(ctx, tx, assistants.ID(*s.AssistantID))
	if err != nil {
		return chats.Conversation{}, err
	}
	customer := chats.Customer{Phone: phone}
	if c.Name != nil {
		customer.Name = *c.Name
	}
	talk, err := m.Chats.OverWhatsApp(ctx, tx, a, chats.Sender{ID: s.ID, Phone: s.Phone, Name: s.DisplayName}, customer)
	if err == nil {
		c.TalkID = (*int64)(&talk.ID)
	}
	return talk, err
}

// errNobody: without an assistant there is nobody to hold a conversation.
var errNobody = errors.New("messaging: the sender has no assistant")

// refused gives the price back. Where a conversation exists already the failure is part of its story.
func (m *Messaging) refused(ctx context.Context, sender Sender, msg Message, o Outgoing, cause error) error {
	err := m.DB.Do(ctx, func(tx *db.Tx) error {
		if err := m.Ledger.Release(ctx, tx, msg.Owner, msg.Ref); err != nil {
			return err
		}
		c, err := contactOf(ctx, tx, sender.ID, msg.Phone)
		if err != nil || c.TalkID == nil {
			_, err2 := tx.Exec(ctx, `DELETE FROM wa_messages WHERE id = $1`, msg.ID)
			return errors.Join(err, err2)
		}
		code, text := "UNKNOWN_ERROR", "Failed to send message."
		if r, ok := errors.AsType[*Refusal](cause); ok {
			code, text = r.Code, r.Message
		}
		_, err = tx.Exec(ctx, `UPDATE wa_messages SET status = 'failed', conversation_id = $1, error_code = $2, error_message = $3, updated_at = $4 WHERE id = $5`,
			c.TalkID, code, text, db.At(tx.Now()), msg.ID)
		return err
	})
	if err == nil && o.Template != nil {
		err = m.syncTemplates(ctx, sender, m.DB.Now()) // the platform knows better what is wrong with it
	}
	if err != nil {
		return fmt.Errorf("recording a refused message: %w", err)
	}
	return nil
}

type abandonedArgs struct {
	Message int64 `json:"message"`
}

// abandoned releases what a crash left between the reservation and the platform's answer.
func (m *Messaging) abandoned(ctx context.Context, job jobs.Job) error {
	var args abandonedArgs
	if err := job.Decode(&args); err != nil {
		return err
	}
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		var msg Message
		err := tx.Get(ctx, &msg, `DELETE FROM wa_messages WHERE id = $1 AND status = 'sending' RETURNING `+messageColumns, args.Message)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		return errors.Join(err, m.Ledger.Release(ctx, tx, msg.Owner, msg.Ref))
	})
}

// Session is the answer of the session-status route.
type Session struct {
	Window
	Talk int64
	Name *string // of the customer
}

// Session looks up the conversation with a recipient and its window; it writes nothing.
func (m *Messaging) Session(ctx context.Context, owner, senderID int64, phone string) (Session, error) {
	sender, err := m.Sender(ctx, m.DB, owner, senderID)
	if fault.Is(err, fault.NotFound) {
		return Session{}, fault.New(fault.NotFound, "SENDER_NOT_FOUND", "Sender not found")
	}
	if err != nil {
		return Session{}, err
	}
	if !strictE164.MatchString(phone) {
		return Session{}, badPhone()
	}
	c, err := contactOf(ctx, m.DB, sender.ID, phone)
	if err != nil {
		return Session{}, err
	}
	s := Session{Window: c.window(m.DB.Now()), Name: c.Name}
	if c.TalkID != nil {
		s.Talk = *c.TalkID
	}
	return s, nil
}

func badPhone() error {
	return fault.New(fault.Invalid, "INVALID_PHONE", "This phone number cannot be messaged. Write it in E.164 form, for example +14155551234.")
}
