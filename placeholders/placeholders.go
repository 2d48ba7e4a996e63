// Package placeholders fills {name} and {{name}} in texts with the values of a conversation.
package placeholders

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/value"
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
	return Expand(text, func(name string, double bool, _ int) (string, bool) {
		if s, ok := v[name]; ok {
			return s, true
		}
		return "", place == Spoken || double
	})
}

// Expand replaces each placeholder by what value gives for its name; false leaves it as it is. double tells {{name}} from
// {name}, at is the byte where it begins.
func Expand(text string, value func(name string, double bool, at int) (string, bool)) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	done := 0
	for _, m := range placeholder.FindAllStringIndex(text, -1) {
		whole := text[m[0]:m[1]]
		s, ok := value(strings.Trim(whole, "{} \t"), strings.HasPrefix(whole, "{{"), m[0])
		if !ok {
			s = whole
		}
		b.WriteString(text[done:m[0]])
		b.WriteString(s)
		done = m[1]
	}
	b.WriteString(text[done:])
	return b.String()
}

// Layer merges variables, strongest first, below the system values.
// Numbers and booleans are written as JSON writes them, null as nothing.
func Layer(system Values, layers ...value.Scalars) Values {
	out := make(Values, len(system))
	for _, layer := range slices.Backward(layers) {
		for k, x := range layer.All() {
			out[k] = Text(x)
		}
	}
	maps.Copy(out, system)
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
