package api

import (
	"context"
	"errors"
	"strings"

	"parley/accounts"
	"parley/assistants"
	"parley/fault"
	"parley/messaging"
	"parley/value"
	"parley/webhooks"
	"parley/wire"
)

type senderOut struct {
	ID          int64       `json:"id"`
	Phone       string      `json:"phone_number"`
	DisplayName string      `json:"display_name"`
	Status      string      `json:"status"`
	Quality     string      `json:"quality_rating"`
	Limit       *int64      `json:"messaging_limit"`
	LimitText   string      `json:"messaging_limit_formatted"`
	Assistant   *int64      `json:"assistant_id"`
	AIEnabled   bool        `json:"ai_enabled"`
	Detail      string      `json:"status_detail"`
	SyncedAt    *value.Time `json:"last_synced_at"`
}

func senderOf(s messaging.Sender) senderOut {
	return senderOut{int64(s.ID), s.Phone, s.DisplayName, s.Status.Shown(), s.Quality, s.Limit, s.LimitFormatted(),
		(*int64)(s.AssistantID), s.AIEnabled,
		string(s.Status), timeOrNull(s.SyncedAt.Time())}
}

type templateOut struct {
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	Language     string      `json:"language"`
	Category     string      `json:"category"`
	Status       string      `json:"status"`
	Body         string      `json:"body_text"`
	Variables    []string    `json:"variables"`
	HasVariables bool        `json:"has_variables"`
	Detail       string      `json:"status_detail"`
	RejectedFor  *string     `json:"rejected_reason"`
	SyncedAt     *value.Time `json:"last_synced_at"`
}

func templateOf(t messaging.Template) templateOut {
	return templateOut{int64(t.ID), t.Name, t.Language, t.Category, t.Status.Shown(), t.Body, orEmpty(t.Variables.V),
		len(t.Placeholders()) > 0, string(t.Status), t.RejectedFor, timeOrNull(t.SyncedAt.Time())}
}

type sendersIn struct {
	Status string `query:"status" rule:"oneof=online|offline|all" default:"online"`
}

func (a *API) senders(ctx context.Context, in *sendersIn) (data[[]senderOut], error) {
	all, err := a.Messaging.Senders(ctx, a.DB, owner(ctx))
	out := data[[]senderOut]{[]senderOut{}}
	for _, s := range all {
		if in.Status == "all" || in.Status == s.Status.Shown() {
			out.Data = append(out.Data, senderOf(s))
		}
	}
	return out, err
}

type senderRef struct {
	ID int64 `path:"id"`
}

type templatesIn struct {
	Sender int64  `path:"senderId"`
	Status string `query:"status" rule:"oneof=approved|pending|rejected|all" default:"approved"`
}

// senderNotFound is the answer of the reading routes, in the specification's words.
func senderNotFound(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "SENDER_NOT_FOUND", "Sender not found")
	}
	return err
}

func (a *API) findTemplates(ctx context.Context, in *templatesIn) error {
	_, err := a.Messaging.Sender(ctx, a.DB, owner(ctx), messaging.SenderID(in.Sender))
	return senderNotFound(err)
}

func (a *API) templates(ctx context.Context, in *templatesIn) (data[[]templateOut], error) {
	all, err := a.Messaging.Templates(ctx, a.DB, messaging.SenderID(in.Sender))
	out := data[[]templateOut]{[]templateOut{}}
	for _, t := range all {
		if in.Status == "all" || in.Status == t.Status.Shown() {
			out.Data = append(out.Data, templateOf(t))
		}
	}
	return out, err
}

// windowOut is session_status: which keys are there depends on the window.
type windowOut struct {
	IsOpen    bool                   `json:"is_open"`
	Freeform  bool                   `json:"can_send_freeform"`
	Template  bool                   `json:"requires_template"`
	Message   string                 `json:"message"`
	Minutes   *int64                 `json:"minutes_remaining,omitempty"`
	ExpiresAt *value.Opt[value.Time] `json:"expires_at,omitempty"`
	ExpiredAt *value.Time            `json:"expired_at,omitempty"`
}

