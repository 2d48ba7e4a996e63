package voice

import (
	"errors"
	"slices"
	"time"
)

// take: the first sound of a line is there. Whichever engine comes first is played.
func (h soundReady) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	b, a := t.find(h.Attempt)
	if a == nil {
		return // its context is over, too
	}
	if h.Piece >= len(a.lines) {
		s.attemptOver(t, b, a, -1, errors.New("the synthesizer spoke what it was not given"), now)
		return
	}
	l := a.lines[h.Piece]
	s.choose(b, a, now)
	if l.fixed {
		b.drop(a)
		return
	}
	l.ready = true
	if !l.aside {
		t.first(func(m *marks) *time.Time { return &m.audio }, now)
		t.skipAsides()
	}
	s.speaking.waiting = append(s.speaking.waiting, play{t, l, a, h.granted})
	s.playNext()
}

// choose makes an attempt the one that is heard.
func (s *Session) choose(b *breath, a *attempt, now time.Time) {
	if b.chosen == a {
		return
	}
	b.chosen = a
	if a.engine == 0 {
		s.speaking.trust.kept()
	}
	if other := b.attempts[1-a.engine]; other != nil {
		if other.engine == 0 {
			s.speaking.trust.lost(now)
		}
		b.drop(other)
	}
}

// skipAsides gives up fillers and holding phrases that are not there when the answer is.
func (t *turn) skipAsides() {
	for _, b := range t.breaths {
		if l := b.unspoken(); b.aside && l != nil && !l.ready {
			b.hold()
			l.fix(0, 1)
		}
	}
}

// overlaps reports that an answer that is ready should wait because the caller is speaking; not for long, it may be a
// noise.
func (s *Session) overlaps(now time.Time) bool {
	m, t := &s.speaking, s.turn
	if t == nil || t.kind != answerTurn || t.entry >= 0 || !s.hearing.speaking || s.deaf || !s.cfg.Interruptible || len(m.waiting) == 0 {
		return false
	}
	if t.held.IsZero() {
		t.held = now
		s.set(politeAlarm, now.Add(politeFor))
	}
	return now.Sub(t.held) < politeFor
}

// politeFor is how long an answer that is ready waits for a caller who speaks.
const politeFor = 1500 * time.Millisecond

// playNext lets the next line be queued when the last one is.
func (s *Session) playNext() {
	m := &s.speaking
	if s.overlaps(time.Now()) {
		return
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(p play) bool { return p.over(s) })
	if i := slices.IndexFunc(m.waiting, play.due); m.busy == nil && i >= 0 {
		p := m.waiting[i]
		m.waiting = slices.Delete(m.waiting, i, i+1)
		m.busy = &p
		close(p.granted)
	}
}

// due reports that nothing of the answer comes before the line any more.
func (p play) due() bool {
	for _, l := range p.turn.lines {
		switch {
		case l == p.line:
			return true
		case !l.done && !l.aside:
			return false
		}
	}
	return true
}

// take: everything of a line is queued.
func (h soundMade) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	b, a := t.find(h.Attempt)
	switch {
	case a == nil || h.Piece >= len(a.lines):
	case h.End < 0 && len(plainWords(a.lines[h.Piece].text)) > 0:
		s.attemptOver(t, b, a, -1, errNoSound, now)
	case b.chosen == a || b.chosen == nil && h.End < 0:
		s.lineMade(a.lines[h.Piece], h.End)
	}
	s.release(h.Attempt)
}

func (s *Session) lineMade(l *line, end int64) {
	if l.fixed {
		return
	}
	l.done = true
	if end >= 0 && l.start >= 0 {
		m := &s.speaking
		l.end, m.to = end, max(m.to, end)
		m.pace = float64(end-l.start) / float64(max(1, weigh(l.text)))
	}
}

// release lets another line be queued after one of an attempt.
func (s *Session) release(attempt int) {
	if p := s.speaking.busy; p != nil && p.attempt.id == attempt {
		s.speaking.busy = nil
	}
	s.playNext()
}

// take: it became known where words of a line are in its sound.
func (h wordsPlaced) take(s *Session, _ time.Time) {
	_, a := s.current(h.Turn).find(h.Attempt)
	if a == nil || h.Piece >= len(a.lines) {
		return
	}
	l := a.lines[h.Piece]
	for _, m := range h.Marks {
		at := mark{m.Text, int64(m.At) * int64(s.media.Rate()) / int64(time.Second)}
		last := mark{}
		if n := len(l.marks); n > 0 {
			last = l.marks[n-1]
		}
		if at.text > last.text && at.text <= len(l.text) && at.at >= last.at {
			l.marks = append(l.marks, at)
		}
	}
}

// take: an engine is done with a breath, or with the world.
func (h speechOver) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	if b, a := t.find(h.Attempt); a != nil {
		if h.Err == nil && b.unspoken() != nil {
			h.Err = errNoSound
		}
		s.attemptOver(t, b, a, h.End, h.Err, now)
	}
	s.release(h.Attempt)
}

// attemptOver goes on after an engine: with what it left unsaid another one does.
func (s *Session) attemptOver(t *turn, b *breath, a *attempt, end int64, err error, now time.Time) {
	own := b.chosen == a || b.chosen == nil
	if own {
		s.speaking.to = max(s.speaking.to, end)
	}
	b.leave(a)
	if err != nil {
		s.fail("tts", err)
		if a.engine == 0 {
			s.speaking.trust.lost(now)
		}
	}
	for _, l := range b.lines {
		l.done = l.done || len(plainWords(l.text)) == 0 // there is nothing to be said
	}
	l := b.unspoken()
	if l == nil || !own || b.attempts[1-a.engine] != nil {
		return
	}
	if b.tried < 2 {
		s.speakOn(t, b, l, end, s.other(a.engine))
		return
	}
	s.giveUpLines(t, b)
}

// speakOn has another engine say the rest of a breath: from the middle of the line that was queued up to end.
func (s *Session) speakOn(t *turn, b *breath, l *line, end int64, engine int) {
	if l.start >= 0 {
		s.split(t, b, l, end)
	}
	if b.unspoken() != nil {
		s.request(t, b, engine)
		s.awaitVoice(t, time.Now())
	}
}

// split cuts a line where its sound ends, and makes the rest a line of its own.
func (s *Session) split(t *turn, b *breath, l *line, end int64) {
	end = max(end, l.start+1)
	said, rest := l.cut(end, s.pace())
	l.text, l.end, l.done = said, end, true
	l.marks = nil
	if rest == "" {
		return
	}
	r := s.speaking.line(rest)
	r.aside = l.aside
	t.lines = after(t.lines, l, r)
	b.lines = after(b.lines, l, r)
}

// after inserts a line behind another one.
func after(lines []*line, l, r *line) []*line {
	for i := range lines {
		if lines[i] == l {
			return append(lines[:i+1:i+1], append([]*line{r}, lines[i+1:]...)...)
		}
	}
	return append(lines, r)
}

// giveUpLines lets go of what no engine says.
func (s *Session) giveUpLines(t *turn, b *breath) {
	for _, l := range b.lines {
		if !l.done {
			if l.done = true; !l.aside {
				t.failures++
			}
		}
	}
}
