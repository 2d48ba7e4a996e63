package responder

import (
	"regexp"
	"slices"
	"strings"

	"parley/agent"
	"parley/english"
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
	if free := find(d.tools, "check_availability"); t.name == "book_appointment" && free != nil && len(d.free) == 0 && !holdsMoment(said) {
		t = free // nothing was offered yet
	}
	for _, s := range t.slots {
		delete(d.filled, s.name)
		delete(d.skipped, s.name)
	}
	d.begin(&task{tool: t, slots: t.slots, done: func() { d.invoke(t) }}, said)
}

func (d *dialog) invoke(t *tool) {
	args := map[string]any{}
	for _, s := range t.slots {
		if v, ok := d.filled[s.name]; ok {
			args[s.name] = v.plain
		}
	}
	d.run(t.name, args, func(result string) {
		if d.free = freeIn(result); len(d.free) > 0 {
			d.say(tellFree(d.free))
			return
		}
		d.say(tellResult(result))
		d.say(anythingElse)
	})
}

// begin starts to fill the slots of a task, taking what was said already.
func (d *dialog) begin(t *task, said string) {
	d.task, d.partial, d.pieces = t, "", false
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
		if s.kind == text && d.task.tool == nil {
			if isMatter(agent.Field{Name: s.label}) && substantial(said) {
				d.fill(s, value{said, said})
			}
			continue
		}
		source := said
		if s.kind == number {
			source = withoutDates(said)
		}
		if v, ok := argument(s, source, d, texts == 1); ok {
			d.fill(s, v)
		}
	}
}

// substantial: a statement that says more than that something is to be booked.
func substantial(said string) bool {
	about := slices.DeleteFunc(english.Content(said), func(w string) bool { return light[w] || english.Match(w, booking) > 0 })
	return !asks(said) && intentOf(said) == none && len(about) > 0
}

var booking = english.Content("appointment")

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
		d.asked(s)
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
	if d.task.confirm {
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
	if s.kind == phone && d.dictate(*s, said) {
		return
	}
	v, ok := d.understand(*s, said)
	if t := trigger(d.tools, said); t != nil && !ok && it == none {
		d.use(t, said)
		return
	}
	if asks(said) && (!ok || s.kind == text || s.kind == name) {
		d.inform(said, func(a string) { d.say(a); d.say(s.question) }, func() { d.say(notKnown); d.say(s.question) })
		return
	}
	if ok && !(s.kind == text && it == no && !s.required) {
		d.fill(*s, v)
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
	if it == none && d.gained(said, s) {
		d.next("")
		return
	}
	d.unclear(s)
}

// understand reads a direct answer; codes such as order numbers are taken out of the words around them.
func (d *dialog) understand(s slot, said string) (value, bool) {
	if s.kind == text && codeLabel.MatchString(s.label) {
		if c := code(said); c != "" {
			return value{c, apart(c)}, true
		}
	}
	if s.kind == text {
		said = answerAlone(s, said)
	}
	return parse(s.kind, said, s.options, d.now, true)
}

// answerAlone is a free answer without the words that only lead to it: "she is in 3b", "it's the red one".
func answerAlone(s slot, said string) string {
	if m := passOn.FindStringSubmatch(said); m != nil && s.name == messageSlot.name {
		return m[1]
	}
	if m := leadOut.FindStringSubmatch(said); m != nil {
		return m[1]
	}
	return said
}

var leadOut = regexp.MustCompile(`(?i)^(?:(?:oh|uh|um|well|sure|okay|yes)[,:]? )*(?:it's|it is|its|that's|that is|that would be|(?:he|she|it)(?:'s| is|s) (?:in|at)|for)\s+(\S.*)$`)

func (d *dialog) skip(s *slot) {
	d.partial = ""
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
