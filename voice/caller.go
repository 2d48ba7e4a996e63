package voice

import (
	"fmt"
	"slices"
	"time"

	"parley/agent"
	"parley/lines"
)

// text is what the caller said in this turn so far.
func (c *hearing) text() string {
	return join(append(c.words[:len(c.words):len(c.words)], c.partial)...)
}

const (
	// gap is a pause inside continuous speech: closures of consonants, a breath.
	gap = 250 * time.Millisecond
	// shortestSilence is the floor of the silence that ends a turn.
	shortestSilence = 100 * time.Millisecond
	// wordless is how long sound may go on without new words before the turn is taken to be over.
	wordless = 2500 * time.Millisecond
	// longestTurn is how long a turn of the caller lasts at most, whatever is heard.
	longestTurn = 20 * time.Second
	// promptly after a call of ours was answered, people say hello without having heard us.
	promptly = time.Second
	// resumeAfter is how long the assistant stays silent after an interruption that brings no words.
	resumeAfter = 2 * time.Second
)

// notice takes what the media plane saw.
func (s *Session) notice(ev lines.Event) {
	if s.deaf && s.passes(ev) {
		return
	}
	switch ev.Kind {
	case lines.FirstIn:
		s.emit(ev.At, "audio.first_in", None{})
	case lines.FirstOut:
		s.emit(ev.At, "audio.first_out", None{})
	case lines.SpeechStart:
		s.speechStarts(ev.At)
	case lines.SpeechEnd:
		s.speechEnds(ev.At)
	case lines.SpeechFaded:
		s.hearing.faded = ev.At
	case lines.SpeechBack:
		s.hearing.faded = time.Time{}
		s.armGate()
	case lines.Gap:
		s.gapBegins(ev.At)
	case lines.GapOver:
		s.gapEnds(ev.At)
	case lines.Digit:
		s.key(ev.Digit, ev.At)
	case lines.Drained:
		s.drained(ev.At)
	case lines.HeldOn:
		s.held = true
	case lines.HeldOff:
		s.held = false
	case lines.Refused:
		s.warn("media", "Sound from an address that the other side did not name is refused.")
	}
}

func (s *Session) speechStarts(at time.Time) {
	c := &s.hearing
	if pause := at.Sub(c.ended); pause > gap {
		c.onset = at
		if c.open && pause < longestPatience {
			c.pause = max(c.pause, pause)
		}
	}
	c.speaking, c.ever, c.unheard = true, true, false
	c.faded = time.Time{}
	s.openTurn(at)
	s.off(endpointAlarm, patienceAlarm)
	s.armStuck(at)
	s.resetQuiet(at)
	s.emit(at, "speech.start", Side{"customer"})
	s.armGate()
	s.whoSpeaks(at, true)
}

func (s *Session) speechEnds(at time.Time) {
	c := &s.hearing
	if !c.speaking {
		return
	}
	c.speaking, c.ended = false, at
	s.off(gateAlarm, stuckAlarm)
	s.emit(at, "speech.end", Side{"customer"})
	if c.open {
		s.set(endpointAlarm, s.turnEnds(at))
	}
	s.playNext()
	s.whoSpeaks(at, false)
}

func (s *Session) endSilence() time.Duration { return max(s.cfg.EndSilence, shortestSilence) }

func (s *Session) openTurn(at time.Time) {
	if !s.hearing.open {
		s.hearing.open, s.hearing.opened = true, at
		s.remember(true)
	}
}

// heard takes a transcript.
func (s *Session) heard(t Transcript, now time.Time) {
	c := &s.hearing
	c.broken = 0
	t.Text = bounded(t.Text)
	if t.Lost > 0 {
		s.warn("stt", fmt.Sprintf("The recogniser cannot keep up. %.1f s of what was said were not heard.", t.Lost.Seconds()))
	}
	if t.Language == "" && t.Final && len(s.cfg.Others) > 0 {
		t.Language = tongueOf(t.Text, append([]string{s.cfg.Language}, s.cfg.Others...))
	}
	if t.Language != "" {
		c.language = t.Language
	}
	s.whoSays(t, now)
	changed := t.Text != c.partial
	if c.partial = t.Text; t.Final {
		c.partial = ""
	} else if t.Text != "" {
		c.streams = true
	}
	if t.Final {
		if t.Text != "" {
			c.words = append(c.words, t.Text)
		}
	}
	if t.Final && c.awaiting {
		s.final(now)
		return
	}
	if s.signed(t, now) || t.Text == "" || !changed {
		return
	}
	s.parts.Observe(Event{At: now, Type: "partial", Data: Partial{c.text()}, Live: true})
	s.off(resumeAlarm)
	switch {
	case c.speaking:
		if !c.awaiting {
			s.openTurn(now) // one that was too long is over, and they speak on
		}
		s.armStuck(now)
		s.gate(now)
	case !c.awaiting && (!c.open || c.unheard): // words without a sound the detector noticed
		s.openTurn(now)
		c.unheard, c.ended = true, now
		s.set(endpointAlarm, s.turnEnds(now))
	}
}

