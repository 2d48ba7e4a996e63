package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"parley/api/apitest"
)

// TestVendors sets a vendor up by its key: its models are on offer at once, the key is never shown, a refused key is said in
// words, and another account sees nothing of it.
//
// Contract: 4.7
func TestVendors(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		var status atomic.Int64
		status.Store(200)
		cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != "sk-secret" || r.URL.Path != "/v1/models" {
				t.Errorf("%s with %v", r.URL, r.Header)
			}
			w.WriteHeader(int(status.Load()))
		}))
		defer cloud.Close()
		of := func(code string) map[string]any {
			t.Helper()
			for _, v := range s.Send("GET /user/providers", "").Want(200).Get("data").([]any) {
				if v := v.(map[string]any); v["code"] == code {
					return v
				}
			}
			t.Fatalf("no vendor %s", code)
			return nil
		}
		if v := of("anthropic"); v["configured"] != false || v["source"] != nil || v["name"] != "Anthropic" {
			t.Error(v)
		}
		s.Send("POST /user/providers/anthropic/test", "").Want(200, `{"ok":false,"ms":0,"message":"It is not set up."}`)
		models := func() string { return s.Send("GET /user/assistants/models", "").Want(200).Body }
		if strings.Contains(models(), "claude") {
			t.Error("models of a vendor that is not set up are on offer")
		}
		put := s.Send("PUT /user/providers/anthropic", `{"api_key":"sk-secret","base_url":"`+cloud.URL+`","models":"claude-x, claude-y"}`).Want(200)
		if put.Get("data.configured") != true || put.Get("data.source") != "console" || strings.Contains(put.Body, "sk-secret") {
			t.Error(put.Body)
		}
		if !strings.Contains(models(), "claude-x") || !strings.Contains(models(), "claude-y") {
			t.Error("its models are not on offer:", models())
		}
		if a := s.Send("POST /user/providers/anthropic/test", "").Want(200); a.Get("ok") != true || a.Get("message") != "It works." {
			t.Error(a.Body)
		}
		status.Store(401)
		if a := s.Send("POST /user/providers/anthropic/test", "").Want(200); a.Get("ok") != false || a.Get("message") != "The key was refused (401)." {
			t.Error(a.Body)
		}
		if v := of("anthropic"); v["healthy"] != false || v["last_error"] != "The key was refused (401)." || v["checked_at"] == nil {
			t.Error(v)
		}

		s.Send("PUT /user/providers/anthropic", `{"api_key":7}`).WantError("api_key: The api key field must be text.")
		s.Send("PUT /user/providers/anthropic", `{"else":"x"}`).WantError("else: The vendor has no such setting.")
		s.Send("PUT /user/providers/anthropic", `{"base_url":"file:///etc/passwd"}`).WantError("base_url: The base url field must be an address that begins with http or ws.")
		s.Send("PUT /user/providers/anthropic", `{"models":["",1]}`).WantError("models: The models field must be a list of texts.")
		s.Send("PUT /user/providers/nobody", `{"api_key":"x"}`).Want(404)
		s.Send("POST /user/providers/nobody/test", "").Want(404)
		other := s.Stranger()
		for _, line := range []string{"GET /user/providers", "PUT /user/providers/anthropic", "POST /user/providers/anthropic/test"} {
			other.Send(line, "").Want(404, `{"message":"Not found"}`)
		}
		if !strings.Contains(models(), "claude-x") {
			t.Error("a refused change took effect")
		}
		s.Send("PUT /user/providers/anthropic", `{"api_key":null}`).Want(200)
		if strings.Contains(models(), "claude-x") {
			t.Error("its model is on offer without a key")
		}
	})
}
