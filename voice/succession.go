package voice

import (
	"slices"
	"time"
)

// Successor is another assistant that takes a conversation over with everything that was said. What bounds the call stays:
// its longest duration, what is paid for, and what becomes of a call that no person picked up.
type Successor struct {
	Config Config
	Parts  Parts // without Observe, Ended and Log, which stay
	Greet  bool  // it speaks its initial message; else it answers what was said last
}

// succeed changes who the assistant is, between two turns.
func (s *Session) succeed(x *Successor, now time.Time) {
	s.account(now)
	c, p := x.Config, x.Parts
	c.MaxDuration, c.Funds, c.Answering = s.cfg.MaxDuration, s.cfg.Funds, s.cfg.Answering
	p.Observe, p.Ended, p.Log = s.parts.Observe, s.parts.Ended, s.parts.Log
	s.cfg, s.parts = c, p
	if !slices.Contains(append([]string{c.Language}, c.Others...), s.language) {
		s.language = c.Language
	}
	s.speaking.pace, s.speaking.trust, s.minds, s.failed, s.keypad = 0, trust{}, trust{}, 0, ""
	s.off(keypadAlarm)
	s.remembered(s.kept...)
	s.kept = nil
	s.employ(s.hearing.open)
	if x.Greet && c.Greeting != "" {
		s.greet()
		return
	}
	s.answer(now)
}
