package responder

import (
	"regexp"
	"slices"

	"parley/english"
)

var messageSlot = slot{name: "message", label: "message", question: "What message may I pass on?", kind: text, required: true}

// passOn is what stands before the message itself.
var passOn = regexp.MustCompile(`(?i)\b(?:tell (?:him|her|them|the \w+|mr\.? \w+|mrs\.? \w+|ms\.? \w+|\w+)|let (?:him|her|them|\w+) know|(?:the )?message is|to say)(?:,? that)?[,:]?\s+(.+)$`)

// takeMessage notes a message, a name and a number, as far as they were not said yet, in the words of the prompt where it has some.
func (d *dialog) takeMessage(said string) {
	slots := []slot{messageSlot}
	for _, want := range []slot{makeSlot("name", "", ""), makeSlot("phone number", "", "")} {
		slots = append(slots, d.ownWords(want))
	}
	delete(d.filled, messageSlot.name)
	if m := passOn.FindStringSubmatch(said); m != nil {
		d.fill(messageSlot, value{m[1], m[1]})
	}
	d.begin(&task{slots: slots, done: func() {
		d.say("Thank you, I have noted your message and will pass it on. " + anythingElse)
	}}, "")
}

// takeNumber notes how somebody can be called or written to.
func (d *dialog) takeNumber(said string) {
	s := slot{name: "callback_number", label: "your number", question: "Which number should we call?", kind: phone, required: true}
	if slices.Contains(tokens(said), "email") || slices.Contains(tokens(said), "mail") {
		s = slot{name: "email", label: "your e-mail address", question: "What is your e-mail address?", kind: email, required: true}
	}
	slots := d.missing(d.plan.slots)
	if !slices.ContainsFunc(slots, func(o slot) bool { return o.kind == s.kind }) {
		slots = append(slots, s)
	}
	d.begin(&task{slots: slots, done: func() {
		d.called = true
		d.say("I have noted that you would like to be called back. " + anythingElse)
	}}, said)
}

// ownWords is the slot of the prompt or of the schema for the same kind of thing.
func (d *dialog) ownWords(s slot) slot {
	for _, e := range d.plan.errands {
		for _, o := range e.slots {
			if o.kind == s.kind {
				return o
			}
		}
	}
	for _, o := range append(slices.Clone(d.plan.slots), d.wanted...) {
		if o.kind == s.kind {
			o.question = s.question
			return o
		}
	}
	return s
}

func (d *dialog) callback(why string) {
	d.say(why + " Shall I note that you would like to be called back?")
	d.offer = func() { d.takeNumber("") }
}

func (d *dialog) collect(slots []slot, said string) {
	d.begin(&task{slots: d.missing(slots), done: d.collected}, said)
}

func (d *dialog) collected() { d.say("Thank you, I have noted everything. " + anythingElse) }

func (d *dialog) fill(s slot, v value) {
	d.filled[s.name], d.noted[s.name] = v, v
	d.asked(s)
}

// asked remembers a slot for the evaluation.
func (d *dialog) asked(s slot) {
	if !slices.ContainsFunc(d.slots, func(o slot) bool { return o.name == s.name }) {
		d.slots = append(d.slots, s)
	}
}

// missing are the slots that are neither filled nor skipped, and that are to be asked after what was answered so far.
func (d *dialog) missing(slots []slot) []slot {
	return slices.DeleteFunc(slices.Clone(slots), func(s slot) bool {
		if d.has(s) || d.skipped[s.name] {
			return true
		}
		before, ok := d.filled[s.after]
		return s.after != "" && (!ok || before.plain == s.onNo)
	})
}

// has reports that a slot is filled, under its own name or, for what a person has one of, under another.
func (d *dialog) has(s slot) bool {
	if _, ok := d.filled[s.name]; ok {
		return true
	}
	if s.kind != phone && s.kind != email && (s.kind != name || !isPersonName(s.label)) {
		return false
	}
	return slices.ContainsFunc(d.slots, func(o slot) bool {
		_, ok := d.filled[o.name]
		return ok && o.kind == s.kind && (s.kind != name || isPersonName(o.label))
	})
}

func boolFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// chosen books the appointment that was picked from those the calendar offered: by its time, or by yes where there is one.
func (d *dialog) chosen(said string, it intent) bool {
	t := find(d.tools, "book_appointment")
	if t == nil || len(d.free) == 0 {
		return false
	}
	if it == yes && len(d.free) == 1 {
		d.book(t, d.free[0])
		return true
	}
	h, m, ok := parseTime(said, true)
	if !ok {
		return false
	}
	for _, start := range d.free {
		if sh, sm, ok := clockOf(start); ok && sm == m && (sh == h || sh == h+12) {
			d.book(t, start)
			return true
		}
	}
	return false
}

// book asks for what else a booking needs, and makes it.
func (d *dialog) book(t *tool, start string) {
	d.free = nil
	h, m, _ := clockOf(start)
	for _, s := range t.slots {
		delete(d.filled, s.name)
		if s.name == "start" {
			d.fill(s, value{start, spokenTime(h, m)})
		}
	}
	d.begin(&task{slots: t.slots, done: func() { d.invoke(t) }}, "")
}

// nearest is the function that shares most words with what was said: the last guess, before giving up. A function that needs a
// day is near when a day was named.
func (d *dialog) nearest(said string) *tool {
	if intentOf(said) != none {
		return nil
	}
	have := english.Content(said)
	var best *tool
	top := 0.0
	for i := range d.tools {
		t := &d.tools[i]
		if !t.custom() {
			continue
		}
		met := 0.0
		for _, w := range t.words {
			met += english.Match(w, have)
		}
		if _, day := parseDate(said, d.now); day && t.needsDay() {
			met += 0.8
		}
		if met < 0.8 {
			continue
		}
		if score := met + met/float64(len(t.words)+1); score > top {
			best, top = t, score
		}
	}
	return best
}
