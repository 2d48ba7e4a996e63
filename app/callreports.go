package app

import (
	"context"
	"time"

	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/value"
	"parley/webhooks"
)

// ReportCall queues the webhooks of a call that reached its final state, in the transaction that makes it final.
func (h *App) ReportCall(ctx context.Context, tx *db.Tx, c calls.Call) error {
	hook := c.Snapshot.V.Webhook
	completed := c.Status == calls.Completed
	postCall := hook.Active && hook.URL != "" && (completed || !hook.OnlyCompleted)
	inbound := c.Type == calls.Inbound && completed && hook.InboundURL != ""
	if !postCall && !inbound {
		return nil
	}
	if c.RequestID != nil {
		ctx = fault.WithRequestID(ctx, *c.RequestID)
	}
	body, err := h.callBody(ctx, tx, c)
	if err != nil {
		return err
	}
	send := func(event, url string) error {
		body.Event = event
		return h.Webhooks.Add(ctx, tx, webhooks.Event{Owner: c.Owner, Name: event, URL: url, CallID: int64(c.ID), Payload: body})
	}
	if postCall {
		if err := send(webhooks.CallCompleted, hook.URL); err != nil {
			return err
		}
	}
	if inbound {
		return send(webhooks.InboundCallCompleted, hook.InboundURL)
	}
	return nil
}

func (h *App) callBody(ctx context.Context, tx *db.Tx, c calls.Call) (webhooks.Call, error) {
	b := webhooks.Call{ID: int64(c.ID), CustomerPhone: c.ClientPhone, AssistantPhone: c.AssistantPhone, Duration: c.Seconds, Status: string(c.Status),
		ExtractedVariables: c.Evaluation.V, InputVariables: c.InputVariables.V, Transcript: c.Transcript(),
		CreatedAt: value.At(c.CreatedAt.Time()), FinishedAt: value.At(c.EndedAt.Time()), Type: string(c.Type), AssistantUUID: c.Snapshot.V.AssistantUUID,
		UUID: c.UUID, AnsweredBy: string(c.AnsweredBy), FormattedTranscript: c.Formatted(), TranscriptEntries: transcriptEntries(c),
		Variables: c.Variables.V, TotalCost: c.TotalCost()}
	if c.AssistantID != nil {
		b.AssistantID = int64(*c.AssistantID)
	}
	if c.Reason != nil {
		b.EndedReason = string(*c.Reason)
	}
	if c.Snapshot.V.Webhook.Recording {
		b.RecordingURL = &value.Opt[string]{Set: true, Null: true}
		if c.Recording != nil {
			*b.RecordingURL = value.Some(h.base() + "/media/" + *c.Recording)
		}
	}
	if c.LeadID == nil || h.LeadOf == nil {
		return b, nil
	}
	var err error
	b.Lead, b.Campaign, err = h.LeadOf(ctx, tx, c)
	return b, err
}

// base is scheme and host for links in what no request asked for.
func (h *App) base() string {
	if h.PublicURL != "" {
		return h.PublicURL
	}
	return "http://" + h.on.Config.Listen
}

// transcriptEntries are the lines of a transcript as customers read them.
func transcriptEntries(c calls.Call) []webhooks.TranscriptEntry {
	out := make([]webhooks.TranscriptEntry, len(c.Entries.V))
	for i, e := range c.Entries.V {
		at := c.Durable(time.UnixMicro(e.At))
		out[i] = webhooks.TranscriptEntry{Text: e.Text, Type: "transcript", Sender: "human", Timestamp: float64(at.UnixMilli()) / 1000, Interrupted: e.Interrupted}
		if e.Assistant {
			out[i].Sender = "bot"
		}
	}
	return out
}