// armStuck sets the moment at which a turn ends whose sound goes on: when words have stopped coming, if the transcriber gives words
// as they are spoken, and when it is too long.
func (s *Session) armStuck(now time.Time) {
	at := s.hearing.opened.Add(longestTurn)
	if s.hearing.streams {
		at = earlier(at, now.Add(s.endSilence()+wordless))
	}
	s.set(stuckAlarm, at)
}

// stuck ends a turn in which sound goes on: a television, a street, somebody who never stops.
func (s *Session) stuck(now time.Time) {
	c := &s.hearing
	if !c.open || !c.speaking {
		return
	}
	c.why = endWordless
	if c.ended = now.Add(-wordless); !now.Before(c.opened.Add(longestTurn)) {
		c.why, c.ended = endTooLong, now
	}
	s.endpoint(now)
}

// endpoint takes the caller's turn to be over and asks for its text.
func (s *Session) endpoint(now time.Time) {
	c := &s.hearing
	if !c.open || c.awaiting || s.frozen(endpointAlarm, now) {
		return
	}
	if late := c.ended.Add(s.endSilence() + ownEnd); c.ends && now.Before(late) {
		s.set(endpointAlarm, late)
		return
	}
	s.off(endpointAlarm, patienceAlarm, stuckAlarm)
	c.open, c.unheard, c.awaiting, c.decided = false, false, true, now
	s.endTurn()
}

// awaitWords begins the turn that will answer what the caller just said.
func (s *Session) awaitWords(now time.Time) {
	t := s.begin(answerTurn)
	t.awaiting = true
	t.stages(s.hearing.ended, s.hearing.decided)
	s.owe(t, now)
	s.ahead(t)
}

// final looks at the complete text of the caller's turn.
func (s *Session) final(now time.Time) {
	c := &s.hearing
	c.awaiting = false
	if s.over != "" {
		return
	}
	text := c.text()
	if extra := s.patienceFor(text); extra > 0 {
		c.open = true
		s.dropAwaiting()
		if !c.speaking {
			s.set(patienceAlarm, earlier(c.ended.Add(s.endSilence()+extra), later(now, c.opened.Add(longestTurn))))
		}
		return
	}
	s.callerSaid(text, now)
}

// patienceFor is how much longer than usual a caller who said text is waited for.
func (s *Session) patienceFor(text string) time.Duration {
	c := &s.hearing
	c.finished = nil
	if !s.cfg.Semantic || s.endsTurns() || c.why != endSilent {
		return 0
	}
	p := finished(text, s.language, s.lastSaid())
	c.finished = &p
	extra := patience(p)
	if p <= surely && text != "" {
		extra = max(extra, c.pause+goesOn-s.endSilence())
	}
	c.needed = s.endSilence() + extra
	return extra
}

// lastSaid is what the assistant was heard to say last.
func (s *Session) lastSaid() string {
	for _, e := range slices.Backward(s.entries) {
		if e.Assistant {
			return e.Text
		}
	}
	return ""
}

// impatient answers an unfinished sentence that was not finished.
func (s *Session) impatient(now time.Time) {
	if s.frozen(patienceAlarm, now) {
		return
	}
	s.hearing.open, s.hearing.decided = false, now
	s.off(stuckAlarm)
	if s.turn == nil {
		s.awaitWords(now)
	}
	s.callerSaid(s.hearing.text(), now)
}

// dropAwaiting takes back an assistant's turn that only waited for the caller's words.
func (s *Session) dropAwaiting() {
	if s.turn != nil && s.turn.awaiting {
		s.turn.cancel()
		s.turn = nil
		s.off(fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm)
	}
}