func windowOf(w messaging.Window) windowOut {
	out := windowOut{IsOpen: w.Open(), Freeform: w.Open(), Template: !w.Open(), Message: w.Message()}
	ends := &value.Opt[value.Time]{Set: true, Null: w.EndsAt.IsZero(), V: value.At(w.EndsAt)}
	switch {
	case !w.Known:
		out.ExpiresAt = &value.Opt[value.Time]{Set: true, Null: true}
	case w.Open():
		m := w.Minutes()
		out.Minutes, out.ExpiresAt = &m, ends
	default:
		if !w.EndsAt.IsZero() {
			out.ExpiredAt = &ends.V
		}
		if w.Customer.IsZero() {
			out.ExpiresAt = ends
		}
	}
	return out
}

type sessionIn struct {
	Sender int64  `query:"sender_id" rule:"required"`
	Phone  string `query:"recipient_phone" rule:"required"`
}

type sessionOut struct {
	Success bool                   `json:"success"`
	Has     bool                   `json:"has_conversation"`
	Talk    *int64                 `json:"conversation_id,omitempty"`
	Name    *value.Opt[string]     `json:"customer_name,omitempty"`
	LastAt  *value.Opt[value.Time] `json:"last_customer_message_at,omitempty"`
	Session windowOut              `json:"session_status"`
}

func (a *API) sessionStatus(ctx context.Context, in *sessionIn) (sessionOut, error) {
	s, err := a.Messaging.Session(ctx, owner(ctx), messaging.SenderID(in.Sender), in.Phone)
	out := sessionOut{Success: true, Has: s.Known, Session: windowOf(s.Window)}
	if s.Known {
		out.Talk = (*int64)(&s.Talk)
		out.Name = &value.Opt[string]{Set: true, Null: s.Name == nil}
		if s.Name != nil {
			out.Name.V = *s.Name
		}
		out.LastAt = &value.Opt[value.Time]{Set: true, Null: s.Customer.IsZero(), V: value.At(s.Customer)}
	}
	return out, err
}

// textValues are strings by name, as of a template's placeholders; numbers and booleans become strings.
type textValues map[string]string

// Bind refuses what is neither; "" is a string that fills no placeholder.
func (v *textValues) Bind(b value.Binder, in value.Value) {
	var s value.Scalars
	s.Bind(b, in)
	*v = textValues{}
	for _, m := range in.Members {
		switch {
		case m.Value.IsNull():
			b.At(m.Key).Fail("string")
		default:
			(*v)[m.Key] = strings.TrimSpace(m.Value.Text())
		}
	}
}

type sendIn struct {
	Sender    int64      `json:"sender_id" rule:"required"`
	Template  int64      `json:"template_id" rule:"required"`
	Phone     string     `json:"recipient_phone" rule:"required"`
	Name      string     `json:"recipient_name" rule:"max=255"`
	Variables textValues `json:"variables" trim:"no"`
}

type sentOut struct {
	Success  bool                     `json:"success"`
	Talk     int64                    `json:"conversation_id"`
	Entry    int64                    `json:"message_id"`
	Message  int64                    `json:"whatsapp_message_id"`
	SID      string                   `json:"message_sid"`
	Status   messaging.DeliveryStatus `json:"status"`
	TalkUUID string                   `json:"conversation_uuid"`
}

func sentOf(r messaging.Receipted) sentOut {
	out := sentOut{Success: true, Talk: int64(r.Talk.ID), Entry: r.Entry, Message: r.Message.ID, Status: r.Message.Status,
		TalkUUID: r.Talk.UUID}
	if r.Message.SID != nil {
		out.SID = *r.Message.SID
	}
	return out
}

func (a *API) sendTemplate(ctx context.Context, in *sendIn) (sentOut, error) {
	r, err := a.Messaging.SendTemplate(ctx, owner(ctx),
		messaging.Send{Sender: messaging.SenderID(in.Sender), Template: messaging.TemplateID(in.Template),
			To: in.Phone, Name: in.Name, Values: in.Variables})
	return sentOf(r), err
}

