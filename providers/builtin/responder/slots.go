package responder

import (
	"slices"
	"strings"
)

// use runs a function: at once when what was said holds all it needs, else after asking for the rest.
func (d *dialog) use(t *tool, said string) {
	if isTransfer(t.name) {
		d.transfer(t)
		return
	}
	if t.name == "end_call" {
		d.end()
		return
	}
	for _, s := range t.slots {
		delete(d.filled, s.name)
		delete(d.skipped, s.name)
	}
	d.begin(&task{slots: t.slots, done: func() { d.invoke(t) }}, said)
}

func (d *dialog) invoke(t *tool) {
	args := map[string]any{}
	for _, s := range t.slots {
		if v, ok := d.filled[s.name]; ok {
			args[s.name] = v.plain
		}
	}
	d.run(t.name, args, func(result string) {
		d.say(tellResult(result))
		d.say(anythingElse)
	})
}

// begin starts to fill the slots of a task, taking what was said already.
func (d *dialog) begin(t *task, said string) {
	d.task = t
	d.glean(said, nil)
	d.next("")
}

// glean fills open slots from a sentence that was not an answer to just one of them.
func (d *dialog) glean(said string, except *slot) {
	if said == "" {
		return
	}
	texts := 0
	for _, s := range d.task.slots {
		if s.kind == text {
			texts++
		}
	}
	for _, s := range d.missing(d.task.slots) {
		if except != nil && (s.name == except.name || s.kind == text || s.kind == yesno || s.kind == choice || s.kind == except.kind) {
			continue
		}
		if s.kind == number && d.several(number) || s.kind == yesno {
			continue
		}
		source := said
		if s.kind == number {
			source = withoutDates(said)
		}
		if v, ok := argument(s, source, d, texts == 1); ok {
			d.filled[s.name] = v
		}
	}
}

func (d *dialog) several(k kind) bool {
	n := 0
	for _, s := range d.task.slots {
		if s.kind == k {
			n++
		}
	}
	return n > 1
}

// next asks for the first open slot, reads the values back, or finishes the task.
func (d *dialog) next(before string) {
	t := d.task
	if open := d.missing(t.slots); len(open) > 0 {
		s := open[0]
		d.ask, d.tries = &s, 0
		t.asked++
		d.say(before + s.question)
		return
	}
	d.ask = nil
	if d.needsReadBack() {
		t.confirm = true
		d.say(d.readBack())
		return
	}
	d.task = nil
	t.done()
}

// needsReadBack: more than one value was asked for, or one that is easily misheard.
func (d *dialog) needsReadBack() bool {
	if d.task.asked == 0 || d.task.confirm {
		return false
	}
	have := 0
	for _, s := range d.task.slots {
		if _, ok := d.filled[s.name]; !ok {
			continue
		}
		have++
		if s.kind == phone || s.kind == email {
			return true
		}
	}
	return d.task.asked > 1 && have > 0
}

func (d *dialog) readBack() string {
	var parts []string
	for _, s := range d.task.slots {
		if v, ok := d.filled[s.name]; ok {
			parts = append(parts, s.label+": "+v.spoken)
		}
	}
	return "Let me read that back. " + upperFirst(strings.Join(parts, ", ")) + ". Is that right?"
}

// answer takes a message that follows one of our questions.
func (d *dialog) answer(said string, it intent) {
	s := d.ask
	v, ok := d.understand(*s, said)
	if t := trigger(d.tools, said); t != nil && !ok && it == none {
		d.use(t, said)
		return
	}
	if asks(said) && (!ok || s.kind == text || s.kind == name) {
		d.inform(said, func(a string) { d.say(a); d.say(s.question) }, func() { d.unclear(s) })
		return
	}
	if ok && !(s.kind == text && it == no && !s.required) {
		d.filled[s.name] = v
		d.glean(said, s)
		d.next(acknowledge(*s, v))
		return
	}
	if it == no || saysUnknown(said) {
		if !s.required || d.tries > 0 {
			d.skip(s)
			return
		}
	}
	d.unclear(s)
}

