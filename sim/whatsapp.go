package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/messaging"
)

// The pretend messaging platform keeps its own side of senders and templates: what it says is seen by us at the next
// synchronisation only.

type platformSender struct {
	Ref         string                 `db:"ref"`
	Account     accounts.ID            `db:"account_id"`
	Phone       string                 `db:"phone_number"`
	DisplayName string                 `db:"display_name"`
	Status      messaging.SenderStatus `db:"status"`
	Quality     string                 `db:"quality_rating"`
	Limit       *int64                 `db:"messaging_limit"`
	LimitKnown  bool                   `db:"limit_known"`
}

func (p platformSender) state() messaging.SenderState {
	return messaging.SenderState{Phone: p.Phone, DisplayName: p.DisplayName, Status: p.Status, Quality: p.Quality, Limit: p.Limit,
		LimitKnown: p.LimitKnown}
}

type platformTemplate struct {
	Ref         string                   `db:"ref"`
	SenderRef   string                   `db:"sender_ref"`
	Name        string                   `db:"name"`
	Language    string                   `db:"language"`
	Category    string                   `db:"category"`
	Status      messaging.TemplateStatus `db:"status"`
	Body        string                   `db:"body_text"`
	Variables   db.JSON[[]string]        `db:"variables"`
	AsksCalls   bool                     `db:"asks_call_permission"`
	RejectedFor *string                  `db:"rejected_reason"`
}

func (p platformTemplate) state() messaging.TemplateState {
	return messaging.TemplateState{Ref: p.Ref, Name: p.Name, Language: p.Language, Category: p.Category, Body: p.Body, Status: p.Status,
		Variables: p.Variables.V, AsksCalls: p.AsksCalls, RejectedFor: p.RejectedFor}
}

const (
	senderColumns   = `ref, account_id, phone_number, display_name, status, quality_rating, messaging_limit, limit_known`
	templateColumns = `ref, sender_ref, name, language, category, status, body_text, variables, asks_call_permission, rejected_reason`
)

// NewSender is a sender that appears at the platform.
type NewSender struct {
	AssistantID *assistants.ID
	messaging.SenderState
}

// CarrierName is the simulator among the carriers of senders.
const CarrierName = "simulator"

// AddSender makes a sender at the platform and attaches it to the account.
func (s *Sim) AddSender(ctx context.Context, account accounts.ID, n NewSender) (messaging.Sender, error) {
	var made messaging.Sender
	err := s.db.Do(ctx, func(tx *db.Tx) error {
		ref, err := addSender(ctx, tx, account, n.SenderState)
		if err != nil {
			return err
		}
		made, err = s.messaging().Attach(ctx, tx, account,
			messaging.NewSender{Phone: n.Phone, DisplayName: n.DisplayName, Carrier: CarrierName, Ref: ref, AssistantID: n.AssistantID,
				State: n.SenderState})
		return err
	})
	return made, err
}

func addSender(ctx context.Context, q db.Q, account accounts.ID, n messaging.SenderState) (ref string, err error) {
	ref = "sim_" + uuid.NewString()
	_, err = q.Exec(ctx, `INSERT INTO sim_senders (`+senderColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		ref, account, n.Phone, n.DisplayName, n.Status, n.Quality, n.Limit, n.LimitKnown)
	return ref, err
}

