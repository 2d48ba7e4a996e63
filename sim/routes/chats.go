package routes

import (
	"context"
	"strconv"

	"parley/fault"
	"parley/messaging"
	"parley/sim"
	"parley/value"
)

type simText struct {
	sim.Text
	At value.Time `json:"at"`
}

type simTextsIn struct {
	Phone value.Opt[string] `query:"phone" rule:"e164" doc:"Of one handset; all when left out."`
}

func (r *Routes[A, S, T]) simTexts(ctx context.Context, in *simTextsIn) (data[[]simText], error) {
	if _, err := r.world(ctx); err != nil {
		return data[[]simText]{}, err
	}
	all, err := r.Sim.Texts(ctx, in.Phone.V)
	return data[[]simText]{each(all, func(t sim.Text) simText { return simText{t, value.At(t.At.Time())} })}, err
}

// simLimit is an integer, null for unlimited, or "unknown".
type simLimit struct {
	value   *int64
	unknown bool
}

// Bind takes the three forms.
func (l *simLimit) Bind(b value.Binder, v value.Value) {
	switch {
	case v.IsNull():
	case v.IsString() && v.Text() == "unknown":
		l.unknown = true
	default:
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil || n < 0 {
			b.Fail("integer")
		}
		l.value = &n
	}
}

type simSenderIn struct {
	ID          int64                `path:"id"`
	Phone       value.Opt[string]    `json:"phone_number" rule:"e164"`
	DisplayName value.Opt[string]    `json:"display_name" rule:"max=255"`
	Status      value.Opt[string]    `json:"status" rule:"oneof=online|offline|connecting|pending|suspended|failed"`
	Quality     value.Opt[string]    `json:"quality_rating" rule:"oneof=GREEN|YELLOW|RED"`
	Limit       value.Opt[simLimit]  `json:"messaging_limit" rule:"null"`
	Assistant   value.Opt[value.Ref] `json:"assistant_id" rule:"null"`
	Sync        bool                 `json:"sync"`
}

type newSimSenderIn struct {
	Phone       string               `json:"phone_number" rule:"required e164"`
	DisplayName string               `json:"display_name" rule:"max=255" default:"Shop"`
	Status      string               `json:"status" rule:"oneof=online|offline|connecting|pending|suspended|failed" default:"online"`
	Quality     string               `json:"quality_rating" rule:"oneof=GREEN|YELLOW|RED" default:"GREEN"`
	Limit       value.Opt[simLimit]  `json:"messaging_limit" rule:"null"`
	Assistant   value.Opt[value.Ref] `json:"assistant_id" rule:"null"`
}

func (r *Routes[A, S, T]) newSimSender(ctx context.Context, in *newSimSenderIn) (out S, err error) {
	id, err := r.world(ctx)
	if err != nil {
		return out, err
	}
	assistant, err := r.Activated(ctx, in.Assistant)
	if err != nil {
		return out, err
	}
	state := messaging.SenderState{Phone: in.Phone, DisplayName: in.DisplayName, Status: messaging.SenderStatus(in.Status),
		Quality: in.Quality, Limit: in.Limit.V.value, LimitKnown: !in.Limit.V.unknown}
	s, err := r.Sim.AddSender(ctx, id, sim.NewSender{AssistantID: assistant, SenderState: state})
	return r.shapes.Sender(s), err
}

func (r *Routes[A, S, T]) changeSimSender(ctx context.Context, in *simSenderIn) (out S, err error) {
	id, err := r.world(ctx)
	if err != nil {
		return out, err
	}
	if in.Assistant.Set {
		assistant, err := r.Activated(ctx, in.Assistant)
		if err != nil {
			return out, err
		}
		if _, err := r.Messaging.UpdateSender(ctx, id, messaging.SenderID(in.ID), messaging.SenderChange{Assistant: &assistant}); err != nil {
			return out, sim.NotFound()
		}
	}
	s, err := r.Sim.ChangeSender(ctx, id, messaging.SenderID(in.ID), func(st *messaging.SenderState) {
		st.Phone, st.DisplayName = in.Phone.Or(st.Phone), in.DisplayName.Or(st.DisplayName)
		st.Status = messaging.SenderStatus(in.Status.Or(string(st.Status)))
		st.Quality = in.Quality.Or(st.Quality)
		if in.Limit.Set {
			st.Limit, st.LimitKnown = in.Limit.V.value, !in.Limit.V.unknown
		}
	}, in.Sync)
	return r.shapes.Sender(s), err
}

type simTemplateIn struct {
	ID        int64               `path:"id"`
	Name      value.Opt[string]   `json:"name" rule:"max=512"`
	Language  value.Opt[string]   `json:"language" rule:"max=15"`
	Category  value.Opt[string]   `json:"category" rule:"oneof=marketing|utility|authentication"`
	Status    value.Opt[string]   `json:"status" rule:"oneof=approved|pending|rejected|paused|disabled|draft"`
	Body      value.Opt[string]   `json:"body_text" rule:"max=4096"`
	Variables value.Opt[[]string] `json:"variables" rule:"max=50"`
	Synced    value.Opt[bool]     `json:"synced"`
	AsksCalls value.Opt[bool]     `json:"asks_call_permission"`
	Sync      bool                `json:"sync"`
}

