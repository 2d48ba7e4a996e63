package responder_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"parley/agent"
)

// talk is a conversation whose turns are judged, not compared word for word. Below the dashes:
//
//	= initial message      < user
//	? the answer must match      - it must not      # it must hold these digits, in order
//	! function {"argument": "it must have"}: must be called (a lone ? makes it optional); nothing else may be, but a search
//	% field = "value" of the evaluation, or field ~ what it must match
type talk struct {
	name  string
	scene *scene
}

func talks(t *testing.T, file string) (list []talk) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(raw), "\n=== ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && name != "" {
			list = append(list, talk{name, parse(t, name, text)})
		}
	}
	return list
}

// verdict counts what was right of what there was.
type verdict struct{ turns, rightTurns, fields, rightFields int }

func (v *verdict) add(o verdict) {
	v.turns, v.rightTurns = v.turns+o.turns, v.rightTurns+o.rightTurns
	v.fields, v.rightFields = v.fields+o.fields, v.rightFields+o.rightFields
}

// hold plays a conversation; what is wrong is told to note.
func (k talk) hold(t *testing.T, note func(string)) (v verdict) {
	var history []agent.Message
	lines := k.scene.lines
	for i, line := range lines {
		sign, text, _ := strings.Cut(line, " ")
		switch sign {
		case "=":
			history = append(history, agent.Message{Role: agent.RoleAssistant, Text: text})
		case "<":
			history = append(history, agent.Message{Role: agent.RoleUser, Text: text})
			turn := k.scene.turn(history, "")
			said, err := turn.Text(t.Context())
			if err != nil {
				t.Fatalf("%s: %s: %v", k.name, line, err)
			}
			v.turns++
			if wrong := judge(lines[i+1:], said, turn.Uses()); wrong == "" {
				v.rightTurns++
			} else {
				note(fmt.Sprintf("%s\n    %s\n    > %s\n    %s", k.name, line, said, wrong))
			}
			history = append(history, turn.Added()...)
		}
	}
	if len(k.scene.wanted) > 0 {
		k.evaluate(t, history, &v, note)
	}
	return v
}

// judge says what an answer lacks of the expectations that follow a line of the user; empty when nothing.
func judge(expected []string, said string, uses []agent.Use) string {
	var wrong, optional []string
	used := map[string]json.RawMessage{}
	for _, u := range uses {
		used[u.Name] = u.Arguments
	}
	for _, line := range expected {
		sign, want, _ := strings.Cut(line, " ")
		switch {
		case sign == "<" || sign == "%":
		case sign == "?" && !regexp.MustCompile("(?i)"+want).MatchString(said),
			sign == "-" && regexp.MustCompile("(?i)"+want).MatchString(said),
			sign == "#" && !strings.Contains(onlyDigits(said), want):
			wrong = append(wrong, line)
		case sign == "!" && want == "?":
			optional = append(optional, want)
		case sign == "!":
			name, args, _ := strings.Cut(want, " ")
			if got, ok := used[name]; !ok || !holds(got, args) {
				wrong = append(wrong, line+", not "+string(got))
			}
			delete(used, name)
		}
		if sign == "<" {
			break
		}
	}
	delete(used, "search_knowledgebase")
	if len(optional) == 0 {
		for name := range used {
			wrong = append(wrong, "called "+name)
		}
	}
	return strings.Join(wrong, "; ")
}

func onlyDigits(s string) string { return regexp.MustCompile(`\D`).ReplaceAllString(s, "") }

// holds reports that the arguments have the wanted ones, letters of either case.
func holds(got json.RawMessage, wanted string) bool {
	var have, want map[string]any
	if wanted == "" {
		return true
	}
	if json.Unmarshal(got, &have) != nil || json.Unmarshal([]byte(wanted), &want) != nil {
		return false
	}
	for k, v := range want {
		if !strings.EqualFold(fmt.Sprint(have[k]), fmt.Sprint(v)) {
			return false
		}
	}
	return true
}

func (k talk) evaluate(t *testing.T, history []agent.Message, v *verdict, note func(string)) {
	got := map[string]string{}
	for _, line := range k.scene.evaluate(t, history) {
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "% "), " = ")
		got[name] = value
	}
	for _, line := range k.scene.lines {
		want, ok := strings.CutPrefix(line, "% ")
		if !ok {
			continue
		}
		v.fields++
		name, rest, _ := strings.Cut(want, " ")
		sign, value, _ := strings.Cut(rest, " ")
		right := strings.EqualFold(got[name], value)
		if sign == "~" {
			right = regexp.MustCompile("(?i)" + value).MatchString(got[name])
		}
		if right {
			v.rightFields++
		} else {
			note(fmt.Sprintf("%s\n    %s, not %s", k.name, want, got[name]))
		}
	}
}

// What is right of conversations that the rules were not made with must not become less, nor of those they were made with.
// The second set says what is wrong, to work on; the first only how much, so that nobody does.
func TestTalks(t *testing.T) {
	for _, set := range []struct {
		file          string
		turns, fields float64 // shares
		told          bool
	}{{"heldout", 0.85, 0.83, false}, {"development", 0.94, 0.94, true}} {
		t.Run(set.file, func(t *testing.T) {
			var all verdict
			for _, k := range talks(t, "testdata/talks/"+set.file+".txt") {
				v := k.hold(t, func(wrong string) {
					if set.told {
						t.Log(wrong)
					}
				})
				all.add(v)
				t.Logf("%-40s turns %2d of %2d, fields %d of %d", k.name, v.rightTurns, v.turns, v.rightFields, v.fields)
			}
			turns, fields := share(all.rightTurns, all.turns), share(all.rightFields, all.fields)
			t.Logf("turns %d of %d (%.1f %%), fields %d of %d (%.1f %%)", all.rightTurns, all.turns, 100*turns, all.rightFields, all.fields, 100*fields)
			if turns < set.turns || fields < set.fields {
				t.Errorf("less than %.0f %% of the turns or %.0f %% of the fields are right", 100*set.turns, 100*set.fields)
			}
		})
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }
