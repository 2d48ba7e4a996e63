package voice

import (
	"time"

	"parley/agent"
)

// The caller is never left in silence: one budget runs from the end of the caller's turn to sound, whichever stage is slow.
const (
	fallbackAfter = 1500 * time.Millisecond // another engine is started beside the slow one
	holdingAfter  = 2700 * time.Millisecond // a holding phrase is made, to be heard within 3 s
	giveUpAfter   = 10 * time.Second        // an apology, and the turn is given back
	fillerAfter   = 400 * time.Millisecond
	// stageGrace is the least time a stage gets before its fallback is started, however late it began.
	stageGrace = 500 * time.Millisecond
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
}

// awaitStage gives the stage that begins now its time before a fallback is started.
func (s *Session) awaitStage(t *turn, now time.Time) {
	if t == s.turn && !t.owed.IsZero() {
		s.set(fallbackAlarm, later(t.owed.Add(fallbackAfter), now.Add(stageGrace)))
	}
}

// stage is what a turn waits for.
func (t *turn) stage() string {
	switch {
	case t.awaiting && !t.ahead:
		return "stt"
	case t.tools > 0:
		return "tool"
	case t.active == nil && !t.thought():
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
		if s.realtime == nil && t.thinker < 0 && t.tried == 1 && s.parts.ThinkerFallback != nil {
			s.warn("llm", "The model is slow. Another one was asked beside it.")
			s.think(t, t.question)
		}
	case "tts":
		if l := t.active; l != nil && l.tried == 1 && (l.maker < 0 || s.speaking.dry) && s.parts.SynthesizerFallback.Synthesizer != nil {
			s.speakAgain(t, l)
		}
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

// speakAgain lets another synthesizer say a line beside the slow one; of a line that stopped in the middle, the rest.
func (s *Session) speakAgain(t *turn, l *line) {
	s.warn("tts", "The synthesizer is slow. Another one was asked beside it.")
	if l.start < 0 {
		s.makeSound(t, l)
		return
	}
	l.fix(s.media.Played(), s.pace())
	s.speaking.dry = false
	r := s.speaking.line(l.rest)
	r.tried = 1
	l.rest = ""
	at := t.next
	t.lines = append(t.lines[:at], append([]*line{r}, t.lines[at:]...)...)
	t.active, t.next = r, at+1
	s.makeSound(t, r)
}

// holding tells the caller that the answer takes longer.
func (s *Session) holding(now time.Time) {
	t := s.turn
	if t == nil || t.owed.IsZero() {
		return
	}
	if s.hearing.speaking {
		s.set(holdingAlarm, now.Add(time.Second))
		return
	}
	s.warn(t.stage(), "No answer in time. A holding phrase was spoken.")
	s.off(fillerAlarm)
	s.say(t, phrase(s.language).holding)
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
		s.hearing.awaiting = false
		s.hearing.words, s.hearing.partial = nil, ""
		s.hearAnew(s.parts.Transcriber)
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
	phrases := s.cfg.Fillers.of(category)
	if len(phrases) == 0 {
		return
	}
	text := phrases[s.fillers%len(phrases)]
	s.fillers++
	s.emit(now, "filler", Filler{category, text})
	s.say(t, text)
}
