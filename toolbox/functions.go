package toolbox

import (
	"context"
	"fmt"
	"time"

	"parley/agent"
	"parley/placeholders"
)

// Channel is what a conversation lets tools do. A nil func is what it cannot; the tool is then not offered.
type Channel struct {
	// EndCall ends the conversation once what was said has been heard.
	EndCall func(ctx context.Context) error
	// Transfer bridges the caller to number; the status is connected, busy, no_answer or failed.
	Transfer func(ctx context.Context, t *CallTransfer, number string) (status string, err error)
	// WarmTransfer briefs a supervisor first; the status is connected, declined, voicemail, busy, no_answer or failed.
	WarmTransfer func(ctx context.Context, t *WarmCallTransfer) (status string, err error)
	// SendDigits presses keys.
	SendDigits func(ctx context.Context, digits string) error
	// SwitchTo lets another assistant take over.
	SwitchTo func(ctx context.Context, t *AssistantTransfer) error
	// Calendar runs check_availability or book_appointment; all arguments that must be there are.
	Calendar func(ctx context.Context, t *CalendarIntegration, function string, args map[string]any) (any, error)
}

// Scene is where a tool is used.
type Scene struct {
	Channel
	Values placeholders.Values
	Now    time.Time // in the assistant's time zone
}

// tell is a text for the model.
func (s Scene) tell(text string) string {
	return placeholders.Fill(text, s.Values, placeholders.Written)
}

// Functions are what a model may call, in the order of the tools. Several tools of one type get the suffixes _2, _3.
func (ts Tools) Functions(s Scene) []agent.Function {
	var out []agent.Function
	seen := map[string]int{}
	for _, t := range ts {
		made := t.Spec.Functions(s)
		if len(made) == 0 {
			continue
		}
		seen[t.Type]++
		for _, f := range made {
			if n := seen[t.Type]; n > 1 {
				f.Name = fmt.Sprintf("%s_%d", f.Name, n)
			}
			out = append(out, f)
		}
	}
	return out
}

// connected is the answer of a transfer.
func connected(status string, err error) agent.Result {
	if err != nil {
		return agent.Failed("%s", err)
	}
	return agent.Result{Value: map[string]any{"status": status}, Over: status == "connected"}
}
