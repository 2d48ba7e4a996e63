package messaging

import (
	"context"
	"errors"
	"regexp"

	"parley/accounts"
	"parley/chats"
	"parley/db"
	"parley/fault"
)

var strictE164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// Send is a template to be sent.
type Send struct {
	Sender   SenderID
	Template TemplateID
	To, Name string
	Values   map[string]string
}

// Receipted is an accepted message.
type Receipted struct {
	Talk    chats.Conversation
	Entry   int64 // id in the conversation's history
	Message Message
	Window  Window
}

// SendTemplate sends an approved template; the checks and their order are those of contract 11.5.
func (m *Messaging) SendTemplate(ctx context.Context, owner accounts.ID, s Send) (Receipted, error) {
	if r, found, err := m.made(ctx, owner); found || err != nil {
		return r, err
	}
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
	msg := Message{Owner: owner, SenderID: sender.ID, Phone: s.To, Outbound: true, Initiated: true, Kind: t.Category, Text: text,
		Price: m.Prices.template(t.Category)}
	msg.Draft.V = draft{Name: s.Name, Said: chats.Outgoing{Text: text, Human: true}}
	return m.deliver(ctx, msg, Outgoing{Sender: sender, To: s.To, Template: &t, Params: params, Text: text}, "template")
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
	return online(sender)
}

func online(sender Sender) error {
	if sender.Status != SenderOnline {
		return fault.New(fault.Invalid, "SENDER_OFFLINE", "This sender cannot send while its status is %s. Bring it online, then try again.",
			sender.Status.Label())
	}
	return nil
}

// SendFreeform sends any text while the recipient's window is open (contract 11.6).
func (m *Messaging) SendFreeform(ctx context.Context, owner accounts.ID, senderID SenderID, to, text string) (Receipted, error) {
	if r, found, err := m.made(ctx, owner); found || err != nil {
		return r, err
	}
	sender, err := m.Sender(ctx, m.DB, owner, senderID)
	if err != nil {
		return Receipted{}, err
	}
	if err := reachable(sender, to); err != nil {
		return Receipted{}, err
	}
	c, err := contactOf(ctx, m.DB, sender.ID, Peer{Phone: to})
	if err != nil {
		return Receipted{}, err
	}
	if w := c.window(m.DB.Now()); c.TalkID == nil || !w.Open() {
		return Receipted{Window: w}, sessionExpired()
	}
	return m.freeform(ctx, sender, c, chats.Outgoing{Text: text, Human: true}, "freeform")
}

// Session is the answer of the session-status route.
type Session struct {
	Window
	Talk chats.ID
	Name *string // of the customer
}

// Session looks up the conversation with a recipient and its window; it writes nothing.
func (m *Messaging) Session(ctx context.Context, owner accounts.ID, senderID SenderID, phone string) (Session, error) {
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
	c, err := contactOf(ctx, m.DB, sender.ID, Peer{Phone: phone})
	if err != nil {
		return Session{}, err
	}
	s := Session{Window: c.window(m.DB.Now()), Name: c.Name}
	if c.TalkID != nil {
		s.Talk = *c.TalkID
	}
	return s, nil
}

func sessionExpired() error {
	return fault.New(fault.Forbidden, "SESSION_EXPIRED",
		"The 24-hour messaging window is over. Send a template, or wait until the customer writes.")
}

func badPhone() error {
	return fault.New(fault.Invalid, "INVALID_PHONE", "This phone number cannot be messaged. Write it in E.164 form, for example +14155551234.")
}
