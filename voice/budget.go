package voice

import (
	"time"

	"parley/agent"
)

// The caller is never left in silence: one budget runs from the end of the caller's turn to sound, whichever stage is slow.
const (
	fallbackAfter = 1500 * time.Millisecond // another engine is started beside the slow one
	holdingAfter  = 2700 * time.Millisecond // a holding phrase is made, to be heard within 3 s
	holdEvery     = 4 * time.Second         // and again while something works
	repeatAfter   = 900 * time.Millisecond  // after it, the caller is asked to repeat what was not recognised
	stallAfter    = 5 * time.Second         // a model that stopped in the middle is asked again, where there is no other
	giveUpAfter   = 10 * time.Second        // an apology, and the turn is given back
	fillerAfter   = 400 * time.Millisecond
	// stageGrace is the least time a stage gets before its fallback is started, however late it began.
	stageGrace = 500 * time.Millisecond
	// voiceGrace is that of a voice.
	voiceGrace = 800 * time.Millisecond
	// mostFailures is how many answers in a row may fail before the conversation is beyond help.
	mostFailures = 3
)

// owe starts the budget of a turn.
func (s *Session) owe(t *turn, now time.Time) {
	t.owed = now
	s.set(giveUpAlarm, now.Add(giveUpAfter))
	if t.kind == answerTurn {
		s.set(holdingAlarm, now.Add(holdingAfter))
	}
	s.awaitStage(t, now)
}

// paid ends it: the caller hears the turn.
func (s *Session) paid(t *turn) {
	t.owed = time.Time{}
	s.off(fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm)
	t.holds = 0
}

// awaitStage gives the stage that begins now its time before a fallback is started.
func (s *Session) awaitStage(t *turn, now time.Time) {
	if t == s.turn && !t.owed.IsZero() {
		s.set(fallbackAlarm, later(t.owed.Add(fallbackAfter), now.Add(stageGrace)))
	}
}

// awaitVoice gives the assistant's own voice its time: another one in the middle of a call is heard by everybody.
func (s *Session) awaitVoice(t *turn, now time.Time) {
	if t != s.turn || t.owed.IsZero() {
		return
	}
	at := now.Add(fallbackAfter)
	if spare := t.owed.Add(holdingAfter); spare.Before(at) && !s.speaking.sounding {
		at = later(spare, now.Add(voiceGrace))
	}
	s.set(fallbackAlarm, at)
}

// stage is what a turn waits for.
func (t *turn) stage() string {
	switch {
	case t.awaiting && !t.ahead:
		return "stt"
	case t.tools > 0:
		return "tool"
	case t.unspoken() == nil && !t.thought():
		return "llm"
	}
	return "tts"
}

// fallback starts another engine beside the slow one.
func (s *Session) fallback(now time.Time) {
	t := s.turn
	if t == nil {
		return
	}
	switch t.stage() {
	case "stt":
		if s.endsTurns() {
			s.goAhead()
			return
		}
		s.hearAgain(now)
	case "llm":
		if t.waits {
			s.insist(t)
			return
		}
		s.thinkBeside(t, now)
	case "tts":
		s.speakBeside(t, now)
	}
}

// thinkBeside asks another model beside one that does not begin, and instead of one that stopped in the middle.
func (s *Session) thinkBeside(t *turn, now time.Time) {
	second := s.parts.ThinkerFallback != nil
	switch stalled := t.owed.Add(stallAfter); {
	case s.realtime != nil || t.tried != 1 || t.thinker < 0 && !second:
	case t.thinker < 0:
		s.warn("llm", "The model is slow. Another one was asked beside it.")
		s.think(t, t.question)
	case !second && now.Before(stalled):
		s.set(fallbackAlarm, stalled)
	default:
		s.warn("llm", "The model stopped in the middle of its answer. It is gone on with.")
		s.trustMind(t, t.thinker, false, now)
		t.thinking[t.thinker]()
		t.thinking[t.thinker] = nil
		s.thinkAgain(t)
	}
}

// hearAgain does without the final transcript: it takes the words known so far, or lets another transcriber hear the
// utterance. The slow one is replaced: what it still says would be of another time.
func (s *Session) hearAgain(now time.Time) {
	c := &s.hearing
	second := s.parts.TranscriberFallback
	if text := c.text(); text != "" {
		if second.Open == nil {
			second = s.parts.Transcriber
		}
		s.warn("stt", "The recogniser is slow. What it had so far was taken.")
		c.awaiting = false
		s.hearAnew(second)
		s.callerSaid(text, now)
		return
	}
	if s.realtime == nil && second.Open != nil && c.provider != second.Provider {
		s.warn("stt", "The recogniser is slow. Another one hears the turn.")
		s.listen(second, true)
		s.endTurn()
	}
}

