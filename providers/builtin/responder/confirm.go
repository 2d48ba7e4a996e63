package responder

import (
	"slices"
	"strings"

	"parley/placeholders"
)

// confirmed takes the answer to a read-back: a yes, a no, a correction, or the digits that were still to come.
func (d *dialog) confirmed(said string, it intent) {
	lead, rest := leads(said)
	switch {
	case it == thanks, intentOf(said) == settled && lead != no:
		d.agreed()
	case d.continued(said, lead), d.correct(rest):
		d.say(d.readBack())
	case it == yes || lead == yes:
		d.agreed()
	case it == no || lead == no:
		d.wrong(rest)
	default:
		d.unconfirmed(said)
	}
}

func (d *dialog) agreed() {
	t := d.task
	d.task, d.ask = nil, nil
	t.done()
}

// wrong asks again for what is not right.
func (d *dialog) wrong(rest string) {
	if s := d.named(rest); s != nil {
		d.reask(*s)
		return
	}
	if len(d.task.slots) == 1 {
		d.reask(d.task.slots[0])
		return
	}
	d.say("I am sorry. Which part should I change?")
}

func (d *dialog) unconfirmed(said string) {
	switch s := d.named(said); {
	case asks(said):
		d.inform(said, func(a string) { d.say(a); d.say(d.readBack()) }, func() { d.say(notKnown); d.say(d.readBack()) })
	case polarity(said) == yes:
		d.agreed()
	case s != nil:
		d.reask(*s)
	case polarity(said) == no:
		d.wrong(said)
	default:
		d.say("Please say yes or no. " + d.readBack())
	}
}

// continued takes the rest of a number that came in pieces and was read back too early.
func (d *dialog) continued(said string, lead intent) bool {
	words := " " + strings.Join(tokens(said), " ") + " "
	if !d.pieces || lead != none || !dictated(said) || corrects.in(words) {
		return false
	}
	for _, s := range d.task.slots {
		v, ok := d.filled[s.name]
		if whole := placeholders.Text(v.plain) + digitsIn(said); ok && s.kind == phone && count(whole) <= mostDigits {
			d.fill(s, value{whole, spell(whole)})
			return true
		}
	}
	return false
}

func (d *dialog) reask(s slot) {
	delete(d.filled, s.name)
	d.task.confirm = false
	d.task.asked++
	d.ask, d.tries = &s, 0
	d.say(s.question)
}

// named finds the slot whose label has most of its words in what was said.
func (d *dialog) named(said string) *slot {
	var best *slot
	top := 0.0
	have := tokens(said)
	for i, s := range d.task.slots {
		met, label := 0.0, tokens(s.label)
		for _, w := range label {
			if slices.Contains(have, w) && (len(w) > 3 || w == s.label) {
				met++
			}
		}
		if share := met + met/float64(max(1, len(label))); share > top {
			best, top = &d.task.slots[i], share
		}
	}
	return best
}

// correct changes the slot whose label stands in a correction such as "no, the time is eight", or the one whose grammar fits.
func (d *dialog) correct(rest string) bool {
	if strings.TrimSpace(rest) == "" {
		return false
	}
	if s := d.named(rest); s != nil {
		if v, ok := d.corrected(*s, afterIs(rest), true); ok {
			d.fill(*s, v)
			return true
		}
	}
	var fits []slot
	var values []value
	for _, s := range d.task.slots {
		if s.kind == text || s.kind == yesno {
			continue
		}
		if v, ok := d.corrected(s, rest, false); ok {
			fits, values = append(fits, s), append(values, v)
		}
	}
	if len(fits) != 1 {
		return false
	}
	d.fill(fits[0], values[0])
	return true
}

// corrected is the new value of a slot, when what was said holds one.
func (d *dialog) corrected(s slot, said string, named bool) (value, bool) {
	before, ok := d.filled[s.name]
	if s.kind == phone {
		if !ok || !dictated(said) && !named && !corrects.in(" "+strings.Join(tokens(said), " ")+" ") {
			return value{}, false
		}
		fixed, ok := mend(placeholders.Text(before.plain), said)
		return value{fixed, spell(fixed)}, ok
	}
	if s.kind == number && !named {
		said = withoutDates(said)
	}
	v, ok := value{}, false
	if named {
		v, ok = d.understand(s, said)
	} else {
		v, ok = parse(s.kind, said, s.options, d.now, false)
	}
	return v, ok && v != before
}

// gained reports that something else that is wanted was said instead of the answer.
func (d *dialog) gained(said string, except *slot) bool {
	before := len(d.filled)
	d.glean(said, except)
	return len(d.filled) > before
}

func afterIs(s string) string {
	for _, is := range []string{" is ", " to ", " should be ", " was "} {
		if i := strings.LastIndex(s, is); i >= 0 {
			s = s[i+len(is):]
		}
	}
	return s
}