type freeformIn struct {
	Sender  int64  `json:"sender_id" rule:"required"`
	Phone   string `json:"recipient_phone" rule:"required"`
	Message string `json:"message" rule:"required min=1 max=4096" trim:"no"`
}

type freeformOut struct {
	Success  bool                     `json:"success"`
	Talk     int64                    `json:"conversation_id"`
	Entry    int64                    `json:"message_id"`
	Message  int64                    `json:"whatsapp_message_id"`
	SID      string                   `json:"message_sid"`
	Session  windowOut                `json:"session_status"`
	Status   messaging.DeliveryStatus `json:"status"`
	TalkUUID string                   `json:"conversation_uuid"`
}

func (a *API) sendFreeform(ctx context.Context, in *freeformIn) (freeformOut, error) {
	r, err := a.Messaging.SendFreeform(ctx, owner(ctx), messaging.SenderID(in.Sender), in.Phone, in.Message)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code == "SESSION_EXPIRED" {
		f.With("session_status", windowOf(r.Window))
	}
	s := sentOf(r)
	return freeformOut{true, s.Talk, s.Entry, s.Message, s.SID, windowOf(r.Window), s.Status, s.TalkUUID}, err
}

// sendRate is the exact limit of five sends a second; the room counts those that pass every check.
func (a *API) sendRate(kind string) wire.Limit {
	rate := messaging.Rate{DB: a.DB, Kind: kind}
	return func(ctx context.Context, who wire.Who) (wire.Quota, error) {
		left, err := rate.Peek(ctx, accounts.ID(who.Account))
		q := wire.Quota{Allowed: left.Remaining > 0, Limit: messaging.PerSecond, Remaining: left.Remaining, Reset: left.Reset}
		if q.Allowed {
			q.Remaining-- // what is left once this one is accepted
		}
		return q, err
	}
}

type senderChangeIn struct {
	ID          int64                `path:"id"`
	Assistant   value.Opt[value.Ref] `json:"assistant_id" rule:"null"`
	AIEnabled   value.Opt[bool]      `json:"ai_enabled"`
	Delay       value.Opt[int64]     `json:"response_delay" rule:"null min=0 max=300"`
	ReceiptsURL value.Opt[string]    `json:"receipts_webhook_url" rule:"null url public"`
	DisplayName value.Opt[string]    `json:"display_name" rule:"max=255"`
}

func (a *API) findSender(ctx context.Context, in *senderChangeIn) error {
	_, err := a.Messaging.Sender(ctx, a.DB, owner(ctx), messaging.SenderID(in.ID))
	return err
}

// senderChange is what a body changes on our side of a sender.
func (a *API) senderChange(ctx context.Context, in *senderChangeIn) (ch messaging.SenderChange, err error) {
	if in.Assistant.Set {
		id, err := a.activated(ctx, in.Assistant)
		if err != nil {
			return ch, err
		}
		ch.Assistant = &id
	}
	ch.AIEnabled, ch.DisplayName = in.AIEnabled.Ptr(), in.DisplayName.Ptr()
	if in.Delay.Set {
		d := in.Delay.Ptr()
		ch.ResponseDelay = &d
	}
	if in.ReceiptsURL.Set {
		ch.ReceiptsURL = &in.ReceiptsURL.V
	}
	return ch, nil
}

func (a *API) updateSender(ctx context.Context, in *senderChangeIn) (data[senderOut], error) {
	ch, err := a.senderChange(ctx, in)
	if err != nil {
		return data[senderOut]{}, err
	}
	s, err := a.Messaging.UpdateSender(ctx, owner(ctx), messaging.SenderID(in.ID), ch)
	return data[senderOut]{senderOf(s)}, err
}

