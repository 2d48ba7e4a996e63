package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/fault"
	"parley/providers/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Streams as recorded from several servers, read a byte at a time and whole.
func TestRecordedStreams(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.sse")
	if len(files) == 0 {
		t.Fatal("no fixtures")
	}
	for _, f := range files {
		want, err := os.ReadFile(strings.TrimSuffix(f, ".sse") + ".want")
		if err != nil {
			t.Fatal(err)
		}
		for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			raw, _ := os.ReadFile(f)
			var got []string
			err := readStream(wrap(strings.NewReader(string(raw))), func(c agent.Chunk) error {
				got = append(got, show(c))
				return nil
			})
			if err != nil || strings.Join(got, "|") != strings.TrimSpace(string(want)) {
				t.Errorf("%s: %q %v", f, got, err)
			}
		}
	}
}

func show(c agent.Chunk) string {
	if c.Call != nil {
		return c.Call.Name + " " + c.Call.ID + " " + string(c.Call.Arguments)
	}
	return c.Text
}

func quick(t *testing.T, h http.HandlerFunc) *Client {
	s := httptest.NewServer(h)
	c := New(Config{BaseURL: s.URL + "/v1/", Key: "sk-test"})
	c.Patience = rest.Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 3, Pause: time.Millisecond}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c
}

func ask(c *Client, r agent.Request) (string, error) {
	var b strings.Builder
	for chunk, err := range c.Model("m").Reply(context.Background(), r) {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(show(chunk))
	}
	return b.String(), nil
}

const hello = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestRequest(t *testing.T) {
	var got, auth, path string
	c := quick(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, auth, path = string(raw), r.Header.Get("Authorization"), r.URL.Path
		io.WriteString(w, hello)
	})
	_, err := ask(c, agent.Request{
		System: "You are <Desk>.", Temperature: 0.1, Instruction: "Be brief.", Schema: json.RawMessage(`{"type":"object"}`),
		Messages: []agent.Message{
			{Role: agent.RoleUser, Text: "When?"},
			{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"q":1}`)}}},
			{Role: agent.RoleTool, CallID: "c1", Text: `{"a":2}`},
		},
		Tools: []agent.Tool{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	})
	want := `{"model":"m","messages":[{"role":"system","content":"You are <Desk>."},{"role":"user","content":"When?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"q\":1}"}}]},` +
		`{"role":"tool","content":"{\"a\":2}","tool_call_id":"c1"},{"role":"system","content":"Be brief."}],"temperature":0.1,"stream":true,` +
		`"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{}}}}],` +
		`"response_format":{"json_schema":{"name":"answer","schema":{"type":"object"},"strict":true},"type":"json_schema"}}`
	if err != nil || strings.TrimSpace(got) != want || auth != "Bearer sk-test" || path != "/v1/chat/completions" {
		t.Errorf("%v %s %s\n%s", err, auth, path, got)
	}
}

// Each fault of a server becomes an answer after all, or one sentence that a customer may read.
func TestFaults(t *testing.T) {
	refuse := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	ok := func(w http.ResponseWriter) { io.WriteString(w, hello) }
	cut := func(w http.ResponseWriter) {
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	short := func(w http.ResponseWriter) {
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n")
	}
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		text    string
		message string
	}{
		{"a passing 500", []func(http.ResponseWriter){refuse(500, "oops"), refuse(503, `{"error":"busy"}`), ok}, "Hello.", ""},
		{"a passing 429", []func(http.ResponseWriter){refuse(429, `{"error":{"message":"slow down"}}`), ok}, "Hello.", ""},
		{"a dropped connection", []func(http.ResponseWriter){func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, ok}, "Hello.", ""},
		{"a lasting 500", []func(http.ResponseWriter){refuse(500, ""), refuse(500, ""), refuse(500, "")}, "", "the language model failed"},
		{"a lasting 429", []func(http.ResponseWriter){refuse(429, ""), refuse(429, ""), refuse(429, "")}, "", "the language model has too many requests or no quota left"},
		{"a bad key", []func(http.ResponseWriter){refuse(401, `{"error":{"message":"Incorrect API key sk-test"}}`)}, "", "the language model refused the API key"},
		{"no such model", []func(http.ResponseWriter){refuse(404, "")}, "", "the language model does not know this model"},
		{"a refused request", []func(http.ResponseWriter){refuse(400, `{"error":{"message":"context too long"}}`)}, "", "the language model refused the request"},
		{"no temperature", []func(http.ResponseWriter){refuse(400, `{"error":{"message":"Unsupported value","param":"temperature"}}`), ok}, "Hello.", ""},
		{"no schemas", []func(http.ResponseWriter){refuse(400, `{"error":{"message":"response_format json_schema is not supported"}}`), ok}, "Hello.", ""},
		{"a cut stream", []func(http.ResponseWriter){cut}, "Hel", "the language model could not be reached"},
		{"a stream without an end", []func(http.ResponseWriter){short}, "Hel", "the language model could not be reached"},
		{"a page", []func(http.ResponseWriter){refuse(200, "<html>hello</html>")}, "", "the language model could not be reached"},
		{"broken JSON", []func(http.ResponseWriter){refuse(200, "data: {\"choices\":[{\n\n")}, "", "the language model gave an answer that cannot be read"},
		{"an error in the stream", []func(http.ResponseWriter){refuse(200, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n")}, "", "the language model failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			client := quick(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				n++
				c.answers[min(n, len(c.answers))-1](w)
			})
			text, err := ask(client, agent.Request{Schema: json.RawMessage(`{}`)})
			message := ""
			if err != nil {
				message = fault.Of(err).Message
			}
			if text != c.text || message != c.message || n != len(c.answers) {
				t.Errorf("%q, %q after %d requests (%v)", text, message, n, err)
			}
			if strings.Contains(message, "sk-test") {
				t.Error("the key shows")
			}
		})
	}
}

