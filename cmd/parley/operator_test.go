package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"parley/db/dbtest"
)

// ran runs a command to its end and gives what it printed.
func ran(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("parley %v: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// ask sends a request with a key.
func (s *serving) ask(t *testing.T, key, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func (s *serving) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// TestOperator makes keys and accounts with and without a running server, and takes a backup that is restored.
//
// Contract: 1.3 16.1 16.3
func TestOperator(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" }, "postgres": dbtest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testOperator(t, url)
		})
	}
}

func testOperator(t *testing.T, url func(testing.TB) string) {
	data, env := t.TempDir(), []string{"PARLEY_DATABASE_URL=" + url(t)}
	before := ran(t, env, "keys", "create", "--data", data, "--name", "before")
	if !regexp.MustCompile(`^\d+\|[A-Za-z0-9]{48}$`).MatchString(before) {
		t.Fatalf("token %q", before)
	}
	s := startServer(t, data, env)
	if status, body := s.ask(t, before, "GET", "/api/user/me", ""); status != 200 || !strings.Contains(body, `"total_balance":10000`) {
		t.Errorf("me: %d %s", status, body)
	}
	during := ran(t, env, "keys", "create", "--data", data, "--name", "during", "--user", "1")
	if status, body := s.ask(t, during, "POST", "/api/user/tools", `{"name":"shop","description":"d","endpoint":"https://x.example","method":"GET"}`); status != 201 {
		t.Errorf("tool: %d %s", status, body)
	}
	desk := `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1}`
	if status, body := s.ask(t, during, "POST", "/api/user/assistant", desk); status != 201 {
		t.Errorf("assistant: %d %s", status, body)
	}
	if id := ran(t, env, "accounts", "create", "--data", data, "--email", "t@p.example", "--kind", "tenant", "--plan", "max_tools=0"); id != "2" {
		t.Errorf("account id %q", id)
	}
	tenant := ran(t, env, "keys", "create", "--data", data, "--name", "t", "--user", "t@p.example")
	if got := ran(t, env, "balance", "add", "--data", data, "--user", "T@p.example", "--amount", "12.5", "--note", "welcome"); got != "12.5 credits" {
		t.Errorf("balance %q", got)
	}
	if status, body := s.ask(t, tenant, "POST", "/api/user/tools", `{"name":"shop","description":"d","endpoint":"https://x.example","method":"GET"}`); status != 422 {
		t.Errorf("the plan's limit: %d %s", status, body)
	}
	ran(t, env, "payment-method", "set", "declined", "--data", data, "--user", "2")
	if list := ran(t, env, "accounts", "list", "--data", data); !strings.Contains(list, "12.5 credits") || !strings.Contains(list, "declined") {
		t.Errorf("list\n%s", list)
	}
	if err := os.MkdirAll(filepath.Join(data, "files", "recordings"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "files", "recordings", "a.wav"), []byte("RIFF"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "parley.backup")
	ran(t, env, "backup", file, "--with-key", "--data", data)
	s.stop(t)

	if out, err := program(t, "restore", file, "--data", data).CombinedOutput(); err == nil || !strings.Contains(string(out), "not empty") {
		t.Errorf("restored over what was there: %s", out)
	}
	data, env = filepath.Join(t.TempDir(), "new"), []string{"PARLEY_DATABASE_URL=" + url(t)}
	ran(t, env, "restore", file, "--data", data)
	s = startServer(t, data, env)
	defer s.stop(t)
	if status, body := s.ask(t, during, "GET", "/api/user/tools", ""); status != 200 || !strings.Contains(body, `"name":"shop"`) {
		t.Errorf("after the restore: %d %s", status, body)
	}
	if status, body := s.ask(t, during, "GET", "/api/user/assistants/get", ""); status != 200 || !strings.Contains(body, `"total":1}`) {
		t.Errorf("assistants after the restore: %d %s", status, body)
	}
	if status, body := s.ask(t, during, "POST", "/api/user/api-keys", `{"name":"next"}`); status != 201 || strings.Contains(body, fmt.Sprintf(`"id":%s,`, strings.Split(tenant, "|")[0])) {
		t.Errorf("the next id: %d %s", status, body)
	}
	if status := s.get(t, "/media/recordings/a.wav"); status != 200 {
		t.Errorf("the recording: %d", status)
	}
}
