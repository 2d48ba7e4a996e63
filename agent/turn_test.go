package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/placeholders"
	"parley/toolbox"
)

// script answers each request with the next list of chunks and keeps what it was asked.
type script struct {
	answers [][]agent.Chunk
	asked   []agent.Request
	err     error
}

func (s *script) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	s.asked = append(s.asked, r)
	return func(yield func(agent.Chunk, error) bool) {
		if len(s.answers) == 0 {
			yield(agent.Chunk{}, s.err)
			return
		}
		next := s.answers[0]
		s.answers = s.answers[1:]
		for _, c := range next {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func say(texts ...string) (out []agent.Chunk) {
	for _, x := range texts {
		out = append(out, agent.Chunk{Text: x})
	}
	return out
}

func call(name, args string) agent.Chunk {
	return agent.Chunk{Call: &agent.ToolCall{ID: "call_" + name, Name: name, Arguments: json.RawMessage(args)}}
}

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func turn(m agent.Model, functions ...agent.Function) *agent.Turn {
	return &agent.Turn{
		Engine:    agent.Engine{Model: m, Provider: "test", Name: "script"},
		Prompt:    agent.Prompt{Text: "You are {{assistant_name}}.", Values: placeholders.Values{"assistant_name": "Desk"}, Language: "en", Now: noon},
		History:   []agent.Message{{Role: agent.RoleUser, Text: "When do you open?"}},
		Functions: functions,
	}
}

// Tools run between sentences.
//
// Contract: 4.9 9.3
func TestTurnRunsToolsBetweenSentences(t *testing.T) {
	m := &script{answers: [][]agent.Chunk{
		append(say("Let me ", "look. One mom"), call("search_knowledgebase", `{"query":"opening hours"}`)),
		say("We open at nine. ", "Anything else?"),
	}}
	var log []string
	find := func(_ context.Context, q string) ([]agent.Passage, error) {
		log = append(log, "search "+q)
		return []agent.Passage{{DocumentID: 8, Document: "Hours", Text: "Open <at> nine", Score: 1.5}}, nil
	}
	tr := turn(m, agent.Search(find))
	tr.Observe = func(e agent.Event) { log = append(log, e.Type) }
	for s, err := range tr.Sentences(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, s)
	}
	want := []string{"llm.request", "llm.first_token", "Let me look. ", "One mom", "tool.call", "search opening hours", "tool.result",
		"llm.request", "llm.first_token", "We open at nine. ", "Anything else?"}
	if !slices.Equal(log, want) {
		t.Errorf("got  %q\nwant %q", log, want)
	}
	if got := string(tr.Uses()[0].Result); got != `{"results":[{"document_id":8,"document":"Hours","text":"Open <at> nine","score":1.5}]}` {
		t.Errorf("result %s", got)
	}
	second := m.asked[1]
	if second.Purpose != agent.PurposeTool || len(second.Messages) != 3 || second.Messages[2].CallID != "call_search_knowledgebase" {
		t.Errorf("second request %+v", second)
	}
	if added := tr.Added(); len(added) != 3 || added[2].Text != "We open at nine. Anything else?" {
		t.Errorf("added %+v", added)
	}
}

func TestTurnIsBounded(t *testing.T) {
	m := &script{}
	for range 20 {
		m.answers = append(m.answers, []agent.Chunk{call("again", `{}`)})
	}
	tr := turn(m, agent.Function{Tool: agent.Tool{Name: "again"}, Run: func(context.Context, json.RawMessage) agent.Result {
		return agent.Result{Value: 1}
	}})
	if _, err := tr.Text(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(m.asked); n != 6 || m.asked[5].Tools != nil {
		t.Errorf("%d requests, the last with tools %v", n, m.asked[n-1].Tools)
	}
	if got := string(tr.Uses()[0].Result); got != `{"result":1}` {
		t.Errorf("a result that is no object: %s", got)
	}
}

func TestTurnPromptMode(t *testing.T) {
	m := &script{answers: [][]agent.Chunk{say("At nine.")}}
	tr := turn(m)
	tr.Recall = func(_ context.Context, q string) ([]agent.Passage, error) {
		return slices.Repeat([]agent.Passage{{Document: "Hours", Text: "Open\nat nine: " + q}}, 9), nil
	}
	var asked agent.Asked
	tr.Observe = func(e agent.Event) {
		if a, ok := e.Data.(agent.Asked); ok {
			asked = a
		}
	}
	if _, err := tr.Text(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked.KnowledgeChunks != 6 || asked.Purpose != agent.PurposeTurn {
		t.Errorf("observed %+v", asked)
	}
	parts := agent.Split(m.asked[0].System)
	if parts.Prompt != "You are Desk." || len(parts.Passages) != 6 || parts.Passages[0].Text != "Open at nine: When do you open?" {
		t.Errorf("system %q", m.asked[0].System)
	}
}

// end_call hangs up after the goodbye.
//
// Contract: 4.4
func TestTurnEndCallSaysGoodbye(t *testing.T) {
	ended := 0
	tools := toolbox.Tools{{Type: "end_call", Spec: &toolbox.EndCall{}}}
	end := tools.Functions(toolbox.Scene{Channel: toolbox.Channel{EndCall: func(context.Context) error { ended++; return nil }}, Now: noon})
	for _, c := range []struct {
		name     string
		answers  [][]agent.Chunk
		text     string
		requests int
	}{
		{"with a farewell", [][]agent.Chunk{append(say("Bye bye."), call("end_call", `{}`))}, "Bye bye.", 1},
		{"without one", [][]agent.Chunk{{call("end_call", ``)}, say("Goodbye.")}, "Goodbye.", 2},
	} {
		m := &script{answers: c.answers}
		tr := turn(m, end...)
		text, err := tr.Text(t.Context())
		if err != nil || text != c.text || len(m.asked) != c.requests || !tr.Over() {
			t.Errorf("%s: %q, %d requests, over %v, %v", c.name, text, len(m.asked), tr.Over(), err)
		}
	}
	if ended != 2 {
		t.Errorf("ended %d times", ended)
	}
}

func TestTurnFailures(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := turn(&script{err: broken}).Text(t.Context()); !errors.Is(err, broken) {
		t.Errorf("model error: %v", err)
	}
	if _, err := turn(&script{answers: [][]agent.Chunk{nil}}).Text(t.Context()); !errors.Is(err, agent.ErrSilent) {
		t.Errorf("silent model: %v", err)
	}
	m := &script{answers: [][]agent.Chunk{{call("nope", `[1]`)}, say("Sorry.")}}
	tr := turn(m)
	if text, err := tr.Text(t.Context()); text != "Sorry." || err != nil {
		t.Errorf("unknown function: %q %v", text, err)
	}
	if u := tr.Uses()[0]; string(u.Arguments) != `{}` || string(u.Result) != `{"error":"there is no function nope"}` {
		t.Errorf("unknown function: %s %s", u.Arguments, u.Result)
	}
	m = &script{answers: [][]agent.Chunk{say("One. Two. Three.")}}
	for range turn(m).Sentences(t.Context()) {
		break // the listener leaves after the first sentence
	}
}

// The values of an evaluation have the types of their schema.
//
// Contract: 4.2 5.2
func TestEvaluation(t *testing.T) {
	m := &script{answers: [][]agent.Chunk{say("```json\n", `{"status":"true","summary":"Asked.","guests":"4","mood":null,"extra":1}`, "\n```")}}
	e := agent.Evaluation{
		Engine: agent.Engine{Model: m}, Prompt: agent.Prompt{Text: "P", Now: noon},
		History: []agent.Message{
			{Role: agent.RoleAssistant, Text: "Hello."}, {Role: agent.RoleUser, Text: "A table\nfor four."}, {Role: agent.RoleTool, Text: "{}"},
		},
		Fields: []agent.Field{
			{"status", "bool", "Done?"}, {"summary", "string", "Short <summary>"}, {"guests", "number", "How many"},
			{"mood", "string", "Mood"}, {"missing", "number", "Not there"},
		},
	}
	got, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"status":true,"summary":"Asked.","guests":4,"mood":null,"missing":null}`; got.String() != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r := m.asked[0]
	if r.Messages[0].Text != "Assistant: Hello.\nCustomer: A table for four." || !json.Valid(r.Schema) || !strings.HasPrefix(r.System, "P") {
		t.Errorf("request %+v", r)
	}
	back := agent.ParseTranscript(r.Messages[0].Text)
	if len(back) != 2 || back[1].Text != "A table for four." || back[1].Role != agent.RoleUser {
		t.Errorf("parsed %+v", back)
	}
	if got, err := (agent.Evaluation{}).Run(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("no fields: %v %v", got, err)
	}
}