func TestSlowServers(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, c := range []struct {
		name, message string
		begin         string
	}{{"never begins", "the language model did not answer in time", ""}, {"stops halfway", "the language model stopped in the middle of its answer", ": begun\n\n"}} {
		client := quick(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if c.begin != "" {
				io.WriteString(w, c.begin)
				w.(http.Flusher).Flush()
			}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		client.Patience.Header, client.Patience.Idle = 30*time.Millisecond, 30*time.Millisecond
		if c.begin != "" {
			client.Patience.Header = 5 * time.Second
		}
		if _, err := ask(client, agent.Request{}); fault.Of(err).Message != c.message {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCancelEndsTheRequest(t *testing.T) {
	gone := make(chan struct{})
	client := quick(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	why := errors.New("the caller spoke")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for chunk, err := range client.Model("m").Reply(ctx, agent.Request{}) {
		if chunk.Text == "Hel" {
			cancel(why)
		} else if !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	}
	<-gone
}

func TestEmbed(t *testing.T) {
	answer := `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}]}`
	client := quick(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, answer) })
	got, err := client.Embedder("e").Embed(t.Context(), []string{"a", "b"})
	if err != nil || fmt.Sprint(got) != "[[1 0.5] [0 1]]" {
		t.Errorf("%v %v", got, err)
	}
	for _, answer = range []string{`{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":7,"embedding":[1]}]}`, `nope`} {
		if _, err := client.Embedder("e").Embed(t.Context(), []string{"a", "b"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestProbe(t *testing.T) {
	for answer, want := range map[string]string{
		`{"object":"list","data":[{"id":"llama3.2"},{"id":"qwen3"}]}`: "[llama3.2 qwen3]",
		`{"message":"The route v1/models could not be found."}`:       "[]",
		`<html>`: "[]",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, answer) }))
		if got := fmt.Sprint(probe(t.Context(), s.URL+"/v1", "")); got != want {
			t.Errorf("%s: %s", answer, got)
		}
		s.Close()
		if got := probe(t.Context(), s.URL+"/v1", ""); got != nil {
			t.Errorf("nobody there: %v", got)
		}
	}
}

// Servers on this machine are found and offered by what their models are for.
func TestDiscover(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"id":"nomic-embed-text"},{"id":"whisper-1"},{"id":"kokoro-82m"},{"id":"qwen3"},{"id":"llama3.2"}]}`)
	}))
	defer s.Close()
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	places := Usual(strings.TrimPrefix(s.URL, "http://"))[:1]
	found := Discover(t.Context(), append(places, Server{Name: "x", BaseURL: empty.URL + "/v1"}))
	if len(found) != 1 || found[0].Name != "Ollama" || found[0].BaseURL != s.URL+"/v1" || len(found[0].Models) != 5 {
		t.Fatalf("%+v", found)
	}
	if chat, stt, tts := found[0].Offer(); chat != "qwen3" || stt != "whisper-1" || tts != "kokoro-82m" {
		t.Errorf("%q %q %q", chat, stt, tts)
	}
	if got := FirstModel(t.Context(), s.URL+"/v1/", ""); got != "qwen3" {
		t.Error(got)
	}
	for host, want := range map[string]string{"": "127.0.0.1:11434", "127.0.0.2:80": "127.0.0.2:80", "http://localhost:99/": "127.0.0.1:99", "0.0.0.0": "127.0.0.1:11434",
		"0.0.0.0:99": "127.0.0.1:99", "192.0.2.1:99": "127.0.0.1:11434", "gpu.example:99": "127.0.0.1:11434", "[::1]:99": "[::1]:99"} {
		if got := Usual(host)[0].BaseURL; got != "http://"+want+"/v1" {
			t.Errorf("%q: %s", host, got)
		}
	}
}
