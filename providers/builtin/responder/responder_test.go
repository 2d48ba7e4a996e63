package responder_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/providers/builtin/responder"
	"parley/toolbox"
)

var update = flag.Bool("update", false, "rewrite what the dialogues answer")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a dialogue file: the setting, dashes, then the conversation.
//
//	prompt lines …
//	@tool NAME | description | {"parameters"} | {"result"}      @end   @transfer connected   @dtmf   @calendar
//	@doc NAME | text                                            @prompt-mode
//	@want name type description                                 @language de
//	---
//	= initial message      < user      > assistant      ! function arguments      ~ instruction      % field = value
type scene struct {
	prompt   string
	language string
	tools    []agent.Function
	builtIns toolbox.Tools
	docs     []agent.Passage
	inPrompt bool
	wanted   []agent.Field
	transfer string
	lines    []string
}

func load(t *testing.T, file string) *scene {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, file, string(raw))
}

func parse(t *testing.T, file, text string) *scene {
	head, body, ok := strings.Cut(text, "\n---\n")
	if !ok {
		t.Fatalf("%s has no --- line", file)
	}
	s := &scene{language: "en", lines: strings.Split(strings.TrimRight(body, "\n"), "\n")}
	for line := range strings.SplitSeq(head, "\n") {
		if !strings.HasPrefix(line, "@") {
			s.prompt += line + "\n"
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		part := strings.Split(rest, " | ")
		switch word {
		case "@tool":
			s.tools = append(s.tools, agent.Function{
				Tool: agent.Tool{Name: part[0], Description: part[1], Parameters: json.RawMessage(part[2])},
				Run: func(context.Context, json.RawMessage) agent.Result {
					return agent.Result{Value: json.RawMessage(part[3])}
				},
			})
		case "@end":
			s.builtIns = append(s.builtIns, toolbox.Tool{Type: "end_call", Spec: &toolbox.EndCall{Description: "Use when the matter is settled and goodbyes were said."}})
		case "@transfer":
			s.transfer = rest
			s.builtIns = append(s.builtIns, toolbox.Tool{Type: "call_transfer", Spec: &toolbox.CallTransfer{PhoneNumber: "+4930111111",
				Description: "Use when the caller asks for a person or the matter needs one."}})
		case "@dtmf":
			s.builtIns = append(s.builtIns, toolbox.Tool{Type: "dtmf_input", Spec: &toolbox.DTMFInput{Description: "Use to press keys in an automated phone menu."}})
		case "@calendar":
			s.builtIns = append(s.builtIns, toolbox.Tool{Type: "calendar_integration", Spec: &toolbox.CalendarIntegration{Description: "Use when an appointment is wanted."}})
		case "@doc":
			s.docs = append(s.docs, agent.Passage{DocumentID: int64(len(s.docs) + 1), Document: part[0], Text: part[1]})
		case "@prompt-mode":
			s.inPrompt = true
		case "@language":
			s.language = rest
		case "@want":
			f := strings.SplitN(rest, " ", 3)
			s.wanted = append(s.wanted, agent.Field{Name: f[0], Type: f[1], Description: f[2]})
		default:
			t.Fatalf("%s: %s", file, line)
		}
	}
	return s
}

var monday = time.Date(2027, 3, 1, 14, 30, 0, 0, time.UTC)

func (s *scene) turn(history []agent.Message, instruction string) *agent.Turn {
	search := func(context.Context, string) ([]agent.Passage, error) { return s.docs, nil }
	t := &agent.Turn{
		Engine:  agent.Engine{Model: responder.Model{}, Provider: "builtin", Name: "responder"},
		Prompt:  agent.Prompt{Text: s.prompt, Language: s.language, Now: monday},
		History: history, Wanted: s.wanted, Instruction: instruction,
	}
	if instruction != "" {
		t.Purpose = agent.PurposeReengage
	}
	t.Functions = append(s.builtIns.Functions(toolbox.Scene{Now: monday, Channel: toolbox.Channel{
		EndCall:    func(context.Context) error { return nil },
		Transfer:   func(context.Context, *toolbox.CallTransfer, string) (string, error) { return s.transfer, nil },
		SendDigits: func(context.Context, string) error { return nil },
		Calendar:   book,
	}}), s.tools...)
	switch {
	case s.inPrompt:
		t.Recall = search
	case s.docs != nil:
		t.Functions = append(t.Functions, agent.Search(search))
	}
	return t
}

// book is a calendar with three free slots on every day and room for everybody.
func book(_ context.Context, _ *toolbox.CalendarIntegration, function string, args map[string]any) (any, error) {
	if function == "check_availability" {
		day := args["date_from"].(string)
		starts := []string{day + "T09:00:00Z", day + "T10:30:00Z", day + "T14:00:00Z"}
		return map[string]any{"timezone": "UTC", "days": []any{map[string]any{"date": day, "weekday": "Tuesday", "starts": starts}}}, nil
	}
	return map[string]any{"status": "booked", "start": args["start"]}, nil
}

// play runs the conversation and returns it with what the model really answered.
func (s *scene) play(t *testing.T) []string {
	var out []string
	var history []agent.Message
	for _, line := range s.lines {
		sign, text, _ := strings.Cut(line, " ")
		switch sign {
		case ">", "!", "%":
			continue
		case "=":
			history = append(history, agent.Message{Role: agent.RoleAssistant, Text: text})
			out = append(out, line)
		case "<", "~":
			instruction := ""
			if sign == "<" {
				history = append(history, agent.Message{Role: agent.RoleUser, Text: text})
			} else {
				instruction = text
			}
			tr := s.turn(history, instruction)
			said, err := tr.Text(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			out = append(out, line)
			for _, u := range tr.Uses() {
				out = append(out, "! "+u.Name+" "+string(u.Arguments))
			}
			if said != "" {
				out = append(out, "> "+said)
			}
			history = append(history, tr.Added()...)
		default:
			out = append(out, line)
		}
	}
	if len(s.wanted) > 0 {
		out = append(out, s.evaluate(t, history)...)
	}
	return out
}

func (s *scene) evaluate(t *testing.T, history []agent.Message) (out []string) {
	e := agent.Evaluation{
		Engine: agent.Engine{Model: responder.Model{}}, Prompt: agent.Prompt{Text: s.prompt, Language: s.language, Now: monday},
		History: history, Fields: s.wanted,
	}
	got, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.wanted {
		value, _ := got.Get(f.Name)
		b, _ := json.Marshal(value)
		out = append(out, fmt.Sprintf("%% %s = %s", f.Name, b))
	}
	return out
}

// Every dialogue of testdata is answered word for word as written there.
func TestDialogues(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.dialogue")
	if len(files) == 0 {
		t.Fatal("no dialogues")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".dialogue"), func(t *testing.T) {
			s := load(t, file)
			got := s.play(t)
			if *update {
				raw, _ := os.ReadFile(file)
				head, _, _ := strings.Cut(string(raw), "\n---\n")
				if err := os.WriteFile(file, []byte(head+"\n---\n"+strings.Join(got, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := slices.DeleteFunc(s.lines, func(l string) bool { return l == "" })
			got = slices.DeleteFunc(got, func(l string) bool { return l == "" })
			if !slices.Equal(got, want) {
				t.Errorf("go test -update rewrites the file\ngot:\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// What the customer said twice in a row, as before a tone, is no answer of the assistant.
func TestSummaryOfTwoTurnsInARow(t *testing.T) {
	s := &scene{prompt: "You remind people of appointments.", wanted: []agent.Field{{Name: "summary", Type: "string", Description: "Short summary of the conversation."}}}
	got := s.evaluate(t, []agent.Message{{Role: agent.RoleAssistant, Text: "Hello, this is the practice."}, {Role: agent.RoleUser, Text: "this is the mailbox of Tom"}, {Role: agent.RoleUser, Text: "leave a message after the tone"}})
	if want := `% summary = "The customer said: this is the mailbox of Tom."`; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}
