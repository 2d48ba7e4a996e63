package toolbox

import (
	"context"
	"encoding/json"
	"regexp"

	"parley/agent"
)

var dtmfInput = kind{name: "dtmf_input", blank: func() Spec { return new(DTMFInput) }, once: true}

// DTMFInput presses keys.
type DTMFInput struct {
	Description string `json:"description" rule:"null=default max=1000" default:"Use to press keys in an automated phone menu."`
}

var digits = regexp.MustCompile(`^[0-9*#A-Dw]{1,32}$`)

// About is what the model is told.
func (t *DTMFInput) About() string { return t.Description }

// Functions is send_dtmf.
func (t *DTMFInput) Functions(s Scene) []agent.Function {
	if s.SendDigits == nil {
		return nil
	}
	params := agent.Object(agent.Param{Name: "digits", Kind: "string", Required: true,
		Description: "Keys to press: 0-9 * # A-D, w is a pause of half a second; at most 32."})
	run := func(ctx context.Context, raw json.RawMessage) agent.Result {
		keys := agent.Argument(raw, "digits")
		if !digits.MatchString(keys) {
			return agent.Failed("digits must be 1 to 32 of 0-9 * # A-D w")
		}
		if err := s.SendDigits(ctx, keys); err != nil {
			return agent.Failed("the keys could not be sent")
		}
		return agent.Result{Value: map[string]any{"status": "sent", "digits": keys}}
	}
	return []agent.Function{{Tool: agent.Tool{Name: "send_dtmf", Description: s.tell(t.Description), Parameters: params}, Run: run}}
}
