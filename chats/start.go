package chats

import (
	"context"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/placeholders"
	"parley/value"

	"github.com/google/uuid"
)

// Start is a request for a conversation on a page.
type Start struct {
	Caller    accounts.ID // 0 without a key
	Assistant value.Ref
	Type      string // Widget or Test
	Variables value.Scalars
}

// Begin opens a widget or test conversation with the assistant's greeting.
func (s *Chats) Begin(ctx context.Context, in Start) (Conversation, []Entry, error) {
	a, err := s.hostOf(ctx, in)
	if err != nil {
		return Conversation{}, nil, err
	}
	var c Conversation
	var greeting Entry
	err = s.db.Do(ctx, func(tx *db.Tx) error {
		if in.Type == Widget && s.money.Afford != nil {
			if err := s.money.Afford(ctx, tx, a.Owner); err != nil {
				return balance(err)
			}
		}
		c = Conversation{Owner: a.Owner, Assistant: a.ID, AssistantUUID: a.UUID, AssistantName: a.Name, Type: in.Type, Variables: in.Variables,
			UUID: uuid.NewString()}
		if err := s.insert(ctx, tx, &c); err != nil {
			return err
		}
		greeting = Entry{Role: Assistant, Text: placeholders.Fill(a.InitialMessage, s.values(c, a), placeholders.Spoken)}
		if err := s.append(ctx, tx, &c, &greeting, 0); err != nil {
			return err
		}
		if in.Type == Widget {
			return s.assistants.Activate(ctx, tx, a.ID)
		}
		return nil
	})
	if err != nil {
		return Conversation{}, nil, err
	}
	return c, []Entry{greeting}, nil
}

// hostOf finds the assistant that a page asks for. A test needs the owner's key; a widget anybody may open.
func (s *Chats) hostOf(ctx context.Context, in Start) (assistants.Assistant, error) {
	if in.Type == Test && in.Caller == 0 {
		return assistants.Assistant{}, fault.ErrUnauthenticated
	}
	var a assistants.Assistant
	err := error(ErrNoAssistant)
	if in.Caller != 0 {
		a, err = s.assistants.Get(ctx, s.db, in.Caller, in.Assistant)
	}
	if in.Type == Widget && fault.Is(err, fault.NotFound) && in.Assistant.UUID != "" {
		a, err = s.assistants.ByUUID(ctx, s.db, in.Assistant.UUID)
	}
	if err != nil {
		return a, err
	}
	if in.Type == Widget && !Serves(a) {
		return a, ErrNoAssistant
	}
	return a, nil
}

// Serves reports whether strangers may chat with the assistant.
func Serves(a assistants.Assistant) bool { return !a.Paused && a.WidgetSettings.Enabled }

// AllowedOrigins are the only pages that may embed the assistant; none means any.
func AllowedOrigins(a assistants.Assistant) []string { return a.WidgetSettings.AllowedOrigins }

// values are what placeholders in the texts of a conversation stand for.
func (s *Chats) values(c Conversation, a assistants.Assistant) placeholders.Values {
	var known value.Scalars
	if c.Customer.Name != "" {
		known = value.Scalars{{Name: "customer_name", Value: c.Customer.Name}}
	}
	facts := agent.Facts{CustomerPhone: c.Customer.Phone, AssistantPhone: c.Sender.Phone, ConversationID: c.UUID}
	return s.mind.Values(a, facts, c.Variables, known)
}

// External finds or opens the api conversation of an assistant with a customer the caller names.
func (s *Chats) External(ctx context.Context, a assistants.Assistant, customer string,
	variables value.Scalars) (c Conversation, err error) {
	err = s.db.Do(ctx, func(tx *db.Tx) error {
		c, err = s.one(ctx, tx, `c.assistant_id = $1 AND c.external_identifier = $2 AND c.type = 'api'`, int64(a.ID), customer)
		if err == nil {
			c, err = s.merge(ctx, tx, c, variables)
			return err
		}
		if err != ErrNotFound {
			return err
		}
		c = Conversation{Owner: a.Owner, Assistant: a.ID, AssistantUUID: a.UUID, AssistantName: a.Name, Type: API, Variables: variables,
			External: customer, UUID: uuid.NewString()}
		if len(variables) == 0 {
			c.Variables = nil
		}
		return s.insert(ctx, tx, &c)
	})
	if db.IsUniqueOf(err, "conversations_external", "conversations.assistant_id, conversations.external_identifier") { // somebody else opened it in the same moment
		return s.one(ctx, s.db, `c.assistant_id = $1 AND c.external_identifier = $2 AND c.type = 'api'`, int64(a.ID), customer)
	}
	return c, err
}

// OverWhatsApp opens a conversation over a sender, with the zero assistant when nobody answers there; messaging finds
// existing ones by their id.
func (s *Chats) OverWhatsApp(ctx context.Context, tx *db.Tx, owner accounts.ID, a assistants.Assistant, from Sender,
	with Customer) (Conversation, error) {
	c := Conversation{Owner: owner, Assistant: a.ID, AssistantUUID: a.UUID, AssistantName: a.Name, Type: WhatsApp, Sender: from,
		Customer: with, UUID: uuid.NewString()}
	return c, s.insert(ctx, tx, &c)
}

