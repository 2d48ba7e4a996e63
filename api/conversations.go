package api

import (
	"context"
	"strconv"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/chats"
	"parley/fault"
	"parley/value"
	"parley/wire"

	"github.com/google/uuid"
)

type beginIn struct {
	AssistantID value.Value   `json:"assistant_id" rule:"required"`
	Type        string        `json:"type" rule:"oneof=widget|test" default:"widget"`
	Variables   value.Scalars `json:"variables" rule:"max=100"`
}

// ref reads the assistant's id in any of its forms; what is none names nobody.
func (in *beginIn) ref() value.Ref {
	text := in.AssistantID.Text()
	if id, err := uuid.Parse(text); err == nil && len(text) == 36 {
		return value.Ref{UUID: id.String()}
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return value.Ref{ID: max(n, 0)}
}

type begunOut struct {
	Status         bool      `json:"status"`
	ConversationID string    `json:"conversation_id"`
	History        []opening `json:"history"`
}

// opening is an entry of a conversation that has just begun.
type opening struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type entryOut struct {
	Role        string             `json:"role"`
	Content     string             `json:"content"`
	Functions   []functionOut      `json:"function_calls,omitempty"`
	Attachments []chats.Attachment `json:"attachments,omitempty"`
	CreatedAt   value.Time         `json:"created_at"`
}

// functionOut is a function the assistant used.
type functionOut struct {
	Name      string `json:"name"`
	Arguments object `json:"arguments"`
	Result    object `json:"result"`
}

// object is any JSON object, its keys in the order they came.
type object struct{ value.Scalars }

// JSONSchema describes it.
func (object) JSONSchema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": true}
}

type party struct {
	Name  *string `json:"name"`
	Phone *string `json:"phone"`
}

type conversationOut struct {
	Status    bool           `json:"status"`
	History   []entryOut     `json:"history"`
	Variables *value.Scalars `json:"variables"`
	Type      string         `json:"type"`
	State     string         `json:"state"`
	AIEnabled bool           `json:"ai_enabled"`
	External  *string        `json:"external_identifier,omitempty"`
	Sender    *party         `json:"whatsapp_sender,omitempty"`
	Customer  *party         `json:"customer,omitempty"`
}

type conversationRef struct {
	UUID value.Ref `path:"uuid"`
}

type chatMessageIn struct {
	UUID    value.Ref `path:"uuid"`
	Message string    `json:"message" rule:"required min=1 max=2000" trim:"no" say:"between: message must not be greater than 2000 characters"`
}

type chatReplyOut struct {
	Status     bool          `json:"status"`
	Message    string        `json:"message"`
	Functions  []functionOut `json:"function_calls"`
	AIDisabled bool          `json:"ai_disabled,omitempty"`
}

type statusOut struct {
	Status bool `json:"status"`
}

type aiOut struct {
	Status    bool `json:"status"`
	AIEnabled bool `json:"ai_enabled"`
}

type personIn struct {
	UUID    value.Ref `path:"uuid"`
	Message string    `json:"message" rule:"required max=4096" trim:"no"`
}

func (a *API) begin(ctx context.Context, in *beginIn) (begunOut, error) {
	c, history, err := a.Chats.Begin(ctx, chats.Start{Caller: owner(ctx), Assistant: in.ref(), Type: in.Type, Variables: in.Variables})
	return begunOut{true, c.UUID, each(history, func(e chats.Entry) opening { return opening{e.Role, e.Text} })}, inChat(err)
}

func checkBegin(_ context.Context, in *beginIn) error {
	if v := in.AssistantID; !v.IsNull() && (!v.IsScalar() || v.Text() == "true" || v.Text() == "false") {
		return fault.Input(fault.Field{Name: "assistant_id", Sentence: "assistant_id must be a string"})
	}
	return nil
}

// inChat words a refusal as chat routes do: for want of money it is an ordinary 400.
func inChat(err error) error {
	if fault.Is(err, fault.NeedsPayment) {
		return fault.New(fault.Malformed, "", "%s", chats.ErrBalance.Message)
	}
	return err
}

func showEntry(e chats.Entry) entryOut {
	return entryOut{e.Role, e.Text, functionsOut(e.Uses), e.Attachments, value.At(e.At)}
}

func functionsOut(uses []agent.Use) []functionOut {
	return each(uses, func(u agent.Use) functionOut { return functionOut{u.Name, objectOf(u.Arguments), objectOf(u.Result)} })
}

