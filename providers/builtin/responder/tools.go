package responder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"parley/agent"
	"parley/english"
	"parley/placeholders"
)

// tool is an offered function with what makes it run and what it needs.
type tool struct {
	name    string
	clauses [][]string // stems of each clause of the description and of the name
	quoted  []string   // phrases in quotes: their presence is enough
	slots   []slot
}

var (
	quotes  = regexp.MustCompile(`["“”']([^"“”']{3,60})["“”']`)
	clauses = regexp.MustCompile(`[.,;:]|\bor\b`)
	// ruleWords are of the description's own language, not of the caller's
	ruleWords = wordSet("report provid retriev regist creat gives get search matter settl goodby need bring give return list look up fetch send caller when whenever request tell connect transfer it now")
)

func toolsOf(offered []agent.Tool) []tool {
	var out []tool
	for _, o := range offered {
		t := tool{name: o.Name, slots: argumentsOf(o.Parameters)}
		text := o.Description
		if isTransfer(o.Name) {
			text, _, _ = strings.Cut(text, " It is now ")
		}
		for _, m := range quotes.FindAllStringSubmatch(text, -1) {
			t.quoted = append(t.quoted, " "+strings.Join(english.Tokens(m[1]), " ")+" ")
		}
		for _, c := range append(clauses.Split(text, -1), strings.ReplaceAll(o.Name, "_", " ")) {
			stems := slices.DeleteFunc(english.Content(c), func(w string) bool { return ruleWords[w] })
			if len(stems) > 0 {
				t.clauses = append(t.clauses, stems)
			}
		}
		out = append(out, t)
	}
	return out
}

// argumentsOf reads the parameters of a function as slots, in the order they are written.
func argumentsOf(schema json.RawMessage) []slot {
	var s struct {
		Properties map[string]struct {
			Type        string   `json:"type"`
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	names := make([]string, 0, len(s.Properties))
	for n := range s.Properties {
		names = append(names, n)
	}
	at := func(n string) int { return strings.Index(string(schema), fmt.Sprintf("%q", n)) }
	slices.SortFunc(names, func(a, b string) int { return at(a) - at(b) })
	var out []slot
	for _, n := range names {
		p := s.Properties[n]
		if !slices.Contains(s.Required, n) {
			continue
		}
		sl := slot{name: n, label: strings.ReplaceAll(n, "_", " "), options: p.Enum, required: true}
		sl.kind = kindOf(sl.label, p.Description, p.Type)
		if len(p.Enum) > 0 {
			sl.kind = choice
		}
		sl.question = questionFor(sl, p.Description)
		out = append(out, sl)
	}
	return out
}

// trigger finds the function whose description speaks of what was said.
func trigger(tools []tool, said string) *tool {
	have := english.Content(said)
	all := " " + strings.Join(english.Tokens(said), " ") + " "
	var best *tool
	top := 0.0
	for i := range tools {
		t := &tools[i]
		if t.name == searchTool || t.name == "send_dtmf" {
			continue
		}
		score := 0.0
		for _, q := range t.quoted {
			if strings.Contains(all, q) {
				score = 10
			}
		}
		for _, c := range t.clauses {
			score = max(score, clauseScore(c, have))
		}
		if score > top {
			best, top = t, score
		}
	}
	return best
}

// clauseScore is positive when a short clause is met whole or a longer one by half and by two words.
func clauseScore(clause, have []string) float64 {
	met := 0
	for _, w := range clause {
		if slices.Contains(have, w) {
			met++
		}
	}
	share := float64(met) / float64(len(clause))
	if met == len(clause) && (met > 1 || len(clause[0]) > 3) || met >= 2 && share >= 0.5 {
		return float64(met) + share
	}
	return 0
}

const searchTool = "search_knowledgebase"

func isTransfer(name string) bool {
	base := strings.TrimRight(strings.TrimRight(name, "0123456789"), "_")
	return base == "transfer_call" || base == "warm_transfer_call" || base == "transfer_to_assistant"
}

// transferTool is the function that brings a person, if one is offered.
func transferTool(tools []tool) *tool {
	for i := range tools {
		if isTransfer(tools[i].name) && !strings.HasPrefix(tools[i].name, "transfer_to_assistant") {
			return &tools[i]
		}
	}
	return nil
}

func find(tools []tool, name string) *tool {
	for i := range tools {
		if tools[i].name == name {
			return &tools[i]
		}
	}
	return nil
}

var (
	coded     = regexp.MustCompile(`[#\w-]*\d[\w-]*`)
	preposed  = regexp.MustCompile(`(?i)\b(?:in|for|of|at|to|about|from|named|called|is)\s+((?:[\p{L}\d'’-]+\s?){1,4})[.?!]*$`)
	codeLabel = regexp.MustCompile(`(?i)\b(id|number|code|order|reference|ticket|booking|account|case|customer|tracking|invoice|zip|postal)\b`)
)

// code is the run of letters and digits in what was said, such as an order number: "4711-A", "99 88 77", "four seven one one".
func code(said string) string {
	if all := coded.FindAllString(said, -1); len(all) > 0 {
		return strings.TrimPrefix(strings.Join(all, ""), "#")
	}
	var b strings.Builder
	for _, w := range english.Tokens(said) {
		if u, ok := units[w]; ok && u < 10 {
			b.WriteString(placeholders.Text(u))
		}
	}
	return b.String()
}

// argument finds a value for a slot inside a longer sentence; alone says that no other free text is wanted.
func argument(s slot, said string, d *dialog, alone bool) (value, bool) {
	if s.kind != text {
		return parse(s.kind, said, s.options, d.now, false)
	}
	if codeLabel.MatchString(s.label) {
		if m := coded.FindString(said); m != "" {
			m = strings.TrimPrefix(m, "#")
			return value{m, m}, true
		}
		return value{}, false
	}
	if alone {
		if m := preposed.FindStringSubmatch(said); m != nil {
			t := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(m[1]), "the "), "a ")
			return value{t, t}, true
		}
	}
	return value{}, false
}

