package toolbox

import (
	"context"
	"encoding/json"

	"parley/agent"
	"parley/ids"
	"parley/value"
)

var warmCallTransfer = kind{name: "warm_call_transfer", blank: func() Spec { return new(WarmCallTransfer) }}

// WarmCallTransfer briefs a supervisor before it connects the caller.
type WarmCallTransfer struct {
	SupervisorPhone        string     `json:"supervisor_phone" rule:"required max=255"`
	OutboundPhoneID        ids.Number `json:"outbound_phone_id" rule:"required"`
	Description            string     `json:"description" rule:"required max=1000"`
	CustomSIP              bool       `json:"custom_sip" rule:"null=default" default:"false"`
	CallerIDMode           string     `json:"caller_id_mode" rule:"null=default oneof=outbound_number|customer_number|custom" default:"outbound_number"`
	CustomCallerID         *string    `json:"custom_caller_id" rule:"null required_if=caller_id_mode:custom e164"`
	HoldMusic              string     `json:"hold_music" rule:"null=default oneof=hold_music|none" default:"hold_music"`
	HoldMusicVolume        int64      `json:"hold_music_volume" rule:"null=default min=0 max=100" default:"80"`
	HoldMessage            string     `json:"hold_message" rule:"null=default max=1000" default:"Please hold while I connect you with a supervisor."`
	SummaryInstructions    string     `json:"summary_instructions" rule:"null=default max=2000" default:"In two or three sentences, tell the supervisor who is calling, what they want, and why a person is needed."`
	BriefingInitialMessage string     `json:"briefing_initial_message" rule:"null=default max=1000" default:"Hello, I have a caller who needs a person. May I tell you what it is about?"`
	ConnectedMessage       string     `json:"connected_message" rule:"null=default max=1000" default:"You are now connected with a supervisor. I'll leave you to it."`
}

func (t *WarmCallTransfer) check(b value.Binder) {
	if t.CustomSIP {
		say(b, "supervisor_phone", "pattern", sipURI.MatchString(t.SupervisorPhone) || extension.MatchString(t.SupervisorPhone))
		return
	}
	say(b, "supervisor_phone", "e164", e164.MatchString(t.SupervisorPhone))
}

// Needs is the number that is shown to the supervisor.
func (t *WarmCallTransfer) Needs() []Need {
	return []Need{{Key: "outbound_phone_id", Number: t.OutboundPhoneID}}
}

// Unused is a caller id that the mode does not show.
func (t *WarmCallTransfer) Unused() map[string]string {
	if t.CustomCallerID == nil || t.CallerIDMode == "custom" {
		return nil
	}
	return map[string]string{"custom_caller_id": "Stored, but used only when caller_id_mode is custom."}
}

// About is what the model is told.
func (t *WarmCallTransfer) About() string { return t.Description }

// Functions is warm_transfer_call.
func (t *WarmCallTransfer) Functions(s Scene) []agent.Function {
	if s.WarmTransfer == nil {
		return nil
	}
	run := func(ctx context.Context, _ json.RawMessage) agent.Result { return connected(s.WarmTransfer(ctx, t)) }
	return []agent.Function{{Tool: agent.Tool{Name: "warm_transfer_call", Description: s.tell(t.Description), Parameters: agent.Object()},
		Run: run}}
}
