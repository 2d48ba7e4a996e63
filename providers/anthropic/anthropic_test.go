package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/fault"
	"parley/providers"
	"parley/providers/providertest"
	"parley/providers/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quick(t *testing.T, h http.HandlerFunc) *Model {
	s := httptest.NewServer(h)
	c := New(s.URL, "sk-ant-test")
	c.rest.Patience = rest.Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 2, Pause: time.Millisecond}
	t.Cleanup(func() { c.rest.Close(); s.Close() })
	return c.Model("claude-haiku-5-5")
}

func ask(m *Model, r agent.Request) (string, error) {
	var b strings.Builder
	for c, err := range m.Reply(context.Background(), r) {
		if err != nil {
			return b.String(), err
		}
		if b.WriteString(c.Text); c.Call != nil {
			fmt.Fprintf(&b, "[%s %s %s]", c.Call.Name, c.Call.ID, c.Call.Arguments)
		}
	}
	return b.String(), nil
}

// sse writes events as the vendor does: named, and with data that names them again.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var named struct{ Type string }
		_ = json.Unmarshal([]byte(e), &named)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", named.Type, e)
	}
	return b.String()
}

func text(s string) string {
	raw, _ := json.Marshal(s)
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(raw) + `}}`
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`
	open1 = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	shut  = `{"type":"content_block_stop","index":0}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":12}}`
	stop  = `{"type":"message_stop"}`
)

var hello = sse(start, open1, `{"type":"ping"}`, text("Hel"), text("lo."), shut, ended, stop)

func TestModelRole(t *testing.T) {
	m := quick(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, hello) })
	providertest.Model(t, m, agent.Request{System: "You sell maps.", Messages: []agent.Message{{Role: agent.RoleUser, Text: "Hello?"}}})
	refused := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant-test"}}`)
	})
	providertest.Away(t, refused, "sk-ant-test")
}

// The request is what this version of the API accepts: no temperature, the user first, results of tools together and first.
func TestRequest(t *testing.T) {
	var got string
	var head http.Header
	m := quick(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, head = r.URL.Path+" "+strings.TrimSpace(string(raw)), r.Header
		io.WriteString(w, hello)
	})
	args := json.RawMessage(`{"q":1}`)
	said, err := ask(m, agent.Request{System: "You are <Desk>.", Temperature: 0.7, Instruction: "Be brief.",
		Messages: []agent.Message{
			{Role: agent.RoleAssistant, Text: "Good morning."},
			{Role: agent.RoleUser, Text: "When?"},
			{Role: agent.RoleAssistant, Text: "I'll look.", Calls: []agent.ToolCall{{ID: "t1", Name: "look", Arguments: args}, {ID: "t2", Name: "ring"}}},
			{Role: agent.RoleTool, CallID: "t1", Text: `{"a":2}`},
			{Role: agent.RoleTool, CallID: "t2", Text: `"done"`},
			{Role: agent.RoleUser, Text: "Well?"},
		},
		Tools: []agent.Tool{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	})
	want := `/v1/messages {"model":"claude-haiku-5-5","max_tokens":4096,"system":[{"type":"text","text":"You are <Desk>.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"(The call is connected.)"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"Good morning."}]},{"role":"user","content":[{"type":"text","text":"When?"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"I'll look."},{"type":"tool_use","id":"t1","name":"look","input":{"q":1}},{"type":"tool_use","id":"t2","name":"ring","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"{\"a\":2}"},{"type":"tool_result","tool_use_id":"t2","content":"\"done\""},` +
		`{"type":"text","text":"Well?"},{"type":"text","text":"Be brief."}]}],` +
		`"tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{}}}],"thinking":{"type":"disabled"},"stream":true}`
	if err != nil || said != "Hello." || got != want {
		t.Errorf("%q %v\n%s", said, err, got)
	}
	if head.Get("X-Api-Key") != "sk-ant-test" || head.Get("Anthropic-Version") != "2026-10-21" || head.Get("Authorization") != "" {
		t.Error(head)
	}
	if _, err := ask(m, agent.Request{Instruction: "Fill it.", Schema: json.RawMessage(`{"type":"object"}`)}); err != nil ||
		!strings.Contains(got, `"output_config":{"format":{"schema":{"type":"object"},"type":"json_schema"}}`) {
		t.Errorf("%v %s", err, got)
	}
}

