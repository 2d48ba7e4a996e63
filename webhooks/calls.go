package webhooks

import (
	"time"

	"parley/calls"
	"parley/value"
)

// OfCall are the events of a call that reached its final state, still without lead and campaign. home is scheme and host of
// links.
func OfCall(c calls.Call, home string) (out []Event) {
	hook, completed := c.Snapshot.V.Webhook, c.Status == calls.Completed
	add := func(name, url string) {
		e := Event{Owner: c.Owner, Name: name, URL: url, CallID: c.ID, Payload: bodyOf(c, name, home)}
		if c.RequestID != nil {
			e.RequestID = *c.RequestID
		}
		out = append(out, e)
	}
	if hook.Active && hook.URL != "" && (completed || !hook.OnlyCompleted) {
		add(CallCompleted, hook.URL)
	}
	if c.Type == calls.Inbound && completed && hook.InboundURL != "" {
		add(InboundCallCompleted, hook.InboundURL)
	}
	return out
}

// Of adds lead and campaign to the event of a call.
func (e Event) Of(lead, campaign any) Event {
	if body, ok := e.Payload.(Call); ok {
		body.Lead, body.Campaign = lead, campaign
		e.Payload = body
	}
	return e
}

func bodyOf(c calls.Call, event, home string) Call {
	b := Call{ID: int64(c.ID), CustomerPhone: c.ClientPhone, AssistantPhone: c.AssistantPhone, Duration: c.Seconds, Status: string(c.Status),
		Event:              event,
		ExtractedVariables: c.Evaluation.V, InputVariables: c.InputVariables.V, Transcript: c.Transcript(),
		CreatedAt: value.At(c.CreatedAt.Time()), FinishedAt: value.At(c.EndedAt.Time()), Type: string(c.Type),
		AssistantUUID: c.Snapshot.V.AssistantUUID,
		UUID:          c.UUID, AnsweredBy: string(c.AnsweredBy), FormattedTranscript: c.Formatted(), TranscriptEntries: entriesOf(c),
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
			*b.RecordingURL = value.Some(home + "/media/" + *c.Recording)
		}
	}
	return b
}

// entriesOf are the lines of a transcript as customers read them.
func entriesOf(c calls.Call) []TranscriptEntry {
	out := make([]TranscriptEntry, len(c.Entries.V))
	for i, e := range c.Entries.V {
		at := c.Durable(time.UnixMicro(e.At))
		out[i] = TranscriptEntry{Text: e.Text, Type: "transcript", Sender: "human", Timestamp: float64(at.UnixMilli()) / 1000,
			Interrupted: e.Interrupted}
		if e.Assistant {
			out[i].Sender = "bot"
		}
	}
	return out
}
