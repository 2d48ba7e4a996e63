package assistants

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"parley/catalog"
)

// refusal is a request and the one field error it must give.
type refusal struct{ body, key, sentence string }

func long(n int) string { return `"` + strings.Repeat("x", n) + `"` }

func list(n int, item func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = item(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// one says that a both-sided number is bounded.
func one(field string, lo, hi string, outside ...string) (out []refusal) {
	spoken := strings.ReplaceAll(field, "_", " ")
	for _, v := range outside {
		out = append(out, refusal{fmt.Sprintf(`"%s":%s`, field, v), field, fmt.Sprintf("The %s field must be between %s and %s.", spoken, lo, hi)})
	}
	return out
}

func wrongType(kind string, fields ...string) (out []refusal) {
	for _, f := range fields {
		bad := `[1]`
		if kind == "an array" {
			bad = `"x"`
		}
		out = append(out, refusal{fmt.Sprintf(`"%s":%s`, f, bad), f, fmt.Sprintf("The %s field must be %s.", strings.ReplaceAll(f, "_", " "), kind)})
	}
	return out
}

var refusals = slices.Concat(
	wrongType("a string", "name", "type", "mode", "timezone", "initial_message", "system_prompt", "knowledgebase_mode",
		"endpoint_type", "reengagement_prompt", "voice_mail_message", "ambient_sound", "webhook_url", "conversation_ended_webhook_url", "status"),
	wrongType("an integer", "voice_id", "language_id", "llm_model_id", "multimodal_model_id", "chat_llm_fallback_id", "knowledgebase_id",
		"phone_number_id", "synthesizer_provider_id", "transcriber_provider_id", "min_interrupt_words", "max_duration", "max_silence_duration",
		"max_initial_silence_duration", "ringing_time", "reengagement_interval", "conversation_inactivity_timeout", "folder_id"),
	wrongType("a number", "turn_detection_threshold", "voice_stability", "voice_similarity", "speech_speed", "llm_temperature",
		"interrupt_sensitivity", "endpoint_sensitivity", "ambient_sound_volume"),
	wrongType("true or false", "tts_emotion_enabled", "allow_interruptions", "fillers", "record", "enable_noise_cancellation",
		"wait_for_customer", "end_call_on_voicemail", "is_webhook_active", "send_webhook_only_on_completed", "include_recording_in_webhook",
		"post_call_evaluation", "conversation_ended_retrigger"),
	wrongType("an array", "secondary_language_ids", "tool_ids", "tools", "filler_config", "post_call_schema", "variables", "label_ids", "widget_settings"),
	one("voice_stability", "0", "1", "-0.1", "1.01"), one("voice_similarity", "0", "1", "-1", "2"),
	one("speech_speed", "0.7", "1.2", "0.69", "1.21", `"3"`), one("llm_temperature", "0", "1", "-0.1", "1.1"),
	one("interrupt_sensitivity", "0", "5", "-0.1", "5.1"), one("endpoint_sensitivity", "0", "5", "-0.1", "5.1"),
	one("min_interrupt_words", "0", "10", "-1", "11"), one("max_duration", "20", "1200", "19", "1201"),
	one("max_silence_duration", "1", "360", "0", "361"), one("max_initial_silence_duration", "1", "120", "0", "121"),
	one("ringing_time", "1", "60", "0", "61"), one("reengagement_interval", "7", "600", "6", "601"),
	one("ambient_sound_volume", "0", "1", "-0.1", "1.1"), one("conversation_inactivity_timeout", "1", "1440", "0", "1441"),
	[]refusal{
		{`"name":` + long(256), "name", "The name field must not be greater than 255 characters."},
		{`"name":null`, "name", "The name field must be a string."},
		{`"name":"  "`, "name", "The name field must be a string."},
		{`"voice_id":99`, "voice_id", "The selected voice id is invalid."},
		{`"voice_id":3`, "voice_id", "This voice does not work in the chosen mode. Pick a voice whose modes include it."},
		{`"language_id":999`, "language_id", "The selected language id is invalid."},
		{`"language_id":null`, "language_id", "The language id field must be an integer."},
		{`"secondary_language_ids":[3,999]`, "secondary_language_ids.1", "The selected secondary_language_ids.1 is invalid."},
		{`"secondary_language_ids":[3,3]`, "secondary_language_ids.1", "The secondary_language_ids.1 field has a duplicate value."},
		{`"secondary_language_ids":["x"]`, "secondary_language_ids.0", "The secondary_language_ids.0 field must be an integer."},
		{`"secondary_language_ids":[2,3,4,5,6,7,8,9,10,11,12]`, "secondary_language_ids", "The secondary language ids field must not have more than 10 items."},
		{`"type":"both"`, "type", "The selected type is invalid."},
		{`"mode":"magic"`, "mode", "The selected mode is invalid."},
		{`"status":"gone"`, "status", "The selected status is invalid."},
		{`"timezone":"Mars/Base"`, "timezone", "The timezone field must be a valid timezone."},
		{`"initial_message":` + long(201), "initial_message", "The initial message field must not be greater than 200 characters."},
		{`"system_prompt":` + long(100001), "system_prompt", "The system prompt field must be between 1 and 100000 characters."},
		{`"system_prompt":""`, "system_prompt", "The system prompt field must be a string."},
		{`"llm_model_id":2`, "llm_model_id", "The selected llm model id is invalid."},
		{`"llm_model_id":null`, "llm_model_id", "The llm model id field must be an integer."},
		{`"multimodal_model_id":2`, "multimodal_model_id", "The multimodal model id field is only available in multimodal and dualplex modes."},
		{`"chat_llm_fallback_id":1`, "chat_llm_fallback_id", "The chat llm fallback id field is only available in multimodal and dualplex modes."},
		{`"turn_detection_threshold":0.5`, "turn_detection_threshold", "The turn detection threshold field is only available in multimodal and dualplex modes."},
		{`"turn_detection_threshold":1.5`, "turn_detection_threshold", "The turn detection threshold field must be between 0 and 1."},
		{`"knowledgebase_id":22`, "knowledgebase_id", "The selected knowledgebase id is invalid."},
		{`"knowledgebase_mode":"both"`, "knowledgebase_mode", "The selected knowledgebase mode is invalid."},
		{`"phone_number_id":99`, "phone_number_id", "The selected phone number id is invalid."},
		{`"phone_number_id":12`, "phone_number_id", "Caller ID numbers cannot be assigned to inbound assistants."},
		{`"tool_ids":[31,99]`, "tool_ids.1", "The selected tool_ids.1 is invalid."},
		{`"tool_ids":[31,31]`, "tool_ids.1", "The tool_ids.1 field has a duplicate value."},
		{`"tool_ids":` + list(51, func(i int) string { return fmt.Sprint(i + 1) }), "tool_ids", "The tool ids field must not have more than 50 items."},
		{`"synthesizer_provider_id":99`, "synthesizer_provider_id", "The selected synthesizer provider id is invalid."},
		{`"synthesizer_provider_id":2`, "synthesizer_provider_id", "The selected synthesizer provider id is invalid."},
		{`"transcriber_provider_id":99`, "transcriber_provider_id", "The selected transcriber provider id is invalid."},
		{`"endpoint_type":"x"`, "endpoint_type", "The selected endpoint type is invalid."},
		{`"filler_config":{"neutral":["` + strings.Repeat("x", 51) + `"]}`, "filler_config.neutral.0", "The filler_config.neutral.0 field must be between 1 and 50 characters."},
		{`"filler_config":{"positive":"x"}`, "filler_config.positive", "The filler config.positive field must be an array."},
		{`"filler_config":{"neutral":` + list(21, func(int) string { return `"x"` }) + `}`, "filler_config.neutral", "The filler config.neutral field must not have more than 20 items."},
		{`"reengagement_prompt":` + long(1001), "reengagement_prompt", "The reengagement prompt field must not be greater than 1000 characters."},
		{`"voice_mail_message":` + long(1001), "voice_mail_message", "The voice mail message field must not be greater than 1000 characters."},
		{`"ambient_sound":"disco"`, "ambient_sound", "The selected ambient sound is invalid."},
		{`"is_webhook_active":true`, "webhook_url", "The webhook url field is required when is webhook active is true."},
		{`"is_webhook_active":true,"webhook_url":null`, "webhook_url", "The webhook url field is required when is webhook active is true."},
		{`"webhook_url":"ftp://x.example"`, "webhook_url", "The webhook url field must be a valid URL."},
		{`"webhook_url":"http://127.0.0.1/x"`, "webhook_url", "The webhook url field must not point to a private or local address."},
		{`"conversation_ended_webhook_url":"x"`, "conversation_ended_webhook_url", "The conversation ended webhook url field must be a valid URL."},
		{`"post_call_schema":[{"type":"bool","description":"abc"}]`, "post_call_schema.0.name", "The post_call_schema.0.name field is required."},
		{`"post_call_schema":[{"name":"ab","type":"bool","description":"abc"}]`, "post_call_schema.0.name", "The post_call_schema.0.name field must be between 3 and 16 characters."},
		{`"post_call_schema":[{"name":"Abc","type":"bool","description":"abc"}]`, "post_call_schema.0.name", "The post_call_schema.0.name field format is invalid."},
		{`"post_call_schema":[{"name":"abc","type":"bool","description":"abc"},{"name":"abc","type":"bool","description":"abc"}]`, "post_call_schema.1.name", "The post_call_schema.1.name field has a duplicate value."},
		{`"post_call_schema":[{"name":"abc","description":"abc"}]`, "post_call_schema.0.type", "The post_call_schema.0.type field is required."},
		{`"post_call_schema":[{"name":"abc","type":"date","description":"abc"}]`, "post_call_schema.0.type", "The selected post_call_schema.0.type is invalid."},
		{`"post_call_schema":[{"name":"abc","type":"bool"}]`, "post_call_schema.0.description", "The post_call_schema.0.description field is required."},
		{`"post_call_schema":[{"name":"abc","type":"bool","description":"ab"}]`, "post_call_schema.0.description", "The post_call_schema.0.description field must be between 3 and 255 characters."},
		{`"post_call_schema":["x"]`, "post_call_schema.0", "The post_call_schema.0 field must be an array."},
		{`"variables":{"x":{"y":1}}`, "variables.x", "The variables.x field must be a string, number or boolean."},
		{`"variables":{"first_name":[1]}`, "variables.first_name", "The variables.first name field must be a string, number or boolean."},
		{`"variables":{"x":` + long(4001) + `}`, "variables.x", "The variables.x field must not be greater than 4000 characters."},
		{`"folder_id":9`, "folder_id", "The selected folder id is invalid."},
		{`"label_ids":[9]`, "label_ids.0", "The selected label_ids.0 is invalid."},
		{`"widget_settings":{"enabled":"maybe"}`, "widget_settings.enabled", "The widget settings.enabled field must be true or false."},
		{`"widget_settings":{"header_title":` + long(121) + `}`, "widget_settings.header_title", "The widget settings.header title field must not be greater than 120 characters."},
		{`"widget_settings":{"allowed_origins":[1]}`, "widget_settings.allowed_origins.0", "The widget_settings.allowed_origins.0 field must be a string."},
	},
)

// TestRefusalsOnUpdateChangeNothing sends every refused value of the field table; each gives its one sentence and changes nothing.
//
// Contract: 1.10 4.2 4.5
func TestRefusalsOnUpdateChangeNothing(t *testing.T) {
	l := sqlite(t)
	path := fmt.Sprintf("/a/%d", l.create(""))
	_, before := l.send("PUT", path, "{}")
	for _, r := range refusals {
		code, body := l.send("PUT", path, `{"record":true,`+r.body+`}`)
		if got := errorsOf(body); code != 422 || len(got) != 1 || got[r.key] != r.sentence {
			t.Errorf("%.120s\n got %d %v\nwant %s: %s", r.body, code, got, r.key, r.sentence)
		}
		if !strings.Contains(body, `{"message":"Validation failed"`) {
			t.Errorf("%.120s: %s", r.body, body)
		}
	}
	if _, after := l.send("PUT", path, "{}"); after != before {
		t.Errorf("refused updates left\n%s\nof\n%s", after, before)
	}
}

// TestTooManyVariables bounds the variables.
//
// Contract: 4.2 17
func TestTooManyVariables(t *testing.T) {
	l := sqlite(t)
	vars := make([]string, 101)
	for i := range vars {
		vars[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	_, body := l.send("POST", "/a", with(`"variables":{`+strings.Join(vars, ",")+`}`))
	if got := errorsOf(body)["variables"]; got != "The variables field must not have more than 100 items." {
		t.Error(got)
	}
	_, body = l.send("POST", "/a", with(`"variables":{"`+strings.Repeat("k", 65)+`":1}`))
	if got := errorsOf(body); got["variables."+strings.Repeat("k", 65)] == "" {
		t.Error(body)
	}
}

// TestRequiredOnCreate leaves out what a new assistant must have.
//
// Contract: 1.10 4.2
func TestRequiredOnCreate(t *testing.T) {
	l := sqlite(t)
	_, body := l.send("POST", "/a", `{}`)
	want := `{"message":"Validation failed","errors":{"name":["The name field is required."],"voice_id":["The voice id field is required."],` +
		`"language_id":["The language id field is required."],"type":["The type field is required."],"mode":["The mode field is required."],` +
		`"timezone":["The timezone field is required."],"initial_message":["The initial message field is required."],"system_prompt":["The system prompt field is required."]}}`
	if body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	for mode, key := range map[string]string{"pipeline": "llm_model_id", "multimodal": "multimodal_model_id", "dualplex": "multimodal_model_id"} {
		voice := map[bool]string{true: "3", false: "1"}[mode == "multimodal"]
		_, body := l.send("POST", "/a", with(`"mode":"`+mode+`","voice_id":`+voice+`,"llm_model_id":null`))
		want := fmt.Sprintf("The %s field is required when mode is %s.", strings.ReplaceAll(key, "_", " "), mode)
		if got := errorsOf(body); len(got) != 1 || got[key] != want {
			t.Errorf("%s: %v", mode, got)
		}
	}
	_, body = l.send("POST", "/a", with(`"name":null,"mode":"magic"`))
	if got := errorsOf(body); len(got) != 2 || got["name"] != "The name field is required." || got["mode"] != "The selected mode is invalid." {
		t.Error(got)
	}
}

// TestErrorsStandInTheOrderOfTheTable sends several wrong fields at once.
//
// Contract: 1.10 4.5
func TestErrorsStandInTheOrderOfTheTable(t *testing.T) {
	l := sqlite(t)
	id := l.create(`"mode":"dualplex","llm_model_id":null,"multimodal_model_id":2`)
	_, body := l.send("PUT", fmt.Sprintf("/a/%d", id),
		`{"widget_settings":{"enabled":7},"tools":[{"type":"x"}],"allow_interruptions":false,"speech_speed":1.5,"variables":{"a":[1]},"name":7}`)
	at := -1
	for _, key := range []string{"name", "tools.0.type", "speech_speed", "allow_interruptions", "variables.a", "widget_settings.enabled"} {
		i := strings.Index(body, `"`+key+`":[`)
		if i < at || i < 0 {
			t.Fatalf("%s out of order in %s", key, body)
		}
		at = i
	}
	_, body = l.send("PUT", fmt.Sprintf("/a/%d", id), `{"allow_interruptions":false,"speech_speed":1.5}`)
	want := `{"message":"Validation failed","errors":{"speech_speed":["The speech speed field must be between 0.7 and 1.2."],"allow_interruptions":["Interruptions can be turned off in pipeline mode only. Keep them on, or change the mode."]}}`
	if body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

// TestModeRules sends fields to modes that lack them.
//
// Contract: 4.2 4.3
func TestModeRules(t *testing.T) {
	const voices = "This voice does not work in the chosen mode. Pick a voice whose modes include it."
	for _, c := range []struct{ mode, body, key, sentence string }{
		{"multimodal", `"voice_id":1`, "voice_id", voices},
		{"dualplex", `"voice_id":3`, "voice_id", voices},
		{"multimodal", `"llm_model_id":1`, "llm_model_id", "The llm model id field is only available in pipeline mode."},
		{"dualplex", `"llm_model_id":1`, "llm_model_id", "The llm model id field is only available in pipeline mode."},
		{"multimodal", `"transcriber_provider_id":1`, "transcriber_provider_id", "The transcriber provider id field is only available in pipeline mode."},
		{"multimodal", `"synthesizer_provider_id":1`, "synthesizer_provider_id", "The synthesizer provider id field is only available in pipeline and dualplex modes."},
		{"multimodal", `"multimodal_model_id":1`, "multimodal_model_id", "The selected multimodal model id is invalid."},
		{"dualplex", `"multimodal_model_id":null`, "multimodal_model_id", "The multimodal model id field must be an integer."},
		{"multimodal", `"chat_llm_fallback_id":2`, "chat_llm_fallback_id", "The selected chat llm fallback id is invalid."},
		{"multimodal", `"knowledgebase_mode":"prompt"`, "knowledgebase_mode", "A multimodal assistant can use its knowledgebase in function_call mode only."},
		{"dualplex", `"knowledgebase_mode":"prompt"`, "knowledgebase_mode", "A dualplex assistant can use its knowledgebase in function_call mode only."},
		{"dualplex", `"fillers":true`, "fillers", "Fillers are only available in pipeline mode."},
		{"multimodal", `"allow_interruptions":false`, "allow_interruptions", "Interruptions can be turned off in pipeline mode only. Keep them on, or change the mode."},
		{"multimodal", `"llm_model_id":null,"transcriber_provider_id":null,"synthesizer_provider_id":null,"fillers":false,"chat_llm_fallback_id":1,"turn_detection_threshold":0.4`, "", ""},
		{"pipeline", `"multimodal_model_id":null,"chat_llm_fallback_id":null,"turn_detection_threshold":null,"allow_interruptions":false,"fillers":true,"knowledgebase_mode":"prompt","transcriber_provider_id":1,"synthesizer_provider_id":1`, "", ""},
	} {
		l := sqlite(t)
		more := ""
		if c.mode != "pipeline" {
			more = `"llm_model_id":null,"multimodal_model_id":2,"mode":"` + c.mode + `"`
		}
		if c.mode == "multimodal" {
			more += `,"voice_id":3`
		}
		code, body := l.send("PUT", fmt.Sprintf("/a/%d", l.create(more)), "{"+c.body+"}")
		got := errorsOf(body)
		switch {
		case c.key == "" && code != 200:
			t.Errorf("%s %s: %d %s", c.mode, c.body, code, body)
		case c.key != "" && (len(got) != 1 || got[c.key] != c.sentence):
			t.Errorf("%s %s: %v", c.mode, c.body, got)
		}
	}
}

// TestModeChangeResets changes the mode there and back.
//
// Contract: 4.3
func TestModeChangeResets(t *testing.T) {
	l := sqlite(t)
	id := l.create(`"knowledgebase_mode":"prompt","fillers":true,"allow_interruptions":false,"synthesizer_provider_id":1,"transcriber_provider_id":1,"voice_stability":0.2`)
	path := fmt.Sprintf("/a/%d", id)
	code, body := l.send("PUT", path, `{"mode":"multimodal","turn_detection_threshold":0.3}`)
	if code != 200 {
		t.Fatal(body)
	}
	checkFields(t, body, map[string]any{"mode": "multimodal", "llm_model_id": nil, "multimodal_model_id": 2.0, "voice_id": 3.0,
		"synthesizer_provider_id": nil, "transcriber_provider_id": nil, "fillers": false, "knowledgebase_mode": "function_call",
		"allow_interruptions": true, "turn_detection_threshold": 0.3, "chat_llm_fallback_id": nil, "voice_stability": 0.2})
	_, body = l.send("PUT", path, `{"mode":"multimodal"}`) // the same mode resets nothing
	checkFields(t, body, map[string]any{"turn_detection_threshold": 0.3, "voice_id": 3.0})
	_, body = l.send("PUT", path, `{"mode":"dualplex","chat_llm_fallback_id":3}`)
	checkFields(t, body, map[string]any{"voice_id": 1.0, "multimodal_model_id": 2.0, "turn_detection_threshold": nil, "chat_llm_fallback_id": 3.0})
	_, body = l.send("PUT", path, `{"mode":"pipeline","llm_model_id":3}`)
	checkFields(t, body, map[string]any{"llm_model_id": 3.0, "multimodal_model_id": nil, "chat_llm_fallback_id": nil, "voice_id": 1.0})
	if code, body = l.send("PUT", path, `{"mode":"multimodal","llm_model_id":1}`); code != 422 {
		t.Error(body)
	}
}

func checkFields(t *testing.T, body string, want map[string]any) {
	t.Helper()
	got := data(t, body)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if fmt.Sprint(got[key]) != fmt.Sprint(want[key]) {
			t.Errorf("%s: got %v, want %v", key, got[key], want[key])
		}
	}
}

// TestDefaults creates the smallest assistant and reads every key.
//
// Contract: 4.1 4.2 4.4
func TestDefaults(t *testing.T) {
	l := sqlite(t)
	code, body := l.send("POST", "/a", with(""))
	if code != 201 || strings.Contains(body, `"warnings"`) {
		t.Fatal(code, body)
	}
	checkFields(t, body, map[string]any{
		"id": 1.0, "user_id": 1.0, "name": "Desk", "type": "inbound", "mode": "pipeline", "status": "inactive", "language": "en",
		"voice_id": 1.0, "language_id": 1.0, "timezone": "Europe/Berlin", "initial_message": "Hello", "system_prompt": "Be kind.", "llm_model_id": 1.0,
		"secondary_language_ids": []any{}, "multimodal_model_id": nil, "chat_llm_fallback_id": nil, "turn_detection_threshold": nil,
		"knowledgebase_id": nil, "knowledgebase_mode": "function_call", "phone_number_id": nil, "tool_ids": []any{}, "tools": []any{},
		"tts_emotion_enabled": true, "voice_stability": 0.7, "voice_similarity": 0.5, "speech_speed": 1.0, "llm_temperature": 0.1,
		"synthesizer_provider_id": nil, "transcriber_provider_id": nil, "allow_interruptions": true, "interrupt_sensitivity": 0.5,
		"min_interrupt_words": nil, "endpoint_type": "vad", "endpoint_sensitivity": 0.5, "fillers": false, "record": false,
		"enable_noise_cancellation": true, "wait_for_customer": false, "max_duration": 600.0, "max_silence_duration": 40.0,
		"max_initial_silence_duration": nil, "ringing_time": 30.0, "reengagement_interval": 30.0, "reengagement_prompt": nil,
		"end_call_on_voicemail": true, "voice_mail_message": nil, "ambient_sound": "off", "ambient_sound_volume": 0.5,
		"is_webhook_active": false, "webhook_url": nil, "send_webhook_only_on_completed": true, "include_recording_in_webhook": true,
		"post_call_evaluation": true, "variables": map[string]any{}, "conversation_inactivity_timeout": 30.0,
		"conversation_ended_retrigger": false, "conversation_ended_webhook_url": nil, "folder_id": nil, "label_ids": []any{},
		"inbound_webhook_url": nil, "deleted_at": nil,
		"post_call_schema": []any{map[string]any{"name": "status", "type": "bool", "description": "True when the goal of the conversation was reached."},
			map[string]any{"name": "summary", "type": "string", "description": "Short summary of the conversation."}},
	})
	if _, again := l.send("PUT", fmt.Sprintf("/a/%v", data(t, body)["id"]), "{}"); again != body {
		t.Errorf("what is stored reads otherwise than what was answered:\n%s\n%s", again, body)
	}
	got := data(t, body)
	if n := len(got); n != 67 {
		t.Errorf("%d keys: %v", n, slices.Sorted(maps.Keys(got)))
	}
	if fc := got["filler_config"].(map[string]any); len(fc) != 4 || len(fc["neutral"].([]any)) == 0 {
		t.Error(fc)
	}
	if ws := got["widget_settings"].(map[string]any); ws["enabled"] != true || ws["voice_enabled"] != true || len(ws) != 12 {
		t.Error(ws)
	}
}

// TestFillerPhrases leaves lists out and empties them.
//
// Contract: 4.2
func TestFillerPhrases(t *testing.T) {
	l := sqlite(t)
	id := l.create(`"filler_config":{"positive":[],"neutral":["So."]}`)
	_, body := l.send("PUT", fmt.Sprintf("/a/%d", id), "{}")
	fc := data(t, body)["filler_config"].(map[string]any)
	if fmt.Sprint(fc["positive"], fc["neutral"]) != "[] [So.]" || len(fc["negative"].([]any)) == 0 || len(fc["question"].([]any)) == 0 {
		t.Error(fc)
	}
	_, body = l.send("PUT", fmt.Sprintf("/a/%d", id), `{"filler_config":{}}`)
	if fc := data(t, body)["filler_config"].(map[string]any); len(fc["positive"].([]any)) == 0 {
		t.Error("a replaced list is still there:", fc)
	}
}

// TestWarnings names exactly what was sent and does nothing.
//
// Contract: 1.5 4.2 4.3 4.7
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
	}{
		{``, nil},
		{`"ambient_sound":"off","fillers":false,"record":true`, nil},
		{`"fillers":true,"tts_emotion_enabled":true`, nil},
		{`"enable_noise_cancellation":true`, nil},
		{`"tools":[{"type":"end_call"},{"type":"assistant_transfer","assistant_id":1}]`, nil},
		{`"nonsense":1,"other":2`, []string{"nonsense", "other"}},
		{`"status":"active"`, []string{"status"}},
		{`"language_id":5`, []string{"language_id"}},
		{`"secondary_language_ids":[1,5]`, []string{"secondary_language_ids", "secondary_language_ids"}},
		{`"llm_temperature":0.4`, []string{"llm_temperature"}},
		{`"llm_temperature":0.4,"llm_model_id":3`, nil},
		{`"ambient_sound":"cafe"`, nil},
		{`"mode":"multimodal","voice_id":3,"llm_model_id":null,"multimodal_model_id":2,"voice_stability":0.5,"filler_config":{}`, []string{"voice_stability", "filler_config"}},
		{`"tools":[{"type":"calendar_integration","calendar_api_key":"cal_1234","calendar_event_slug":"a","calendar_custom_endpoint":"https://c.example"}]`, []string{"tools.0.calendar_custom_endpoint"}},
	} {
		l := sqlite(t)
		l.create(``) // whom calls could be handed over to
		code, body := l.send("POST", "/a", with(c.body))
		var got []string
		for part := range strings.SplitSeq(body, `{"field":"`) {
			if name, rest, ok := strings.Cut(part, `","message":"`); ok && rest != "" && !strings.Contains(name, "{") {
				got = append(got, name)
			}
		}
		if code != 201 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d %v, want %v\n%s", c.body, code, got, c.want, body)
		}
	}
}

// TestModesOfFields looks through the modes that the tags of the settings name: the rules and the API's description read them.
//
// Contract: 4.3
func TestModesOfFields(t *testing.T) {
	if len(modesOf()) == 0 {
		t.Error("no field has modes of its own")
	}
	for key, modes := range modesOf() {
		works := 0
		for _, m := range []catalog.Mode{catalog.Pipeline, catalog.Multimodal, catalog.Dualplex} {
			if fits(key, m) {
				works++
			}
		}
		if works != len(modes) || works == 0 || works == 3 {
			t.Errorf("%s: %q work in %d modes", key, modes, works)
		}
	}
	if !fits("name", catalog.Pipeline) {
		t.Error("a field without modes has no effect")
	}
}
