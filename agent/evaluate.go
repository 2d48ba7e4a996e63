package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"parley/placeholders"
	"parley/value"
	"strconv"
	"strings"
)

// Field is one thing to find out from a finished conversation.
type Field struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // string, number, bool
	Description string `json:"description"`
}

// Evaluation is one model request that extracts fields from a finished conversation.
type Evaluation struct {
	Engine      Engine
	Prompt      Prompt
	History     []Message
	Fields      []Field
	Temperature float64
	Observe     func(Event)
}

const extract = "The conversation is over. Fill the given fields from what was really said. Use null for a field that the conversation does not settle."

// Run asks the model and returns one value per field, in their order: a string, float64, bool, or nil when not
// determinable. Without fields nothing is asked.
func (e Evaluation) Run(ctx context.Context) (value.Scalars, error) {
	if len(e.Fields) == 0 {
		return value.Scalars{}, nil
	}
	if e.Observe != nil {
		e.Observe(Event{"llm.request", Asked{e.Engine.Provider, e.Engine.Name, e.Temperature, []string{}, 0, PurposeEvaluation}})
	}
	r := Request{
		Purpose: PurposeEvaluation, System: e.Prompt.System(), Instruction: extract,
		Messages:    []Message{{Role: RoleUser, Text: Transcript(e.History)}},
		Temperature: e.Temperature, Language: e.Prompt.Language, Schema: schemaOf(e.Fields),
	}
	var text strings.Builder
	for chunk, err := range e.Engine.Reply(ctx, r) {
		if err != nil {
			return nil, err
		}
		text.WriteString(chunk.Text)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(unfence(text.String())), &got); err != nil {
		return nil, fmt.Errorf("evaluation is not a JSON object: %w", err)
	}
	out := Undetermined(e.Fields)
	for i, f := range e.Fields {
		out[i].Value = typed(got[f.Name], f.Type)
	}
	return out, nil
}

// Undetermined is an evaluation that found nothing out.
func Undetermined(fields []Field) value.Scalars {
	out := make(value.Scalars, len(fields))
	for i, f := range fields {
		out[i].Name = f.Name
	}
	return out
}

// Transcript writes a conversation as lines "Assistant: …" and "Customer: …"; tools do not show.
func Transcript(history []Message) string {
	var b strings.Builder
	for _, m := range history {
		if m.Text == "" || m.Role == RoleTool {
			continue
		}
		who := "Customer"
		if m.Role == RoleAssistant {
			who = "Assistant"
		}
		fmt.Fprintf(&b, "%s: %s\n", who, oneLine(m.Text))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseTranscript reads what Transcript wrote.
func ParseTranscript(s string) []Message {
	var out []Message
	for line := range strings.SplitSeq(s, "\n") {
		if text, ok := strings.CutPrefix(line, "Assistant: "); ok {
			out = append(out, Message{Role: RoleAssistant, Text: text})
		} else if text, ok := strings.CutPrefix(line, "Customer: "); ok {
			out = append(out, Message{Role: RoleUser, Text: text})
		}
	}
	return out
}

func schemaOf(fields []Field) json.RawMessage {
	kinds := map[string]string{"string": "string", "number": "number", "bool": "boolean"}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	names := make([]string, len(fields))
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		names[i] = f.Name
		name, _ := json.Marshal(f.Name)
		desc, _ := json.Marshal(f.Description)
		fmt.Fprintf(&b, `%s:{"type":[%q,"null"],"description":%s}`, name, kinds[f.Type], desc)
	}
	list, _ := json.Marshal(names)
	fmt.Fprintf(&b, `},"required":%s,"additionalProperties":false}`, list)
	return json.RawMessage(b.String())
}

// unfence takes an object out of the code fence some models put around it.
func unfence(s string) string {
	i, j := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if i < 0 || j < i {
		return s
	}
	return s[i : j+1]
}

// typed is v as the field's type, or nil when it cannot be.
func typed(v any, kind string) any {
	switch kind {
	case "bool":
		switch v := v.(type) {
		case bool:
			return v
		case string:
			if b, err := strconv.ParseBool(strings.ToLower(v)); err == nil {
				return b
			}
		}
	case "number":
		switch v := v.(type) {
		case float64:
			return v
		case string:
			if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && !strings.ContainsAny(v, "nNxXpP_") {
				return f
			}
		}
	case "string":
		switch v := v.(type) {
		case string:
			return v
		case float64, bool:
			return placeholders.Text(v)
		}
	}
	return nil
}