func (in *simTemplateIn) over(t *messaging.TemplateState) {
	t.Name, t.Language, t.Category = in.Name.Or(t.Name), in.Language.Or(t.Language), in.Category.Or(t.Category)
	t.Status, t.Body = messaging.TemplateStatus(in.Status.Or(string(t.Status))), in.Body.Or(t.Body)
	t.Variables, t.AsksCalls = in.Variables.Or(t.Variables), in.AsksCalls.Or(t.AsksCalls)
}

func (r *Routes[A, S, T]) newSimTemplate(ctx context.Context, in *simTemplateIn) (out T, err error) {
	id, err := r.world(ctx)
	if err != nil {
		return out, err
	}
	if !in.Name.Has() {
		return out, fault.Input(fault.Bad("name", "required"))
	}
	t := messaging.TemplateState{Language: "en", Category: "utility", Status: messaging.TemplateApproved, Variables: []string{}}
	in.over(&t)
	made, err := r.Sim.AddTemplate(ctx, id, messaging.SenderID(in.ID), t, in.Synced.Or(true))
	return r.shapes.Template(made), err
}

func (r *Routes[A, S, T]) changeSimTemplate(ctx context.Context, in *simTemplateIn) (out T, err error) {
	id, err := r.world(ctx)
	if err != nil {
		return out, err
	}
	t, err := r.Sim.ChangeTemplate(ctx, id, messaging.TemplateID(in.ID), in.over, in.Sync)
	return r.shapes.Template(t), err
}

type simInboundIn struct {
	Sender int64             `json:"sender_id" rule:"required"`
	From   string            `json:"from" rule:"required e164"`
	Name   value.Opt[string] `json:"name" rule:"null max=255"`
	Text   value.Opt[string] `json:"text" rule:"null max=65536" trim:"no"`
	Media  []struct {
		Type     string            `json:"type" rule:"required oneof=image|audio|voice|video|document"`
		URL      string            `json:"url" rule:"required url"`
		Filename value.Opt[string] `json:"filename" rule:"null max=255"`
	} `json:"media" rule:"max=10"`
	ID value.Opt[string] `json:"id" rule:"null max=255"`
}

type simInbound struct {
	ID string `json:"id"`
}

func (r *Routes[A, S, T]) simInboundMessage(ctx context.Context, in *simInboundIn) (data[simInbound], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[simInbound]{}, err
	}
	msg := messaging.Incoming{SenderID: messaging.SenderID(in.Sender), From: messaging.Peer{Phone: in.From}, ID: in.ID.V,
		Name: in.Name.V, Text: in.Text.V}
	for _, m := range in.Media {
		if m.Type == "voice" {
			m.Type = "audio"
		}
		msg.Files = append(msg.Files, messaging.File{Type: m.Type, URL: m.URL, Filename: m.Filename.V})
	}
	sid, err := r.Sim.Write(ctx, id, msg)
	return data[simInbound]{simInbound{sid}}, err
}

type simMessagesIn struct {
	Sender int64  `query:"sender_id"`
	Phone  string `query:"phone"`
}

type simMessage struct {
	SID       string     `json:"message_sid"`
	Direction string     `json:"direction"`
	Text      string     `json:"text"`
	Template  *string    `json:"template"`
	Status    string     `json:"status"`
	At        value.Time `json:"at"`
}

func (r *Routes[A, S, T]) simMessages(ctx context.Context, in *simMessagesIn) (data[[]simMessage], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[[]simMessage]{}, err
	}
	all, err := r.Sim.Messages(ctx, id, messaging.SenderID(in.Sender), in.Phone)
	return data[[]simMessage]{each(all, func(m sim.Shown) simMessage {
		out := simMessage{m.SID, m.Direction, m.Text, nil, m.Status, value.At(m.At.Time())}
		if m.Template != "" {
			out.Template = &m.Template
		}
		return out
	})}, err
}

// simCode is an error code as platforms write them: a string or a number.
type simCode string

// Bind takes both.
func (c *simCode) Bind(b value.Binder, v value.Value) {
	if text := v.Text(); !v.IsScalar() || len(text) > 64 {
		b.Fail("string")
	} else {
		*c = simCode(text)
	}
}

type simStatusIn struct {
	SID       string             `path:"message_sid"`
	Status    string             `json:"status" rule:"required oneof=sent|delivered|read|failed|undelivered"`
	ErrorCode value.Opt[simCode] `json:"error_code" rule:"null"`
	ErrorText value.Opt[string]  `json:"error_message" rule:"null max=1000"`
}

type simStatus struct {
	SID    string `json:"message_sid"`
	Status string `json:"status"`
}

func (r *Routes[A, S, T]) simStatus(ctx context.Context, in *simStatusIn) (data[simStatus], error) {
	id, err := r.world(ctx)
	if err != nil {
		return data[simStatus]{}, err
	}
	err = r.Sim.SetStatus(ctx, id, in.SID, messaging.DeliveryStatus(in.Status), string(in.ErrorCode.V), in.ErrorText.V)
	return data[simStatus]{simStatus{in.SID, in.Status}}, err
}
