package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/placeholders"
)

// Function is a tool with its effect.
type Function struct {
	Tool
	// Run does the work and never fails the conversation: what went wrong is a Result the model can read.
	Run func(ctx context.Context, args json.RawMessage) Result
}

// Result is what a function answers to the model.
type Result struct {
	Value any  // JSON-encodable
	Over  bool // this assistant's turn ends here: the call is over, or somebody else took over
}

// Failed is the answer of a function that could not do its work.
func Failed(format string, args ...any) Result {
	return Result{Value: map[string]any{"error": fmt.Sprintf(format, args...)}}
}

// Search is the function search_knowledgebase.
func Search(find func(ctx context.Context, query string) ([]Passage, error)) Function {
	params := Object(Param{Name: "query", Kind: "string", Description: "What to look for, as a question or a few words.", Required: true})
	return Function{
		Tool{"search_knowledgebase", "Looks up facts in the knowledgebase. Use it before answering a question about the business.", params},
		func(ctx context.Context, raw json.RawMessage) Result {
			query := Argument(raw, "query")
			if query == "" {
				return Failed("missing argument: query")
			}
			found, err := find(ctx, query)
			if err != nil {
				return Failed("the knowledgebase could not be searched")
			}
			if found == nil {
				found = []Passage{}
			}
			return Result{Value: map[string]any{"results": found}}
		}}
}

// Argument reads one string argument; anything else counts as left out.
func Argument(raw json.RawMessage, name string) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	return strings.TrimSpace(placeholders.Text(args[name]))
}

// Param is an argument of a function.
type Param struct {
	Name, Kind, Description string // Kind is a type of JSON Schema
	Options                 []string
	Required                bool
}

// Object writes the JSON Schema of an object with these properties, in this order.
func Object(params ...Param) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		prop := struct {
			Type        string   `json:"type"`
			Description string   `json:"description,omitempty"`
			Enum        []string `json:"enum,omitempty"`
		}{p.Kind, p.Description, p.Options}
		name, _ := json.Marshal(p.Name)
		body, _ := json.Marshal(prop)
		fmt.Fprintf(&b, "%s:%s", name, body)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	list, _ := json.Marshal(required)
	fmt.Fprintf(&b, `},"required":%s}`, list)
	return json.RawMessage(b.String())
}
