package assistants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"parley/value"
	"regexp"
	"strconv"
	"strings"
)

// Tools are an assistant's built-in tools.
type Tools []Tool

// Tool is one built-in tool: its discriminator and a pointer to the struct of its fields.
type Tool struct {
	Type string
	Spec any
}

// CallTransfer connects the caller to a number.
type CallTransfer struct {
	PhoneNumber         string  `json:"phone_number" rule:"required"`
	Description         string  `json:"description" rule:"null=default max=1000" default:"Use when the caller asks for a person or the matter needs one."`
	Custom              bool    `json:"custom" rule:"null=default" default:"false"`
	Timezone            *string `json:"timezone" rule:"null timezone"`
	WarmTransfer        bool    `json:"warm_transfer" rule:"null=default" default:"false"`
	WarmTransferMessage string  `json:"warm_transfer_message" rule:"null=default max=1000" default:"Tell the caller in one sentence that you are connecting them now."`
}

// WarmCallTransfer briefs a supervisor before it connects the caller.
type WarmCallTransfer struct {
	SupervisorPhone        string  `json:"supervisor_phone" rule:"required max=255"`
	OutboundPhoneID        int64   `json:"outbound_phone_id" rule:"required"`
	Description            string  `json:"description" rule:"required max=1000"`
	CustomSIP              bool    `json:"custom_sip" rule:"null=default" default:"false"`
	CallerIDMode           string  `json:"caller_id_mode" rule:"null=default oneof=outbound_number|customer_number|custom" default:"outbound_number"`
	CustomCallerID         *string `json:"custom_caller_id" rule:"null required_if=caller_id_mode:custom e164"`
	HoldMusic              string  `json:"hold_music" rule:"null=default oneof=hold_music|none" default:"hold_music"`
	HoldMusicVolume        int64   `json:"hold_music_volume" rule:"null=default min=0 max=100" default:"80"`
	HoldMessage            string  `json:"hold_message" rule:"null=default max=1000" default:"Please hold while I connect you with a supervisor."`
	SummaryInstructions    string  `json:"summary_instructions" rule:"null=default max=2000" default:"In two or three sentences, tell the supervisor who is calling, what they want, and why a person is needed."`
	BriefingInitialMessage string  `json:"briefing_initial_message" rule:"null=default max=1000" default:"Hello, I have a caller who needs a person. May I tell you what it is about?"`
	ConnectedMessage       string  `json:"connected_message" rule:"null=default max=1000" default:"You are now connected with a supervisor. I'll leave you to it."`
}

// EndCall hangs up.
type EndCall struct {
	Description string `json:"description" rule:"null=default max=1000" default:"Use when the matter is settled and goodbyes were said."`
}

// DTMFInput presses keys.
type DTMFInput struct {
	Description string `json:"description" rule:"null=default max=1000" default:"Use to press keys in an automated phone menu."`
}

// CollectKeypad takes the keys that the caller presses as a turn.
type CollectKeypad struct {
	Timeout int64  `json:"timeout" rule:"null=default min=1 max=30" default:"5"` // seconds after the last key
	StopKey string `json:"stop_key" rule:"null=default oneof=#|*" default:"#"`
}

// CalendarIntegration looks for and books appointments. The key is sealed in the stored document.
type CalendarIntegration struct {
	APIKey         string         `json:"calendar_api_key" rule:"required max=255"`
	EventSlug      string         `json:"calendar_event_slug" rule:"required max=255"`
	TeamSlug       *string        `json:"calendar_team_slug" rule:"null max=255"`
	Endpoint       string         `json:"calendar_endpoint" rule:"null=default oneof=us|eu|custom" default:"us"`
	CustomEndpoint *string        `json:"calendar_custom_endpoint" rule:"null required_if=calendar_endpoint:custom url public"`
	BookingFields  []BookingField `json:"calendar_booking_fields" rule:"null=default max=20" default:"[]"`
	Description    string         `json:"description" rule:"null=default max=1000" default:"Use when an appointment is wanted."`
}

// BookingField is a question of a calendar's booking form.
type BookingField struct {
	Slug     string   `json:"slug" rule:"required max=64"`
	Type     string   `json:"type" rule:"required max=64"`
	Label    string   `json:"label" rule:"required max=255"`
	Required bool     `json:"required" rule:"null=default" default:"false"`
	Options  []string `json:"options" rule:"null=default" default:"[]"`
}

// AssistantTransfer lets another assistant take over.
type AssistantTransfer struct {
	AssistantID           value.Ref `json:"assistant_id" rule:"required"`
	Description           string    `json:"description" rule:"null=default max=500" default:"Use when the other assistant should take over."`
	MessageBeforeTransfer *string   `json:"message_before_transfer" rule:"null max=500"`
	SpeakTransferGreeting bool      `json:"speak_transfer_greeting" rule:"null=default" default:"true"`
}