// speakBeside asks another voice beside one that does not begin, and instead of one that stopped in the middle.
func (s *Session) speakBeside(t *turn, now time.Time) {
	m, second := &s.speaking, s.hasOther()
	b, l := t.unsaid()
	if l == nil || b.tried != 1 || l.ready && !m.dry || b.chosen == nil && !second {
		return
	}
	engine := 0
	if a := b.chosen; a != nil {
		s.warn("tts", "The synthesizer stopped in the middle. Its text is gone on with.")
		if engine = s.other(a.engine); a.engine == 0 {
			m.trust.lost(now)
		}
		b.drop(a)
		m.dry = false
		s.speakOn(t, b, l, s.media.Played(), engine)
		s.release(a.id)
		return
	}
	for _, a := range b.attempts {
		if a != nil {
			engine = 1 - a.engine
		}
	}
	s.warn("tts", "The synthesizer is slow. Another one was asked beside it.")
	s.request(t, b, engine)
}

// asideSlow asks another voice for a phrase of our own that the assistant's does not begin.
func (s *Session) asideSlow(time.Time) {
	if s.turn == nil || !s.hasOther() {
		return
	}
	for _, b := range s.turn.breaths {
		if l := b.unspoken(); b.aside && l != nil && !l.ready && b.tried == 1 {
			engine := 1
			if b.attempts[1] != nil {
				engine = 0
			}
			s.warn("tts", "The synthesizer is slow. Another one was asked beside it.")
			s.request(s.turn, b, engine)
		}
	}
}

// holding tells the caller that the answer takes longer, again and again while something still works. Words that never come
// are asked for.
func (s *Session) holding(now time.Time) {
	t := s.turn
	if t == nil || t.owed.IsZero() {
		return
	}
	if s.hearing.speaking {
		s.set(holdingAlarm, now.Add(time.Second))
		return
	}
	unheard := t.stage() == "stt" && s.realtime == nil
	if unheard && t.holds > 0 {
		s.askAgain(t)
		return
	}
	s.off(fillerAlarm)
	if !t.sayingAside() {
		s.warn(t.stage(), "No answer in time. A holding phrase was spoken.")
		s.say(t, phrase(s.language).holding)
	}
	t.holds++
	again := holdEvery
	if unheard {
		again = repeatAfter
	}
	s.set(holdingAlarm, now.Add(again))
}

// sayingAside reports that words of our own are on their way.
func (t *turn) sayingAside() bool {
	for _, b := range t.breaths {
		if b.aside && b.unspoken() != nil {
			return true
		}
	}
	return false
}

// askAgain asks the caller to repeat what no recogniser said anything of.
func (s *Session) askAgain(t *turn) {
	s.warn("stt", "The recogniser said nothing. The caller was asked to repeat.")
	s.unheard()
	if s.failed++; s.failed >= mostFailures {
		s.breakDown()
		return
	}
	t.awaiting, t.kind = false, fixedTurn
	s.add(t, phrase(s.language).apology)
}

// unheard gives up the words that are waited for.
func (s *Session) unheard() {
	s.hearing.awaiting = false
	s.hearing.words, s.hearing.partial = nil, ""
	s.hearAnew(s.parts.Transcriber)
}

// giveUp ends a turn that could not be given in time. A tool at work is waited for.
func (s *Session) giveUp(now time.Time) {
	t := s.turn
	if t == nil {
		return
	}
	if t.tools > 0 {
		s.set(giveUpAlarm, now.Add(giveUpAfter/2))
		return
	}
	s.warn(t.stage(), "No answer within 10 s. The turn was given back.")
	if t.awaiting || s.realtime != nil {
		s.unheard()
	}
	switch {
	case t.then != "":
		s.end(t.then)
	case t.kind == answerTurn:
		s.apologise(t)
	case t.kind == fixedTurn: // not even an apology can be spoken
		s.end(EngineFailure)
	default:
		s.finish(t, now)
	}
}

// apologise gives the turn back. The third time in a row the conversation is beyond help.
func (s *Session) apologise(t *turn) {
	s.failed++
	if s.failed >= mostFailures {
		s.breakDown()
		return
	}
	s.speakFixed(phrase(s.language).apology, "")
}

// breakDown ends a conversation that is beyond help.
func (s *Session) breakDown() { s.speakFixed(phrase(s.language).failure, EngineFailure) }

// armFiller sets the moment at which a filler is played.
func (s *Session) armFiller(t *turn, now time.Time) {
	if s.cfg.Fillers != nil && t.mark != nil {
		s.set(fillerAlarm, later(now, t.mark.endpoint.Add(fillerAfter)))
	}
}

// filler bridges the time until speech is ready with a phrase that fits what the caller said.
func (s *Session) filler(now time.Time) {
	t := s.turn
	if t == nil || t.kind != answerTurn || t.owed.IsZero() || s.hearing.speaking {
		return
	}
	last := ""
	for _, m := range s.history {
		if m.Role == agent.RoleUser {
			last = m.Text
		}
	}
	category := categoryOf(last)
	fillers, ok := s.cfg.Fillers[s.language]
	if !ok {
		fillers = s.cfg.Fillers[s.cfg.Language]
	}
	phrases := fillers.of(category)
	if len(phrases) == 0 {
		return
	}
	text := phrases[s.fillers%len(phrases)]
	s.fillers++
	s.emit(now, "filler", Filler{category, text})
	s.say(t, text)
}
