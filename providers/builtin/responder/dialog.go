package responder

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/english"
)

// action is something the responder does: say a sentence, or call a function.
type action struct {
	say  string
	call string
	args map[string]any
}

// dialog is the state of a conversation. It is never stored: each request replays the history through it.
type dialog struct {
	now      time.Time
	prompt   string
	plan     plan
	tools    []tool
	wanted   []slot          // of the assistant's schema
	passages []agent.Passage // for the last message, in knowledge mode "prompt"

	filled  map[string]value
	skipped map[string]bool
	task    *task
	ask     *slot // the question that is out
	tries   int
	offer   func() // what "yes" does; nil = nothing is offered
	step    int
	misses  int
	last    string // what was said last
	called  bool   // a call-back was promised

	out    []action
	then   func(result string) // what to do with the result of the function called last
	actual string              // what was really answered to the message being replayed
	final  bool                // the message being heard is the one to answer now
}

// task is a group of slots to fill and what follows.
type task struct {
	slots   []slot
	asked   int
	confirm bool // the values were read back and await a yes
	done    func()
}

// replay walks through the conversation and returns what to do after its last message.
func (d *dialog) replay(msgs []agent.Message) []action {
	lastUser := -1
	for i, m := range msgs {
		if m.Role == agent.RoleUser {
			lastUser = i
		}
	}
	for i, m := range msgs {
		switch m.Role {
		case agent.RoleUser:
			d.final, d.actual = i == lastUser, answerTo(msgs[i+1:])
			d.out, d.then = nil, nil
			d.hear(m.Text)
		case agent.RoleAssistant:
			if m.Text != "" && !strings.HasPrefix(d.last, m.Text) {
				d.last = m.Text
			}
		case agent.RoleTool:
			then := d.then
			d.out, d.then = nil, nil
			if then != nil {
				then(m.Text)
			}
		}
	}
	if n := len(msgs); len(d.out) == 0 && n > 0 && msgs[n-1].Role == agent.RoleTool && pressed(msgs[:n-1]) {
		return nil // the menu speaks next
	}
	if len(d.out) == 0 {
		d.say("Is there anything else I can help you with?")
	}
	return d.out
}

// pressed reports that the function called last was send_dtmf.
func pressed(msgs []agent.Message) bool {
	n := len(msgs)
	return n > 0 && len(msgs[n-1].Calls) > 0 && msgs[n-1].Calls[0].Name == "send_dtmf"
}

// answerTo is what the assistant really said before the next message of the user.
func answerTo(msgs []agent.Message) string {
	var parts []string
	for _, m := range msgs {
		if m.Role == agent.RoleUser {
			break
		}
		if m.Role == agent.RoleAssistant && m.Text != "" {
			parts = append(parts, m.Text)
		}
	}
	return strings.Join(parts, " ")
}

func (d *dialog) say(s string) {
	d.out = append(d.out, action{say: s})
	d.last = s
	if len(d.out) > 1 && d.out[len(d.out)-2].say != "" {
		d.last = d.out[len(d.out)-2].say + " " + s
	}
}

func (d *dialog) run(name string, args map[string]any, then func(string)) {
	if args == nil {
		args = map[string]any{}
	}
	d.out = append(d.out, action{call: name, args: args})
	d.then = then
}

const (
	anythingElse = "Is there anything else I can help you with?"
	rephrase     = "I am not sure I understood. Could you put it another way?"
	notKnown     = "I do not have that information."
)

var keypad = regexp.MustCompile(`^\[Keypad input: (.*)\]$`)

// hear takes one message of the user.
func (d *dialog) hear(said string) {
	if m := keypad.FindStringSubmatch(said); m != nil {
		said = m[1]
	}
	if d.menu(said) {
		return
	}
	it := intentOf(said)
	if d.control(it) {
		return
	}
	if d.offer != nil {
		offer := d.offer
		d.offer = nil
		if lead, _ := leads(said); it == yes || lead == yes {
			offer()
			return
		}
		if it == no || it == thanks {
			d.say("All right. " + anythingElse)
			return
		}
	}
	switch {
	case d.task != nil && d.task.confirm:
		d.confirmed(said, it)
	case d.ask != nil:
		d.answer(said, it)
	default:
		d.open(said, it)
	}
}

// control handles what the user wants of the conversation itself, whatever it is about.
func (d *dialog) control(it intent) bool {
	switch it {
	case goodbye, voicemail:
		d.end()
	case person:
		d.person()
	case repeat:
		d.again("")
	case slower:
		d.again("Of course. ")
	case silence:
		d.again("I did not hear you. ")
	case no, thanks:
		if it == no && strings.HasSuffix(d.last, anythingElse) && d.offer == nil && d.ask == nil {
			d.end()
			return true
		}
		return false
	default:
		return false
	}
	return true
}

