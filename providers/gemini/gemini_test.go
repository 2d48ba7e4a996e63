package gemini

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
	c := New(s.URL+"/v1beta/", "AIza-test")
	c.rest.Patience = rest.Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 2, Pause: time.Millisecond}
	t.Cleanup(func() { c.rest.Close(); s.Close() })
	return c.Model("gemini-x")
}

func ask(m *Model, r agent.Request) (string, error) {
	var b strings.Builder
	for c, err := range m.Reply(context.Background(), r) {
		if err != nil {
			return b.String(), err
		}
		if b.WriteString(c.Text); c.Call != nil {
			fmt.Fprintf(&b, "[%s %s %s %s]", c.Call.Name, c.Call.ID, c.Call.Arguments, c.Call.Seal)
		}
	}
	return b.String(), nil
}

func sse(events ...string) string {
	return "data: " + strings.Join(events, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func says(parts string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4}}`
}

func ends(reason string) string {
	return `{"candidates":[{"content":{"role":"model"},"finishReason":"` + reason + `"}]}`
}

var hello = sse(says(`{"text":"Thinking of it","thought":true}`), says(`{"text":"Hel"}`), says(`{"text":"lo."}`), ends("STOP"))

func TestModelRole(t *testing.T) {
	m := quick(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, hello) })
	providertest.Model(t, m, agent.Request{System: "You sell maps.", Messages: []agent.Message{{Role: agent.RoleUser, Text: "Hello?"}}})
	refused := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key: AIza-test","status":"INVALID_ARGUMENT"}}`)
	})
	providertest.Away(t, refused, "AIza-test")
}

func TestRequest(t *testing.T) {
	var got, key string
	m := quick(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, key = r.URL.String()+" "+strings.TrimSpace(string(raw)), r.Header.Get("X-Goog-Api-Key")
		io.WriteString(w, hello)
	})
	said, err := ask(m, agent.Request{System: "You are <Desk>.", Temperature: 0.5, Instruction: "Be brief.",
		Messages: []agent.Message{
			{Role: agent.RoleAssistant, Text: "Good morning."},
			{Role: agent.RoleUser, Text: "When?"},
			{Role: agent.RoleAssistant, Calls: []agent.ToolCall{
				{ID: "parley_0", Name: "look", Arguments: json.RawMessage(`{"q":1}`), Seal: "c2VhbA=="}, {ID: "fc_2", Name: "ring"}}},
			{Role: agent.RoleTool, CallID: "parley_0", Text: `{"a":2}`},
			{Role: agent.RoleTool, CallID: "fc_2", Text: `{}`},
		},
		Tools: []agent.Tool{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	})
	want := `/v1beta/models/gemini-x:streamGenerateContent?alt=sse {"systemInstruction":{"parts":[{"text":"You are <Desk>."}]},"contents":[` +
		`{"role":"user","parts":[{"text":"(The call is connected.)"}]},{"role":"model","parts":[{"text":"Good morning."}]},{"role":"user","parts":[{"text":"When?"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"look","args":{"q":1}},"thoughtSignature":"c2VhbA=="},{"functionCall":{"id":"fc_2","name":"ring"}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"a":2}}},{"functionResponse":{"id":"fc_2","name":"ring","response":{}}},{"text":"Be brief."}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"look","description":"Looks.","parametersJsonSchema":{"type":"object","properties":{}}}]}],` +
		`"generationConfig":{"temperature":0.5,"thinkingConfig":{"thinkingBudget":0}}}`
	if err != nil || said != "Hello." || got != want || key != "AIza-test" {
		t.Errorf("%q %v %s\n%s", said, err, key, got)
	}
	if _, err := ask(m, agent.Request{Instruction: "Fill it.", Schema: json.RawMessage(`{"type":"object"}`)}); err != nil ||
		!strings.Contains(got, `"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}`) {
		t.Errorf("%v %s", err, got)
	}
}

