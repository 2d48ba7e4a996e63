package voice

import "time"

const (
	// engineGrace is how much later than we an engine may take a turn to be over before we do it in its place.
	engineGrace = 2 * time.Second
	// semanticGrace is the same of one that goes by what was said.
	semanticGrace = 5 * time.Second
)

// endsTurns reports that an engine finds the end of the caller's turns.
func (s *Session) endsTurns() bool {
	return s.realtime != nil && s.realtime.conn != nil && s.realtime.conn.EndsTurns()
}

// turnEnds is when the caller's turn is over, if their last sound was at ended.
func (s *Session) turnEnds(ended time.Time) time.Time {
	at := ended.Add(s.endSilence())
	switch {
	case !s.endsTurns():
		return at
	case s.cfg.Semantic:
		return at.Add(semanticGrace)
	}
	return at.Add(engineGrace)
}

// callerStarts: the engine hears the caller speak.
func (s *Session) callerStarts(now time.Time) {
	h := &s.hearing
	if h.awaiting { // the caller goes on: one turn, of which nothing was answered
		h.awaiting = false
		s.dropAwaiting()
		s.declineOwn()
	} else {
		s.realtime.unsaid = 0
	}
	if !h.speaking && !h.open {
		s.emit(now, "speech.start", Side{"customer"})
		h.announced = true
	}
	h.ever = true
	if !h.speaking && !h.open {
		h.onset = now
	}
	s.openTurn(now)
	s.resetQuiet(now)
	s.off(endpointAlarm)
	if s.cfg.InterruptsAtOnce() && s.mayStop(s.turn) && !s.pickUp(now) {
		s.interrupt(now)
	}
}

// callerStops: the engine takes the caller's turn to be over.
func (s *Session) callerStops(ev RealtimeEvent, now time.Time) {
	h, r := &s.hearing, s.realtime
	if h.announced {
		h.announced = false
		s.emit(now, "speech.end", Side{"customer"})
	}
	r.stopped, r.item = now, ev.Item
	r.unsaid++
	if h.ended.Before(h.opened) || h.speaking {
		h.ended = now.Add(-s.endSilence())
	}
	s.endpoint(now)
}

// callerSays takes the engine's transcript. The words of a turn that was answered before they came go to their place in the
// record.
func (s *Session) callerSays(ev RealtimeEvent, now time.Time) {
	r, h := s.realtime, &s.hearing
	last := r.unsaid <= 1
	if ev.Final {
		r.unsaid = max(0, r.unsaid-1)
	}
	if l := r.late; l != nil && (l.item == "" || ev.Item == "" || l.item == ev.Item) {
		if ev.Final {
			r.late = nil
			s.writeLate(*l, ev.Text, ev.Language, now)
		}
		return
	}
	if ev.Final && !last { // the caller went on: more words of this turn come
		h.words, h.partial = append(h.words, ev.Text), ""
		return
	}
	s.heard(Transcript{Text: ev.Text, Final: ev.Final, Language: ev.Language}, now)
}

func (s *Session) writeLate(l lateWords, text, language string, now time.Time) {
	if text == "" {
		return
	}
	s.report.Spoke = true
	s.switchTo(language, now)
	s.entries[l.entry].Text = text
	s.history[l.message].Text = text
	s.emit(now, "turn.user", UserTurn{text, s.language, "speech"})
}

// ahead lets the engine answer before the words of the caller's turn are there, unless they decide whether it is to be
// answered at all.
func (s *Session) ahead(t *turn) {
	if !s.endsTurns() || t.ahead || s.stopped != nil || len(s.kept) > 0 || !s.greeted || s.who.busy() || s.who != nil && s.who.passed {
		return
	}
	t.ahead = true
	s.consult(t, Thinking{Purpose: "turn"})
}

// goAhead does without the words of the caller's turn: the answer to it stands.
func (s *Session) goAhead() {
	h, t := &s.hearing, s.turn
	h.awaiting = false
	if s.realtime.late != nil || t == nil || !t.awaiting {
		return
	}
	s.stands(t)
	if !t.ahead {
		t.ahead = true
		s.consult(t, Thinking{Purpose: "turn"})
	}
}

// stands keeps a place in the record for the words that a turn answers: it is heard before they are there.
func (s *Session) stands(t *turn) {
	h := &s.hearing
	s.settleStopped()
	t.awaiting, h.awaiting = false, false
	s.realtime.late = &lateWords{s.realtime.item, len(s.entries), len(s.history)}
	s.entries = append(s.entries, Entry{At: h.opened})
	s.remembered("")
	s.remember(false)
	h.words, h.partial, h.language = nil, "", ""
	s.greeted = true
}
