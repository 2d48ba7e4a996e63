package responder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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
	words   []string // stems of the description and the name
}

// custom functions are those whose descriptions say when they are wanted; end_call and the like follow what was meant.
func (t tool) custom() bool {
	return t.name != searchTool && t.name != "send_dtmf" && t.name != "end_call" && t.name != "book_appointment" && !isTransfer(t.name)
}

func (t tool) needsDay() bool {
	return slices.ContainsFunc(t.slots, func(s slot) bool { return s.kind == date })
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
				t.clauses, t.words = append(t.clauses, stems), append(t.words, stems...)
			}
		}
		slices.Sort(t.words)
		t.words = slices.Compact(t.words)
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
		if t.name == searchTool || t.name == "send_dtmf" || t.name == "end_call" {
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
	met, sum := 0, 0.0
	for _, w := range clause {
		if m := english.Match(w, have); m > 0 && (m == 1 || len(clause) > 1) {
			met, sum = met+1, sum+m
		}
	}
	share := sum / float64(len(clause))
	if met == len(clause) && (met > 1 || len(clause[0]) > 3) || met >= 2 && share >= 0.5 {
		return sum + share
	}
	return 0
}

const searchTool = "search_knowledgebase"

func isTransfer(name string) bool {
	base := strings.TrimRight(strings.TrimRight(name, "0123456789"), "_")
	return base == "transfer_call" || base == "warm_transfer_call" || base == "transfer_to_assistant"
}

// transferTool is the function that brings a person, if one is offered; of several, the one whose description fits best.
func transferTool(tools []tool, said string) *tool {
	var best *tool
	top := -1.0
	for i := range tools {
		if isTransfer(tools[i].name) && !strings.HasPrefix(tools[i].name, "transfer_to_assistant") {
			if s := english.Coverage(english.Content(said), tools[i].words); s > top {
				best, top = &tools[i], s
			}
		}
	}
	return best
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
	preposed  = regexp.MustCompile(`(?i)\b(?:in|for|of|at|about|from|named|called)\s+((?:[\p{L}\d'’-]+\s?){1,4})[.?!]*$`)
	codeLabel = regexp.MustCompile(`(?i)\b(id|number|code|order|reference|ticket|booking|account|case|customer|tracking|invoice|zip|postal)\b`)
)

// code is the longest run of letters and digits in what was said, such as an order number: "4711-A", "A K 7 7", "four seven one".
func code(said string) string {
	best, run := "", ""
	keep := func() {
		if strings.ContainsAny(run, "0123456789") && len(run) > len(best) {
			best = run
		}
		run = ""
	}
	for _, w := range strings.Fields(said) {
		w = strings.Trim(w, ".,;:!?#")
		u, unit := units[strings.ToLower(w)]
		switch {
		case strings.ContainsAny(w, "0123456789"), len(w) == 1 && w != "a" && w != "i" && w != "I", len(w) <= 4 && w == strings.ToUpper(w) && w != "I" && w != "":
			run += w
		case unit && u < 10:
			run += placeholders.Text(u)
		default:
			keep()
		}
	}
	keep()
	return best
}

// argument finds a value for a slot inside a longer sentence; alone says that no other free text is wanted.
func argument(s slot, said string, d *dialog, alone bool) (value, bool) {
	if s.kind != text {
		return parse(s.kind, said, s.options, d.now, false)
	}
	if codeLabel.MatchString(s.label) {
		c := code(said)
		return value{c, c}, c != ""
	}
	if alone {
		if m := preposed.FindStringSubmatch(said); m != nil {
			t := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(m[1]), "the "), "a ")
			if english.Coverage(english.Content(t), d.task.tool.words) > 0 { // what the function is about anyway
				return value{}, false
			}
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
	if start, ok := m["start"].(string); ok && m["booking_uid"] != nil {
		return tellBooked(start)
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

// freeIn are the free appointments in an answer of the calendar.
func freeIn(result string) (starts []string) {
	var r struct {
		Days []struct {
			Starts []string `json:"starts"`
		} `json:"days"`
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return nil
	}
	for _, d := range r.Days {
		starts = append(starts, d.Starts...)
	}
	return starts
}

// clockOf is the time of day of an RFC 3339 moment, as it is written.
func clockOf(start string) (h, m int, ok bool) {
	at, err := time.Parse(time.RFC3339, start)
	return at.Hour(), at.Minute(), err == nil
}

// tellFree offers up to four appointments of the first free day.
func tellFree(starts []string) string {
	var times []string
	first, err := time.Parse(time.RFC3339, starts[0])
	if err != nil {
		return "There are free appointments."
	}
	for _, s := range starts {
		if at, err := time.Parse(time.RFC3339, s); err == nil && at.Format(time.DateOnly) == first.Format(time.DateOnly) && len(times) < 4 {
			times = append(times, spokenTime(at.Hour(), at.Minute()))
		}
	}
	day := "On " + first.Format("Monday, January 2") + " there is "
	if len(times) == 1 {
		return day + times[0] + " Shall I book that?"
	}
	return day + sentence(list(times, "and")) + " Which one would you like?"
}

// tellBooked says what was booked, in the time of the calendar's answer.
func tellBooked(start string) string {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		return "That is booked."
	}
	return "That is booked: " + at.Format("Monday, January 2") + " at " + sentence(spokenTime(at.Hour(), at.Minute()))
}

var moment = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}`)

// holdsMoment reports that the start of an appointment was given as calendars write it.
func holdsMoment(said string) bool { return moment.MatchString(said) }
