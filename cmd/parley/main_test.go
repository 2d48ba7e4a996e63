package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test binary be the program: exit codes and signals are those of a real process.
func TestMain(m *testing.M) {
	if os.Getenv("PARLEY_TEST_PROGRAM") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		if name, on, _ := strings.Cut(sureWords, "="); os.Getenv(name) == on {
			stage()
		}
		os.Exit(run(ctx, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program is the parley command with these arguments, in an empty environment.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"PARLEY_TEST_PROGRAM=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
		"PARLEY_SIP_LISTEN=udp://127.0.0.1:0,tcp://127.0.0.1:0", "PARLEY_WEBRTC_LISTEN=udp://127.0.0.1:0"}
	return cmd
}

func TestExitCodes(t *testing.T) {
	data := t.TempDir()
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("clock:\n  mode: sideways\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		env  string
		code int
		says string
	}{
		{args: []string{"version"}, code: 0},
		{args: []string{"config", "--data", data}, code: 0},
		{args: []string{"help"}, code: 0},
		{args: []string{"dance"}, code: 2, says: "dance"},
		{args: []string{"serve", "--bogus"}, code: 2, says: "--bogus"},
		{args: []string{"serve", "now"}, code: 2, says: "now"},
		{args: []string{"serve", "--data", data, "--listen", "nowhere"}, code: 2, says: "listen"},
		{args: []string{"serve", "--config", bad}, code: 2, says: "clock.mode"},
		{args: []string{"serve", "--config", bad + ".not"}, code: 2, says: "bad.yaml.not"},
		{args: []string{"serve", "--data", data}, env: "PARLEY_SERVE=1", code: 2, says: "PARLEY_SERVE"},
		{args: []string{"serve", "--data", filepath.Join(file, "x")}, code: 1, says: "not a directory"},
	} {
		cmd := program(t, c.args...)
		cmd.Env = append(cmd.Env, c.env)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != c.code || strings.Count(stderr.String(), "\n") > 1 || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d (%v)\n%s", c.args, code, c.code, err, stderr.String())
		}
	}
}

// serving is a running server and its address.
type serving struct {
	*exec.Cmd
	url    string
	banner string
	done   chan error
}

// startServer runs parley serve on a data folder until it has printed its banner.
func startServer(t *testing.T, data string, env []string, args ...string) *serving {
	t.Helper()
	cmd := program(t, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	return start(t, cmd)
}

// start runs a server until it has printed its banner.
func start(t *testing.T, cmd *exec.Cmd) *serving {
	t.Helper()
	s := &serving{Cmd: cmd, done: make(chan error, 1)}
	var stderr strings.Builder
	s.Stderr = &stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		s.banner += lines.Text() + "\n"
		if _, at, ok := strings.Cut(lines.Text(), "API "); ok {
			s.url = strings.TrimSuffix(strings.TrimSpace(at), "/api")
		}
		if strings.Contains(lines.Text(), "ready") {
			break
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		s.done <- s.Wait()
	}()
	if s.url == "" {
		t.Fatalf("no banner:\n%s%s", s.banner, stderr.String())
	}
	return s
}

func (s *serving) get(t *testing.T, path string) int {
	t.Helper()
	res, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestServeAndStop(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, nil)
	for path, want := range map[string]int{"/readyz": 200, "/healthz": 200, "/metrics": 200, "/api/openapi.json": 200, "/openapi.json": 200, "/api/user/me": 401, "/nope": 404} {
		if got := s.get(t, path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	second := program(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	out, _ := second.CombinedOutput()
	if second.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "another parley serves") {
		t.Errorf("a second server on the same folder: %d %s", second.ProcessState.ExitCode(), out)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// The start says where everything is, and which servers on this machine could think, hear and speak; so does the doctor.
// A server that was chosen is used with its first model (running.md "First run").
func TestBanner(t *testing.T) {
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"nomic-embed-text"},{"id":"qwen3"},{"id":"whisper-1"}]}`)
	}))
	defer ollama.Close()
	offer := "Ollama is running; to use it: PARLEY_OPENAI_BASE_URL=" + ollama.URL + "/v1 PARLEY_OPENAI_MODEL=qwen3 PARLEY_OPENAI_STT_MODEL=whisper-1\n"
	env := []string{"OLLAMA_HOST=" + ollama.URL}
	s := startServer(t, t.TempDir(), env)
	for _, want := range []string{"console  " + s.url + "/console\n", "API      " + s.url + "/api\n", "SIP      udp://127.0.0.1:", "SIP      tcp://127.0.0.1:",
		"WebRTC   udp://127.0.0.1:", "sign in  " + s.url + "/console/welcome?token=", "engines  " + offer} {
		if !strings.Contains(s.banner, want) {
			t.Errorf("%q is not in\n%s", want, s.banner)
		}
	}
	s.stop(t)
	doctor := program(t, "doctor", "--data", t.TempDir())
	doctor.Env = append(doctor.Env, append(env, "PARLEY_LISTEN=127.0.0.1:0")...)
	if out, err := doctor.CombinedOutput(); err != nil || !strings.Contains(string(out), offer) {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	data := t.TempDir()
	key := ran(t, nil, "keys", "create", "--data", data, "--name", "test")
	s = startServer(t, data, append(env, "PARLEY_OPENAI_BASE_URL="+ollama.URL+"/v1"))
	if strings.Contains(s.banner, "Ollama") {
		t.Errorf("offered although one is in use:\n%s", s.banner)
	}
	if status, models := s.ask(t, key, "GET", "/api/user/assistants/models", ""); status != 200 || !strings.Contains(models, "qwen3") {
		t.Errorf("%d %s", status, models)
	}
	s.stop(t)
}
