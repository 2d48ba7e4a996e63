package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"parley/sentences"
)

// Engine is a model with the names it goes by in events.
type Engine struct {
	Model
	Provider string // "builtin", "openai"
	Name     string // the provider's name of the model
}

// Event is one of the observations llm.request, llm.first_token, tool.call, tool.result of a call's log.
type Event struct {
	Type string
	Data any // one of the structs below
}

// Asked is the data of llm.request.
type Asked struct {
	Provider        string   `json:"provider"`
	Model           string   `json:"model"`
	Temperature     float64  `json:"temperature"`
	Tools           []string `json:"tools"`
	KnowledgeChunks int      `json:"knowledge_chunks"`
	Purpose         Purpose  `json:"purpose"`
}

// FirstToken is the data of llm.first_token.
type FirstToken struct {
	MS int64 `json:"ms"`
}

// Called is the data of tool.call.
type Called struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Answered is the data of tool.result.
type Answered struct {
	Name   string          `json:"name"`
	Result json.RawMessage `json:"result"`
	MS     int64           `json:"ms"`
}

// Use is a function call with its result; both are JSON objects.
type Use struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// Turn is one turn of thought. It is used once.
type Turn struct {
	Engine      Engine
	Prompt      Prompt
	History     []Message // the conversation so far, the message to answer included
	Functions   []Function
	Temperature float64
	Purpose     Purpose // empty = PurposeTurn
	Instruction string  // what to do now instead of answering; empty for an answer
	Wanted      []Field // the assistant's post_call_schema
	// Recall searches the knowledgebase with the last message before anything is asked (knowledge mode "prompt"); nil = not.
	Recall func(ctx context.Context, query string) ([]Passage, error)
	// Observe sees events in order, on the goroutine that ranges over Sentences; nil = nobody does.
	Observe func(Event)

	added []Message
	uses  []Use
	over  bool
}

// rounds bounds how often a turn asks its model; in the last round no tools are offered.
const rounds = 6

// ErrSilent means that a model answered neither text nor a tool call.
var ErrSilent = errors.New("the model answered nothing")

