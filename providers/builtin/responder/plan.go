package responder

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"parley/english"
)

// plan is what the prompt says: its FAQ, Collect and Steps sections, and what its prose is understood to mean.
type plan struct {
	facts    []fact // of the FAQ and of prose
	slots    []slot
	steps    []step
	errands  []errand
	identity string // "I am …", for those who ask
}

func faq(question, answer string) fact {
	f := newFact(answer, question, 0)
	f.asked, f.words = english.Content(question), english.Tokens(question)
	return f
}

// slot is something to find out.
type slot struct {
	name     string // key of the value
	label    string // what it is called when read back
	question string
	kind     kind
	options  []string
	required bool
	after    string // asked only when the slot of this name was answered
	onNo     bool   // … with no, else with yes
}

// step is one thing to do in order.
type step struct {
	say  string
	ask  *slot
	call string // function name; "end" and "transfer" are understood too
}

var (
	sectionHead = regexp.MustCompile(`(?i)^\s*(?:#+\s*|\*\*)?(faq|collect|steps)(?:\*\*)?\s*:?(?:\*\*)?\s*(.*)$`)
	otherHead   = regexp.MustCompile(`^\s*(?:#+\s+\S|(?:\*\*)?[A-Z][\w /-]{0,40}:(?:\*\*)?\s*$)`)
	bullet      = regexp.MustCompile(`^\s*(?:[-*•]|\d+[.)])\s+`)
	faqLine     = regexp.MustCompile(`(?i)^\s*[qa]:|\?`)
	question    = regexp.MustCompile(`^(.+?\?)\s*(?:[-:–—>]+\s*)?(\S.*)$`)
)

// plans are the last prompts that were read: each request brings the whole prompt again.
var plans = struct {
	sync.Mutex
	of map[string]plan
}{of: map[string]plan{}}

const mostPlans = 16

// planOf is the plan of a prompt, which nobody changes.
func planOf(prompt string) plan {
	plans.Lock()
	p, ok := plans.of[prompt]
	plans.Unlock()
	if ok {
		return p
	}
	p = parsePlan(prompt)
	plans.Lock()
	defer plans.Unlock()
	if len(plans.of) >= mostPlans {
		clear(plans.of)
	}
	plans.of[prompt] = p
	return p
}

// parsePlan reads the sections of a prompt. A section starts with its word on a line of its own (or followed by a colon) and
// ends at the next heading, or where prose follows a blank line.
func parsePlan(prompt string) plan {
	var p plan
	var prose strings.Builder
	section, asked, gap, items := "", "", false, 0
	for line := range strings.SplitSeq(prompt, "\n") {
		if m := sectionHead.FindStringSubmatch(line); m != nil && (m[2] == "" || strings.Contains(line, ":")) {
			section, asked, items, gap = strings.ToLower(m[1]), "", 0, false
			line = m[2]
		} else if otherHead.MatchString(line) {
			section = ""
		}
		item := strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if item == "" {
			gap = true
			continue
		}
		if gap && items > 0 && !bullet.MatchString(line) && !faqLine.MatchString(line) { // prose goes on
			section = ""
		}
		gap = false
		items++
		switch section {
		case "faq":
			asked = p.addFAQ(item, asked)
		case "collect":
			p.addSlots(item)
		case "steps":
			p.steps = append(p.steps, parseStep(item))
		default:
			proseLine(&prose, line)
		}
	}
	p.readProse(prose.String())
	if len(p.slots) == 0 {
		for _, e := range p.errands {
			if e.when == "" {
				p.slots = append(p.slots, e.slots...)
			}
		}
	}
	return p
}

// proseLine keeps list items and "Opening hours: …" sentences of their own; other lines run on.
func proseLine(b *strings.Builder, line string) {
	line = strings.TrimSpace(line)
	if bullet.MatchString(line) && b.Len() > 0 || labelled.MatchString(line) {
		b.WriteString("\n\n")
	}
	b.WriteString(line)
	if (bullet.MatchString(line) || labelled.MatchString(line)) && !strings.ContainsAny(line[len(line)-1:], ".!?") {
		b.WriteString(".")
	}
	b.WriteString(" ")
}

var labelled = regexp.MustCompile(`^[A-Z][\w ]{2,30}: `)

// addFAQ takes one line: "Q: …", "A: …", or a question with its answer behind the question mark.
func (p *plan) addFAQ(item, asked string) (question_ string) {
	if q, ok := cutPrefixFold(item, "q:"); ok {
		return q
	}
	if a, ok := cutPrefixFold(item, "a:"); ok {
		if asked != "" {
			p.facts = append(p.facts, faq(asked, a))
		}
		return ""
	}
	if asked == "" {
		if m := question.FindStringSubmatch(item); m != nil {
			p.facts = append(p.facts, faq(m[1], m[2]))
			return ""
		}
	}
	switch n := len(p.facts); {
	case strings.HasSuffix(item, "?"):
		return item
	case asked != "":
		p.facts = append(p.facts, faq(asked, item))
	case n > 0:
		p.facts[n-1].text += " " + item
		p.facts[n-1].stems = append(p.facts[n-1].stems, english.Content(item)...)
	}
	return ""
}

