package responder

import (
	"slices"
	"strings"
	"time"

	"parley/agent"
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
	partial string // of a telephone number that is dictated in pieces
	pieces  bool   // the number came so
	topic   []string
	noted   map[string]value // all that was ever filled
	slots   []slot           // that were ever asked or filled
	free    []string         // appointments the calendar has offered, RFC 3339

	out    []action
	then   func(result string) // what to do with the result of the function called last
	actual string              // what was really answered to the message being replayed
	final  bool                // the message being heard is the one to answer now
}

// task is a group of slots to fill and what follows.
type task struct {
	tool    *tool // the function they are arguments of, if any
	slots   []slot
	asked   int
	confirm bool // the values were read back and await a yes
	done    func()
}

// replay walks through the conversation and returns what to do after its last message.
func (d *dialog) replay(msgs []agent.Message) []action {
	isUser := func(m agent.Message) bool { return m.Role == agent.RoleUser }
	firstUser, lastUser := slices.IndexFunc(msgs, isUser), -1
	for i, m := range msgs {
		if isUser(m) {
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
			if i < firstUser {
				d.opened(m.Text)
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
	cannotTell   = "I cannot tell you that, but I can write it down."
)