// Sentences runs the turn: it yields what is to be said, sentence by sentence as the model makes it, and runs the tools
// the model asks for in between. An error is the last thing yielded.
func (t *Turn) Sentences(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := t.recall(ctx); err != nil {
			yield("", err)
			return
		}
		for round := range rounds {
			more, err := t.round(ctx, round, yield)
			if err != nil && err != errStopped {
				yield("", err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// Text runs the turn to its end and returns all that was said.
func (t *Turn) Text(ctx context.Context) (string, error) {
	for _, err := range t.Sentences(ctx) {
		if err != nil {
			return "", err
		}
	}
	var said []string
	for _, m := range t.added {
		if m.Role == RoleAssistant && m.Text != "" {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, " "), nil
}

// Added are the messages this turn adds to the conversation: texts, tool calls and their results.
func (t *Turn) Added() []Message { return t.added }

// Uses are the function calls of this turn.
func (t *Turn) Uses() []Use { return t.uses }

// Over reports that a function ended this assistant's part: end_call, a transfer that connected, another assistant.
func (t *Turn) Over() bool { return t.over }

var errStopped = errors.New("the listener stopped")

func (t *Turn) recall(ctx context.Context) error {
	if t.Recall == nil || len(t.History) == 0 {
		return nil
	}
	last := t.History[len(t.History)-1]
	if last.Role != RoleUser {
		return nil
	}
	found, err := t.Recall(ctx, last.Text)
	if err != nil {
		return fmt.Errorf("search the knowledgebase: %w", err)
	}
	t.Prompt.Passages = found[:min(len(found), 6)]
	return nil
}

// round asks the model once and runs the tools it wants; more says that their results need an answer.
func (t *Turn) round(ctx context.Context, n int, yield func(string, error) bool) (more bool, err error) {
	r := t.request(n)
	t.observe("llm.request", Asked{t.Engine.Provider, t.Engine.Name, t.Temperature, names(r.Tools), len(t.Prompt.Passages), r.Purpose})
	text, calls, err := t.listen(ctx, r, yield)
	if err != nil {
		return false, err
	}
	if text == "" && len(calls) == 0 {
		if n == 0 {
			return false, ErrSilent
		}
		return false, nil
	}
	t.added = append(t.added, Message{Role: RoleAssistant, Text: strings.TrimSpace(text), Calls: calls})
	for _, c := range calls {
		if err := t.run(ctx, c); err != nil {
			return false, err
		}
	}
	if t.over {
		return t.unsaid() && n < rounds-1, nil
	}
	return len(calls) > 0, nil
}

// unsaid reports that a conversation is being ended without a word of farewell.
func (t *Turn) unsaid() bool {
	ends := false
	for _, u := range t.uses {
		ends = ends || u.Name == "end_call"
	}
	for _, m := range t.added {
		if m.Role == RoleAssistant && m.Text != "" {
			return false
		}
	}
	return ends
}

func (t *Turn) request(n int) Request {
	r := Request{
		Purpose: t.Purpose, System: t.Prompt.System(), Instruction: t.Instruction,
		Messages:    append(append([]Message{}, t.History...), t.added...),
		Temperature: t.Temperature, Language: t.Prompt.Language, Wanted: t.Wanted,
	}
	if r.Purpose == "" {
		r.Purpose = PurposeTurn
	}
	if n > 0 {
		r.Purpose = PurposeTool
	}
	if t.over {
		r.Instruction = "Say goodbye in one short sentence."
		return r
	}
	if n == rounds-1 {
		return r
	}
	for _, f := range t.Functions {
		r.Tools = append(r.Tools, f.Tool)
	}
	return r
}

// early is how long text to be spoken waits for the end of its sentence before the beginning is spoken.
const early = 100 * time.Millisecond

func (t *Turn) listen(ctx context.Context, r Request, yield func(string, error) bool) (string, []ToolCall, error) {
	var (
		split sentences.Splitter
		text  strings.Builder
		calls []ToolCall
		began = time.Now()
		since = began // what is not yielded has waited
		heard bool
	)
	for chunk, err := range t.Engine.Reply(ctx, r) {
		if err != nil {
			return "", nil, err
		}
		if !heard {
			heard, since = true, time.Now()
			t.observe("llm.first_token", FirstToken{time.Since(began).Milliseconds()})
		}
		if chunk.Call != nil {
			calls = append(calls, *chunk.Call)
		}
		text.WriteString(chunk.Text)
		pieces := split.Push(chunk.Text)
		if len(pieces) == 0 && t.Prompt.Spoken && time.Since(since) >= early {
			if s := split.Early(); s != "" {
				pieces = []string{s}
			}
		}
		for _, s := range pieces {
			if since = time.Now(); !yield(s, nil) {
				return "", nil, errStopped
			}
		}
	}
	if rest := split.Flush(); strings.TrimSpace(rest) != "" && !yield(rest, nil) {
		return "", nil, errStopped
	}
	return text.String(), calls, ctx.Err()
}

// run carries one tool call out and keeps its result for the model and for the record.
func (t *Turn) run(ctx context.Context, c ToolCall) error {
	args := c.Arguments
	if !isObject(args) {
		args = json.RawMessage(`{}`)
	}
	t.observe("tool.call", Called{c.Name, args})
	if err := ctx.Err(); err != nil {
		return err // nobody listens any more
	}
	began := time.Now()
	res := Failed("there is no function %s", c.Name)
	for _, f := range t.Functions {
		if f.Name == c.Name {
			res = f.Run(ctx, args)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	value, err := asObject(res.Value)
	if err != nil {
		return fmt.Errorf("result of %s: %w", c.Name, err)
	}
	t.over = t.over || res.Over
	t.observe("tool.result", Answered{c.Name, value, time.Since(began).Milliseconds()})
	t.uses = append(t.uses, Use{c.Name, args, value})
	t.added = append(t.added, Message{Role: RoleTool, CallID: c.ID, Text: string(value)})
	return nil
}

// asObject encodes a result without HTML escapes; one that is no object becomes {"result": …}.
func asObject(v any) (json.RawMessage, error) {
	b, err := encode(v)
	if err == nil && !isObject(b) {
		b, err = encode(map[string]json.RawMessage{"result": b})
	}
	return b, err
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func isObject(raw json.RawMessage) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimSpace(string(raw)), "{")
}

func names(tools []Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

func (t *Turn) observe(kind string, data any) {
	if t.Observe != nil {
		t.Observe(Event{kind, data})
	}
}

// Use carries out one call that another engine wants, with the functions of the turn. over says that this assistant's part ends
// with it. The turn is observed as always.
func (t *Turn) Use(ctx context.Context, c ToolCall) (over bool, err error) {
	err = t.run(ctx, c)
	return t.over, err
}

// Choose asks the model which function to call now, and with which arguments; nil when it wants none.
func (t *Turn) Choose(ctx context.Context) (*ToolCall, error) {
	r := t.request(0)
	r.Purpose = PurposeTool
	t.observe("llm.request", Asked{t.Engine.Provider, t.Engine.Name, t.Temperature, names(r.Tools), len(t.Prompt.Passages), r.Purpose})
	_, calls, err := t.listen(ctx, r, func(string, error) bool { return true })
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	return &calls[0], nil
}
