package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/db/dbtest"
)

// While the database hangs or is gone every route answers within five seconds, those that need it with 503 in the
// documented shape, and the figures are still there; when it is back everything works as before.
func TestDatabaseAway(t *testing.T) {
	server := dbtest.Own(t)
	env := []string{"PARLEY_DATABASE_URL=" + server.URL()}
	data := t.TempDir()
	key := ran(t, env, "keys", "create", "--data", data, "--name", "test")
	s := startServer(t, data, append(env, "PARLEY_RTP_PORTS=47000-47999"), "--dev")
	routes := s.routes(t)
	for name, outage := range map[string][2]func(){"frozen": {server.Freeze, server.Thaw}, "stopped": {server.Stop, server.Start}} {
		outage[0]()
		var all sync.WaitGroup
		for _, r := range routes {
			all.Go(func() { s.away(t, name, r, key) })
		}
		all.Wait()
		if code := s.get(t, "/healthz"); code != 200 {
			t.Errorf("%s: healthz %d", name, code)
		}
		outage[1]()
		for limit := time.Now().Add(time.Minute); s.get(t, "/readyz") != 200; {
			if time.Now().After(limit) {
				t.Fatalf("%s: not ready again", name)
			}
		}
		if code, body, _ := s.try(t, "GET /api/user/me", key); code != 200 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
}

// routes are those that read for an owner, some that write, and those beside the API.
func (s *serving) routes(t *testing.T) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string]any `json:"security"`
		} `json:"paths"`
	}
	_, body, _ := s.try(t, "GET /openapi.json", "")
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	list := []string{"GET /readyz", "GET /metrics", "POST /api/user/assistant", "DELETE /api/user/assistants/1", "POST /api/user/make_call"}
	variable := regexp.MustCompile(`\{[^}]*\}`)
	for path, methods := range doc.Paths {
		if _, reads := methods["get"]; reads && strings.Contains(path, "/user/") && !strings.HasSuffix(path, "events") && !strings.HasSuffix(path, "stream") {
			list = append(list, "GET "+variable.ReplaceAllString("/api/"+strings.TrimPrefix(strings.TrimPrefix(path, "/api"), "/"), "1"))
		}
	}
	if len(list) < 40 {
		t.Fatal("only", list)
	}
	return list
}

// needs are routes that cannot be answered without the database.
var needs = regexp.MustCompile(`^GET /api/user/(me|api-keys|calls|calls/1|campaigns|leads|knowledgebases|tools|phone-numbers|usage|webhook-deliveries)$|^DELETE`)

// away asks a route while the database is away.
func (s *serving) away(t *testing.T, name, route, key string) {
	began := time.Now()
	code, body, head := s.try(t, route, key)
	took := time.Since(began)
	switch {
	case took > 5*time.Second:
		t.Errorf("%s: %s took %s", name, route, took)
	case route == "GET /metrics":
		if code != 200 || !strings.Contains(string(body), "go_goroutines") {
			t.Errorf("%s: metrics %d", name, code)
		}
	case code < 500 && route != "GET /readyz" && !needs.MatchString(route): // a key that was just used is remembered for a moment
	case code != 503 || string(body) != `{"message":"Service Unavailable"}` || head.Get("Retry-After") != "5":
		t.Errorf("%s: %s %d %s", name, route, code, body)
	}
}

func (s *serving) try(t *testing.T, route, key string) (int, []byte, http.Header) {
	method, path, _ := strings.Cut(route, " ")
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader("{}"))
	if err != nil {
		t.Error(err)
		return 0, nil, nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil, nil
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, b, res.Header
}
