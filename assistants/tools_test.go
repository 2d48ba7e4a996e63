package assistants

import (
	"encoding/json"
	"fmt"
	"parley/toolbox"
	"reflect"
	"strings"
	"testing"
)

const calendar = `"calendar_api_key":"cal_live_9876","calendar_event_slug":"intro"`

// TestToolRefusals sends wrong tools, flat and nested.
//
// Contract: 4.4
func TestToolRefusals(t *testing.T) {
	l := sqlite(t)
	self := l.create("")
	path := fmt.Sprintf("/a/%d", self)
	warm := `{"type":"warm_call_transfer","supervisor_phone":"+4930111111","outbound_phone_id":11,"description":"d"`
	for _, r := range []refusal{
		{`{"description":"x"}`, "type", "The selected tools.0.type is invalid."},
		{`{"type":"magic"}`, "type", "The selected tools.0.type is invalid."},
		{`{"type":7}`, "type", "The selected tools.0.type is invalid."},
		{`"x"`, "", "The tools.0 field must be an array."},
		{`{"type":"call_transfer"}`, "phone_number", "The tools.0.phone_number field is required."},
		{`{"type":"call_transfer","phone_number":"030 123"}`, "phone_number", "The tools.0.phone_number field must be a valid E.164 phone number."},
		{`{"type":"call_transfer","phone_number":7}`, "phone_number", "The tools.0.phone_number field must be a string."},
		{`{"type":"call_transfer","phone_number":"+4930123456","description":` + long(1001) + `}`, "description", "The tools.0.description field must not be greater than 1000 characters."},
		{`{"type":"call_transfer","phone_number":"+4930123456","custom":"x"}`, "custom", "The tools.0.custom field must be true or false."},
		{`{"type":"call_transfer","phone_number":"+4930123456","timezone":"x"}`, "timezone", "The tools.0.timezone field must be a valid timezone."},
		{`{"type":"call_transfer","phone_number":"+4930123456","warm_transfer_message":` + long(1001) + `}`, "warm_transfer_message", "The tools.0.warm_transfer_message field must not be greater than 1000 characters."},
		{`{"type":"warm_call_transfer","outbound_phone_id":11,"description":"d"}`, "supervisor_phone", "The tools.0.supervisor_phone field is required."},
		{`{"type":"warm_call_transfer","supervisor_phone":"200","outbound_phone_id":11,"description":"d"}`, "supervisor_phone", "The tools.0.supervisor_phone field must be a valid E.164 phone number."},
		{`{"type":"warm_call_transfer","supervisor_phone":"1234567890123456","custom_sip":true,"outbound_phone_id":11,"description":"d"}`, "supervisor_phone", "The tools.0.supervisor_phone field format is invalid."},
		{`{"type":"warm_call_transfer","supervisor_phone":"+4930111111","description":"d"}`, "outbound_phone_id", "The tools.0.outbound_phone_id field is required."},
		{`{"type":"warm_call_transfer","supervisor_phone":"+4930111111","outbound_phone_id":99,"description":"d"}`, "outbound_phone_id", "The selected tools.0.outbound_phone_id is invalid."},
		{`{"type":"warm_call_transfer","supervisor_phone":"+4930111111","outbound_phone_id":12,"description":"d"}`, "outbound_phone_id", "The selected tools.0.outbound_phone_id is invalid."},
		{`{"type":"warm_call_transfer","supervisor_phone":"+4930111111","outbound_phone_id":11}`, "description", "The tools.0.description field is required."},
		{warm + `,"caller_id_mode":"x"}`, "caller_id_mode", "The selected tools.0.caller_id_mode is invalid."},
		{warm + `,"caller_id_mode":"custom"}`, "custom_caller_id", "The tools.0.custom_caller_id field is required when caller id mode is custom."},
		{warm + `,"caller_id_mode":"custom","custom_caller_id":"12"}`, "custom_caller_id", "The tools.0.custom_caller_id field must be a valid E.164 phone number."},
		{warm + `,"hold_music":"jazz"}`, "hold_music", "The selected tools.0.hold_music is invalid."},
		{warm + `,"hold_music_volume":101}`, "hold_music_volume", "The tools.0.hold_music_volume field must be between 0 and 100."},
		{warm + `,"summary_instructions":` + long(2001) + `}`, "summary_instructions", "The tools.0.summary_instructions field must not be greater than 2000 characters."},
		{`{"type":"collect_keypad","timeout":31}`, "timeout", "The tools.0.timeout field must be between 1 and 30."},
		{`{"type":"collect_keypad","stop_key":"5"}`, "stop_key", "The selected tools.0.stop_key is invalid."},
		{`{"type":"calendar_integration","calendar_event_slug":"x"}`, "calendar_api_key", "The tools.0.calendar_api_key field is required."},
		{`{"type":"calendar_integration","calendar_api_key":"x"}`, "calendar_event_slug", "The tools.0.calendar_event_slug field is required."},
		{`{"type":"calendar_integration",` + calendar + `,"calendar_endpoint":"x"}`, "calendar_endpoint", "The selected tools.0.calendar_endpoint is invalid."},
		{`{"type":"calendar_integration",` + calendar + `,"calendar_endpoint":"custom"}`, "calendar_custom_endpoint", "The tools.0.calendar_custom_endpoint field is required when calendar endpoint is custom."},
		{`{"type":"calendar_integration",` + calendar + `,"calendar_endpoint":"custom","calendar_custom_endpoint":"http://127.0.0.1"}`, "calendar_custom_endpoint", "The tools.0.calendar_custom_endpoint field must not point to a private or local address."},
		{`{"type":"calendar_integration",` + calendar + `,"calendar_booking_fields":[{"type":"text","label":"L"}]}`, "calendar_booking_fields.0.slug", "The tools.0.calendar_booking_fields.0.slug field is required."},
		{`{"type":"assistant_transfer"}`, "assistant_id", "The tools.0.assistant_id field is required."},
		{`{"type":"assistant_transfer","assistant_id":999}`, "assistant_id", "The selected tools.0.assistant_id is invalid."},
		{fmt.Sprintf(`{"type":"assistant_transfer","assistant_id":%d}`, self), "assistant_id", "An assistant cannot transfer to itself."},
		{`{"type":"assistant_transfer","assistant_id":1,"description":` + long(501) + `}`, "description", "The tools.0.description field must not be greater than 500 characters."},
	} {
		key := strings.TrimSuffix("tools.0."+r.key, ".")
		code, body := l.send("PUT", path, `{"tools":[`+r.body+`]}`)
		got := errorsOf(body)
		if code != 422 || got[key] != r.sentence {
			t.Errorf("%.150s\n got %d %v\nwant %s: %s", r.body, code, got, key, r.sentence)
		}
		if nested := strings.Replace(r.body, `{"type":"`, `{"data":{"type":"`, 1); nested != r.body && r.key != "type" {
			typ, rest, _ := strings.Cut(strings.TrimPrefix(r.body, "{"), ",")
			typ = strings.TrimSuffix(typ, "}")
			_, body := l.send("PUT", path, `{"tools":[{`+typ+`,"data":{`+strings.TrimSuffix(rest, "}")+`}}]}`)
			if got := errorsOf(body); got[key] != r.sentence {
				t.Errorf("nested %.150s\n got %v", r.body, got)
			}
		}
	}
	_, body := l.send("PUT", path, `{"tools":[{"type":"end_call"},{"type":"end_call"}]}`)
	if got := errorsOf(body)["tools.1.type"]; got != "The tools.1.type field has a duplicate value." {
		t.Error(body)
	}
	_, body = l.send("PUT", path, `{"tools":`+list(21, func(int) string { return `{"type":"end_call"}` })+`}`)
	if got := errorsOf(body)["tools"]; got != "The tools field must not have more than 20 items." {
		t.Error(body)
	}
}

