package agent

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Values are the texts that stand for placeholders, by name.
type Values map[string]string

// Place says where a text goes; it decides what becomes of unknown placeholders.
type Place int

const (
	// Spoken is for texts that are heard or read by a person, URLs and header values: unknown names vanish.
	Spoken Place = iota
	// Written is for texts a model reads, where single braces may be an example or code: {{x}} vanishes, {x} stays.
	Written
)

var placeholder = regexp.MustCompile(`\{\{[ \t]*([^{}\s][^{}\n]*?)[ \t]*\}\}|\{[ \t]*([^{}\s][^{}\n]*?)[ \t]*\}`)

// Fill replaces {name} and {{name}} in one pass, so a value that looks like a placeholder stays as it is.
func Fill(text string, v Values, place Place) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		double := strings.HasPrefix(m, "{{")
		name := strings.Trim(m, "{} \t")
		if s, ok := v[name]; ok {
			return s
		}
		if place == Written && !double {
			return m
		}
		return ""
	})
}

// Layer merges variables; of a name that occurs twice the earlier layer wins.
// Numbers and booleans are written as JSON writes them, null as nothing.
func Layer(system Values, layers ...map[string]any) Values {
	out := make(Values, len(system))
	for i := len(layers) - 1; i >= 0; i-- {
		for k, x := range layers[i] {
			out[k] = Text(x)
		}
	}
	for k, s := range system {
		out[k] = s
	}
	return out
}

// Text writes a variable's value as it is inserted.
func Text(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case json.Number:
		return x.String()
	}
	b, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	return string(b)
}

// Facts are what the system itself knows of a conversation; they are the strongest placeholders.
type Facts struct {
	CustomerPhone  string // empty on web and chat
	AssistantPhone string
	AssistantID    string // uuid
	AssistantName  string
	CallID         string
	ConversationID string
	Now            time.Time // in the assistant's time zone
}

// Values are the eight system values.
func (f Facts) Values() Values {
	return Values{
		"customer_phone":  f.CustomerPhone,
		"assistant_phone": f.AssistantPhone,
		"assistant_id":    f.AssistantID,
		"assistant_name":  f.AssistantName,
		"current_date":    f.Now.Format("2006-01-02"),
		"current_time":    f.Now.Format("15:04"),
		"call_id":         f.CallID,
		"conversation_id": f.ConversationID,
	}
}