func objectOf(raw []byte) (o object) {
	_ = o.UnmarshalJSON(raw) // what is no object is an empty one
	return o
}

func (a *API) conversation(ctx context.Context, in *conversationRef) (conversationOut, error) {
	c, err := a.Chats.Readable(ctx, owner(ctx), in.UUID, a.PublicHistory)
	if err != nil {
		return conversationOut{}, err
	}
	entries, err := a.Chats.History(ctx, a.DB, c.ID)
	out := conversationOut{Status: true, History: []entryOut{}, Type: c.Type, State: c.State, AIEnabled: c.AIEnabled,
		External: filled(c.External)}
	if c.Variables != nil {
		out.Variables = &c.Variables
	}
	out.Sender, out.Customer = parties(c)
	for _, e := range entries {
		if e.Role != chats.System {
			out.History = append(out.History, showEntry(e))
		}
	}
	return out, err
}

func parties(c chats.Conversation) (sender, customer *party) {
	if c.Type != chats.WhatsApp {
		return nil, nil
	}
	return &party{filled(c.Sender.Name), filled(c.Sender.Phone)}, &party{filled(c.Customer.Name), filled(c.Customer.Phone)}
}

// chatOrigins are the pages that may chat with the assistant of a conversation.
func (a *API) chatOrigins(ctx context.Context, ref value.Ref) ([]string, error) {
	if owner(ctx) != 0 || ref.UUID == "" {
		return nil, nil // the owner's own pages and servers
	}
	c, err := a.Chats.ByUUID(ctx, a.DB, ref.UUID)
	if err != nil {
		return nil, notThere(err)
	}
	x, err := a.Assistants.ByID(ctx, a.DB, c.Assistant)
	return chats.AllowedOrigins(x), notThere(err)
}

func (a *API) beginOrigins(ctx context.Context, in *beginIn) ([]string, error) {
	if owner(ctx) != 0 {
		return nil, nil
	}
	x, err := a.Assistants.ByUUID(ctx, a.DB, in.ref().UUID)
	return chats.AllowedOrigins(x), notThere(err)
}

