package responder

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"parley/english"
)

var keypad = regexp.MustCompile(`^\[Keypad input: (.*)\]$`)

// longestTurn is how many bytes of a message are listened to: nobody says more in one turn.
const longestTurn = 4000

func beginning(said string) string {
	if len(said) > longestTurn {
		return strings.ToValidUTF8(said[:longestTurn], "")
	}
	return said
}

// hear takes one message of the user.
func (d *dialog) hear(said string) {
	said = beginning(said)
	if m := keypad.FindStringSubmatch(said); m != nil {
		said = m[1]
	}
	if d.menu(said) {
		return
	}
	it := d.meant(said)
	if d.control(it, said) {
		return
	}
	if d.offer != nil {
		offer := d.offer
		d.offer = nil
		switch p := polarity(said); {
		case it == yes, it == callback, p == yes:
			offer()
			return
		case it == no, it == thanks, p == no && len(tokens(said)) < 6:
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

// meant is the intent of an utterance in its place: an answer to a question is what was asked for, whatever else its words
// could mean.
func (d *dialog) meant(said string) intent {
	it := intentOf(said)
	switch {
	case d.offer != nil && it == callback, d.ask == nil && (d.task == nil || !d.task.confirm):
	case it == settled, (dictated(said) || d.ask != nil && d.ask.kind == phone && digitsIn(said) != "") && it != goodbye:
		return none
	case d.ask != nil && d.ask.kind == text && (it == message || it == callback || it == hearing || it == wait && len(tokens(said)) > 4):
		return none
	case it == callback || it == message && d.ask == nil:
		return none
	}
	return it
}

// opened takes up a question of the initial message that the prompt wants asked.
func (d *dialog) opened(text string) {
	if len(d.plan.slots) == 0 || !strings.HasSuffix(strings.TrimSpace(text), "?") {
		return
	}
	s, asked := d.plan.slots[0], english.Content(text)
	if english.Coverage(english.Content(s.question), asked) >= 0.5 {
		d.task = &task{slots: d.plan.slots, asked: 1, done: d.collected}
		d.ask = &s
	}
}

// control handles what the user wants of the conversation itself, whatever it is about.
func (d *dialog) control(it intent, said string) bool {
	switch it {
	case goodbye, voicemail, settled:
		d.end()
	case mistaken:
		d.task, d.ask, d.offer = nil, nil, nil
		d.say("No problem. Goodbye.")
	case person:
		d.person(said)
	case message:
		d.takeMessage(said)
	case callback:
		d.takeNumber(said)
	case repeat:
		d.again("")
	case slower:
		d.again("Of course. ")
	case silence:
		d.again("I did not hear you. ")
	case wait:
		d.out = append(d.out, action{say: "Of course, take your time."})
	case identity:
		d.goOn(cmp.Or(d.plan.identity, "I am an automated assistant."))
	case wellbeing:
		d.goOn("I am fine, thank you.")
	case hearing:
		d.goOn("Yes, I can hear you.")
	case nevermind:
		d.task, d.ask, d.offer = nil, nil, nil
		d.say("No problem. " + anythingElse)
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

// goOn answers something beside the point and comes back to it.
func (d *dialog) goOn(said string) {
	d.say(said)
	if d.ask != nil {
		d.say(d.ask.question)
		return
	}
	d.say("How can I help you?")
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
func (d *dialog) person(said string) {
	d.ask, d.task = nil, nil
	if t := transferTool(d.tools, said); t != nil {
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
