// Package pickup finds out who picked up an outbound call: a person, an answering machine, a fax, or a service that asks
// who is calling before it puts the call through. It looks at when the far end speaks, at the tones on the line, and at
// the words that a transcriber has so far. It keeps no clock: moments are counted from the answer and handed in.
package pickup

import (
	"math"
	"time"
)

// Class is who answered.
type Class int

// The classes.
const (
	Unknown   Class = iota
	Human           //
	Machine         // an answering machine, a mailbox, an announcement
	Fax             //
	Screening       // a service or a program that asks for name and purpose
)

func (c Class) String() string {
	return [...]string{"unknown", "human", "machine", "fax", "screening"}[c]
}

// Never is a moment that does not come.
const Never = time.Duration(math.MaxInt64)

const (
	// pause is the silence after which a person who picked up expects an answer.
	pause = 900 * time.Millisecond
	// limit is how much of a greeting is needed at most.
	limit = 3800 * time.Millisecond
	// monologue is how long nobody speaks who has picked up and has heard nothing yet.
	monologue = 8 * time.Second
	// fewWords in so much speech are a person in a noise.
	fewWords = 8
	// correction is how long after the answer a person can still turn out to be a machine.
	correction = 25 * time.Second
	// afterSpeech is how long after speech a tone is taken for the one to speak after.
	afterSpeech = 5 * time.Second
	// replies is the number of utterances after which the far end is in a conversation, and no greeting any more.
	replies = 3
)

// Detector follows the beginning of one call. The zero value is not ready, New makes one.
type Detector struct {
	phrases []phrases

	speaking bool
	first    time.Duration // onset of the greeting; Never until then
	ended    time.Duration // of the last one
	turns    int           // utterances with a pause between them
	greeted  time.Duration // our own greeting was heard to its end; Never until then

	before, now string // words of earlier turns, and of the present one
	scan        signs  // of them

	called int           // fax calling tones so far
	rising int           // tones of a special information signal so far
	risen  time.Duration // when the last of them ended
	class  Class
	sure   bool // nothing can change the class

	// Deaf is a machine that records nothing: an announcement of the network.
	Deaf bool
}

// New begins at the answer of a call whose greeting may be in one of the languages (ISO 639-1); English is always known.
func New(languages ...string) *Detector {
	return &Detector{phrases: phrasesOf(languages), first: Never, greeted: Never}
}

// Restart begins anew with whoever speaks next, as after a call was put through. We have been heard by then.
func (d *Detector) Restart() {
	*d = Detector{phrases: d.phrases, speaking: d.speaking, first: Never}
}

// Class is who answered as far as is known.
func (d *Detector) Class() Class { return d.class }

// Speech takes the beginning or the end of the far end's speech.
func (d *Detector) Speech(at time.Duration, on bool) {
	switch {
	case on && !d.speaking:
		if d.first == Never {
			d.first = at
		}
		if d.turns == 0 || at-d.ended > pause {
			d.turns++
		}
	case !on && d.speaking:
		d.ended = at
	}
	d.speaking = on
}

// Words takes the words of the far end's turn so far; over says that the turn is complete.
func (d *Detector) Words(text string, over bool) {
	d.now = text
	if over {
		d.before, d.now = d.before+" "+text, ""
	}
	d.scan = scan(d.phrases, d.before+" "+d.now)
}

// Greeted says that our own greeting was heard to its end: who speaks only then answers it.
func (d *Detector) Greeted(at time.Duration) {
	if d.greeted == Never {
		d.greeted = at
	}
}

// Key takes a key the far end pressed: machines press none.
func (d *Detector) Key() {
	if d.class == Unknown {
		d.class = Human
	}
}

// Tone takes a tone and tells whether it was one to speak after.
func (d *Detector) Tone(at time.Duration, t Tone) (beep bool) {
	if d.sure {
		return isBeep(t)
	}
	switch {
	case near(t.Hz, 2100, 25) && t.Length >= announced: // ITU-T V.25 answer tone; ITU-T T.30 §4.3.3
		d.settle(Fax)
	case near(t.Hz, 1100, 38) && t.Over && within(t.Length, 400, 620) && d.first == Never: // T.30 calling tone, every 3.5 s
		if d.called++; d.called == 2 {
			d.settle(Fax)
		}
	case d.information(at, t):
		d.settle(Machine)
		d.Deaf = true
	case d.rising == 0 && isBeep(t) && d.awaited(at):
		d.settle(Machine)
		return true
	}
	return false
}