func (d *dialog) again(before string) {
	last := strings.TrimPrefix(strings.TrimPrefix(d.last, "Of course. "), "I did not hear you. ")
	if last == "" {
		last = "How can I help you?"
	}
	d.say(before + last)
}

func (d *dialog) end() {
	d.task, d.ask, d.offer = nil, nil, nil
	d.say("Thank you. Goodbye.")
	if t := find(d.tools, "end_call"); t != nil {
		d.run(t.name, nil, func(string) {})
	}
}

// person connects to a person, or says that it cannot and offers a call-back.
func (d *dialog) person() {
	d.ask, d.task = nil, nil
	if t := transferTool(d.tools); t != nil {
		d.transfer(t)
		return
	}
	d.callback("I am sorry, I cannot connect you with a person from here.")
}

func (d *dialog) transfer(t *tool) {
	d.say("One moment please, I am connecting you.")
	d.run(t.name, nil, func(result string) {
		var r struct{ Status string }
		if json.Unmarshal([]byte(result), &r) == nil && r.Status == "connected" {
			return
		}
		d.callback("I am sorry, nobody can take the call right now.")
	})
}

func (d *dialog) callback(why string) {
	d.say(why + " Shall I note that you would like to be called back?")
	d.offer = func() {
		s := slot{name: "callback_number", label: "your number", question: "Which number should we call?", kind: phone, required: true}
		d.begin(&task{slots: []slot{s}, done: func() {
			d.called = true
			d.say("I have noted that you would like to be called back. " + anythingElse)
		}}, "")
	}
}

// open handles a message that answers no question of ours.
func (d *dialog) open(said string, it intent) {
	if t := trigger(d.tools, said); t != nil && it == none {
		d.misses = 0
		d.use(t, said)
		return
	}
	d.inform(said, func(answer string) {
		d.misses = 0
		d.say(answer)
	}, func() { d.onward(said, it) })
}

// inform answers from the FAQ or the knowledgebase; otherwise it goes on with miss.
func (d *dialog) inform(said string, hit func(string), miss func()) {
	if a, ok := d.plan.answer(said); ok {
		hit(a)
		return
	}
	if !d.worthSearching(said) {
		miss()
		return
	}
	if find(d.tools, searchTool) != nil {
		d.run(searchTool, map[string]any{"query": strings.TrimSpace(said)}, func(result string) {
			var r struct{ Results []agent.Passage }
			_ = json.Unmarshal([]byte(result), &r) // an error result has no passages
			if a, ok := excerpt(said, r.Results); ok {
				hit(a)
				return
			}
			miss()
		})
		return
	}
	if d.final {
		if a, ok := excerpt(said, d.passages); ok {
			hit(a)
			return
		}
	} else if d.actual != "" && asks(said) && !ours(d.actual) { // its passages are gone: trust what was said
		hit(d.actual)
		return
	}
	miss()
}

// ours reports a reply that is no answer from a document.
func ours(reply string) bool {
	return strings.HasPrefix(reply, rephrase) || strings.HasPrefix(reply, notKnown)
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
	switch {
	case d.step < len(d.plan.steps):
		d.nextStep()
	case len(d.missing(d.plan.slots)) > 0 && !asks(said):
		d.collect(d.plan.slots, said)
	case it == hello:
		d.say("Hello. How can I help you?")
	case it == thanks:
		d.say("You are welcome. " + anythingElse)
	case it == yes && strings.HasSuffix(d.last, anythingElse):
		d.say("How can I help you?")
	case it == yes || it == no:
		d.say("All right. " + anythingElse)
	case len(d.missing(d.wanted)) > 0 && !asks(said):
		d.collect(d.wanted, said)
	default:
		d.missed()
	}
}

func (d *dialog) missed() {
	d.misses++
	if d.misses == 1 {
		d.say(rephrase)
		return
	}
	d.misses = 0
	if t := transferTool(d.tools); t != nil {
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
		d.person()
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

func (d *dialog) collect(slots []slot, said string) {
	missing := d.missing(slots)
	d.begin(&task{slots: missing, done: func() {
		d.say("Thank you, I have noted everything. " + anythingElse)
	}}, said)
}

func (d *dialog) missing(slots []slot) []slot {
	return slices.DeleteFunc(slices.Clone(slots), func(s slot) bool {
		_, ok := d.filled[s.name]
		return ok || d.skipped[s.name]
	})
}

func boolFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
