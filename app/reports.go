package app

import (
	"context"
	"strings"
	"time"

	"parley/chats"
	"parley/db"
	"parley/value"
	"parley/webhooks"
)

// reportEnding queues the webhook of a conversation that ended.
func (h *App) reportEnding(ctx context.Context, tx *db.Tx, e chats.Ending) error {
	return h.Webhooks.Add(ctx, tx, webhooks.Event{Owner: e.Owner, Name: webhooks.ConversationEnded, URL: e.URL,
		ConversationID: e.ID, Payload: endingBody(e)})
}

func endingBody(e chats.Ending) webhooks.Conversation {
	out := webhooks.Conversation{ID: int64(e.ID), ConversationID: e.UUID, AssistantID: e.AssistantUUID, Type: e.Type, MessageCount: e.Messages,
		Status: "ended", ExtractedVariables: e.Extracted, InputVariables: e.Variables, CustomerPhone: some(e.Customer.Phone),
		CustomerName: some(e.Customer.Name),
		CreatedAt:    value.At(e.CreatedAt), EndedAt: value.At(e.EndedAt), Event: webhooks.ConversationEnded, EndReason: e.Reason}
	if e.Sender.ID != 0 {
		out.Sender = &webhooks.Sender{PhoneNumber: e.Sender.Phone, DisplayName: e.Sender.Name}
	}
	var lines []string
	for _, x := range e.Entries {
		out.Transcript = append(out.Transcript,
			webhooks.Line{Role: x.Role, Content: x.Text, At: value.At(x.At), Unix: x.At.Truncate(time.Second).Unix()})
		for _, f := range x.Attachments {
			out.Attachments = append(out.Attachments, webhooks.Attachment(f))
		}
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
