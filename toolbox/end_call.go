package toolbox

import (
	"context"
	"encoding/json"

	"parley/agent"
)

var endCall = kind{name: "end_call", blank: func() Spec { return new(EndCall) }, once: true}

// EndCall hangs up.
type EndCall struct {
	Description string `json:"description" rule:"null=default max=1000" default:"Use when the matter is settled and goodbyes were said."`
}

// About is what the model is told.
func (t *EndCall) About() string { return t.Description }

// Functions is end_call.
func (t *EndCall) Functions(s Scene) []agent.Function {
	if s.EndCall == nil {
		return nil
	}
	run := func(ctx context.Context, _ json.RawMessage) agent.Result {
		if err := s.EndCall(ctx); err != nil {
			return agent.Failed("the conversation could not be ended")
		}
		return agent.Result{Value: map[string]any{"status": "ended"}, Over: true}
	}
	return []agent.Function{{Tool: agent.Tool{Name: "end_call", Description: s.tell(t.Description), Parameters: agent.Object()}, Run: run}}
}
