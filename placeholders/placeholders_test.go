package placeholders_test

import (
	"testing"

	"parley/placeholders"
)

// Placeholders in spoken and in written texts.
//
// Contract: 4.8
func TestFill(t *testing.T) {
	v := placeholders.Values{"name": "Mia", "full name": "Mia Lee", "tricky": "{{name}}", "none": ""}
	for _, c := range []struct{ text, spoken, written string }{
		{"Hello {name}, {{name}}, {{ name }}, { name }!", "Hello Mia, Mia, Mia, Mia!", "Hello Mia, Mia, Mia, Mia!"},
		{"Dear {full name}.", "Dear Mia Lee.", "Dear Mia Lee."},
		{"[{{x}}][{x}]", "[][]", "[][{x}]"},
		{"{{Name}} {Name}", " ", " {Name}"},
		{"{{tricky}}", "{{name}}", "{{name}}"},
		{"[{{none}}]", "[]", "[]"},
		{"{} {{}} {{ }}", "{} {{}} {{ }}", "{} {{}} {{ }}"},
		{"{{{name}}}", "{Mia}", "{Mia}"},
		{"no braces", "no braces", "no braces"},
		{"open {name and {{name", "open {name and {{name", "open {name and {{name"},
		{`{"a": {"b": 1}}`, `{"a": }`, `{"a": {"b": 1}}`},
	} {
		if got := placeholders.Fill(c.text, v, placeholders.Spoken); got != c.spoken {
			t.Errorf("spoken %q: got %q, want %q", c.text, got, c.spoken)
		}
		if got := placeholders.Fill(c.text, v, placeholders.Written); got != c.written {
			t.Errorf("written %q: got %q, want %q", c.text, got, c.written)
		}
	}
}
