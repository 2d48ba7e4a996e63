package toolbox_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"parley/fault"
	"parley/placeholders"
	"parley/toolbox"
	"parley/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

const allTools = `[
{"type":"call_transfer","phone_number":"+4930111111","description":"Only between 9 and 17, {{who}}.","timezone":"Asia/Tokyo"},
{"type":"call_transfer","phone_number":"+4930222222","custom":true},
{"type":"warm_call_transfer","supervisor_phone":"+4930333333","outbound_phone_id":1,"description":"When angry."},
{"type":"end_call"},
{"type":"dtmf_input"},
{"type":"collect_keypad","timeout":5},
{"type":"calendar_integration","calendar_api_key":"k","calendar_event_slug":"e","calendar_booking_fields":[{"slug":"company-size","type":"select","label":"Company \"size\"","required":true,"options":["1-10","11+"]},{"slug":"seats","type":"number","label":"Seats"}]},
{"type":"calendar_integration","calendar_api_key":"k","calendar_event_slug":"e"},
{"type":"assistant_transfer","assistant_id":3,"description":"Sales."}]`

type effects struct{ log []string }

func (e *effects) all() toolbox.Channel {
	note := func(s string) { e.log = append(e.log, s) }
	return toolbox.Channel{
		EndCall: func(context.Context) error { note("end"); return nil },
		Transfer: func(_ context.Context, _ *toolbox.CallTransfer, n string) (string, error) {
			note("transfer " + n)
			return "busy", nil
		},
		WarmTransfer: func(context.Context, *toolbox.WarmCallTransfer) (string, error) {
			note("warm")
			return "connected", nil
		},
		SendDigits: func(_ context.Context, d string) error { note("dtmf " + d); return nil },
		SwitchTo: func(_ context.Context, b *toolbox.AssistantTransfer) error {
			note("switch " + b.Description)
			return nil
		},
		Calendar: func(_ context.Context, _ *toolbox.CalendarIntegration, f string, a map[string]any) (any, error) {
			note(strings.TrimSpace(strings.Join([]string{f, placeholders.Text(a["start"]), placeholders.Text(a["name"]), placeholders.Text(a["email"])}, " ")))
			return []string{"free"}, nil
		},
	}
}

// The functions that the built-in tools become.
//
// Contract: 4.4
func TestBuiltInFunctions(t *testing.T) {
	tools := parse(t)
	var e effects
	var b strings.Builder
	for _, f := range tools.Functions(toolbox.Scene{Channel: e.all(), Values: placeholders.Values{"who": "Mia"}, Now: noon}) {
		if !json.Valid(f.Parameters) {
			t.Errorf("%s: parameters are not JSON: %s", f.Name, f.Parameters)
		}
		b.WriteString(f.Name + "\n  " + f.Description + "\n  " + string(f.Parameters) + "\n")
	}
	golden(t, "testdata/functions.txt", b.String())

	chat := tools.Functions(toolbox.Scene{Channel: toolbox.Channel{EndCall: e.all().EndCall, Calendar: e.all().Calendar, SwitchTo: e.all().SwitchTo}, Now: noon})
	var names []string
	for _, f := range chat {
		names = append(names, f.Name)
	}
	want := "end_call check_availability book_appointment check_availability_2 book_appointment_2 transfer_to_assistant"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("in a chat: %s", got)
	}
}

// What the built-in functions do.
//
// Contract: 4.4
func TestBuiltInEffects(t *testing.T) {
	tools := parse(t)
	for _, c := range []struct{ name, args, effect, result string }{
		{"transfer_call", `{"phone_number":"+15550001111"}`, "transfer +4930111111", `{"status":"busy"}`},
		{"transfer_call_2", `{"phone_number":"+15550001111"}`, "transfer +15550001111", `{"status":"busy"}`},
		{"transfer_call_2", `{}`, "transfer +4930222222", `{"status":"busy"}`},
		{"transfer_call_2", `{"phone_number":"911"}`, "", `{"error":"phone_number must be in E.164 form, for example +1234567890"}`},
		{"warm_transfer_call", `{}`, "warm", `{"status":"connected"}`},
		{"end_call", `{}`, "end", `{"status":"ended"}`},
		{"send_dtmf", `{"digits":"12w#"}`, "dtmf 12w#", `{"digits":"12w#","status":"sent"}`},
		{"send_dtmf", `{"digits":"hello"}`, "", `{"error":"digits must be 1 to 32 of 0-9 * # A-D w"}`},
		{"book_appointment_2", `{"start":"2027-03-02T10:00:00Z","name":"Mia","email":"mia@x.example"}`, "book_appointment 2027-03-02T10:00:00Z Mia mia@x.example", `["free"]`},
		{"book_appointment_2", `{"start":"2027-03-02T10:00:00Z","email":" "}`, "", `{"error":"missing arguments: name, email"}`},
		{"book_appointment", `{"start":"2027-03-02T10:00:00Z","name":"Mia","email":"mia@x.example"}`, "", `{"error":"missing argument: company-size"}`},
		{"book_appointment", `{"start":"2027-03-02T10:00:00Z","name":"Mia","email":"mia@x.example","company-size":"12"}`, "", `{"error":"company-size must be one of: 1-10, 11+"}`},
		{"check_availability", `{"date_from":"2027-03-02"}`, "", `{"error":"missing argument: date_to"}`},
		{"transfer_to_assistant", `{}`, "switch Sales.", `{"status":"transferred"}`},
	} {
		var e effects
		for _, f := range tools.Functions(toolbox.Scene{Channel: e.all(), Now: noon}) {
			if f.Name != c.name {
				continue
			}
			res, _ := json.Marshal(f.Run(t.Context(), json.RawMessage(c.args)).Value)
			if got := strings.Join(e.log, ","); got != c.effect || string(res) != c.result {
				t.Errorf("%s(%s): effect %q, result %s", c.name, c.args, got, res)
			}
		}
	}
}

// parse reads the tools as a request brings them.
func parse(t *testing.T) toolbox.Tools {
	t.Helper()
	var in struct {
		Tools toolbox.Tools `json:"tools"`
	}
	if err := wire.ReadJSON([]byte(`{"tools":`+allTools+`}`), &in); err != nil {
		t.Fatal(fault.Of(err).Fields)
	}
	return in.Tools
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}
