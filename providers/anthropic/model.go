package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"parley/agent"
	"parley/providers/rest"
)

// Model is a language model of the vendor. It takes no temperature: this version of the API refuses one.
type Model struct {
	rest *rest.Client
	name string
}

// mostTokens bounds an answer. The API wants a bound; spoken answers stay far below.
const mostTokens = 4096

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
	Thinking  any       `json:"thinking"`
	Output    any       `json:"output_config,omitempty"`
	Stream    bool      `json:"stream"`
}

type message struct {
	Role    agent.Role `json:"role"`
	Content []block    `json:"content"`
}

// block is a piece of a message: text, a wish to use a tool, or what came of it.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Cache     any             `json:"cache_control,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type kind struct {
	Type string `json:"type"`
}

// request writes r as this API wants it. The prompt and the tools before it are marked to be kept for the next turn.
func (m *Model) request(r agent.Request) request {
	out := request{Model: m.name, MaxTokens: mostTokens, Thinking: kind{"disabled"}, Stream: true}
	if r.System != "" {
		out.System = []block{{Type: "text", Text: r.System, Cache: kind{"ephemeral"}}}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{t.Name, t.Description, t.Parameters})
	}
	if len(r.Schema) > 0 {
		out.Output = map[string]any{"format": map[string]any{"type": "json_schema", "schema": r.Schema}}
	}
	for _, x := range r.FromUser() {
		out.Messages = converted(out.Messages, x)
	}
	if r.Instruction != "" {
		out.Messages = add(out.Messages, agent.RoleUser, block{Type: "text", Text: r.Instruction})
	}
	return out
}

// converted appends one message. The results of tools stand first in the user's message behind their calls.
func converted(to []message, x agent.Message) []message {
	if x.Role == agent.RoleTool {
		return add(to, agent.RoleUser, block{Type: "tool_result", ToolUseID: x.CallID, Content: x.Text})
	}
	if x.Text != "" {
		to = add(to, x.Role, block{Type: "text", Text: x.Text})
	}
	for _, c := range x.Calls {
		input := c.Arguments
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		to = add(to, x.Role, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input})
	}
	return to
}

// add puts a block behind what the same side said before.
func add(to []message, role agent.Role, b block) []message {
	if n := len(to); n > 0 && to[n-1].Role == role {
		to[n-1].Content = append(to[n-1].Content, b)
		return to
	}
	return append(to, message{role, []block{b}})
}

// Reply implements agent.Model. Its errors are faults whose message says what is wrong with the model.
func (m *Model) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return rest.Told("language model", func(emit func(agent.Chunk) error) error { return m.reply(ctx, r, emit) })
}

// reply asks once more when the model turns out to be overloaded after its answer has begun and before its first word.
func (m *Model) reply(ctx context.Context, r agent.Request, emit func(agent.Chunk) error) error {
	for again := true; ; again = false {
		a, err := m.rest.Post(ctx, "/messages", m.request(r))
		if err != nil {
			return err
		}
		s := stream{emit: emit, language: r.Language}
		err = s.read(a)
		a.Close()
		refused, ok := errors.AsType[*rest.Refusal](err)
		if !ok || !again || s.begun || !refused.Passing() || ctx.Err() != nil {
			return err
		}
	}
}

// complete is a tool call with arguments that are an object, whatever came.
func complete(b block, args string) (*agent.ToolCall, error) {
	if args == "" {
		args = "{}"
	}
	if !json.Valid([]byte(args)) {
		return nil, fmt.Errorf("arguments of %s: not JSON", b.Name)
	}
	return &agent.ToolCall{ID: b.ID, Name: b.Name, Arguments: json.RawMessage(args)}, nil
}