var slotLine = regexp.MustCompile(`^([\w' -]{1,60}?)\s*(?:\(([^)]*)\))?\s*(?::\s*(.+))?$`)

// addSlots takes "guests (number): How many people?", or several labels with commas between.
func (p *plan) addSlots(item string) {
	if !strings.ContainsAny(item, ":?(") && strings.Contains(item, ",") {
		for _, part := range strings.Split(strings.TrimRight(item, "."), ",") {
			p.addSlots(strings.TrimPrefix(strings.TrimSpace(part), "and "))
		}
		return
	}
	if strings.HasSuffix(item, "?") && !strings.Contains(item, ":") {
		p.slots = append(p.slots, slot{name: slug(item), label: strings.Join(english.Content(item), " "), question: item,
			kind: kindOf("", item, "")})
		return
	}
	m := slotLine.FindStringSubmatch(strings.TrimRight(item, "."))
	if m == nil {
		return
	}
	p.slots = append(p.slots, makeSlot(m[1], m[2], m[3]))
}

// makeSlot takes a label, an optional type or list of options, and an optional question or description.
func makeSlot(label, kindWord, description string) slot {
	s := slot{name: slug(label), label: strings.ReplaceAll(strings.TrimSpace(label), "_", " "), required: true}
	s.kind = kindOf(s.label, description, "")
	named := map[string]kind{"text": text, "string": text, "number": number, "integer": number, "date": date, "time": clock, "phone": phone,
		"email": email, "e-mail": email, "bool": yesno, "boolean": yesno, "yes/no": yesno, "name": name}
	for _, w := range strings.Split(kindWord, ",") {
		w = strings.ToLower(strings.TrimSpace(w))
		if k, ok := named[w]; ok {
			s.kind = k
		} else if w == "optional" {
			s.required = false
		} else if strings.Contains(w, "|") {
			s.kind = choice
			for o := range strings.SplitSeq(kindWord, "|") {
				s.options = append(s.options, strings.TrimSpace(o))
			}
		}
	}
	s.question = questionFor(s, description)
	return s
}

// questionFor asks for a slot: the description when it is a question, else a sentence made of it.
func questionFor(s slot, description string) string {
	if strings.HasSuffix(strings.TrimSpace(description), "?") {
		return strings.TrimSpace(description)
	}
	switch s.kind {
	case name:
		if strings.Contains(s.label, " of ") {
			return "What is the " + s.label + "?"
		}
		if isPersonName(s.label) {
			return "What is your " + s.label + "?"
		}
		return "What is your name?"
	case email:
		return "What is your e-mail address?"
	case phone:
		return "What is your phone number?"
	case choice:
		return "Which " + s.label + " would you like: " + list(s.options, "or") + "?"
	}
	what := strings.TrimRight(strings.TrimSpace(description), ".")
	if what == "" {
		what = s.label
	}
	for _, of := range []string{"The customer's ", "Customer's ", "The caller's ", "Caller's ", "The user's ", "User's ", "the customer's ",
		"the caller's ", "customer's ", "caller's "} {
		what = strings.Replace(what, of, "your ", 1)
	}
	first := english.Tokens(what)
	if len(first) > 0 && slices.Contains([]string{"the", "your", "a", "an", "how", "what", "which", "when", "where", "whether", "if", "why",
		"who"}, first[0]) {
		return "Could you tell me " + lowerFirst(what) + "?"
	}
	return "Could you tell me the " + lowerFirst(what) + "?"
}

var (
	sayStep  = regexp.MustCompile(`(?i)^say:?\s+"?(.+?)"?$`)
	askStep  = regexp.MustCompile(`(?i)^ask:\s*"?(.+?)"?(?:\s*(?:->|=>)\s*(.+))?$`)
	callStep = regexp.MustCompile(`(?i)^call:\s*(\w+)$`)
)

func parseStep(item string) step {
	if m := askStep.FindStringSubmatch(item); m != nil {
		label, kindWord := m[2], ""
		if k := slotLine.FindStringSubmatch(m[2]); k != nil {
			label, kindWord = k[1], k[2]
		}
		if label == "" {
			label = slug(m[1])
		}
		s := makeSlot(label, kindWord, m[1])
		s.question = m[1]
		return step{ask: &s}
	}
	if m := callStep.FindStringSubmatch(item); m != nil {
		return step{call: m[1]}
	}
	switch strings.ToLower(strings.TrimRight(item, ".")) {
	case "end", "end the call", "hang up", "say goodbye":
		return step{call: "end"}
	case "transfer", "transfer the caller", "connect to a person":
		return step{call: "transfer"}
	}
	if m := sayStep.FindStringSubmatch(item); m != nil {
		return step{say: m[1]}
	}
	return step{say: item}
}

func slug(label string) string { return strings.Join(english.Tokens(label), "_") }

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' { // an abbreviation
		return s
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

func list(items []string, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " " + last + " " + items[len(items)-1]
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return strings.TrimSpace(s[len(prefix):]), true
}
