package voice

import (
	"time"

	"parley/agent"
)

// interrupt stops the assistant at this instant: the line is emptied, the engines are cancelled, and what was not
// heard is taken out of the record. Without words within two seconds it is taken back.
func (s *Session) interrupt(now time.Time) {
	t := s.turn
	played := s.media.Clear()
	if s.speaking.sounding && !s.speaking.dry && s.hearing.speaking {
		s.emit(now, "barge_in", BargeIn{now.Sub(s.hearing.onset).Milliseconds(), len(plainWords(s.hearing.text()))})
	}
	s.speaking.quiet(s, now)
	s.off(gateAlarm, fillerAlarm, fallbackAlarm, asideAlarm, holdingAlarm, giveUpAlarm)
	if t.tools > 0 { // a tool's work is not broken off
		t.hush(played, s.pace())
		s.confess(t)
		t.muted = true
		return
	}
	t.cancel()
	t.hush(played, s.pace())
	s.confess(t)
	t.stoppedAt = now
	s.turn, s.stopped = nil, t
	if t.kind == greetingTurn {
		s.quietOn = true
	}
	s.set(resumeAlarm, now.Add(resumeAfter))
}

// mayStop reports whether the caller may stop this turn: not a message for a machine, not a farewell, not one that was
// stopped already, and not a greeting of which nothing was heard, because people who pick up say hello.
func (s *Session) mayStop(t *turn) bool {
	return t != nil && t.kind != messageTurn && t.then == "" && !t.awaiting && !t.muted && !(t.kind == greetingTurn && t.entry < 0) &&
		!s.deaf && t.successor == nil
}

// unmute is called when the tool of a stopped turn is done: the turn ends there if the caller said something.
func (s *Session) unmute(t *turn) {
	t.muted = false
	if len(s.kept) == 0 && !s.hearing.speaking && !s.hearing.open && !s.hearing.awaiting {
		s.add(t, t.takeRest())
		return
	}
	t.cancel()
	s.turn = nil
	s.conclude(t, s.media.Played())
	s.answerKept(time.Now())
}

// settleStopped makes an interruption final.
func (s *Session) settleStopped() {
	if t := s.stopped; t != nil {
		s.stopped = nil
		s.off(resumeAlarm)
		s.conclude(t, 0)
	}
}

// resume takes an interruption back that brought no words: the assistant goes on where it stopped.
func (s *Session) resume(now time.Time) {
	old := s.stopped
	if old == nil || s.hearing.speaking || s.hearing.open || s.hearing.awaiting {
		return // asked again when it is clear what the caller said
	}
	s.stopped = nil
	s.off(resumeAlarm)
	s.declineOwn()
	t := s.begin(old.kind)
	t.lines, t.entry, t.mark = old.lines, old.entry, old.mark
	s.owe(t, now)
	s.add(t, old.takeRest())
	if !old.thought() {
		s.carryOn(t, cutOffByNoise)
	}
}

const (
	cutOffByNoise = "You were cut off by a noise. Go on exactly where you stopped, without repeating anything."
	cutOffByFault = "You were cut off by a fault. Go on exactly where you stopped, without repeating anything."
)

// carryOn has a model continue a turn behind what was said of it and is going to be.
func (s *Session) carryOn(t *turn, why string) {
	q := Thinking{Purpose: agent.PurposeTurn, History: t.messages(nil)}
	if n := len(q.History); n > 0 && q.History[n-1].Role == agent.RoleAssistant {
		q.Instruction = why
	}
	s.think(t, q)
}