// ChangeSender changes the platform's side of a sender; sync makes it seen at once.
func (s *Sim) ChangeSender(ctx context.Context, account accounts.ID, id messaging.SenderID, change func(*messaging.SenderState),
	sync bool) (messaging.Sender, error) {
	ours, err := s.messaging().Sender(ctx, s.db, account, id)
	if err != nil {
		return ours, NotFound()
	}
	err = s.db.Do(ctx, func(tx *db.Tx) error {
		var p platformSender
		if err := tx.Get(ctx, &p, `SELECT `+senderColumns+` FROM sim_senders WHERE ref = $1 {{lock}}`, ours.CarrierRef); err != nil {
			return err
		}
		state := p.state()
		change(&state)
		if err := s.messaging().Free(ctx, tx, state.Phone, ours.ID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE sim_senders SET phone_number = $1, display_name = $2, status = $3, quality_rating = $4, messaging_limit = $5, limit_known = $6 WHERE ref = $7`,
			state.Phone, state.DisplayName, state.Status, state.Quality, state.Limit, state.LimitKnown, p.Ref)
		return err
	})
	if err == nil && sync {
		err = s.messaging().SyncSender(ctx, ours, s.db.Now())
	}
	if err != nil {
		return ours, err
	}
	return s.messaging().Sender(ctx, s.db, account, id)
}

// AddTemplate makes a template at the platform. One that is not synced is known to us only by its text.
func (s *Sim) AddTemplate(ctx context.Context, account accounts.ID, sender messaging.SenderID, t messaging.TemplateState,
	synced bool) (messaging.Template, error) {
	ours, err := s.messaging().Sender(ctx, s.db, account, sender)
	if err != nil {
		return messaging.Template{}, NotFound()
	}
	var made messaging.Template
	err = s.db.Do(ctx, func(tx *db.Tx) (err error) {
		if synced {
			if t.Ref, err = insertTemplate(ctx, tx, ours.CarrierRef, t); err != nil {
				return err
			}
		}
		made, err = s.messaging().TakeTemplate(ctx, tx, ours, t, tx.Now())
		return err
	})
	return made, err
}

func insertTemplate(ctx context.Context, q db.Q, sender string, t messaging.TemplateState) (ref string, err error) {
	ref = "HX" + strings.ReplaceAll(uuid.NewString(), "-", "")
	_, err = q.Exec(ctx, `INSERT INTO sim_templates (`+templateColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		ref, sender, t.Name, t.Language, t.Category, t.Status, t.Body, db.JSON[[]string]{V: t.Variables}, t.AsksCalls, t.RejectedFor)
	return ref, err
}

// ChangeTemplate changes the platform's side of a template.
func (s *Sim) ChangeTemplate(ctx context.Context, account accounts.ID, id messaging.TemplateID, change func(*messaging.TemplateState),
	sync bool) (messaging.Template, error) {
	ours, err := s.messaging().TemplateOf(ctx, s.db, account, id)
	if err != nil {
		return ours, NotFound()
	}
	sender, err := s.messaging().Sender(ctx, s.db, account, ours.SenderID)
	if err != nil {
		return ours, err
	}
	err = s.db.Do(ctx, func(tx *db.Tx) error {
		p := platformTemplate{Name: ours.Name, Language: ours.Language, Category: ours.Category, Status: ours.Status, Body: ours.Body,
			Variables: ours.Variables, AsksCalls: ours.AsksCalls, RejectedFor: ours.RejectedFor}
		err := tx.Get(ctx, &p, `SELECT `+templateColumns+` FROM sim_templates WHERE ref = $1 {{lock}}`, ours.CarrierRef)
		fresh := errors.Is(err, db.ErrNone) // submitted only now
		if err != nil && !fresh {
			return err
		}
		t := p.state()
		change(&t)
		if fresh {
			_, err = insertTemplate(ctx, tx, sender.CarrierRef, t)
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE sim_templates SET name = $1, language = $2, category = $3, status = $4, body_text = $5, variables = $6, asks_call_permission = $7, rejected_reason = $8 WHERE ref = $9`,
			t.Name, t.Language, t.Category, t.Status, t.Body, db.JSON[[]string]{V: t.Variables}, t.AsksCalls, t.RejectedFor, p.Ref)
		return err
	})
	if err == nil && sync {
		_, err = s.messaging().SyncTemplatesOf(ctx, account, sender.ID)
	}
	if err != nil {
		return ours, err
	}
	return s.messaging().TemplateOf(ctx, s.db, account, id)
}

// Gateway is the platform as messaging sees it.
type Gateway struct{ *Sim }

// Join makes a sender at the platform for whoever asks: here nobody has to prove anything.
func (g Gateway) Join(ctx context.Context, n messaging.Joining) (messaging.Joined, error) {
	state := messaging.SenderState{Phone: n.Phone, DisplayName: n.DisplayName, Status: messaging.SenderOnline, Quality: "GREEN",
		LimitKnown: true}
	if state.DisplayName == "" {
		state.DisplayName = n.Phone
	}
	ref, err := addSender(ctx, g.db, n.Owner, state)
	return messaging.Joined{Ref: ref, State: state}, err
}

// Sender reports the platform's side.
func (g Gateway) Sender(ctx context.Context, s messaging.Sender) (messaging.SenderState, error) {
	var p platformSender
	err := g.db.Get(ctx, &p, `SELECT `+senderColumns+` FROM sim_senders WHERE ref = $1`, s.CarrierRef)
	return p.state(), err
}

// Templates reports the platform's templates of a sender.
func (g Gateway) Templates(ctx context.Context, s messaging.Sender) ([]messaging.TemplateState, error) {
	var all []platformTemplate
	err := g.db.Select(ctx, &all, `SELECT `+templateColumns+` FROM sim_templates WHERE sender_ref = $1 ORDER BY ref`, s.CarrierRef)
	out := make([]messaging.TemplateState, len(all))
	for i, p := range all {
		out[i] = p.state()
	}
	return out, err
}

// Submit takes a template in; it stays pending until PUT /sim/whatsapp/templates decides.
func (g Gateway) Submit(ctx context.Context, s messaging.Sender, t messaging.Template) (string, error) {
	return insertTemplate(ctx, g.db, s.CarrierRef, messaging.TemplateState{Name: t.Name, Language: t.Language, Category: t.Category,
		Body: t.Body, Status: messaging.TemplatePending, Variables: t.Variables.V})
}

// Send accepts a message, shows it on the customer's phone and reports it sent at once, delivered a second later.
func (g Gateway) Send(ctx context.Context, o messaging.Outgoing) (string, error) {
	value, err := g.TakeFault(ctx, o.Sender.Owner, WhatsAppFault, func(string) bool { return true })
	if err != nil {
		return "", err
	}
	if code, rejects := strings.CutPrefix(value, "reject:"); rejects {
		return "", &messaging.Refusal{Code: code, Message: "The messaging platform refused the message."}
	}
	if value == "timeout" {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if err := g.fits(ctx, o); err != nil {
		return "", err
	}
	sid := "SM" + strings.ReplaceAll(uuid.NewString(), "-", "")
	name := ""
	if o.Template != nil {
		name = o.Template.Name
	}
	return sid, g.db.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO sim_messages (account_id, sender_id, phone_number, sid, direction, text, template, status, at, ref)
			VALUES ($1, $2, $3, $4, 'outbound', $5, $6, 'sent', $7, $8)`, o.Sender.Owner, o.Sender.ID, o.To, sid, o.Text, name, db.At(tx.Now()),
			o.Ref)
		return errors.Join(err, g.report(ctx, tx, delivery{Sender: o.Sender.ID, SID: sid, Ref: o.Ref, Status: messaging.Sent}, 0),
			g.report(ctx, tx, delivery{Sender: o.Sender.ID, SID: sid, Ref: o.Ref, Status: messaging.Delivered}, time.Second))
	})
}

// fits compares a template message with the platform's own copy.
func (g Gateway) fits(ctx context.Context, o messaging.Outgoing) error {
	if o.Template == nil {
		return nil
	}
	var p platformTemplate
	err := g.db.Get(ctx, &p, `SELECT `+templateColumns+` FROM sim_templates WHERE ref = $1`, o.Template.CarrierRef)
	if errors.Is(err, db.ErrNone) {
		return &messaging.Refusal{Code: "63016", Message: "The template does not exist."}
	}
	if err != nil {
		return err
	}
	theirs := messaging.Template{Body: p.Body}
	if len(theirs.Placeholders()) != len(o.Params) || p.Language != o.Template.Language {
		return &messaging.Refusal{Code: "63027",
			Message: "Template variables do not match. The messaging platform has other parameters or another language.", Mismatch: true}
	}
	return nil
}

// SMS accepts a text and shows it on the handset.
func (g Gateway) SMS(ctx context.Context, from, to, body, ref string) (string, error) {
	sid := "SM" + strings.ReplaceAll(uuid.NewString(), "-", "")
	_, err := g.db.Exec(ctx, `INSERT INTO sim_sms (phone_number, from_number, body, sid, at, ref) VALUES ($1, $2, $3, $4, $5, $6)`,
		to, from, body, sid, db.At(g.db.Now()), ref)
	return sid, err
}

// Sent finds the message that was accepted under a ref.
func (g Gateway) Sent(ctx context.Context, _ messaging.Sender, ref string) (sid string, err error) {
	err = orNone(g.db.Get(ctx, &sid, `SELECT sid FROM sim_messages WHERE ref = $1`, ref))
	return sid, err
}

// SentSMS finds the text that was accepted under a ref.
func (g Gateway) SentSMS(ctx context.Context, ref string) (sid string, err error) {
	err = orNone(g.db.Get(ctx, &sid, `SELECT sid FROM sim_sms WHERE ref = $1`, ref))
	return sid, err
}

// orNone is the error of a look that may find nothing.
func orNone(err error) error {
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	return err
}

// Text is a text a simulated handset has received.
type Text struct {
	From string  `db:"from_number" json:"from"`
	To   string  `db:"phone_number" json:"to"`
	Body string  `db:"body" json:"body"`
	SID  string  `db:"sid" json:"sid"`
	At   db.Time `db:"at" json:"-"`
}

// Texts lists what a handset has received, with "" what all have, oldest first.
func (s *Sim) Texts(ctx context.Context, phone string) ([]Text, error) {
	all := []Text{}
	err := s.db.Select(ctx, &all,
		`SELECT from_number, phone_number, body, sid, at FROM sim_sms WHERE $1 = '' OR phone_number = $1 ORDER BY id`, phone)
	return all, err
}

// Shown is a message as the customer's phone shows it; directions are ours.
type Shown struct {
	SID       string  `db:"sid" json:"message_sid"`
	Direction string  `db:"direction" json:"direction"`
	Text      string  `db:"text" json:"text"`
	Template  string  `db:"template" json:"-"`
	Status    string  `db:"status" json:"status"`
	At        db.Time `db:"at" json:"-"`
}

// Messages lists what a customer's phone shows, oldest first.
func (s *Sim) Messages(ctx context.Context, account accounts.ID, sender messaging.SenderID, phone string) ([]Shown, error) {
	all := []Shown{}
	err := s.db.Select(ctx, &all,
		`SELECT sid, direction, text, template, status, at FROM sim_messages WHERE account_id = $1 AND ($2 = 0 OR sender_id = $2) AND ($3 = '' OR phone_number = $3) ORDER BY id`, account, sender, phone)
	return all, err
}

// Write has a customer write to a sender, through the path of a real callback.
func (s *Sim) Write(ctx context.Context, account accounts.ID, in messaging.Incoming) (id string, err error) {
	if _, err := s.messaging().Sender(ctx, s.db, account, in.SenderID); err != nil {
		return "", NotFound()
	}
	if in.ID == "" {
		in.ID = "SM" + strings.ReplaceAll(uuid.NewString(), "-", "")
	}
	fresh, err := s.messaging().Receive(ctx, in)
	if err != nil || !fresh {
		return in.ID, err
	}
	_, err = s.db.Exec(ctx, `INSERT INTO sim_messages (account_id, sender_id, phone_number, sid, direction, text, template, status, at) VALUES ($1, $2, $3, $4, 'inbound', $5, '', 'received', $6)`,
		account, in.SenderID, in.From.Phone, in.ID, in.Text, db.At(s.db.Now()))
	return in.ID, err
}

const kindDelivery = "sim.delivery"

// delivery is a callback of the platform.
type delivery struct {
	Sender    messaging.SenderID       `json:"sender"`
	SID       string                   `json:"sid"`
	Ref       string                   `json:"ref"` // what the sending side called the message
	Status    messaging.DeliveryStatus `json:"status"`
	ErrorCode string                   `json:"error_code"`
	ErrorText string                   `json:"error_message"`
}

func (s *Sim) report(ctx context.Context, q db.Q, d delivery, later time.Duration) error {
	return s.jobs.Add(ctx, q, jobs.New{Kind: kindDelivery, Args: d, RunAt: s.db.Now().Add(later)})
}

// SetStatus has the platform report a status of a message, which it has reported sent before.
func (s *Sim) SetStatus(ctx context.Context, account accounts.ID, sid string, status messaging.DeliveryStatus, code, text string) error {
	var sender messaging.SenderID
	err := s.db.Get(ctx, &sender, `SELECT sender_id FROM sim_messages WHERE account_id = $1 AND sid = $2 AND direction = 'outbound'`,
		account, sid)
	if errors.Is(err, db.ErrNone) {
		return NotFound()
	}
	if err != nil {
		return err
	}
	if err := s.deliver(ctx, delivery{Sender: sender, SID: sid, Status: messaging.Sent}); err != nil { // unless it has been already
		return err
	}
	return s.deliver(ctx, delivery{Sender: sender, SID: sid, Status: status, ErrorCode: code, ErrorText: text})
}

func (s *Sim) deliver(ctx context.Context, d delivery) error {
	at := s.db.Now()
	err := s.messaging().Delivery(ctx, d.Sender,
		messaging.Update{SID: d.SID, Ref: d.Ref, Status: d.Status, ErrorCode: d.ErrorCode, ErrorText: d.ErrorText, At: at})
	if err != nil {
		return err
	}
	return s.db.Do(ctx, func(tx *db.Tx) error {
		var now messaging.DeliveryStatus
		if err := tx.Get(ctx, &now, `SELECT status FROM sim_messages WHERE sid = $1 {{lock}}`, d.SID); err != nil || !messaging.Forward(now, d.Status) {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE sim_messages SET status = $1 WHERE sid = $2`, d.Status, d.SID)
		return err
	})
}

// callBack delivers a report. The platform may be quicker than our record of what it accepted: then it asks again.
func (s *Sim) callBack(ctx context.Context, job jobs.Job) error {
	var d delivery
	if err := job.Decode(&d); err != nil {
		return err
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for range 250 {
		err := s.deliver(ctx, d)
		if !fault.Is(err, fault.NotFound) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return jobs.Never(errors.New("sim: nobody knows the message"))
}
