package agent_test

import (
	"flag"
	"os"
	"testing"

	"parley/agent"
	"parley/placeholders"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestSystemPrompt(t *testing.T) {
	p := agent.Prompt{
		Text: "You are {{assistant_name}}.\nFAQ:\n- {keep} {{drop}}", Values: placeholders.Values{"assistant_name": "Desk"}, Language: "de",
		Now: noon, Spoken: true, Notes: []string{"The call ends in 15 seconds: say goodbye."},
		Passages: []agent.Passage{{Document: "Hours", Text: "Open\n at nine."}},
	}
	golden(t, "testdata/system.txt", p.System())
	parts := agent.Split(p.System())
	if parts.Prompt != "You are Desk.\nFAQ:\n- {keep} " || !parts.Now.Equal(noon) || len(parts.Notes) != 4 ||
		len(parts.Passages) != 1 || parts.Passages[0] != (agent.Passage{Document: "Hours", Text: "Open at nine."}) {
		t.Errorf("split: %+v", parts)
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}
