package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"parley/placeholders"
)

// Function is a tool with its effect.
type Function struct {
	Tool
	// Run does the work and never fails the conversation: what went wrong is a Result the model can read.
	Run func(ctx context.Context, args json.RawMessage) Result
}

// Result is what a function answers to the model.
type Result struct {
	Value any  // JSON-encodable
	Over  bool // this assistant's turn ends here: the call is over, or somebody else took over
}

// Failed is the answer of a function that could not do its work.
func Failed(format string, args ...any) Result {
	return Result{Value: map[string]any{"error": fmt.Sprintf(format, args...)}}
}

// BuiltIn is an element of an assistant's tools, as far as a model is concerned with it.
type BuiltIn struct {
	Type        string         `json:"type"`
	Description string         `json:"description"`
	PhoneNumber string         `json:"phone_number"`
	Custom      bool           `json:"custom"`
	Timezone    string         `json:"timezone"`
	Booking     []BookingField `json:"calendar_booking_fields"`
	// Raw is the whole element, for those who carry the effect out.
	Raw json.RawMessage `json:"-"`
}

// BookingField is a question of a calendar's booking form.
type BookingField struct {
	Slug     string   `json:"slug"`
	Type     string   `json:"type"`
	Label    string   `json:"label"`
	Required bool     `json:"required"`
	Options  []string `json:"options"`
}

// ParseBuiltIns reads the stored tools of an assistant.
func ParseBuiltIns(tools json.RawMessage) ([]BuiltIn, error) {
	var raws []json.RawMessage
	if len(tools) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(tools, &raws); err != nil {
		return nil, fmt.Errorf("built-in tools: %w", err)
	}
	out := make([]BuiltIn, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("built-in tool %d: %w", i, err)
		}
		out[i].Raw = raw
	}
	return out, nil
}

// Effects carry built-in tools out. A nil effect is one the channel cannot do; its function is not offered.
type Effects struct {
	// EndCall ends the conversation once what was said has been heard.
	EndCall func(ctx context.Context) error
	// Transfer bridges the caller to number; the status is connected, busy, no_answer or failed.
	Transfer func(ctx context.Context, t BuiltIn, number string) (status string, err error)
	// WarmTransfer briefs a supervisor first; the status is connected, declined, voicemail, busy, no_answer or failed.
	WarmTransfer func(ctx context.Context, t BuiltIn) (status string, err error)
	// SendDigits presses keys.
	SendDigits func(ctx context.Context, digits string) error
	// SwitchTo lets another assistant take over.
	SwitchTo func(ctx context.Context, t BuiltIn) error
	// Calendar runs check_availability or book_appointment; all arguments that must be there are.
	Calendar func(ctx context.Context, t BuiltIn, function string, args map[string]any) (any, error)
}

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	digits = regexp.MustCompile(`^[0-9*#A-Dw]{1,32}$`)
)

