package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/url"
	"strings"
	"sync/atomic"

	"parley/agent"
	"parley/providers/rest"
)

// Model is a language model of the vendor.
type Model struct {
	rest *rest.Client
	name string

	plain    atomic.Bool // it takes no temperature
	thinking atomic.Bool // it cannot be told not to think
}

type request struct {
	System   *content  `json:"systemInstruction,omitempty"`
	Contents []content `json:"contents"`
	Tools    []tools   `json:"tools,omitempty"`
	How      how       `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is a piece of a message: text, a wish to use a function, or what came of it.
type part struct {
	Text     string    `json:"text,omitempty"`
	Thought  bool      `json:"thought,omitempty"`
	Call     *call     `json:"functionCall,omitempty"`
	Response *response `json:"functionResponse,omitempty"`
	Seal     string    `json:"thoughtSignature,omitempty"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type tools struct {
	Declarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type how struct {
	Temperature *float64        `json:"temperature,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *budget         `json:"thinkingConfig,omitempty"`
}

type budget struct {
	Tokens int `json:"thinkingBudget"`
}

func (m *Model) request(r agent.Request) request {
	var out request
	if r.System != "" {
		out.System = &content{Parts: []part{{Text: r.System}}}
	}
	if !m.plain.Load() {
		out.How.Temperature = &r.Temperature
	}
	if !m.thinking.Load() {
		out.How.Thinking = &budget{0} // a caller waits
	}
	if len(r.Schema) > 0 {
		out.How.MIME, out.How.Schema = "application/json", r.Schema
	}
	if len(r.Tools) > 0 {
		out.Tools = []tools{{}}
	}
	for _, t := range r.Tools {
		out.Tools[0].Declarations = append(out.Tools[0].Declarations, declaration{t.Name, t.Description, t.Parameters})
	}
	out.Contents = contents(r)
	return out
}

// contents are the conversation. A result of a function needs its name again, which only the call has.
func contents(r agent.Request) (out []content) {
	called := map[string]agent.ToolCall{}
	for _, x := range r.FromUser() {
		role := "user"
		if x.Role == agent.RoleAssistant {
			role = "model"
		}
		if x.Role == agent.RoleTool {
			c := called[x.CallID]
			out = add(out, role, part{Response: &response{theirs(c.ID), c.Name, json.RawMessage(x.Text)}})
			continue
		}
		if x.Text != "" {
			out = add(out, role, part{Text: x.Text})
		}
		for _, c := range x.Calls {
			called[c.ID] = c
			out = add(out, role, part{Call: &call{theirs(c.ID), c.Name, c.Arguments}, Seal: c.Seal})
		}
	}
	if r.Instruction != "" {
		out = add(out, "user", part{Text: r.Instruction})
	}
	return out
}

// ours begins the names that we give to calls that the vendor gave none.
const ours = "parley_"

func theirs(id string) string {
	if strings.HasPrefix(id, ours) {
		return ""
	}
	return id
}

// add puts a part behind what the same side said before.
func add(to []content, role string, p part) []content {
	if n := len(to); n > 0 && to[n-1].Role == role {
		to[n-1].Parts = append(to[n-1].Parts, p)
		return to
	}
	return append(to, content{role, []part{p}})
}

// Reply implements agent.Model. Its errors are faults whose message says what is wrong with the model.
func (m *Model) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return rest.Told("language model", func(emit func(agent.Chunk) error) error { return m.reply(ctx, r, emit) })
}

var errMalformed = errors.New("the model wrote a call that cannot be read")

// reply asks again, without what the model refuses, and once when it wrote a call that cannot be read.
func (m *Model) reply(ctx context.Context, r agent.Request, emit func(agent.Chunk) error) error {
	for again := true; ; again = false {
		a, err := m.ask(ctx, r)
		if err != nil {
			return err
		}
		s := stream{emit: emit, language: r.Language}
		err = s.read(a)
		a.Close()
		if !again || s.begun || !errors.Is(err, errMalformed) {
			return err
		}
	}
}

func (m *Model) ask(ctx context.Context, r agent.Request) (*rest.Answer, error) {
	path := "/models/" + url.PathEscape(m.name) + ":streamGenerateContent?alt=sse"
	for {
		a, err := m.rest.Post(ctx, path, m.request(r))
		refused, ok := errors.AsType[*rest.Refusal](err)
		if !ok || refused.Status != 400 || !m.learn(refused) {
			return a, keyRefused(err)
		}
	}
}

// learn notes what the model does not take; it reports whether that was news.
func (m *Model) learn(r *rest.Refusal) bool {
	switch {
	case r.About("thinking"):
		return m.thinking.CompareAndSwap(false, true)
	case r.About("temperature"):
		return m.plain.CompareAndSwap(false, true)
	}
	return false
}

// keyRefused gives a refused key its usual status: the vendor answers 400.
func keyRefused(err error) error {
	if r, ok := errors.AsType[*rest.Refusal](err); ok && r.Status == 400 && r.About("api key not valid", "api key expired") {
		r.Status = 401
	}
	return err
}

// stopped is why an answer ended without having been given; nil when it simply ended.
func stopped(reason string) error {
	switch reason {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		return errMalformed
	case "":
		return io.ErrUnexpectedEOF
	}
	return nil
}