// TestToolsAreReturnedFlatAndUnderData writes tools in both forms and back as they were read.
//
// Contract: 4.1 4.4
func TestToolsAreReturnedFlatAndUnderData(t *testing.T) {
	l := sqlite(t)
	target := l.create("")
	id := l.create("")
	for _, c := range []struct{ in, want string }{
		{`{"type":"call_transfer","phone_number":"+4930123456"}`,
			`{"phone_number":"+4930123456","description":"Use when the caller asks for a person or the matter needs one.","custom":false,"timezone":null,"warm_transfer":false,"warm_transfer_message":"Tell the caller in one sentence that you are connecting them now."}`},
		{`{"type":"call_transfer","description":"flat","data":{"phone_number":"sip:a@b.example","description":"nested","custom":1,"unknown":1}}`,
			`{"phone_number":"sip:a@b.example","description":"flat","custom":true,"timezone":null,"warm_transfer":false,"warm_transfer_message":"Tell the caller in one sentence that you are connecting them now."}`},
		{`{"type":"warm_call_transfer","supervisor_phone":"200","custom_sip":true,"outbound_phone_id":"11","description":"d","hold_music_volume":0,"hold_message":null}`,
			`{"supervisor_phone":"200","outbound_phone_id":11,"description":"d","custom_sip":true,"caller_id_mode":"outbound_number","custom_caller_id":null,"hold_music":"hold_music","hold_music_volume":0,"hold_message":"Please hold while I connect you with a supervisor.","summary_instructions":"In two or three sentences, tell the supervisor who is calling, what they want, and why a person is needed.","briefing_initial_message":"Hello, I have a caller who needs a person. May I tell you what it is about?","connected_message":"You are now connected with a supervisor. I'll leave you to it."}`},
		{`{"type":"end_call"}`, `{"description":"Use when the matter is settled and goodbyes were said."}`},
		{`{"type":"dtmf_input"}`, `{"description":"Use to press keys in an automated phone menu."}`},
		{`{"type":"collect_keypad"}`, `{"timeout":5,"stop_key":"#"}`},
		{`{"type":"collect_keypad","timeout":"30","stop_key":"*"}`, `{"timeout":30,"stop_key":"*"}`},
		{`{"type":"calendar_integration",` + calendar + `,"calendar_booking_fields":[{"slug":"s","type":"select","label":"L","options":["a"]}]}`,
			`{"calendar_api_key":"****9876","calendar_event_slug":"intro","calendar_team_slug":null,"calendar_endpoint":"us","calendar_custom_endpoint":null,"calendar_booking_fields":[{"slug":"s","type":"select","label":"L","required":false,"options":["a"]}],"description":"Use when an appointment is wanted."}`},
		{fmt.Sprintf(`{"type":"assistant_transfer","assistant_id":"%d"}`, target),
			fmt.Sprintf(`{"assistant_id":%d,"description":"Use when the other assistant should take over.","message_before_transfer":null,"speak_transfer_greeting":true}`, target)},
	} {
		code, body := l.send("PUT", fmt.Sprintf("/a/%d", id), `{"tools":[`+c.in+`]}`)
		if code != 200 {
			t.Errorf("%s: %s", c.in, body)
			continue
		}
		tool := data(t, body)["tools"].([]any)[0].(map[string]any)
		var want map[string]any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(tool["data"], any(want)) {
			t.Errorf("%s\n got %v\nwant %v", c.in, tool["data"], want)
		}
		want["type"], want["data"] = tool["type"], tool["data"]
		if !reflect.DeepEqual(tool, want) {
			t.Errorf("flat: got %v", tool)
		}
		shown, _ := json.Marshal(map[string]any{"tools": []any{tool}})
		if code, again := l.send("PUT", fmt.Sprintf("/a/%d", id), string(shown)); code != 200 || !reflect.DeepEqual(data(t, again)["tools"], data(t, body)["tools"]) {
			t.Errorf("what was read cannot be written: %d %s", code, again)
		}
	}
}

