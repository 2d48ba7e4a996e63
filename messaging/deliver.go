package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/chats"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/once"
	"parley/value"

	"github.com/google/uuid"
)

// draft is what a message brings into its conversation once the platform has accepted it.
type draft struct {
	Name string         `json:"name,omitempty"` // of the customer, as the sending side calls them
	Said chats.Outgoing `json:"said"`
}

// freeform sends text in an open window. rate names the limit it counts for; empty = none, as for answers.
func (m *Messaging) freeform(ctx context.Context, sender Sender, with contact, said chats.Outgoing, rate string) (Receipted, error) {
	to := with.peer()
	msg := Message{Owner: sender.Owner, SenderID: sender.ID, TalkID: with.TalkID, Phone: to.Phone, PlatformID: to.ID, Outbound: true,
		Kind: "freeform", Text: said.Text, Price: m.Prices.Freeform}
	msg.Draft.V.Said = said
	return m.deliver(ctx, msg, Outgoing{Sender: sender, To: to.Phone, ToID: to.ID, Text: said.Text}, rate)
}

// deliver reserves the price, hands the message to the platform and records what it answered. A crash between the two
// leaves a message that is "sending": a callback that names it completes it, and the job "messaging.abandoned" gives its
// price back. So nothing is charged that was not sent, and nothing is charged twice.
func (m *Messaging) deliver(ctx context.Context, msg Message, o Outgoing, rate string) (Receipted, error) {
	key, _ := once.Ref(ctx)
	msg.Ref = cmp.Or(key, uuid.NewString())
	msg.Status = Sending
	o.Ref = msg.Ref
	if err := m.reserve(ctx, &msg, rate); err != nil {
		return Receipted{}, err
	}
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	sid, err := m.platform(o.Sender).Send(limited, o)
	stop()
	ctx = context.WithoutCancel(ctx) // the platform has answered: the record is made whether or not the client still waits
	if err != nil {
		return Receipted{}, fault.Final(errors.Join(m.refused(ctx, msg, o, err), carrierFault(err)))
	}
	var r Receipted
	err = m.DB.Do(ctx, func(tx *db.Tx) (err error) {
		r, err = m.accepted(ctx, tx, msg, sid)
		return err
	})
	r.Message.Status = Queued // a callback that was quicker is told by its receipt
	return r, err
}

// reserve checks the unique-recipient limit, the balance and the rate, and takes all three.
func (m *Messaging) reserve(ctx context.Context, msg *Message, rate string) error {
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		if msg.Initiated {
			if err := m.recipientFits(ctx, tx, msg.SenderID, msg.Phone); err != nil {
				return err
			}
		}
		if err := m.Ledger.Hold(ctx, tx, msg.Owner, msg.Ref, msg.Price); err != nil {
			if fault.Is(err, fault.NeedsPayment) {
				return tooLow()
			}
			return err
		}
		if rate != "" {
			if err := (Rate{m.DB, rate}).Take(ctx, tx, msg.Owner); err != nil {
				return err
			}
		}
		if err := insertMessage(ctx, tx, msg); err != nil {
			return err
		}
		if err := once.Begun(ctx, tx); err != nil {
			return err
		}
		return m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.abandoned", Args: abandonedArgs{Message: msg.ID}, RunAt: tx.Now().Add(abandonAfter)})
	})
}