// blank gives the struct of a tool's fields; nil for an unknown type.
func blank(typ string) any {
	switch typ {
	case "call_transfer":
		return new(CallTransfer)
	case "warm_call_transfer":
		return new(WarmCallTransfer)
	case "end_call":
		return new(EndCall)
	case "dtmf_input":
		return new(DTMFInput)
	case "collect_keypad":
		return new(CollectKeypad)
	case "calendar_integration":
		return new(CalendarIntegration)
	case "assistant_transfer":
		return new(AssistantTransfer)
	}
	return nil
}

// once are the types of which an assistant has one at most.
var once = map[string]bool{"end_call": true, "dtmf_input": true, "collect_keypad": true}

// Len is the number of tools.
func (ts Tools) Len() int { return len(ts) }

// Bind reads the array. Settings stand flat in the element, or nested under "data"; flat ones win.
func (ts *Tools) Bind(b value.Binder, v value.Value) {
	if !v.IsArray() {
		b.Fail("array")
		return
	}
	if len(v.Items) > 20 {
		b.Fail("max.items", "20")
		return
	}
	seen := map[string]bool{}
	for i, item := range v.Items {
		at := b.At(strconv.Itoa(i))
		if !item.IsObject() {
			at.Fail("array")
			continue
		}
		typ, _ := item.Get("type")
		t := Tool{Type: strings.TrimSpace(typ.Text())}
		if t.Spec = blank(t.Type); t.Spec == nil || !typ.IsString() {
			at.At("type").Fail("in")
			continue
		}
		if once[t.Type] && seen[t.Type] {
			at.At("type").Fail("distinct")
			continue
		}
		seen[t.Type] = true
		at.Read(flat(item), t.Spec)
		checkSpec(at, t.Spec)
		*ts = append(*ts, t)
	}
}

// flat merges the fields under "data" into the element.
func flat(item value.Value) value.Value {
	data, _ := item.Get("data")
	members := item.Members
	for _, m := range data.Members {
		if _, ok := item.Get(m.Key); !ok {
			members = append(members[:len(members):len(members)], m)
		}
	}
	return value.Object(members...)
}

var (
	e164      = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	sipURI    = regexp.MustCompile(`^sips?:[^\s<>"]+$`)
	extension = regexp.MustCompile(`^[A-Za-z0-9*#+._-]{1,15}$`)
)

// checkSpec checks what depends on two fields of one tool.
func checkSpec(b value.Binder, spec any) {
	say := func(key, rule string, ok bool) {
		if at := b.At(key); !ok && !at.Failed() {
			at.Fail(rule)
		}
	}
	switch s := spec.(type) {
	case *CallTransfer:
		say("phone_number", "e164", e164.MatchString(s.PhoneNumber) || sipURI.MatchString(s.PhoneNumber))
	case *WarmCallTransfer:
		if s.CustomSIP {
			say("supervisor_phone", "pattern", sipURI.MatchString(s.SupervisorPhone) || extension.MatchString(s.SupervisorPhone))
		} else {
			say("supervisor_phone", "e164", e164.MatchString(s.SupervisorPhone))
		}
	}
}

// MarshalJSON writes the flat form.
func (t Tool) MarshalJSON() ([]byte, error) {
	body, err := value.Marshal(t.Spec)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"type":%q`, t.Type)
	if len(body) > 2 {
		head += ","
	}
	return append([]byte(head), body[1:]...), nil
}

// UnmarshalJSON reads the flat form.
func (t *Tool) UnmarshalJSON(raw []byte) error {
	var head struct{ Type string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	t.Type, t.Spec = head.Type, blank(head.Type)
	if t.Spec == nil {
		return fmt.Errorf("unknown built-in tool %q", head.Type)
	}
	return json.NewDecoder(bytes.NewReader(raw)).Decode(t.Spec)
}

// toolTypes are the discriminators in the order of the contract.
var toolTypes = []any{"call_transfer", "warm_call_transfer", "end_call", "dtmf_input", "collect_keypad", "calendar_integration", "assistant_transfer"}

func toolSchema() map[string]any {
	return map[string]any{"type": "object", "required": []any{"type"}, "additionalProperties": true, "properties": map[string]any{
		"type": map[string]any{"type": "string", "enum": toolTypes},
		"data": map[string]any{"type": "object", "description": "The same fields, nested."}}}
}

// JSONSchema describes the input form.
func (Tools) JSONSchema() map[string]any {
	return map[string]any{"type": "array", "maxItems": 20, "items": toolSchema()}
}
