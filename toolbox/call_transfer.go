package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/agent"
	"parley/value"
)

var callTransfer = kind{name: "call_transfer", blank: func() Spec { return new(CallTransfer) }}

// CallTransfer connects the caller to a number.
type CallTransfer struct {
	PhoneNumber         string  `json:"phone_number" rule:"required"`
	Description         string  `json:"description" rule:"null=default max=1000" default:"Use when the caller asks for a person or the matter needs one."`
	Custom              bool    `json:"custom" rule:"null=default" default:"false"`
	Timezone            *string `json:"timezone" rule:"null timezone"`
	WarmTransfer        bool    `json:"warm_transfer" rule:"null=default" default:"false"`
	WarmTransferMessage string  `json:"warm_transfer_message" rule:"null=default max=1000" default:"Tell the caller in one sentence that you are connecting them now."`
}

func (t *CallTransfer) check(b value.Binder) {
	say(b, "phone_number", "e164", e164.MatchString(t.PhoneNumber) || sipURI.MatchString(t.PhoneNumber))
}

// About is what the model is told.
func (t *CallTransfer) About() string { return t.Description }

// Functions is transfer_call.
func (t *CallTransfer) Functions(s Scene) []agent.Function {
	if s.Transfer == nil {
		return nil
	}
	now := s.Now
	if t.Timezone != nil {
		if loc, err := time.LoadLocation(*t.Timezone); err == nil {
			now = now.In(loc)
		}
	}
	text := fmt.Sprintf("%s It is now %s in %s.", s.tell(t.Description), now.Format("Monday, 2006-01-02 15:04"), now.Location())
	params := agent.Object()
	if t.Custom {
		params = agent.Object(agent.Param{Name: "phone_number", Kind: "string",
			Description: "Number to connect to, in E.164 form. Left out: the usual number."})
	}
	run := func(ctx context.Context, raw json.RawMessage) agent.Result {
		number := t.PhoneNumber
		if asked := agent.Argument(raw, "phone_number"); t.Custom && asked != "" {
			if !e164.MatchString(asked) {
				return agent.Failed("phone_number must be in E.164 form, for example +1234567890")
			}
			number = asked
		}
		return connected(s.Transfer(ctx, t, number))
	}
	return []agent.Function{{Tool: agent.Tool{Name: "transfer_call", Description: text, Parameters: params}, Run: run}}
}