// BuiltIns are the functions of an assistant's built-in tools, in their order. Several tools of one type get
// the suffixes _2, _3. now is in the assistant's time zone, which a transfer may override.
func BuiltIns(tools []BuiltIn, e Effects, v placeholders.Values, now time.Time) []Function {
	var out []Function
	seen := map[string]int{}
	for _, t := range tools {
		if t.Description == "" {
			t.Description = defaultDescription[t.Type]
		}
		t.Description = placeholders.Fill(t.Description, v, placeholders.Written)
		made := builtIn(t, e, v, now)
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

var defaultDescription = map[string]string{
	"call_transfer":        "Use when the caller asks for a person or the matter needs one.",
	"end_call":             "Use when the matter is settled and goodbyes were said.",
	"dtmf_input":           "Use to press keys in an automated phone menu.",
	"calendar_integration": "Use when an appointment is wanted.",
	"assistant_transfer":   "Use when the other assistant should take over.",
}

func builtIn(t BuiltIn, e Effects, v placeholders.Values, now time.Time) []Function {
	switch {
	case t.Type == "end_call" && e.EndCall != nil:
		return []Function{endCall(t, e.EndCall)}
	case t.Type == "call_transfer" && e.Transfer != nil:
		return []Function{transfer(t, e.Transfer, now)}
	case t.Type == "warm_call_transfer" && e.WarmTransfer != nil:
		return []Function{warmTransfer(t, e.WarmTransfer)}
	case t.Type == "dtmf_input" && e.SendDigits != nil:
		return []Function{sendDTMF(t, e.SendDigits)}
	case t.Type == "assistant_transfer" && e.SwitchTo != nil:
		return []Function{switchTo(t, e.SwitchTo)}
	case t.Type == "calendar_integration" && e.Calendar != nil:
		return calendar(t, e.Calendar, v)
	}
	return nil
}

func endCall(t BuiltIn, do func(context.Context) error) Function {
	return Function{Tool{"end_call", t.Description, object()}, func(ctx context.Context, _ json.RawMessage) Result {
		if err := do(ctx); err != nil {
			return Failed("the conversation could not be ended")
		}
		return Result{Value: map[string]any{"status": "ended"}, Over: true}
	}}
}

func transfer(t BuiltIn, do func(context.Context, BuiltIn, string) (string, error), now time.Time) Function {
	if loc, err := time.LoadLocation(t.Timezone); err == nil && t.Timezone != "" {
		now = now.In(loc)
	}
	text := fmt.Sprintf("%s It is now %s in %s.", t.Description, now.Format("Monday, 2006-01-02 15:04"), now.Location())
	params := object()
	if t.Custom {
		params = object(param{"phone_number", "string", "Number to connect to, in E.164 form. Left out: the usual number.", nil, false})
	}
	return Function{Tool{"transfer_call", text, params}, func(ctx context.Context, raw json.RawMessage) Result {
		number := t.PhoneNumber
		if asked := argument(raw, "phone_number"); t.Custom && asked != "" {
			if !e164.MatchString(asked) {
				return Failed("phone_number must be in E.164 form, for example +1234567890")
			}
			number = asked
		}
		status, err := do(ctx, t, number)
		return connected(status, err)
	}}
}

func warmTransfer(t BuiltIn, do func(context.Context, BuiltIn) (string, error)) Function {
	return Function{Tool{"warm_transfer_call", t.Description, object()}, func(ctx context.Context, _ json.RawMessage) Result {
		status, err := do(ctx, t)
		return connected(status, err)
	}}
}

func connected(status string, err error) Result {
	if err != nil {
		return Failed("%s", err)
	}
	return Result{Value: map[string]any{"status": status}, Over: status == "connected"}
}

func sendDTMF(t BuiltIn, do func(context.Context, string) error) Function {
	params := object(param{"digits", "string", "Keys to press: 0-9 * # A-D, w is a pause of half a second; at most 32.", nil, true})
	return Function{Tool{"send_dtmf", t.Description, params}, func(ctx context.Context, raw json.RawMessage) Result {
		keys := argument(raw, "digits")
		if !digits.MatchString(keys) {
			return Failed("digits must be 1 to 32 of 0-9 * # A-D w")
		}
		if err := do(ctx, keys); err != nil {
			return Failed("the keys could not be sent")
		}
		return Result{Value: map[string]any{"status": "sent", "digits": keys}}
	}}
}

func switchTo(t BuiltIn, do func(context.Context, BuiltIn) error) Function {
	return Function{Tool{"transfer_to_assistant", t.Description, object()}, func(ctx context.Context, _ json.RawMessage) Result {
		if err := do(ctx, t); err != nil {
			return Failed("%s", err)
		}
		return Result{Value: map[string]any{"status": "transferred"}, Over: true}
	}}
}

// Search is the function search_knowledgebase.
func Search(find func(ctx context.Context, query string) ([]Passage, error)) Function {
	params := object(param{"query", "string", "What to look for, as a question or a few words.", nil, true})
	return Function{
		Tool{"search_knowledgebase", "Looks up facts in the knowledgebase. Use it before answering a question about the business.", params},
		func(ctx context.Context, raw json.RawMessage) Result {
			query := argument(raw, "query")
			if query == "" {
				return Failed("missing argument: query")
			}
			found, err := find(ctx, query)
			if err != nil {
				return Failed("the knowledgebase could not be searched")
			}
			if found == nil {
				found = []Passage{}
			}
			return Result{Value: map[string]any{"results": found}}
		}}
}

// argument reads one string argument; anything else counts as left out.
func argument(raw json.RawMessage, name string) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	return strings.TrimSpace(placeholders.Text(args[name]))
}

type param struct {
	name, kind, description string
	options                 []string
	required                bool
}

// object writes the JSON Schema of an object with these properties, in this order.
func object(params ...param) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		prop := struct {
			Type        string   `json:"type"`
			Description string   `json:"description,omitempty"`
			Enum        []string `json:"enum,omitempty"`
		}{p.kind, p.description, p.options}
		name, _ := json.Marshal(p.name)
		body, _ := json.Marshal(prop)
		fmt.Fprintf(&b, "%s:%s", name, body)
		if p.required {
			required = append(required, p.name)
		}
	}
	list, _ := json.Marshal(required)
	fmt.Fprintf(&b, `},"required":%s}`, list)
	return json.RawMessage(b.String())
}
