package voice

import (
	"strings"
	"time"

	"parley/safe"
)

// fillLine is the goroutine that queues sound on the line, one play after the other.
func (s *Session) fillLine() {
	for {
		select {
		case p := <-s.plays:
			end := int64(-1)
			safe.Run("player of the line", func() { end = s.fill(p) })
			if !s.post(s.ctx, func() { s.said(p, end) }) {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// fill queues one line and returns the position behind its last sample, -1 when none was queued.
func (s *Session) fill(p play) (end int64) {
	end = -1
	size := s.media.Rate() * int(chunk/time.Millisecond) / 1000
	for {
		var pcm []int16
		var more bool
		select {
		case pcm, more = <-p.frames:
		case <-p.ctx.Done():
		}
		if p.ctx.Err() != nil {
			s.media.Clear() // a chunk may have slipped in after the owner's own Clear
			return end
		}
		if !more {
			return end
		}
		for len(pcm) > 0 {
			n := min(size, len(pcm))
			dry := end >= 0 && s.media.Played() >= end
			start, err := s.media.Play(p.ctx, pcm[:n])
			if err != nil {
				s.media.Clear()
				return end
			}
			if end < 0 || dry {
				s.post(p.ctx, func() { s.sounds(p, start) })
			}
			end, pcm = start+int64(n), pcm[n:]
		}
	}
}

// sounds: samples of a line were queued at position start of an empty or a waiting queue.
func (s *Session) sounds(p play, start int64) {
	t, l := p.turn, p.line
	if t != s.turn || l.fixed {
		return
	}
	m := &s.speaking
	now := time.Now()
	at := now.Add(s.lasts(start - s.media.Played()))
	m.dry, m.to = false, max(m.to, start+1)
	if !m.sounding {
		m.sounding = true
		s.emit(at, "speech.start", Side{"assistant"})
	}
	if l.start >= 0 {
		s.paid(t)
		return
	}
	l.start = start
	if t.entry < 0 {
		t.entry, t.soundAt = len(s.entries), at
		if t.kind == greetingTurn && s.greetingAt.IsZero() {
			s.greetingAt = at
		}
		s.entries = append(s.entries, Entry{Assistant: true, At: at})
		if t.kind == messageTurn && t.then != "" {
			t.then = VoicemailLeft
		}
		if t.kind == reengageTurn {
			s.emit(at, "reengage", Reengage{s.asked})
		}
	}
	if !l.aside {
		t.first(func(m *marks) *time.Time { return &m.packet }, at)
		s.paid(t)
	}
	if t.kind == answerTurn || t.kind == fixedTurn {
		s.resetQuiet(now)
	}
	s.armGate()
}

// said: everything of a line is queued.
func (s *Session) said(p play, end int64) {
	m := &s.speaking
	m.busy = false
	if l := p.line; p.turn == s.turn && !l.fixed {
		l.done = true
		if end >= 0 {
			l.end, m.to = end, max(m.to, end)
			m.pace = float64(end-l.start) / float64(max(1, weigh(l.text)))
		}
		s.lineDone(p.turn, l)
	}
	s.playNext()
}

// drained: the line has nothing left to send. Inside a line that is a gap the caller waits in.
func (s *Session) drained(now time.Time) {
	if s.speaking.busy && s.speaking.sounding && s.turn != nil && s.turn.owed.IsZero() {
		s.speaking.dry = true
		s.owe(s.turn, now)
		return
	}
	if t := s.turn; t != nil && s.speaking.sounding && !t.complete() && t.owed.IsZero() && s.media.Played() >= s.speaking.to {
		s.owe(t, now)
	}
}

// settle notes that the last queued sample was sent.
func (m *speaking) settle(s *Session, now time.Time) {
	if m.sounding && !m.busy && len(m.waiting) == 0 && s.media.Played() >= m.to {
		m.quiet(s, now)
	}
}

// lasts is the playing time of n samples.
func (s *Session) lasts(n int64) time.Duration {
	return time.Duration(max(0, n)) * time.Second / time.Duration(s.media.Rate())
}

// quiet notes that nothing is queued any more, because it was heard or because it was cleared.
func (m *speaking) quiet(s *Session, now time.Time) {
	m.to = 0
	if m.sounding {
		m.sounding, m.dry = false, false
		s.emit(now, "speech.end", Side{"assistant"})
	}
}

// hush fixes what was heard of a turn when the line had sent played samples, and gives up the rest.
func (t *turn) hush(played int64, pace float64) {
	var rest []string
	for _, l := range t.lines {
		l.fix(played, pace)
		if !l.aside {
			rest = append(rest, l.rest)
		}
	}
	t.rest, t.active, t.next = join(rest...), nil, len(t.lines)
}

func (l *line) fix(played int64, pace float64) {
	if l.fixed {
		return
	}
	l.fixed, l.done = true, true
	for _, stop := range l.making {
		if stop != nil {
			stop()
		}
	}
	if l.start < 0 || l.start >= played {
		l.rest = l.text
		return
	}
	end := l.end
	if end < 0 {
		end = max(played, l.start+int64(pace*float64(weigh(l.text))))
		if played >= end {
			end = played + 1 // more was to come
		}
	}
	l.samples = min(end, played) - l.start
	l.heard, l.rest = cut(l.text, float64(l.samples)/float64(max(1, end-l.start)))
}

// takeRest takes what was not heard out of a hushed turn, for another attempt.
func (t *turn) takeRest() string {
	rest := t.rest
	t.rest = ""
	for _, l := range t.lines {
		l.rest = ""
	}
	return rest
}

// spoken is what was heard of the turn's lines, with or without asides.
func (t *turn) spoken(asides bool) string {
	var parts []string
	for _, l := range t.lines {
		if asides || !l.aside {
			parts = append(parts, l.heard)
		}
	}
	return join(parts...)
}

func (t *turn) samples() (n int64) {
	for _, l := range t.lines {
		n += l.samples
	}
	return n
}

func weigh(text string) (n int) {
	for _, f := range strings.Fields(text) {
		n += weight(f)
	}
	return n
}