// tellResult puts a function's answer into words.
func tellResult(raw string) string {
	var m map[string]any
	if json.Unmarshal([]byte(raw), &m) != nil {
		return "That is done."
	}
	if e, ok := m["error"].(string); ok {
		return "I am sorry, that did not work: " + strings.TrimRight(e, ".") + "."
	}
	for _, k := range []string{"message", "text", "answer", "reply", "summary", "result"} {
		if s, ok := m[k].(string); ok && s != "" {
			return sentence(s)
		}
	}
	if r, ok := m["result"].(map[string]any); ok {
		m = r
	}
	if facts := flat(raw, m); len(facts) > 0 {
		return sentence(upperFirst(strings.Join(facts[:min(4, len(facts))], ", ")))
	}
	return "That is done."
}

// flat lists the plain values of an object as "the x is y", in the order they stand in the text.
func flat(raw string, m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	at := func(k string) int { return strings.Index(raw, fmt.Sprintf("%q", k)) }
	slices.SortFunc(keys, func(a, b string) int { return at(a) - at(b) })
	var out []string
	for _, k := range keys {
		label := strings.ReplaceAll(k, "_", " ")
		switch v := m[k].(type) {
		case string, float64, bool:
			if s := placeholders.Text(v); s != "" {
				out = append(out, "the "+label+" is "+s)
			}
		case []any:
			var items []string
			for _, x := range v[:min(3, len(v))] {
				switch x.(type) {
				case string, float64:
					items = append(items, placeholders.Text(x))
				}
			}
			if len(items) > 0 {
				out = append(out, "the "+label+" are "+list(items, "and"))
			}
		}
	}
	return out
}

func sentence(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s[max(0, len(s)-1):], ".!?") {
		return s
	}
	return s + "."
}

func upperFirst(s string) string {
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):]
}