type newSenderIn struct {
	Carrier     string               `json:"carrier" rule:"required max=64"`
	Phone       string               `json:"phone_number" rule:"required e164"`
	DisplayName value.Opt[string]    `json:"display_name" rule:"max=255"`
	Credentials textValues           `json:"credentials" trim:"no" doc:"As the carrier names them; never returned."`
	Assistant   value.Opt[value.Ref] `json:"assistant_id" rule:"null"`
	AIEnabled   value.Opt[bool]      `json:"ai_enabled"`
	Delay       value.Opt[int64]     `json:"response_delay" rule:"null min=0 max=300"`
	ReceiptsURL value.Opt[string]    `json:"receipts_webhook_url" rule:"null url public"`
}

func (a *API) createSender(ctx context.Context, in *newSenderIn) (data[senderOut], error) {
	ch, err := a.senderChange(ctx,
		&senderChangeIn{Assistant: in.Assistant, AIEnabled: in.AIEnabled, Delay: in.Delay, ReceiptsURL: in.ReceiptsURL})
	if err != nil {
		return data[senderOut]{}, err
	}
	s, err := a.Messaging.Join(ctx, messaging.Joining{Owner: owner(ctx), Carrier: in.Carrier, Phone: in.Phone,
		DisplayName: in.DisplayName.V, Credentials: in.Credentials}, ch)
	return data[senderOut]{senderOf(s)}, err
}

func (a *API) deleteSender(ctx context.Context, in *senderRef) (wire.Message, error) {
	return wire.Message{Message: "The sender was removed."}, a.Messaging.RemoveSender(ctx, owner(ctx), messaging.SenderID(in.ID))
}

type newTemplateIn struct {
	ID        int64    `path:"senderId"`
	Name      string   `json:"name" rule:"required max=512 pattern=^[a-z0-9_]+$"`
	Language  string   `json:"language" rule:"required max=15"`
	Category  string   `json:"category" rule:"required oneof=marketing|utility|authentication"`
	Body      string   `json:"body_text" rule:"required max=1024"`
	Variables []string `json:"variables" rule:"max=50 distinct"`
	Examples  []string `json:"examples" rule:"max=50"`
}

type templateSaved struct {
	Message string      `json:"message"`
	Data    templateOut `json:"data"`
}

func (a *API) findTemplateSender(ctx context.Context, in *newTemplateIn) error {
	_, err := a.Messaging.Sender(ctx, a.DB, owner(ctx), messaging.SenderID(in.ID))
	return err
}

func (a *API) createTemplate(ctx context.Context, in *newTemplateIn) (templateSaved, error) {
	t, err := a.Messaging.CreateTemplate(ctx, owner(ctx), messaging.SenderID(in.ID), messaging.NewTemplate{
		Name: in.Name, Language: in.Language, Category: in.Category, Body: in.Body, Variables: in.Variables, Examples: in.Examples})
	return templateSaved{"The template was handed in for approval.", templateOf(t)}, err
}

func (a *API) syncTemplates(ctx context.Context, in *senderRef) (data[[]templateOut], error) {
	all, err := a.Messaging.SyncTemplatesOf(ctx, owner(ctx), messaging.SenderID(in.ID))
	return data[[]templateOut]{each(all, templateOf)}, err
}

func (a *API) receiptsSecret(ctx context.Context, in *senderRef) (secretOut, error) {
	s, err := a.Messaging.Sender(ctx, a.DB, owner(ctx), messaging.SenderID(in.ID))
	if err != nil {
		return secretOut{}, err
	}
	secret, err := a.Webhooks.Secret(ctx, a.DB, webhooks.SenderScope(s.ID))
	return secretOut{secret}, err
}

// activated finds the assistant that is to answer at a sender and makes it active; nil for none.
func (a *API) activated(ctx context.Context, ref value.Opt[value.Ref]) (*assistants.ID, error) {
	if !ref.Has() {
		return nil, nil
	}
	found, err := a.Assistants.Get(ctx, a.DB, owner(ctx), ref.V)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Input(fault.Bad("assistant_id", "in"))
	}
	if err == nil {
		err = a.Assistants.Activate(ctx, a.DB, found.ID)
	}
	return &found.ID, err
}
