package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func server(t *testing.T, h http.HandlerFunc) *Client {
	s := httptest.NewServer(h)
	c := New(s.URL+"/v1/", Header("X-Key", "secret"))
	c.Patience = Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 3, Pause: time.Millisecond}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c
}

// What a vendor refuses is tried again exactly where that can help.
func TestTries(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header [2]string
		body   string
		tries  int
	}{
		{"overloaded", 529, [2]string{}, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 3},
		{"too many", 429, [2]string{"Retry-After-Ms", "1"}, ``, 3},
		{"too many for long", 429, [2]string{"Retry-After", "60"}, ``, 1},
		{"too many until a date", 429, [2]string{"Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}, ``, 1},
		{"no quota", 429, [2]string{}, `{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}`, 1},
		{"a spend limit", 429, [2]string{}, `{"error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, 1},
		{"the vendor says no", 500, [2]string{"X-Should-Retry", "false"}, ``, 1},
		{"the vendor says yes", 409, [2]string{"X-Should-Retry", "true"}, ``, 3},
		{"a bad request", 400, [2]string{}, `{"error":"no"}`, 1},
		{"a redirect", 302, [2]string{"Location", "/elsewhere"}, ``, 1},
	} {
		n := 0
		client := server(t, func(w http.ResponseWriter, r *http.Request) {
			n++
			if r.Header.Get("X-Key") != "secret" || r.URL.Path != "/v1/x" {
				t.Errorf("%s: %s %v", c.name, r.URL, r.Header)
			}
			if c.header[0] != "" {
				w.Header().Set(c.header[0], c.header[1])
			}
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := client.Post(t.Context(), "/x", 1)
		if r, ok := errors.AsType[*Refusal](err); !ok || r.Status != c.status || n != c.tries {
			t.Errorf("%s: %v after %d tries", c.name, err, n)
		}
	}
}

func TestRefusalsInWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"bad key","type":"invalid_request_error","param":"key","code":"invalid_api_key"}}`: "bad key|invalid_api_key|key",
		`{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}`:                      "API key not valid|INVALID_ARGUMENT|",
		`{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`:                              "model: x|not_found_error|",
		`{"error":"busy"}`: "busy||",
		`{"detail":{"status":"quota_exceeded","message":"no credits"}}`:                "no credits|quota_exceeded|",
		`{"detail":[{"loc":["body","text"],"msg":"field required","type":"missing"}]}`: "field required||text",
		`{"detail":"Not found"}`: "Not found||",
		`{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials.","request_id":"x"}`:                    "Invalid credentials.|INVALID_AUTH|",
		`{"error_code":"voice_not_found","title":"Not found","message":"No such voice","status_code":404}`: "No such voice|voice_not_found|",
		`<html>`: "||",
	} {
		var r Refusal
		r.Read([]byte(body))
		if got := r.Message + "|" + r.Code + "|" + r.Param; got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// A server that has no such page but answers is well; one that refuses the key or fails is not.
func TestAlive(t *testing.T) {
	status := 0
	client := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	for s, want := range map[int]string{200: "", 404: "", 401: "the server refused the API key", 503: "the server failed"} {
		status = s
		err := client.Alive(t.Context(), "/models")
		if err == nil && want != "" || err != nil && fault.Of(err).Message != want {
			t.Errorf("%d: %v", s, err)
		}
	}
}

func TestEvents(t *testing.T) {
	var got []string
	for data, err := range Events(strings.NewReader(": hello\nevent: x\ndata: {\"a\":1}\r\n\r\ndata:2\n{\"b\":3}")) {
		got = append(got, fmt.Sprint(data, err))
	}
	if strings.Join(got, " ") != `{"a":1}<nil> 2<nil> {"b":3}<nil>` {
		t.Error(got)
	}
	for _, err := range Events(strings.NewReader("data: " + strings.Repeat("x", longest+100<<10))) {
		if err == nil {
			t.Error("an endless line is taken")
		}
	}
}

func TestVersioned(t *testing.T) {
	for given, want := range map[string]string{"https://a.example": "https://a.example/v1", "https://a.example/": "https://a.example/v1", "https://a.example/v1/": "https://a.example/v1"} {
		if got := Versioned(given, "/v1"); got != want {
			t.Errorf("%s: %s", given, got)
		}
	}
}