func TestFunctionCalls(t *testing.T) {
	m := quick(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, sse(says(`{"text":"Let me see."},{"functionCall":{"name":"book","args":{"day":"Friday"}},"thoughtSignature":"AbC"}`),
			says(`{"functionCall":{"id":"fc_9","name":"end_call"}}`), ends("FUNCTION_CALL")))
	})
	if got, err := ask(m, agent.Request{}); err != nil || got != `Let me see.[book parley_0 {"day":"Friday"} AbC][end_call fc_9 {} ]` {
		t.Errorf("%q %v", got, err)
	}
}

// Each fault of the vendor becomes an answer after all, or one sentence that a customer may read.
func TestFaults(t *testing.T) {
	bad := func(code int, message, status string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, code, message, status)
	}
	for _, c := range []struct {
		name     string
		statuses []int
		answers  []string
		text     string
		message  string
	}{
		{"busy once", []int{503, 200}, []string{bad(503, "overloaded", "UNAVAILABLE"), hello}, "Hello.", ""},
		{"it must think", []int{400, 200}, []string{bad(400, "Thinking budget 0 is invalid", "INVALID_ARGUMENT"), hello}, "Hello.", ""},
		{"no temperature", []int{400, 200}, []string{bad(400, "temperature is not supported", "INVALID_ARGUMENT"), hello}, "Hello.", ""},
		{"neither", []int{400, 400, 200}, []string{bad(400, "thinking", "X"), bad(400, "temperature", "X"), hello}, "Hello.", ""},
		{"refused for good", []int{400, 400}, []string{bad(400, "thinking", "X"), bad(400, "thinking", "X")}, "", "the language model refused the request"},
		{"an unreadable call", []int{200, 200}, []string{sse(ends("MALFORMED_FUNCTION_CALL")), hello}, "Hello.", ""},
		{"an unreadable call twice", []int{200, 200}, []string{sse(ends("MALFORMED_FUNCTION_CALL")), sse(ends("MALFORMED_FUNCTION_CALL"))}, "",
			"the language model gave an answer that cannot be read"},
		{"a bad key", []int{400}, []string{bad(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")}, "", "the language model refused the API key"},
		{"declined", []int{200}, []string{sse(ends("SAFETY"))}, "Je suis désolé, je ne peux pas vous aider pour cela.", ""},
		{"a blocked prompt", []int{200}, []string{sse(`{"promptFeedback":{"blockReason":"OTHER"}}`)}, "Je suis désolé, je ne peux pas vous aider pour cela.", ""},
		{"a cut stream", []int{200}, []string{sse(says(`{"text":"Hel"}`))}, "Hel", "the language model could not be reached"},
		{"an error in the stream", []int{200}, []string{sse(says(`{"text":"Hel"}`), bad(500, "internal", "INTERNAL"))}, "Hel", "the language model failed"},
		{"broken JSON", []int{200}, []string{"data: {\"candidates\":\n\n"}, "", "the language model gave an answer that cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			m := quick(t, func(w http.ResponseWriter, r *http.Request) {
				i := min(n, len(c.answers)-1)
				n++
				w.WriteHeader(c.statuses[i])
				io.WriteString(w, c.answers[i])
			})
			text, err := ask(m, agent.Request{Language: "fr"})
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
	settings := Vendor().Settings().(*Settings)
	settings.APIKey, settings.BaseURL = "k", s.URL
	r := providers.Start(t.Context(), []providers.Maker{Vendor()}, map[string]any{Code: settings}, providers.Ground{})
	vs, err := r.Now(), r.Err()
	if err != nil || len(vs) != 1 || len(vs.Offer().Models) != 2 || !vs.Offer().Models[0].Temperature {
		t.Fatal(vs, err)
	}
	if err := vs[0].Check(t.Context()); err != nil || path != "/v1beta/models" {
		t.Errorf("%q %v", path, err)
	}
	_ = vs[0].Close()
	none := providers.Start(t.Context(), []providers.Maker{Vendor()}, nil, providers.Ground{})
	if vs, err := none.Now(), none.Err(); err != nil || len(vs) != 0 {
		t.Errorf("without a key: %v %v", vs, err)
	}
}
