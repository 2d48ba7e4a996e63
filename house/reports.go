package house

import (
	"context"
	"strings"
	"time"

	"parley/chats"
	"parley/db"
	"parley/webhooks"
	"parley/wire"
)

// conversationEnded is the body of a conversation.ended webhook.
type conversationEnded struct {
	ID                  int64              `json:"id"`
	ConversationID      string             `json:"conversation_id"`
	AssistantID         string             `json:"assistant_id"`
	Type                string             `json:"type"`
	MessageCount        int                `json:"message_count"`
	Status              string             `json:"status"`
	ExtractedVariables  map[string]any     `json:"extracted_variables"`
	InputVariables      map[string]any     `json:"input_variables"`
	Transcript          []saidEntry        `json:"transcript"`
	FormattedTranscript string             `json:"formatted_transcript"`
	Attachments         []chats.Attachment `json:"attachments"`
	CustomerPhone       *string            `json:"customer_phone"`
	CustomerName        *string            `json:"customer_name"`
	Sender              *endingSender      `json:"sender"`
	CreatedAt           wire.Time          `json:"created_at"`
	EndedAt             wire.Time          `json:"ended_at"`
	Event               string             `json:"event"`
	EndReason           string             `json:"end_reason"`
}

type saidEntry struct {
	Role          string    `json:"role"`
	Content       string    `json:"content"`
	Timestamp     wire.Time `json:"timestamp"`
	TimestampUnix int64     `json:"timestamp_unix"`
}

type endingSender struct {
	PhoneNumber string `json:"phone_number"`
	DisplayName string `json:"display_name"`
}

// reportEnding queues the webhook of a conversation that ended.
func (h *House) reportEnding(ctx context.Context, tx *db.Tx, e chats.Ending) error {
	return h.Webhooks.Add(ctx, tx, webhooks.Event{Owner: e.Owner, Name: webhooks.ConversationEnded, URL: e.URL,
		ConversationID: int64(e.ID), Payload: endingBody(e)})
}

func endingBody(e chats.Ending) conversationEnded {
	out := conversationEnded{ID: int64(e.ID), ConversationID: e.UUID, AssistantID: e.AssistantUUID, Type: e.Type, MessageCount: e.Messages,
		Status: "ended", ExtractedVariables: e.Extracted, InputVariables: e.Variables, CustomerPhone: some(e.Customer.Phone), CustomerName: some(e.Customer.Name),
		CreatedAt: wire.At(e.CreatedAt), EndedAt: wire.At(e.EndedAt), Event: webhooks.ConversationEnded, EndReason: e.Reason,
		Attachments: []chats.Attachment{}, Transcript: []saidEntry{}}
	if e.Sender.ID != 0 {
		out.Sender = &endingSender{e.Sender.Phone, e.Sender.Name}
	}
	if out.ExtractedVariables == nil {
		out.ExtractedVariables = map[string]any{}
	}
	if out.InputVariables == nil {
		out.InputVariables = map[string]any{}
	}
	var lines []string
	for _, x := range e.Entries {
		out.Transcript = append(out.Transcript, saidEntry{x.Role, x.Text, wire.At(x.At), x.At.Truncate(time.Second).Unix()})
		out.Attachments = append(out.Attachments, x.Attachments...)
		switch x.Role {
		case "user":
			lines = append(lines, "Customer: "+x.Text)
		case "assistant":
			lines = append(lines, "AI: "+x.Text)
		}
	}
	out.FormattedTranscript = strings.Join(lines, "\n")
	return out
}

// some is a text that is null when there is none.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
