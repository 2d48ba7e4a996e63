package voice

import (
	"time"

	"parley/agent"
	"parley/audio"
)

const (
	noticeBefore   = 15 * time.Second // the model is told before the longest duration is over
	farewellBefore = 8 * time.Second  // the caller is told before the paid time is over
)

// tick lets the clock of silence run or stand still and sets what hangs on it.
func (s *Session) tick(now time.Time) {
	answering := s.turn != nil && s.turn.kind != reengageTurn && s.turn.kind != noticeTurn
	still := !s.quietOn || s.hearing.speaking || s.speaking.sounding || answering || s.keypad != "" || s.held || s.deaf
	s.quiet.run(!still, now)
	s.set(silenceAlarm, s.quiet.when(s.cfg.MaxSilence))
	s.set(reengageAlarm, s.quiet.when(time.Duration(s.asked+1)*s.cfg.ReengageEvery))
	s.off(initialAlarm, heardAlarm)
	if m := s.speaking; m.sounding && m.busy == nil && len(m.waiting) == 0 {
		s.set(heardAlarm, now.Add(s.lasts(m.to-s.media.Played())+audio.FrameDur))
	}
	if !s.hearing.ever {
		s.set(initialAlarm, s.quiet.when(s.cfg.MaxInitialSilence))
	}
}

func (s *Session) resetQuiet(now time.Time) {
	s.quiet.reset(now)
	s.asked = 0
}

// reengage asks a silent caller whether they are still there.
func (s *Session) reengage(now time.Time) {
	s.asked++
	if s.turn != nil || s.stopped != nil || s.hearing.open || s.hearing.awaiting {
		return
	}
	ask := s.cfg.ReengagePrompt
	if ask == "" {
		ask = "The other person has been quiet. Ask in one short sentence whether they are still there."
	}
	t := s.begin(reengageTurn)
	s.owe(t, now)
	s.think(t, Thinking{Purpose: agent.PurposeReengage, Instruction: ask})
}

// nearlyOver tells the model to close; when nobody speaks it does so at once.
func (s *Session) nearlyOver(now time.Time) {
	const closing = "The call ends in a few seconds because it has reached its longest duration. Close the conversation politely now."
	s.emit(now, "limit", Limit{"max_duration"})
	s.remark(closing)
	if s.turn == nil && s.stopped == nil && s.greeted && !s.hearing.open && !s.hearing.awaiting {
		t := s.begin(noticeTurn)
		s.owe(t, now)
		s.think(t, Thinking{Purpose: agent.PurposeTurn, Instruction: closing})
	}
}

// farewell closes a call whose paid time is nearly over.
func (s *Session) farewell(now time.Time) {
	s.emit(now, "limit", Limit{"balance"})
	s.speakFixed(phrase(s.language).farewell, BalanceExhausted)
}

// key takes a key the caller pressed.
func (s *Session) key(digit byte, at time.Time) {
	s.emit(at, "dtmf.in", Key{string(digit)})
	s.hearing.ever = true
	s.report.Spoke = true
	s.resetQuiet(at)
	s.whoPresses(at)
	switch k := s.cfg.Keypad; {
	case k == nil:
	case digit == k.Stop:
		s.off(keypadAlarm)
		s.keypadDone("stop_key", at)
	default:
		s.keypad += string(digit)
		s.set(keypadAlarm, at.Add(k.Timeout))
	}
}

// keypadDone takes the keys pressed so far as the caller's turn.
func (s *Session) keypadDone(how string, now time.Time) {
	digits := s.keypad
	s.keypad = ""
	if digits == "" {
		return
	}
	s.report.Keypad = digits
	s.emit(now, "keypad", KeypadInput{digits, how})
	s.dropAwaiting()
	s.userTurn("[Keypad input: "+digits+"]", now, "keypad", "", func() bool { return s.cfg.Interruptible }, now)
}