// notThere leaves it to the handler to say that something is missing.
func notThere(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (a *API) findChat(ctx context.Context, in *chatMessageIn) error {
	_, err := a.Chats.Readable(ctx, owner(ctx), in.UUID, chats.PublicWidget)
	return err
}

func (a *API) chat(ctx context.Context, in *chatMessageIn) (chatReplyOut, error) {
	c, err := a.Chats.Readable(ctx, owner(ctx), in.UUID, chats.PublicWidget)
	if err != nil {
		return chatReplyOut{}, err
	}
	r, err := a.Chats.Answer(ctx, chats.Message{Caller: owner(ctx), UUID: c.UUID, Text: in.Message})
	return chatReplyOut{true, r.Text, functionsOut(r.Uses), r.AIOff}, inChat(err)
}

func (a *API) endConversation(ctx context.Context, in *conversationRef) (statusOut, error) {
	return statusOut{true}, a.Chats.End(ctx, owner(ctx), in.UUID, chats.PublicWidget)
}

func (a *API) setAI(on bool) func(context.Context, *conversationRef) (aiOut, error) {
	return func(ctx context.Context, in *conversationRef) (aiOut, error) {
		return aiOut{true, on}, a.Chats.SetAI(ctx, owner(ctx), in.UUID, on)
	}
}

func (a *API) findPerson(ctx context.Context, in *personIn) error {
	_, err := a.Chats.Get(ctx, a.DB, owner(ctx), in.UUID)
	return err
}

func (a *API) personReply(ctx context.Context, in *personIn) (statusOut, error) {
	return statusOut{true}, a.Chats.Say(ctx, owner(ctx), in.UUID, in.Message)
}

type conversationsIn struct {
	wire.CursorPaging[chats.Place]
	Type          value.Opt[string]    `query:"type" rule:"oneof=widget|test|whatsapp|api"`
	AssistantID   value.Opt[value.Ref] `query:"assistant_id"`
	CustomerPhone string               `query:"customer_phone"`
	SenderPhone   string               `query:"whatsapp_sender_phone"`
	External      string               `query:"external_identifier"`
}

type conversationItem struct {
	ID             string         `json:"id"`
	AssistantID    *string        `json:"assistant_id" doc:"Null: WhatsApp over a sender without an assistant."`
	AssistantName  *string        `json:"assistant_name"`
	Type           string         `json:"type"`
	Variables      *value.Scalars `json:"variables"`
	MessageCount   int            `json:"message_count"`
	TotalCost      value.Money    `json:"total_cost"`
	AIEnabled      bool           `json:"ai_enabled"`
	CreatedAt      value.Time     `json:"created_at"`
	UpdatedAt      value.Time     `json:"updated_at"`
	External       *string        `json:"external_identifier,omitempty"`
	Sender         *party         `json:"whatsapp_sender,omitempty"`
	Customer       *party         `json:"customer,omitempty"`
	ConversationID int64          `json:"conversation_id"`
	State          string         `json:"state"`
}

func (a *API) conversations(ctx context.Context, in *conversationsIn) (wire.CursorPage[conversationItem], error) {
	at := in.Cursor.At
	f := chats.Filter{Type: in.Type.V, Assistant: in.AssistantID.V, CustomerPhone: in.CustomerPhone, SenderPhone: in.SenderPhone,
		External: in.External}
	list, more, err := a.Chats.List(ctx, owner(ctx), f, at, in.PerPage)
	if err != nil {
		return wire.CursorPage[conversationItem]{}, err
	}
	var next, prev string
	if len(list) > 0 {
		if more || at.Newer {
			next = wire.Cursor[chats.Place]{At: chats.PlaceOf(list[len(list)-1])}.String()
		}
		if at.At != 0 && (!at.Newer || more) {
			newer := chats.PlaceOf(list[0])
			newer.Newer = true
			prev = wire.Cursor[chats.Place]{At: newer}.String()
		}
	}
	return wire.NewCursorPage(ctx, in.PerPage, each(list, showConversation), next, prev), nil
}

func showConversation(c chats.Conversation) conversationItem {
	out := conversationItem{c.UUID, filled(c.AssistantUUID), filled(c.AssistantName), c.Type, nil, c.Messages, c.Cost, c.AIEnabled,
		value.At(c.CreatedAt),
		value.At(c.UpdatedAt), filled(c.External), nil, nil, int64(c.ID), c.State}
	if c.Variables != nil {
		out.Variables = &c.Variables
	}
	out.Sender, out.Customer = parties(c)
	return out
}

type generateIn struct {
	AssistantID value.Ref     `json:"assistant_id" rule:"required"`
	Customer    string        `json:"customer_identifier" rule:"required max=255"`
	Message     string        `json:"message" rule:"required min=1 max=4096" trim:"no"`
	Variables   value.Scalars `json:"variables" rule:"max=100"`
}

type generatedOut struct {
	Success        bool          `json:"success"`
	ConversationID string        `json:"conversation_id"`
	Customer       string        `json:"customer_identifier"`
	Reply          *string       `json:"reply"`
	Functions      []functionOut `json:"function_calls"`
	AIDisabled     bool          `json:"ai_disabled"`
}

func (a *API) generateReply(ctx context.Context, in *generateIn) (generatedOut, error) {
	x, err := a.Assistants.Get(ctx, a.DB, owner(ctx), in.AssistantID)
	if fault.Is(err, fault.NotFound) {
		return generatedOut{}, fault.New(fault.NotFound, "ASSISTANT_NOT_FOUND", "No assistant with this id exists in your account.")
	}
	if err != nil {
		return generatedOut{}, err
	}
	c, r, err := a.generate(ctx, owner(ctx), x, in)
	if err != nil {
		return generatedOut{}, failedReply(err)
	}
	out := generatedOut{true, c.UUID, in.Customer, &r.Text, functionsOut(r.Uses), r.AIOff}
	if r.AIOff {
		out.Reply = nil
	}
	return out, nil
}

func (a *API) generate(ctx context.Context, caller accounts.ID, x assistants.Assistant,
	in *generateIn) (chats.Conversation, chats.Reply, error) {
	c, err := a.Chats.External(ctx, x, in.Customer, in.Variables)
	if err != nil {
		return c, chats.Reply{}, err
	}
	r, err := a.Chats.Answer(ctx, chats.Message{Caller: caller, UUID: c.UUID, Text: in.Message})
	return c, r, err
}

// failedReply: apart from money and limits, the caller learns only that there is no reply.
func failedReply(err error) error {
	if f := fault.Of(err); f.Kind == fault.NeedsPayment || f.Kind == fault.TooMany {
		return err
	}
	return fault.Wrap(err, "UNKNOWN_ERROR", "Failed to generate a reply.")
}
