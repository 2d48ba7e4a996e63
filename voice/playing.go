package voice

import (
	"strings"
	"time"

	"parley/agent"
)

// take: samples of a line were queued behind what was heard of it.
func (h soundBegan) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	_, a := t.find(h.Attempt)
	if a == nil || h.Piece >= len(a.lines) || a.lines[h.Piece].fixed {
		return
	}
	l, start := a.lines[h.Piece], h.Start
	m := &s.speaking
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
	if t.ahead && t.awaiting {
		s.stands(t)
	}
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

// drained: the line has nothing left to send. Inside a line that is a gap the caller waits in.
func (s *Session) drained(now time.Time) {
	if s.parked != nil {
		return
	}
	if s.speaking.busy != nil && s.speaking.sounding && s.turn != nil && s.turn.owed.IsZero() {
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
	if m.sounding && m.busy == nil && len(m.waiting) == 0 && s.media.Played() >= m.to {
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
	t.rest, t.breath = join(rest...), nil
	for _, b := range t.breaths {
		b.hold()
	}
	t.breaths = nil
}

func (l *line) fix(played int64, pace float64) {
	if l.fixed {
		return
	}
	l.fixed, l.done = true, true
	if l.start < 0 || l.start >= played {
		l.rest = l.text
		return
	}
	if l.samples = played - l.start; l.end >= 0 {
		l.samples = min(l.samples, l.end-l.start)
	}
	l.heard, l.rest = l.cut(played, pace)
}

// cut divides the text by what is heard of it when the line has sent played samples: by the vendor's marks as far as they
// go, from there by the length of words.
func (l *line) cut(played int64, pace float64) (said, rest string) {
	known, at := 0, l.start
	for _, m := range l.marks {
		if l.start+m.at <= played {
			known, at = m.text, l.start+m.at
		} else if strings.TrimSpace(l.text[known:m.text]) != "" {
			return strings.TrimSpace(l.text[:known]), strings.TrimSpace(l.text[known:])
		}
	}
	said, rest = strings.TrimSpace(l.text[:known]), strings.TrimSpace(l.text[known:])
	end := l.end
	if end < 0 {
		end = max(played, at+int64(pace*float64(weigh(rest))))
		if played >= end {
			end = played + 1 // more was to come
		}
	}
	more, rest := cut(rest, float64(min(end, played)-at)/float64(max(1, end-at)))
	return join(said, more), rest
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

// messages are what a model is to know of the turn: what was said of it and is going to be, and its tools, in that order. skip
// leaves lines out; nil = none.
func (t *turn) messages(skip func(*line) bool) (out []agent.Message) {
	said := ""
	for _, l := range t.lines {
		switch {
		case skip != nil && skip(l):
		case l.used != nil && l.used.result != nil:
			call := agent.ToolCall{ID: l.used.id, Name: l.used.call.Name, Arguments: l.used.call.Arguments}
			out = append(out, agent.Message{Role: agent.RoleAssistant, Text: said, Calls: []agent.ToolCall{call}},
				agent.Message{Role: agent.RoleTool, CallID: call.ID, Text: string(l.used.result)})
			said = ""
		case l.aside || l.used != nil:
		case l.fixed:
			said = join(said, l.heard)
		default:
			said = join(said, l.text)
		}
	}
	if said != "" {
		out = append(out, agent.Message{Role: agent.RoleAssistant, Text: said})
	}
	return out
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
