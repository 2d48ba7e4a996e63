package toolbox

import (
	"context"
	"encoding/json"

	"parley/agent"
	"parley/value"
)

var assistantTransfer = kind{name: "assistant_transfer", blank: func() Spec { return new(AssistantTransfer) }}

// AssistantTransfer lets another assistant take over.
type AssistantTransfer struct {
	AssistantID           value.Ref `json:"assistant_id" rule:"required"`
	Description           string    `json:"description" rule:"null=default max=500" default:"Use when the other assistant should take over."`
	MessageBeforeTransfer *string   `json:"message_before_transfer" rule:"null max=500"`
	SpeakTransferGreeting bool      `json:"speak_transfer_greeting" rule:"null=default" default:"true"`
}

func (t *AssistantTransfer) clone() Spec {
	own := *t
	return &own
}

// Needs is the other assistant.
func (t *AssistantTransfer) Needs() []Need {
	return []Need{{Key: "assistant_id", Assistant: &t.AssistantID}}
}

// About is what the model is told.
func (t *AssistantTransfer) About() string { return t.Description }

// Functions is transfer_to_assistant.
func (t *AssistantTransfer) Functions(s Scene) []agent.Function {
	if s.SwitchTo == nil {
		return nil
	}
	run := func(ctx context.Context, _ json.RawMessage) agent.Result {
		if err := s.SwitchTo(ctx, t); err != nil {
			return agent.Failed("%s", err)
		}
		return agent.Result{Value: map[string]any{"status": "transferred"}, Over: true}
	}
	return []agent.Function{{Tool: agent.Tool{Name: "transfer_to_assistant", Description: s.tell(t.Description), Parameters: agent.Object()},
		Run: run}}
}
