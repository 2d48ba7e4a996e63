package voice

import (
	"time"

	"parley/lines"
)

// Parking is how a caller waits: nobody listens and nobody speaks, the clocks of silence stand still. The longest duration
// and the paid time go on.
type Parking struct {
	// Sound fills pcm with what is heard next, at the line's rate; nil = silence. It is called on the session's goroutine and
	// must not block.
	Sound func(pcm []int16)
}

// pause is a thinker that waits until what was said has been heard.
type pause struct {
	agreed chan struct{}
	park   *Parking
}

// parked is a caller who waits.
type parked struct {
	sound func(pcm []int16)
	to    int64 // position up to which sound is queued
	piece []int16
}

const (
	soundAhead = 240 * time.Millisecond // queued of what a waiting caller hears
	soundPiece = 80 * time.Millisecond
)

// moves reports that a thought changes who talks to whom. The caller does not stop that by speaking.
func (t Thought) moves() bool {
	return t.Pause || t.Park != nil || t.Resume || t.Successor != nil || t.Then == Transferred || t.Then == WarmTransferred
}

// reached lets a thinker go on that waited for everything to be heard.
func (s *Session) reached(now time.Time) {
	t := s.turn
	if t == nil || t.pause == nil || s.speaking.sounding || !t.said() {
		return
	}
	p := t.pause
	t.pause = nil
	if p.park != nil {
		s.park(t, p.park, now)
	}
	close(p.agreed)
}

// said reports that everything there is to say so far was made into sound.
func (t *turn) said() bool {
	for _, l := range t.lines {
		if !l.done {
			return false
		}
	}
	return true
}

// closeEars ends listening: what the caller was about to say is not waited for.
func (s *Session) closeEars() {
	if s.deaf {
		return
	}
	s.deaf = true
	s.settleStopped()
	s.off(endpointAlarm, patienceAlarm, stuckAlarm, gateAlarm, keypadAlarm, politeAlarm, reopenAlarm)
	h := &s.hearing
	if h.stop != nil {
		h.stop()
	}
	s.disconnect()
	h.transcriber++
	h.reader.tell(order{kind: dismiss, transcriber: h.transcriber})
	h.open, h.awaiting, h.unheard, h.words, h.partial, h.language = false, false, false, nil, "", ""
	s.keypad = ""
	s.playNext()
}

// passes deals with what is noticed of a caller nobody listens to; false leaves it to be taken as always.
func (s *Session) passes(ev lines.Event) bool {
	switch ev.Kind {
	case lines.SpeechStart:
		s.hearing.speaking, s.hearing.ever, s.hearing.onset = true, true, ev.At
	case lines.SpeechEnd:
		s.hearing.speaking, s.hearing.ended = false, ev.At
	case lines.SpeechFaded, lines.SpeechBack:
	case lines.Digit:
		s.emit(ev.At, "dtmf.in", Key{string(ev.Digit)})
	default:
		return false
	}
	return true
}

// park begins the wait, or changes what is heard in it. What was said before it is written down.
func (s *Session) park(t *turn, p *Parking, now time.Time) {
	s.paid(t)
	s.conclude(t, s.media.Played())
	t.lines, t.entry, t.rest, t.mark = nil, -1, "", nil
	s.stopSound()
	s.parked = &parked{sound: p.Sound}
	s.playSound(now)
}

// playSound keeps a moment of sound queued for a waiting caller.
func (s *Session) playSound(now time.Time) {
	p := s.parked
	if p == nil || p.sound == nil {
		return
	}
	if p.piece == nil {
		p.piece = make([]int16, s.media.Rate()*int(soundPiece/time.Millisecond)/1000)
	}
	for p.to = max(p.to, s.media.Played()); s.lasts(p.to-s.media.Played()) < soundAhead; {
		p.sound(p.piece)
		start, err := s.media.Play(s.ctx, p.piece)
		if err != nil {
			return
		}
		p.to = start + int64(len(p.piece))
	}
	s.set(soundAlarm, now.Add(soundPiece))
}

// stopSound ends the wait without listening again.
func (s *Session) stopSound() {
	if s.parked != nil {
		s.parked = nil
		s.off(soundAlarm)
		s.media.Clear()
	}
}

// unpark ends the wait: the caller is heard again, and is owed an answer.
func (s *Session) unpark(now time.Time) {
	s.stopSound()
	if !s.deaf {
		return
	}
	s.deaf = false
	s.openEars()
	s.resetQuiet(now)
	if s.hearing.speaking {
		s.speechStarts(now)
	}
	if s.turn != nil {
		s.owe(s.turn, now)
	}
}