// inUse reads a sender, whoever owns it, and keeps other transactions that change it, its contacts or recipients off it.
func (m *Messaging) inUse(ctx context.Context, tx *db.Tx, sender SenderID) (s Sender, err error) {
	err = tx.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1 {{lock}}`, sender)
	if errors.Is(err, db.ErrNone) {
		err = noSender()
	}
	return s, err
}

// recipientFits counts the distinct recipients of the last 24 hours.
func (m *Messaging) recipientFits(ctx context.Context, tx *db.Tx, sender SenderID, phone string) error {
	s, err := m.inUse(ctx, tx, sender)
	if err != nil || !s.LimitKnown || s.Limit == nil {
		return err
	}
	since := db.At(tx.Now().Add(-24 * time.Hour))
	var n struct {
		Known int64 `db:"known"`
		All   int64 `db:"everybody"`
	}
	err = tx.Get(ctx, &n, `SELECT count(*) FILTER (WHERE phone_number = $1) AS known, count(DISTINCT phone_number) AS everybody
		FROM wa_messages WHERE sender_id = $2 AND initiated AND status NOT IN ('failed', 'lost') AND created_at > $3`, phone, sender, since)
	if err == nil && n.Known == 0 && n.All >= *s.Limit {
		return fault.New(fault.Invalid, "MESSAGING_LIMIT_UNAVAILABLE", "Messaging limit reached for this sender.")
	}
	return err
}

// accepted books the price and stores the message where it belongs, once: when a callback was quicker, or a retry of the
// transaction finds it done, it only reads what is there.
func (m *Messaging) accepted(ctx context.Context, tx *db.Tx, msg Message, sid string) (r Receipted, err error) {
	sender, err := m.inUse(ctx, tx, msg.SenderID)
	if err != nil {
		return r, err
	}
	err = tx.Get(ctx, &msg, `UPDATE wa_messages SET sid = $1, status = 'queued', updated_at = $2 WHERE id = $3 AND status IN ('sending', 'lost') RETURNING `+messageColumns,
		sid, db.At(tx.Now()), msg.ID)
	if errors.Is(err, db.ErrNone) {
		return m.stored(ctx, tx, msg.ID)
	}
	if err != nil {
		return r, err
	}
	c, err := contactOf(ctx, tx, sender.ID, msg.peer())
	if err != nil {
		return r, err
	}
	d := msg.Draft.V
	if r.Talk, err = m.talk(ctx, tx, sender, &c, msg.peer(), d.Name); err != nil {
		return r, err
	}
	var entry chats.Entry
	if msg.Initiated {
		entry, err = m.Chats.TemplateSent(ctx, tx, r.Talk.ID, msg.Text, value.Money(msg.Price))
		if !c.window(tx.Now()).Open() {
			c.EndsAt = db.At(tx.Now().Add(WindowSpan))
		}
	} else {
		entry, err = m.Chats.Said(ctx, tx, r.Talk.ID, d.Said, value.Money(msg.Price))
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
	msg.TalkID, msg.EntryID = &r.Talk.ID, &entry.ID
	_, err = tx.Exec(ctx, `UPDATE wa_messages SET conversation_id = $1, entry_id = $2, draft = '{}' WHERE id = $3`,
		msg.TalkID, msg.EntryID, msg.ID)
	r.Message, r.Entry, r.Window = msg, entry.ID, c.window(tx.Now())
	return r, err
}

// stored reads an accepted message, and keeps callbacks off it.
func (m *Messaging) stored(ctx context.Context, tx *db.Tx, id int64) (r Receipted, err error) {
	if err = tx.Get(ctx, &r.Message, `SELECT `+messageColumns+` FROM wa_messages WHERE id = $1 {{lock}}`, id); err != nil {
		return r, err
	}
	if r.Message.TalkID == nil || r.Message.EntryID == nil {
		return r, fmt.Errorf("message %d is not with its conversation", id)
	}
	r.Entry = *r.Message.EntryID
	if r.Talk, err = m.Chats.ByID(ctx, tx, *r.Message.TalkID); err != nil {
		return r, err
	}
	c, err := contactOf(ctx, tx, r.Message.SenderID, r.Message.peer())
	r.Window = c.window(tx.Now())
	return r, err
}

// talk finds the conversation with a contact or opens it, and keeps what was learnt of the customer. It is that of the
// assistant the sender has now.
func (m *Messaging) talk(ctx context.Context, tx *db.Tx, s Sender, c *contact, p Peer, name string) (chats.Conversation, error) {
	c.SenderID = s.ID
	c.learn(p, name)
	a, err := m.host(ctx, tx, s)
	if err != nil {
		return chats.Conversation{}, err
	}
	if c.TalkID == nil {
		talk, err := m.Chats.OverWhatsApp(ctx, tx, s.Owner, a, chats.Sender{ID: s.ID, Phone: s.Phone, Name: s.DisplayName},
			c.customer())
		c.TalkID = &talk.ID
		return talk, err
	}
	id := *c.TalkID
	err = m.Chats.Learn(ctx, tx, id, c.customer(), s.DisplayName)
	if err == nil && a.ID != 0 {
		err = m.Chats.Adopt(ctx, tx, id, a.ID)
	}
	if err != nil {
		return chats.Conversation{}, err
	}
	return m.Chats.ByID(ctx, tx, id)
}

// host is the sender's assistant; the zero one when nobody answers there.
func (m *Messaging) host(ctx context.Context, tx *db.Tx, s Sender) (a assistants.Assistant, err error) {
	if s.AssistantID == nil {
		return a, nil
	}
	a, err = m.Assistants.ByID(ctx, tx, *s.AssistantID)
	if fault.Is(err, fault.NotFound) {
		return assistants.Assistant{}, nil
	}
	return a, err
}

// refused gives the price back. Where a conversation exists already the failure is part of its story.
func (m *Messaging) refused(ctx context.Context, msg Message, o Outgoing, cause error) error {
	refusal, said := errors.AsType[*Refusal](cause)
	err := once.Ending(ctx, m.DB, func(tx *db.Tx) error {
		c, err := contactOf(ctx, tx, msg.SenderID, msg.peer())
		if err != nil {
			return err
		}
		code, text := "UNKNOWN_ERROR", "Failed to send message."
		if said {
			code, text = refusal.Code, refusal.Message
		}
		var n int64
		if c.TalkID == nil {
			n, err = tx.Exec(ctx, `DELETE FROM wa_messages WHERE id = $1 AND status IN ('sending', 'lost')`, msg.ID)
		} else {
			n, err = tx.Exec(ctx, `UPDATE wa_messages SET status = 'failed', conversation_id = $1, error_code = $2, error_message = $3, updated_at = $4
				WHERE id = $5 AND status IN ('sending', 'lost')`, c.TalkID, code, text, db.At(tx.Now()), msg.ID)
		}
		if err != nil || n == 0 { // a callback said meanwhile that it went out: it is sent, and paid
			return err
		}
		return m.Ledger.Release(ctx, tx, msg.Owner, msg.Ref)
	})
	if err == nil && o.Template != nil && said {
		err = m.syncTemplates(ctx, o.Sender, m.DB.Now()) // the platform knows better what is wrong with it
	}
	if err != nil {
		return fmt.Errorf("recording a refused message: %w", err)
	}
	return nil
}

// abandonAfter is when a message without an answer of its platform counts as not sent.
const abandonAfter = 10 * time.Minute

type abandonedArgs struct {
	Message int64 `json:"message,omitempty"`
	SMS     int64 `json:"sms,omitempty"`
}

// abandoned releases what a crash left between the reservation and the platform's answer.
func (m *Messaging) abandoned(ctx context.Context, job jobs.Job) error {
	var args abandonedArgs
	if err := job.Decode(&args); err != nil {
		return err
	}
	table, id := "wa_messages", args.Message
	if args.SMS != 0 {
		table, id = "sms", args.SMS
	}
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		var left struct {
			Owner accounts.ID `db:"account_id"`
			Ref   string      `db:"ref"`
		}
		err := tx.Get(ctx, &left, `UPDATE `+table+` SET status = 'lost' WHERE id = $1 AND status = 'sending' RETURNING account_id, ref`, id)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		return m.Ledger.Release(ctx, tx, left.Owner, left.Ref)
	})
}