// TestCalendarKeyIsSealedAndKept looks for the key in the database and writes its mask back.
//
// Contract: 4.1 4.4
func TestCalendarKeyIsSealedAndKept(t *testing.T) {
	l := sqlite(t)
	id := l.create(`"tools":[{"type":"calendar_integration",` + calendar + `}]`)
	key := func() string {
		a, err := l.room.ByID(t.Context(), l.d, ID(id))
		if err != nil {
			t.Fatal(err)
		}
		return a.Tools[0].Spec.(*toolbox.CalendarIntegration).APIKey
	}
	var stored string
	if err := l.d.Get(t.Context(), &stored, `SELECT settings FROM assistants WHERE id = $1`, id); err != nil || !strings.Contains(stored, `"sealed:cal_live_9876"`) {
		t.Error(stored, err)
	}
	put := func(k string) {
		code, body := l.send("PUT", fmt.Sprintf("/a/%d", id), `{"tools":[{"type":"calendar_integration","calendar_api_key":"`+k+`","calendar_event_slug":"intro"}]}`)
		if code != 200 || strings.Contains(body, "cal_live") || strings.Contains(body, "other_key") {
			t.Error(code, body)
		}
	}
	if put("****9876"); key() != "cal_live_9876" {
		t.Error("the mask replaced the key:", key())
	}
	if put("other_key"); key() != "other_key" {
		t.Error(key())
	}
}
