package responder

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/english"
)

// evaluate fills the schema from what was said, by quoting; null where nothing was said about it.
func evaluate(r agent.Request, p agent.Parts) string {
	var schema struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(r.Schema, &schema) // a schema we did not write yields an empty object
	var talk []agent.Message
	for _, m := range r.Messages {
		if parsed := agent.ParseTranscript(m.Text); len(parsed) > 0 {
			talk = append(talk, parsed...)
		}
	}
	for i := range talk {
		talk[i].Text = beginning(talk[i].Text)
	}
	d := newDialog(p, r)
	d.replay(talk)
	out := map[string]any{}
	for name, prop := range schema.Properties {
		f := agent.Field{Name: name, Type: fieldType(prop.Type), Description: prop.Description}
		out[name] = d.extract(f, talk)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(out) != nil {
		return "{}"
	}
	return strings.TrimSpace(b.String())
}

func fieldType(t any) string {
	kinds, _ := t.([]any)
	if s, ok := t.(string); ok {
		kinds = []any{s}
	}
	switch {
	case slices.Contains(kinds, any("boolean")):
		return "bool"
	case slices.Contains(kinds, any("number")), slices.Contains(kinds, any("integer")):
		return "number"
	}
	return "string"
}

// extract finds one field: among what the dialogue noted, in the answer to a question about it, else in anything the customer said.
func (d *dialog) extract(f agent.Field, talk []agent.Message) any {
	if len(talk) == 0 {
		return nil
	}
	about := strings.ToLower(f.Name + " " + f.Description)
	s := d.slotFor(f)
	switch {
	case f.Type == "string" && strings.Contains(about, "summar"):
		return summary(talk)
	case f.Type == "bool" && (strings.Contains(about, "goal") || strings.Contains(about, "success") || f.Name == "status"):
		return reached(talk)
	}
	if v, ok := d.notedFor(s, f); ok {
		return v
	}
	if v, ok := d.answered(s, f, talk); ok {
		return v
	}
	switch {
	case f.Type == "bool":
		return d.mentioned(f, talk)
	case s.kind == text && isMatter(f):
		return matter(talk)
	}
	return d.volunteered(s, f, talk)
}

// notedFor is the value that the dialogue has noted under the field's name, for its kind, or for a question about the same.
func (d *dialog) notedFor(s slot, f agent.Field) (any, bool) {
	best, top := value{}, 0.0
	want := subject(s, f)
	for _, o := range d.slots {
		v, ok := d.noted[o.name]
		if !ok || !fits(v.plain, f.Type) {
			continue
		}
		score := english.Coverage(want, english.Content(o.label+" "+o.question))
		switch {
		case o.name == s.name:
			score = 3
		case o.kind == s.kind && (s.kind == phone || s.kind == email || s.kind == name):
			score++
		case o.kind != s.kind && s.kind != text || o.kind == name || o.kind == phone || o.kind == email:
			continue
		case score < 0.5, o.kind == number && s.kind == text && score < 0.7:
			continue
		}
		if score > top {
			best, top = v, score
		}
	}
	return best.plain, top > 0
}

func fits(v any, kind string) bool {
	switch v.(type) {
	case bool:
		return kind == "bool"
	case float64:
		return kind != "bool"
	}
	return kind == "string"
}

// isMatter reports a field that asks what the conversation was about.
func isMatter(f agent.Field) bool {
	return pat("reason", "topic", "message", "why", "matter", "concern", "issue", "request", "purpose", "subject", "problem", "what (?:the )?(?:\\w+ )?(?:wants?|wanted|needs?|is about)").in(
		" " + strings.Join(tokens(f.Name+" "+strings.ReplaceAll(f.Description, "_", " ")), " ") + " ")
}

// matter is the first thing of substance that the customer said.
func matter(talk []agent.Message) any {
	for _, m := range talk {
		if m.Role == agent.RoleUser && intentOf(m.Text) == none && len(english.Content(m.Text)) > 1 {
			return strings.TrimSpace(m.Text)
		}
	}
	return nil
}

// slotFor is the slot a field was asked by: one of the prompt's or of its own making.
func (d *dialog) slotFor(f agent.Field) slot {
	for _, s := range d.plan.slots {
		if s.name == f.Name {
			return s
		}
	}
	for _, st := range d.plan.steps {
		if st.ask != nil && st.ask.name == f.Name {
			return *st.ask
		}
	}
	kinds := map[string]string{"number": "number", "bool": "boolean", "string": "string"}
	s := slot{name: f.Name, label: strings.ReplaceAll(f.Name, "_", " ")}
	s.kind = kindOf(s.label, f.Description, kinds[f.Type])
	s.question = questionFor(s, f.Description)
	return s
}

// answered takes the last answer to a question about the field that its grammar accepts.
func (d *dialog) answered(s slot, f agent.Field, talk []agent.Message) (any, bool) {
	want := subject(s, f)
	var found any
	ok := false
	for i := 0; i+1 < len(talk); i++ {
		q, a := talk[i], talk[i+1]
		if q.Role != agent.RoleAssistant || a.Role != agent.RoleUser || !strings.HasSuffix(strings.TrimSpace(q.Text), "?") {
			continue
		}
		last := sentencesOf(q.Text)
		asked := last[len(last)-1]
		have := english.Content(asked)
		if other := d.askedBy(asked); other != "" && other != s.name {
			continue
		}
		if !strings.HasSuffix(q.Text, s.question) && english.Coverage(want, have) < 0.5 &&
			(len(have) == 0 || english.Coverage(have, want) < 0.6) {
			continue
		}
		if v, parsed := d.understand(s, a.Text); parsed && !(s.kind == text && intentOf(a.Text) != none) {
			found, ok = v.plain, true
		}
	}
	return found, ok
}

// subject are the words that say what a field is about.
func subject(s slot, f agent.Field) []string {
	return slices.DeleteFunc(english.Content(s.label+" "+f.Description), func(w string) bool { return w == "number" || w == "name" })
}

// askedBy is the slot of the prompt whose question this is.
func (d *dialog) askedBy(question string) string {
	for _, s := range d.plan.slots {
		if s.question == question {
			return s.name
		}
	}
	return ""
}

// volunteered looks for the field in sentences that were no answer: by grammar for kinds that cannot be mistaken, by the words
// of its description for the others.
func (d *dialog) volunteered(s slot, f agent.Field, talk []agent.Message) any {
	var found any
	want := subject(s, f)
	for _, m := range talk {
		if m.Role != agent.RoleUser {
			continue
		}
		switch s.kind {
		case phone, email, name, date, clock:
			if v, ok := parse(s.kind, m.Text, nil, d.now, false); ok {
				found = v.plain
			}
		case number:
			if near := english.Coverage(english.Content(m.Text), want); near > 0 {
				if v, ok := parse(number, withoutDates(m.Text), nil, d.now, false); ok {
					found = v.plain
				}
			}
		default:
			if have := english.Content(m.Text); english.Coverage(want, have) >= 0.5 || english.Coverage(have, want) >= 0.5 && len(have) > 1 {
				found = strings.TrimRight(m.Text, " ")
			}
		}
	}
	return found
}

// mentioned is true or false when the customer spoke of it, with or without a negation, else nil.
func (d *dialog) mentioned(f agent.Field, talk []agent.Message) any {
	want := slices.DeleteFunc(english.Content(f.Description), func(w string) bool {
		return w == "tru" || w == "fals" || w == "whether" || w == "patient" || ruleWords[w]
	})
	about := " " + strings.Join(tokens(f.Name+" "+strings.ReplaceAll(f.Name, "_", " ")+" "+f.Description), " ") + " "
	back := pat("call ?backs?", "(?:call|calls|called|ring|rung|phoned|contacted)(?: \\w+)? back", "(?:wants?|wish(?:es)?|like) (?:a|to be) (?:call|called|contacted|phoned)").in(about)
	var found any
	for _, m := range talk {
		if m.Role != agent.RoleUser {
			continue
		}
		if back && (intentOf(m.Text) == callback || digitsIn(m.Text) != "" && d.gaveNumber()) {
			found = true
		}
		if english.Coverage(want, english.Content(m.Text)) < 0.5 {
			continue
		}
		found = !refusal.in(" " + strings.Join(tokens(m.Text), " ") + " ")
	}
	return found
}

// gaveNumber reports that a number was noted, as it is for a call-back.
func (d *dialog) gaveNumber() bool {
	return slices.ContainsFunc(d.slots, func(s slot) bool { _, ok := d.noted[s.name]; return ok && s.kind == phone })
}

// reached says whether the conversation did what it was for: something was answered or noted, and it did not end in not knowing.
func reached(talk []agent.Message) any {
	spoke, done := false, false
	for i, m := range talk {
		switch {
		case m.Role == agent.RoleUser:
			spoke = spoke || intentOf(m.Text) == none && len(english.Content(m.Text)) > 0
		case i == 0:
		case ours(m.Text) || strings.HasPrefix(m.Text, "I am sorry"):
			done = false
		case spoke && m.Text != "Thank you. Goodbye." && !strings.HasSuffix(m.Text, anythingElse) ||
			strings.HasPrefix(m.Text, "Thank you, I have noted"):
			done = spoke
		}
	}
	return done
}

// summary quotes what the customer wanted and what they were told.
func summary(talk []agent.Message) any {
	want, told, noted := "", "", ""
	for i, m := range talk {
		if back, ok := strings.CutPrefix(m.Text, "Let me read that back. "); ok && m.Role == agent.RoleAssistant {
			noted = strings.TrimSuffix(back, " Is that right?")
		}
		if m.Role == agent.RoleUser && intentOf(m.Text) == none && len(english.Content(m.Text)) > 0 {
			if want == "" {
				want = m.Text
				if i+1 < len(talk) && talk[i+1].Role == agent.RoleAssistant {
					told = talk[i+1].Text
				}
			}
		}
	}
	if want == "" {
		return "The customer said nothing of substance."
	}
	out := "The customer said: " + sentence(want)
	if noted != "" {
		return out + " Noted: " + noted
	}
	if told != "" && !strings.HasSuffix(told, "?") {
		out += " The assistant answered: " + sentence(told)
	}
	return out
}
