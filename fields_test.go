package parley

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/assistants"
)

// setting is what assistants/effects.txt says of a field.
type setting struct {
	name    string
	effects map[rune]string // by mode: p, m, d, c
	tests   []string
}

// modes are those of calls in which the field has an effect.
func (s setting) modes() string {
	var out []string
	for letter, mode := range map[rune]string{'p': "pipeline", 'm': "multimodal", 'd': "dualplex"} {
		if s.effects[letter] != "" {
			out = append(out, mode)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return strings.Index("pipeline multimodal dualplex", a) - strings.Index("pipeline multimodal dualplex", b)
	})
	return strings.Join(out, " ")
}

// TestFields keeps docs/fields.md true: every setting of an assistant does something in some mode, and a test hears or sees it.
func TestFields(t *testing.T) {
	settings := readSettings(t)
	of := reflect.TypeFor[assistants.Settings]()
	var want, got []string
	tagged := map[string]string{} // the modes that a field's tag names
	for i := range of.NumField() {
		tag := of.Field(i).Tag
		if key, _, _ := strings.Cut(tag.Get("json"), ","); key != "" && key != "-" {
			want, tagged[key] = append(want, key), tag.Get("modes")
		}
	}
	for _, s := range settings {
		got = append(got, s.name)
		if modes := s.modes(); tagged[s.name] != "" && tagged[s.name] != modes {
			t.Errorf("%s: effects in %q, its tag says %q", s.name, modes, tagged[s.name])
		}
		if len(s.effects) == 0 || len(s.tests) == 0 {
			t.Errorf("%s: no effect or no test in assistants/effects.txt", s.name)
		}
		for _, name := range s.tests {
			if !testExists(t, name) {
				t.Errorf("%s: there is no test %s", s.name, name)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("assistants/effects.txt has\n%v\nthe settings are\n%v", got, want)
	}
	golden(t, "docs/fields.md", func(string) string { return fieldsPage(settings) })
}

func readSettings(t *testing.T) (list []setting) {
	raw, err := os.ReadFile("assistants/effects.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		inner, indented := strings.CutPrefix(line, "  ")
		switch word, rest, _ := strings.Cut(inner, " "); {
		case line == "" || line[0] == '#':
		case !indented:
			list = append(list, setting{name: line, effects: map[rune]string{}})
		case word == "tests":
			list[len(list)-1].tests = strings.Fields(rest)
		case strings.Trim(word, "pmdc") != "":
			t.Errorf("assistants/effects.txt: %s", line)
		default:
			for _, mode := range word {
				list[len(list)-1].effects[mode] = strings.TrimSpace(rest)
			}
		}
	}
	return list
}

// testExists finds a test in the test files of its folder, and the script of a call as a file.
func testExists(t *testing.T, name string) bool {
	if strings.HasSuffix(name, ".call") {
		_, err := os.Stat(name)
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ` + filepath.Base(name) + `\(`)
	return slices.ContainsFunc(files, func(file string) bool {
		raw, err := os.ReadFile(file)
		return err == nil && declared.Match(raw)
	})
}

func fieldsPage(settings []setting) string {
	var b strings.Builder
	b.WriteString("# What every field of an assistant does\n\n<!-- made from assistants/effects.txt by go test . -update -->\n\n" +
		"A dash: the field has no effect there. Bounds and defaults are in the API's description.\n\n" +
		"| Field | Pipeline | Multimodal | Dualplex | Chat | Heard or seen by |\n|---|---|---|---|---|---|\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "| `%s` |", s.name)
		for _, mode := range "pmdc" {
			effect := s.effects[mode]
			if effect == "" {
				effect = "–"
			} else if mode != 'p' && effect == s.effects['p'] {
				effect = "the same"
			}
			fmt.Fprintf(&b, " %s |", effect)
		}
		fmt.Fprintf(&b, " `%s` |\n", strings.Join(s.tests, "` `"))
	}
	return b.String()
}
