package responder

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/english"
)

// open handles a message that answers no question of ours.
func (d *dialog) open(said string, it intent) {
	if (it == none || it == yes) && d.chosen(said, it) {
		return
	}
	if t := trigger(d.tools, said); t != nil && it == none {
		d.misses = 0
		d.use(t, said)
		return
	}
	d.inform(said, func(answer string) {
		d.misses = 0
		d.say(answer)
	}, func() {
		if t := d.nearest(said); t != nil && it == none {
			d.misses = 0
			d.use(t, said)
			return
		}
		d.onward(said, it)
	})
}

// inform answers from the FAQ or the knowledgebase; otherwise it goes on with miss.
func (d *dialog) inform(said string, hit func(string), miss func()) {
	if intentOf(said) == none && (asks(said) || d.errandFor(said) == nil) {
		if f, ok := nearestFact(said, d.plan.facts, d.topic); ok {
			d.topic = f.stems
			hit(f.text)
			return
		}
	}
	if !d.worthSearching(said) {
		miss()
		return
	}
	if find(d.tools, searchTool) != nil {
		d.run(searchTool, map[string]any{"query": strings.TrimSpace(said)}, func(result string) {
			var r struct{ Results []agent.Passage }
			_ = json.Unmarshal([]byte(result), &r) // an error result has no passages
			if a, ok := excerpt(said, r.Results, d.topic); ok {
				hit(a)
				return
			}
			miss()
		})
		return
	}
	if d.final {
		if a, ok := excerpt(said, d.passages, d.topic); ok {
			hit(a)
			return
		}
	} else if d.actual != "" && asks(said) && !d.own(d.actual) { // its passages are gone: trust what was said
		hit(d.actual)
		return
	}
	miss()
}

// ours reports a reply that is no answer from a document.
func ours(reply string) bool {
	return strings.HasPrefix(reply, rephrase) || strings.HasPrefix(reply, notKnown)
}

// own reports a reply that was made by rule, not taken from a document.
func (d *dialog) own(reply string) bool {
	if ours(reply) || strings.HasPrefix(reply, cannotTell) {
		return true
	}
	for _, s := range slices.Concat(d.plan.slots, d.wanted, d.slots) {
		if strings.HasSuffix(reply, s.question) {
			return true
		}
	}
	return false
}

// worthSearching: questions always; statements only when there is nothing to collect that they could be about.
func (d *dialog) worthSearching(said string) bool {
	if intentOf(said) != none {
		return false
	}
	if asks(said) {
		return len(english.Content(said)) > 0
	}
	return len(english.Content(said)) > 0 && d.task == nil && len(d.missing(d.plan.slots)) == 0 && len(d.missing(d.wanted)) == 0 &&
		d.step >= len(d.plan.steps)
}

// onward goes on with what the prompt wants next, or admits that the message was not understood.
func (d *dialog) onward(said string, it intent) {
	e := d.errandFor(said)
	switch {
	case d.step < len(d.plan.steps):
		d.nextStep()
	case e != nil && len(d.missing(e.slots)) > 0:
		d.collect(e.slots, said)
	case len(d.missing(d.plan.slots)) > 0 && (!asks(said) || requests.in(" "+strings.Join(tokens(said), " ")+" ")):
		d.collect(d.plan.slots, said)
	case it == hello:
		d.say("Hello. How can I help you?")
	case it == thanks:
		d.say("You are welcome. " + anythingElse)
	case it == yes && (strings.HasSuffix(d.last, anythingElse) || strings.HasSuffix(d.last, "How can I help you?")):
		d.say("How can I help you?")
	case it == yes || it == no:
		d.say("All right. " + anythingElse)
	case len(d.missing(d.wanted)) > 0 && !asks(said):
		d.collect(d.wanted, said)
	case len(d.missing(d.plan.slots)) > 0:
		d.say(cannotTell)
		d.collect(d.plan.slots, said)
	case !asks(said) && len(d.plan.errands) > 0 && len(d.missing(d.plan.errands[0].slots)) > 0:
		d.collect(d.plan.errands[0].slots, said)
	default:
		d.missed()
	}
}

// errandFor is what the prompt wants asked when this is said.
func (d *dialog) errandFor(said string) *errand {
	have := english.Content(said)
	for i, e := range d.plan.errands {
		when := slices.DeleteFunc(english.Content(e.when), func(w string) bool { return ruleWords[w] })
		if e.when != "" && len(when) > 0 && english.Coverage(when, have) >= 0.5 {
			return &d.plan.errands[i]
		}
	}
	return nil
}

func (d *dialog) missed() {
	d.misses++
	if d.misses == 1 {
		d.say(rephrase)
		return
	}
	d.misses = 0
	if t := transferTool(d.tools, ""); t != nil {
		d.say(notKnown + " Shall I connect you with a person?")
		d.offer = func() { d.transfer(t) }
		return
	}
	if d.called {
		d.say(notKnown + " " + anythingElse)
		return
	}
	d.callback(notKnown)
}

func (d *dialog) nextStep() {
	s := d.plan.steps[d.step]
	d.step++
	switch {
	case s.ask != nil:
		d.begin(&task{slots: []slot{*s.ask}, done: d.afterStep}, "")
	case s.call == "end":
		d.end()
	case s.call == "transfer":
		d.person("")
	case s.call != "":
		if t := find(d.tools, s.call); t != nil {
			d.use(t, "")
			return
		}
		d.afterStep()
	default:
		d.say(s.say)
	}
}

func (d *dialog) afterStep() {
	if d.step < len(d.plan.steps) {
		d.nextStep()
		return
	}
	d.say("Thank you. " + anythingElse)
}