func (d *Detector) settle(c Class) { d.class, d.sure = c, true }

// information follows the three rising tones of ITU-T E.180 before an announcement of the network.
func (d *Detector) information(at time.Duration, t Tone) bool {
	if !t.Over || !within(t.Length, 200, 480) {
		return false
	}
	began := at - t.Length
	if d.rising > 0 && began-d.risen > 200*time.Millisecond {
		d.rising = 0
	}
	lows := [...][2]float64{{900, 1000}, {1350, 1450}, {1750, 1810}}
	if band := lows[d.rising]; t.Hz < band[0] || t.Hz > band[1] || d.rising == 0 && d.first != Never {
		d.rising = 0
		return false
	}
	d.rising, d.risen = d.rising+1, at
	return d.rising == len(lows)
}

// isBeep leaves out the tones of telephone networks: 425 Hz rings, dials and is busy in most of the world.
func isBeep(t Tone) bool {
	return t.Over && within(t.Length, 120, 2000) && !(near(t.Hz, 425, 30) && t.Length > 300*time.Millisecond)
}

// awaited reports that a tone at this moment can be the one after a greeting.
func (d *Detector) awaited(at time.Duration) bool {
	spoke := d.turns > 0 && (d.speaking || at-d.ended < afterSpeech)
	return spoke && (d.class != Human || at < correction && d.turns <= replies)
}

func near(hz, want, most float64) bool { return math.Abs(hz-want) <= most }

func within(d time.Duration, fromMS, toMS int64) bool {
	return d.Milliseconds() >= fromMS && d.Milliseconds() <= toMS
}

// Look decides with what is known at a moment, and says when to look again if nothing happens until then.
func (d *Detector) Look(at time.Duration) (c Class, again time.Duration) {
	open := d.class == Unknown || at < correction && d.turns <= replies
	switch {
	case open && d.class != Fax && !d.Deaf && d.screens(): // also when it seemed a machine at first
		d.settle(Screening)
	case d.sure || d.first == Never:
	case open && d.scan.isMachine():
		d.settle(Machine)
	case d.class == Unknown:
		return d.decide(at)
	case open && d.talksOn():
		if end := d.first + monologue; at < end {
			return d.class, end
		}
		d.settle(Machine)
	}
	return d.class, Never
}

// isMachine asks for words that no person says, or for more of them than a person who says them too.
func (s signs) isMachine() bool { return s.machine-s.human >= unmistakable }

// screens tells a service that asks who is calling from people at a reception, who ask as well: after the first utterance
// or our greeting, or with a word of welcome. A service says what it is, asks for name and purpose at once, or asks one of
// them and speaks for the one who was called. Whoever is to say a name after a tone leaves no message.
func (d *Detector) screens() bool {
	s := d.scan
	machine := s.machine
	if s.tone {
		machine -= 2
	}
	atOnce := d.turns <= 1 && d.first <= d.greeted
	asks := s.asks > 1 || s.asks > 0 && (s.behalf > 0 || s.tone)
	return machine < unmistakable && s.human == 0 && (s.screening > 0 || asks && atOnce)
}

// decide is Look before anything was decided.
func (d *Detector) decide(at time.Duration) (Class, time.Duration) {
	last := d.first + limit
	switch quiet := d.ended + pause; {
	case at >= last, !d.speaking && at >= quiet:
		d.class = Human // in doubt
		return d.Look(at)
	case !d.speaking:
		return Unknown, min(quiet, last)
	default:
		return Unknown, last
	}
}

// talksOn reports speech without a pause, into or before our own greeting, which only a recording keeps up for long.
func (d *Detector) talksOn() bool {
	s := d.scan
	return d.speaking && d.turns == 1 && d.first <= d.greeted && s.human == 0 && (s.words == 0 || s.words >= fewWords)
}

// Finish decides with what little there is when the call ends.
func (d *Detector) Finish() Class {
	if d.class == Unknown && d.first != Never {
		d.class = Human
		if d.scan.machine > d.scan.human {
			d.class = Machine
		}
	}
	return d.class
}