// callerSaid ends the caller's spoken turn: it is answered now, kept for later, or was no turn at all.
func (s *Session) callerSaid(text string, now time.Time) {
	c := &s.hearing
	spoke := c.ended.Sub(c.opened)
	at, language := c.opened, c.language
	c.words, c.partial, c.language = nil, "", ""
	s.tellEnd(text, now)
	if !c.open {
		s.remember(false)
	}
	if text == "" {
		s.dropAwaiting()
		s.declineOwn()
		if s.stopped != nil {
			s.set(resumeAlarm, later(s.stopped.stoppedAt.Add(resumeAfter), now))
		}
		return
	}
	if s.unanswered(text) {
		if !s.who.beeped(at) {
			s.write(text, at, "speech", language, now)
			s.remembered(text)
		}
		s.dropAwaiting()
		s.declineOwn()
		return
	}
	if s.pickUp(at) && hello(text) && !s.cfg.WaitForCaller { // the greeting answers it
		s.write(text, at, "speech", language, now)
		s.dropAwaiting()
		s.declineOwn()
		return
	}
	if s.stopped != nil && backChannel(text) { // it took the assistant's turn for "go on"
		s.write(text, at, "speech", language, now)
		s.dropAwaiting()
		s.resume(now)
		return
	}
	s.userTurn(text, at, "speech", language, func() bool {
		return s.cfg.Interruptible && spoke >= s.cfg.InterruptAfter && len(plainWords(text)) >= s.cfg.InterruptWords &&
			!backChannel(text) && !s.pickUp(at)
	}, now)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// userTurn takes a complete turn of the caller. cuts says whether it may stop an assistant that is speaking.
func (s *Session) userTurn(text string, at time.Time, source, language string, cuts func() bool, now time.Time) {
	s.settleStopped()
	t := s.turn
	if t != nil && !t.awaiting {
		if t.then != "" || t.tools > 0 || !cuts() && !s.replaceable(t) {
			s.write(text, at, source, language, now)
			if source != "speech" || !backChannel(text) {
				s.kept = append(s.kept, text)
			} else {
				s.declineOwn()
			}
			return
		}
		s.interrupt(now)
		s.settleStopped()
	}
	s.write(text, at, source, language, now)
	s.remembered(append(s.kept, text)...)
	s.kept = nil
	s.answer(now)
}

// replaceable reports that nothing of the turn was heard, so that a better answer may take its place.
func (s *Session) replaceable(t *turn) bool {
	switch t.kind {
	case reengageTurn, noticeTurn:
		return t.entry < 0
	case answerTurn:
		return t.entry < 0 && s.cfg.Interruptible
	}
	return false
}

// write puts the caller's words into the record.
func (s *Session) write(text string, at time.Time, source, language string, now time.Time) {
	s.report.Spoke = true
	s.switchTo(language, now)
	s.entries = append(s.entries, Entry{Text: text, At: at})
	s.emit(now, "turn.user", UserTurn{text, s.language, source})
	if source != "speech" {
		s.inform(agent.Message{Role: agent.RoleUser, Text: text})
	}
}

// remembered adds what the caller said to what the model knows.
func (s *Session) remembered(texts ...string) {
	for _, text := range texts {
		s.history = append(s.history, agent.Message{Role: agent.RoleUser, Text: text})
	}
}

// switchTo follows the caller into another of the configured languages.
func (s *Session) switchTo(language string, now time.Time) {
	if language == "" || language == s.language {
		return
	}
	for _, l := range append([]string{s.cfg.Language}, s.cfg.Others...) {
		if l == language {
			s.emit(now, "language.switch", LanguageSwitch{s.language, language})
			s.language = language
			s.engineSpeaks(language)
		}
	}
}

// typed takes text that was written instead of spoken.
func (s *Session) typed(text string, now time.Time) {
	s.resetQuiet(now)
	s.dropAwaiting()
	s.userTurn(text, now, "chat", "", func() bool { return s.cfg.Interruptible }, now)
}

// armGate sets the moment at which speech that goes on stops the assistant.
func (s *Session) armGate() {
	if s.hearing.speaking && s.cfg.Interruptible && s.turn != nil {
		s.set(gateAlarm, s.gateAt(s.turn))
	}
}

// gateAt is when speech that goes on stops a turn: only speech into what is heard counts.
func (s *Session) gateAt(t *turn) time.Time {
	return later(s.hearing.onset, t.soundAt).Add(s.cfg.InterruptAfter)
}

// pickUp reports that speech which began at a moment is that of somebody who picks up, not an answer to the greeting.
func (s *Session) pickUp(began time.Time) bool {
	if s.who != nil && began.Sub(s.began) < promptly {
		return true
	}
	if t := s.turn; s.greetingAt.IsZero() {
		return t != nil && t.kind == greetingTurn
	}
	return began.Before(s.greetingAt)
}

// gate stops the assistant when the caller has spoken long enough and said enough.
func (s *Session) gate(now time.Time) {
	c, t := &s.hearing, s.turn
	switch {
	case !s.cfg.Interruptible || !c.speaking || !s.mayStop(t) || s.pickUp(c.onset):
		return
	case now.Before(s.gateAt(t)):
		s.set(gateAlarm, s.gateAt(t))
		return
	case !c.faded.IsZero() && c.faded.Before(s.gateAt(t)):
		return // asked again when the sound is back
	}
	text := c.text()
	words := len(plainWords(text))
	if words < s.cfg.InterruptWords || backChannel(text) || t.entry < 0 && words == 0 {
		return // asked again with the next word
	}
	s.interrupt(now)
}

// lastWords writes down what the caller said just before the end. The transcriber gets a second to say it.
func (s *Session) lastWords() {
	c := &s.hearing
	if c.open && !c.awaiting {
		c.awaiting = true
		s.endTurn()
	}
	for timeout := time.After(time.Second); c.awaiting; {
		select {
		case h := <-s.inbox:
			s.do(h)
		case <-timeout:
			c.awaiting = false
		}
	}
	if text := c.text(); text != "" {
		s.write(text, c.opened, "speech", c.language, time.Now())
		s.remembered(text)
	}
}
