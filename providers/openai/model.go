package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"parley/agent"
	"parley/providers/rest"
)

// Model is a chat model of a server.
type Model struct {
	client *Client
	name   string
	plain  atomic.Bool // the model takes no temperature
}

// Model names a chat model.
func (c *Client) Model(name string) *Model { return &Model{client: c, name: name} }

type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	Stream      bool      `json:"stream"`
	Tools       []tool    `json:"tools,omitempty"`
	Format      any       `json:"response_format,omitempty"`
}

// Reply implements agent.Model. Its errors are faults whose message says what is wrong with the model.
func (m *Model) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return rest.Told("language model", func(emit func(agent.Chunk) error) error { return m.reply(ctx, r, emit) })
}

func (m *Model) reply(ctx context.Context, r agent.Request, emit func(agent.Chunk) error) error {
	a, err := m.ask(ctx, m.request(r))
	if ref, ok := errors.AsType[*rest.Refusal](err); ok && ref.Status == 400 {
		a, err = m.askSimpler(ctx, r, ref)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	return readStream(a, emit)
}

func (m *Model) ask(ctx context.Context, r chatRequest) (*rest.Answer, error) {
	return m.client.Post(ctx, "/chat/completions", r)
}

// askSimpler asks again without what some models refuse: a temperature, or a schema of the answer.
func (m *Model) askSimpler(ctx context.Context, r agent.Request, why *rest.Refusal) (*rest.Answer, error) {
	switch {
	case why.About("temperature"):
		m.plain.Store(true)
	case len(r.Schema) > 0 && why.About("response_format", "schema"):
		r.Instruction += "\nAnswer with one JSON object of this JSON Schema and nothing else:\n" + string(r.Schema)
		r.Schema = nil
	default:
		return nil, why
	}
	return m.ask(ctx, m.request(r))
}

func (m *Model) request(r agent.Request) chatRequest {
	out := chatRequest{Model: m.name, Stream: true, Messages: []message{text("system", r.System)}}
	if !m.plain.Load() {
		out.Temperature = &r.Temperature
	}
	for _, x := range r.Messages {
		out.Messages = append(out.Messages, convert(x))
	}
	if r.Instruction != "" {
		out.Messages = append(out.Messages, text("system", r.Instruction))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", function{t.Name, t.Description, t.Parameters}})
	}
	if len(r.Schema) > 0 {
		out.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": r.Schema}}
	}
	return out
}

func text(role, s string) message { return message{Role: role, Content: &s} }

func convert(m agent.Message) message {
	out := message{Role: string(m.Role), ToolCallID: m.CallID}
	if m.Text != "" || len(m.Calls) == 0 {
		out.Content = &m.Text
	}
	for _, c := range m.Calls {
		t := toolCall{ID: c.ID, Type: "function"}
		t.Function.Name, t.Function.Arguments = c.Name, string(c.Arguments)
		if len(c.Arguments) == 0 {
			t.Function.Arguments = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, t)
	}
	return out
}

type streamed struct {
	Choices []struct {
		Delta        delta   `json:"delta"`
		Message      delta   `json:"message"` // servers that do not stream
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

// readStream reads server-sent events, or one whole JSON answer, and emits text as it comes and tool calls when complete.
func readStream(src io.Reader, emit func(agent.Chunk) error) error {
	var calls []toolCall
	finished := false
	for data, err := range rest.Events(src) {
		if err != nil {
			return err
		}
		if data == "[DONE]" {
			finished = true
			break
		}
		done, err := take(data, &calls, emit)
		if err != nil {
			return err
		}
		finished = finished || done
	}
	if !finished {
		return io.ErrUnexpectedEOF
	}
	for i, c := range calls {
		if err := emit(agent.Chunk{Call: complete(c, i)}); err != nil {
			return err
		}
	}
	return nil
}

func take(data string, calls *[]toolCall, emit func(agent.Chunk) error) (done bool, err error) {
	var s streamed
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		return false, fmt.Errorf("event: %w", err)
	}
	if len(s.Error) > 0 && string(s.Error) != "null" {
		r := &rest.Refusal{Status: 500, Message: "error in the stream"}
		r.Read([]byte(data))
		return false, r
	}
	for _, c := range s.Choices {
		for _, d := range []delta{c.Delta, c.Message} {
			if d.Content != "" {
				if err := emit(agent.Chunk{Text: d.Content}); err != nil {
					return false, err
				}
			}
			for _, t := range d.ToolCalls {
				gather(calls, t)
			}
		}
		done = done || c.FinishReason != nil && *c.FinishReason != ""
	}
	return done, nil
}

// gather joins the pieces of a tool call. Pieces belong together by index; servers that leave it out send whole calls.
func gather(calls *[]toolCall, t toolCall) {
	for i := range *calls {
		have := &(*calls)[i]
		same := t.Index != nil && have.Index != nil && *t.Index == *have.Index
		if same && (t.ID == "" || t.ID == have.ID) {
			have.Function.Name += t.Function.Name
			have.Function.Arguments += t.Function.Arguments
			return
		}
	}
	if t.Index == nil && t.ID == "" && t.Function.Name == "" && len(*calls) > 0 {
		last := &(*calls)[len(*calls)-1]
		last.Function.Arguments += t.Function.Arguments
		return
	}
	*calls = append(*calls, t)
}

func complete(t toolCall, i int) *agent.ToolCall {
	args := json.RawMessage(t.Function.Arguments)
	if !json.Valid(args) {
		args = json.RawMessage(`{}`)
	}
	id := t.ID
	if id == "" {
		id = fmt.Sprintf("call_%d", i)
	}
	return &agent.ToolCall{ID: id, Name: t.Function.Name, Arguments: args}
}