func TestToolCalls(t *testing.T) {
	m := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, sse(start, open1, text("Let me see."), shut,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"book","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"day\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Friday\"}"}}`, shut,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"end_call","input":{}}}`, shut,
			`{"type":"an_event_of_tomorrow"}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, stop))
	})
	if got, err := ask(m, agent.Request{}); err != nil || got != `Let me see.[book toolu_1 {"day":"Friday"}][end_call toolu_2 {}]` {
		t.Errorf("%q %v", got, err)
	}
}

// Each fault of the vendor becomes an answer after all, or one sentence that a customer may read.
func TestFaults(t *testing.T) {
	overloaded := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	for _, c := range []struct {
		name     string
		statuses []int
		answers  []string
		text     string
		message  string
	}{
		{"overloaded once", []int{529, 200}, []string{overloaded, hello}, "Hello.", ""},
		{"overloaded after it began", []int{200, 200}, []string{sse(start, overloaded), hello}, "Hello.", ""},
		{"overloaded for good", []int{200, 200}, []string{sse(start, overloaded), sse(start, overloaded)}, "", "the language model failed"},
		{"overloaded in a word", []int{200}, []string{sse(start, open1, text("Hel"), overloaded)}, "Hel", "the language model failed"},
		{"a spend limit", []int{429}, []string{`{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`},
			"", "the language model has no quota left"},
		{"no such model", []int{404}, []string{`{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`}, "", "the language model does not know this model"},
		{"a cut stream", []int{200}, []string{sse(start, open1, text("Hel"))}, "Hel", "the language model could not be reached"},
		{"declined", []int{200}, []string{sse(start, `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, stop)}, "Dabei kann ich leider nicht helfen.", ""},
		{"too long", []int{200}, []string{sse(start, `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, stop)}, "", "the language model refused the request"},
		{"half a call", []int{200}, []string{sse(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"day"}}`, shut, stop)}, "", "the language model gave an answer that cannot be read"},
		{"broken JSON", []int{200}, []string{"data: {\"type\":\n\n"}, "", "the language model gave an answer that cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			m := quick(t, func(w http.ResponseWriter, r *http.Request) {
				i := min(n, len(c.answers)-1)
				n++
				w.WriteHeader(c.statuses[i])
				io.WriteString(w, c.answers[i])
			})
			text, err := ask(m, agent.Request{Language: "de"})
			message := ""
			if err != nil {
				message = fault.Of(err).Message
			}
			if text != c.text || message != c.message || n != len(c.answers) {
				t.Errorf("%q, %q after %d requests (%v)", text, message, n, err)
			}
		})
	}
}

func TestConfigured(t *testing.T) {
	path := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { path = r.URL.Path }))
	defer s.Close()
	r := providers.Start(t.Context(), []providers.Maker{Vendor()}, nil, providers.Ground{})
	vs, err := r.Now(), r.Err()
	if err != nil || len(vs) != 0 {
		t.Errorf("without a key: %v %v", vs, err)
	}
	settings := Vendor().Settings().(*Settings)
	settings.APIKey, settings.BaseURL = "k", s.URL+"/v1"
	r = providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{Code: settings}, providers.Ground{})
	vs, err = r.Now(), r.Err()
	if err != nil || len(vs) != 1 {
		t.Fatal(vs, err)
	}
	models := vs.Offer().Models
	if len(models) != 2 || models[0].Code != "claude-haiku-5-5" || models[0].Temperature || models[1].Provider != "anthropic" {
		t.Errorf("%+v", models)
	}
	if err := vs[0].Check(t.Context()); err != nil || path != "/v1/models" {
		t.Errorf("%q %v", path, err)
	}
	_ = vs[0].Close()
}