// Adopt makes a conversation that of another assistant; the same one changes nothing.
func (s *Chats) Adopt(ctx context.Context, tx *db.Tx, id ID, by assistants.ID) error {
	_, err := tx.Exec(ctx, `UPDATE conversations SET assistant_id = $2, speaker_id = $2 WHERE id = $1 AND (assistant_id IS NULL OR assistant_id <> $2)`, int64(id), int64(by))
	return err
}

// Heard stores a customer's message that arrived over a channel and reopens the conversation where the rules say so.
func (s *Chats) Heard(ctx context.Context, tx *db.Tx, id ID, text string, files []Attachment) (Entry, error) {
	c, err := s.locked(ctx, tx, id)
	if err != nil {
		return Entry{}, err
	}
	a, err := s.assistants.ByID(ctx, tx, c.Assistant)
	if err != nil && !fault.Is(err, fault.NotFound) { // without an assistant it is kept all the same
		return Entry{}, err
	}
	e := Entry{Role: User, Text: text, Attachments: files}
	if err := s.append(ctx, tx, &c, &e, 0); err != nil {
		return Entry{}, err
	}
	return e, s.reopen(ctx, tx, &c, a)
}

// Said stores what was sent to the customer over a channel, at its cost, and does what comes with it.
func (s *Chats) Said(ctx context.Context, tx *db.Tx, id ID, o Outgoing, cost value.Money) (Entry, error) {
	c, err := s.ByID(ctx, tx, id)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Role: Assistant, Text: o.Text, Uses: o.Uses, trace: o.Trace}
	if err := s.append(ctx, tx, &c, &e, 0); err != nil {
		return Entry{}, err
	}
	if err := s.spend(ctx, tx, c.ID, cost); err != nil {
		return e, err
	}
	return e, s.follow(ctx, tx, c, o.Then)
}

// TemplateSent stores a template message; any ended conversation is open again.
func (s *Chats) TemplateSent(ctx context.Context, tx *db.Tx, id ID, text string, cost value.Money) (Entry, error) {
	e, err := s.Said(ctx, tx, id, Outgoing{Text: text, Human: true}, cost)
	if err != nil {
		return e, err
	}
	_, err = tx.Exec(ctx, `UPDATE conversations SET state = 'open', ended_at = NULL WHERE id = $1 AND state = 'ended'`, int64(id))
	return e, err
}

// Refund takes a cost off a conversation.
func (s *Chats) Refund(ctx context.Context, tx *db.Tx, id ID, cost value.Money) error {
	return s.spend(ctx, tx, id, -cost)
}

func (s *Chats) spend(ctx context.Context, tx *db.Tx, id ID, cost value.Money) error {
	if cost == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE conversations SET total_cost = total_cost + $2 WHERE id = $1`, int64(id), int64(cost))
	return err
}

// Learn keeps what was learnt of the customer and the sender's shown name; empty values change nothing.
func (s *Chats) Learn(ctx context.Context, q db.Q, id ID, customer Customer, sender string) error {
	_, err := q.Exec(ctx, `UPDATE conversations SET customer_name = CASE WHEN $2 = '' THEN customer_name ELSE CAST($2 AS TEXT) END,
		sender_name = CASE WHEN $3 = '' THEN sender_name ELSE CAST($3 AS TEXT) END,
		customer_phone = CASE WHEN $4 = '' THEN customer_phone ELSE CAST($4 AS TEXT) END WHERE id = $1`,
		int64(id), customer.Name, sender, customer.Phone)
	return err
}

// SetAI switches the assistant on or off in a conversation. A reply that is being made is discarded when it is off.
func (s *Chats) SetAI(ctx context.Context, owner accounts.ID, ref value.Ref, on bool) error {
	return s.db.Do(ctx, func(tx *db.Tx) error {
		c, err := s.Get(ctx, tx, owner, ref)
		if err != nil {
			return err
		}
		if c, err = s.locked(ctx, tx, c.ID); err != nil || c.AIEnabled == on {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE conversations SET ai_enabled = $2 WHERE id = $1`, int64(c.ID), on); err != nil {
			return err
		}
		mark := Entry{Role: System, Text: map[bool]string{true: "The assistant answers again.", false: "A person took over."}[on]}
		s.tell(tx, c, "state", 0)
		return s.append(ctx, tx, &c, &mark, 0)
	})
}

// Say sends a person's words to the customer on the conversation's channel.
func (s *Chats) Say(ctx context.Context, owner accounts.ID, ref value.Ref, words string) error {
	c, err := s.Get(ctx, s.db, owner, ref)
	if err != nil {
		return err
	}
	o := Outgoing{Text: words, Human: true}
	if channel := s.beside.Channels[c.Type]; channel != nil {
		return channel.Send(ctx, c, o)
	}
	return s.db.Do(ctx, func(tx *db.Tx) error {
		_, err := s.Said(ctx, tx, c.ID, o, 0)
		return err
	})
}

// balance words a refusal for want of money as this room does.
func balance(err error) error {
	if fault.Is(err, fault.NeedsPayment) {
		return ErrBalance
	}
	return err
}

// replyTime is how long a customer waits for an answer.
const replyTime = 60 * time.Second