// understand reads a direct answer; codes such as order numbers are taken out of the words around them.
func (d *dialog) understand(s slot, said string) (value, bool) {
	if s.kind == text && codeLabel.MatchString(s.label) {
		if c := code(said); c != "" {
			return value{c, spell(c)}, true
		}
	}
	return parse(s.kind, said, s.options, d.now, true)
}

func (d *dialog) skip(s *slot) {
	d.skipped[s.name] = true
	d.next("All right. ")
}

var hints = map[kind]string{
	number: "a number", date: "a day", clock: "a time of day", phone: "a phone number, digit by digit", email: "an e-mail address",
	yesno: "a yes or a no", name: "a name",
}

func (d *dialog) unclear(s *slot) {
	d.tries++
	if d.tries > 2 {
		d.skip(s)
		return
	}
	hint := hints[s.kind]
	if s.kind == choice {
		hint = list(s.options, "or")
	}
	if hint == "" {
		d.say("I am sorry, I did not get that. " + s.question)
		return
	}
	d.say("I am sorry, I need " + hint + ". " + s.question)
}

func acknowledge(s slot, v value) string {
	switch s.kind {
	case number, date, clock:
		return sentence(upperFirst(v.spoken)) + " "
	case name:
		return "Thank you, " + v.spoken + ". "
	case phone, email:
		return ""
	}
	return "Thank you. "
}

// confirmed takes the answer to a read-back: a yes, a no, or a correction.
func (d *dialog) confirmed(said string, it intent) {
	lead, rest := leads(said)
	switch {
	case it == yes || it == thanks || lead == yes && rest == "":
		t := d.task
		d.task, d.ask = nil, nil
		t.done()
		return
	case d.correct(rest):
		d.say(d.readBack())
		return
	case it == no || lead == no:
		if s := d.named(rest); s != nil {
			d.reask(*s)
			return
		}
		if len(d.task.slots) == 1 {
			d.reask(d.task.slots[0])
			return
		}
		d.say("I am sorry. Which part should I change?")
		return
	}
	if s := d.named(said); s != nil {
		d.reask(*s)
		return
	}
	if asks(said) {
		d.inform(said, func(a string) { d.say(a); d.say(d.readBack()) }, func() { d.say(d.readBack()) })
		return
	}
	d.say("Please say yes or no. " + d.readBack())
}

func (d *dialog) reask(s slot) {
	delete(d.filled, s.name)
	d.task.confirm = false
	d.task.asked++
	d.ask, d.tries = &s, 0
	d.say(s.question)
}

// named finds the slot whose label stands in what was said.
func (d *dialog) named(said string) *slot {
	for i, s := range d.task.slots {
		if clauseHit(s.label, said) {
			return &d.task.slots[i]
		}
	}
	return nil
}

// correct changes the one slot whose grammar, or whose label, fits a correction such as "no, the time is eight".
func (d *dialog) correct(rest string) bool {
	if strings.TrimSpace(rest) == "" {
		return false
	}
	var fits []slot
	var values []value
	for _, s := range d.task.slots {
		bare := clauseHit(s.label, rest)
		if s.kind == text && !bare || s.kind == yesno {
			continue
		}
		source := rest
		if bare {
			source = afterIs(rest)
		} else if s.kind == number {
			source = withoutDates(rest)
		}
		v, ok := parse(s.kind, source, s.options, d.now, bare)
		if !ok || v == d.filled[s.name] {
			continue
		}
		if bare {
			d.filled[s.name] = v
			return true
		}
		fits, values = append(fits, s), append(values, v)
	}
	if len(fits) != 1 {
		return false
	}
	d.filled[fits[0].name] = values[0]
	return true
}

func clauseHit(label, said string) bool {
	have := tokens(said)
	for _, w := range tokens(label) {
		if len(w) > 3 && slices.Contains(have, w) {
			return true
		}
	}
	return false
}

func afterIs(s string) string {
	for _, is := range []string{" is ", " to ", " should be ", " was "} {
		if i := strings.LastIndex(s, is); i >= 0 {
			s = s[i+len(is):]
		}
	}
	return s
}
