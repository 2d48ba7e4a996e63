//go:build aimock

package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/fault"
	"parley/providers/rest"
	"parley/voice"
)

// start runs the independent fake of npm (@copilotkit/aimock); `make aimock` installs it.
func start(t *testing.T) *Client {
	dir := os.Getenv("PARLEY_AIMOCK")
	if dir == "" {
		dir = "../../node_modules/@copilotkit/aimock"
	}
	cli, _ := filepath.Abs(filepath.Join(dir, "dist", "cli.js"))
	if _, err := os.Stat(cli); err != nil {
		t.Fatalf("@copilotkit/aimock is not installed: run make aimock (%v)", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command("node", cli, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-f", "testdata/aimock", "--validate-on-load")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), fmt.Sprint(port)) {
	}
	go func() {
		for lines.Scan() {
		}
	}()
	c := New(Config{BaseURL: fmt.Sprintf("http://127.0.0.1:%d/v1", port), Key: "test"})
	c.Patience = rest.Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 2, Pause: time.Millisecond}
	t.Cleanup(func() {
		c.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return c
}

func TestAgainstAimock(t *testing.T) {
	c := start(t)
	engine := agent.Engine{Model: c.Model("gpt-4o-mini"), Provider: "openai", Name: "gpt-4o-mini"}
	prompt := agent.Prompt{Text: "You are Desk.", Language: "en", Now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}

	t.Run("a turn with a tool", func(t *testing.T) {
		turn := agent.Turn{
			Engine: engine, Prompt: prompt, History: []agent.Message{{Role: agent.RoleUser, Text: "When do you open?"}},
			Functions: []agent.Function{agent.Search(func(_ context.Context, q string) ([]agent.Passage, error) {
				return []agent.Passage{{Document: "Hours", Text: "Nine to five: " + q}}, nil
			})},
		}
		text, err := turn.Text(t.Context())
		if err != nil || text != "Let me look. We open at nine. Anything else?" || len(turn.Uses()) != 1 {
			t.Errorf("%q %v %+v", text, err, turn.Uses())
		}
		if args := string(turn.Uses()[0].Arguments); args != `{"query":"opening hours"}` {
			t.Errorf("arguments %s", args)
		}
	})
	t.Run("an evaluation", func(t *testing.T) {
		e := agent.Evaluation{Engine: engine, Prompt: prompt, History: []agent.Message{{Role: agent.RoleUser, Text: "Thanks."}},
			Fields: []agent.Field{{Name: "status", Type: "bool", Description: "Done"}, {Name: "summary", Type: "string", Description: "Summary"}, {Name: "guests", Type: "number", Description: "Guests"}}}
		got, err := e.Run(t.Context())
		b, _ := json.Marshal(got)
		if err != nil || string(b) != `{"status":true,"summary":"Opening hours given.","guests":null}` {
			t.Errorf("%s %v", b, err)
		}
	})
	for said, want := range map[string]string{
		"fault: rate limit": "the language model has too many requests or no quota left",
		"fault: key":        "the language model refused the API key",
		"fault: model":      "the language model does not know this model",
		"fault: cut":        "the language model could not be reached",
		"fault: drop":       "the language model failed",
		"fault: malformed":  "the language model gave an answer that cannot be read",
		"fault: disconnect": "the language model could not be reached",
	} {
		t.Run(said, func(t *testing.T) {
			_, err := ask(c, agent.Request{Messages: []agent.Message{{Role: agent.RoleUser, Text: said}}})
			if got := fault.Of(err).Message; got != want {
				t.Errorf("%q (%v)", got, err)
			}
		})
	}
	t.Run("recognition", func(t *testing.T) {
		hears, _ := c.Transcriber("whisper-1")(t.Context(), voice.Transcription{Rate: 16000, Languages: []string{"en"}})
		defer hears.Close()
		hears.Write(tone(16000, 0.5, 9000))
		hears.EndTurn()
		got, err := hears.Recv()
		if err != nil || got.Text != "I would like to book a table." || !got.Final {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("speech", func(t *testing.T) {
		var pcm []int16
		for f, err := range c.Synthesizer("tts-1").Speak(t.Context(), voice.Speech{Text: "Hello.", Voice: "alloy", Speed: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			pcm = append(pcm, f.PCM...)
			if f.Rate != pcmRate || f.Dur() > audio.FrameDur {
				t.Errorf("frame of %v at %d Hz", f.Dur(), f.Rate)
			}
		}
		if want := []int16{0, 32767, -32768, 0, 32767, -32768, 0}; !equal(pcm, want) {
			t.Errorf("%v", pcm)
		}
	})
	t.Run("embeddings", func(t *testing.T) {
		got, err := c.Embedder("text-embedding-3-small").Embed(t.Context(), []string{"one", "two"})
		if err != nil || len(got) != 2 || len(got[0]) < 8 {
			t.Errorf("%d vectors, %v", len(got), err)
		}
	})
}
