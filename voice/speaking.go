package voice

import (
	"context"
	"strings"
	"time"

	"parley/safe"
)

// line is one piece of speech: a sentence, or a few words of our own.
type line struct {
	id     int
	text   string
	aside  bool // a filler or a holding phrase: heard, but no part of what the model said
	done   bool // everything of it is queued, or it was given up
	making [2]context.CancelFunc
	tried  int
	item   *item   // of a realtime engine's answer
	sound  *stream // that came with it
	sounds chan *stream
	told   bool  // the engine knows what was heard of it
	maker  int   // whose sound is played; -1 = none yet
	start  int64 // position of its first sample; -1 = none queued
	end    int64 // behind its last one; -1 = not known yet

	fixed   bool   // what was heard of it is settled:
	heard   string // these words,
	rest    string // not these
	samples int64  // and so many samples
}

// play is a line whose sound is there, and how its synthesizer is told to queue it.
type play struct {
	turn    *turn
	line    *line
	source  int
	granted chan struct{}
}

// over reports that the line is not to be played any more.
func (p play) over(s *Session) bool { return p.turn != s.turn || p.line.fixed }

// speaking is what the session knows of its own voice.
type speaking struct {
	sounding bool
	dry      bool   // the queue ran empty inside a line
	busy     *play  // being queued on the line
	waiting  []play // made, not yet begun
	to       int64  // position up to which samples are known to be queued
	pace     float64
	lines    int // there were
}

// chunk is the most that is queued at once: how much can slip out after a stop.
const chunk = 60 * time.Millisecond

// usualPace is samples per unit of weight at 8 kHz before the first line was measured.
const usualPace = 480

func (s *Session) pace() float64 {
	if s.speaking.pace > 0 {
		return s.speaking.pace
	}
	return usualPace * float64(s.media.Rate()) / 8000 / max(s.cfg.Speech.Speed, 0.5)
}

func (m *speaking) line(text string) *line {
	m.lines++
	return &line{id: m.lines, text: text, maker: -1, start: -1, end: -1}
}

// add queues a sentence of the turn.
func (s *Session) add(t *turn, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	t.first(func(m *marks) *time.Time { return &m.token }, time.Now())
	t.lines = append(t.lines, s.speaking.line(text))
	s.speakNext(t)
}

// say puts words of our own before whatever is not heard yet. Every engine is asked at once: one of them may be why we
// have to say something.
func (s *Session) say(t *turn, text string) {
	l := s.speaking.line(text)
	l.aside = true
	at := t.next
	if t.active != nil {
		at--
	}
	t.lines = append(t.lines[:at], append([]*line{l}, t.lines[at:]...)...)
	t.next++
	s.makeEverywhere(t, l)
}

func (s *Session) makeEverywhere(t *turn, l *line) {
	second := s.parts.SynthesizerFallback.Synthesizer != nil
	if l.aside && second && s.speaksItself() {
		l.tried = 1 // the engine's own voice is what is waited for
	} else {
		s.makeSound(t, l)
	}
	if second {
		s.makeSound(t, l)
	}
}

// speakNext makes the next sentence into sound; one at a time, in order.
func (s *Session) speakNext(t *turn) {
	if t.active != nil || t.next == len(t.lines) {
		return
	}
	t.active = t.lines[t.next]
	t.next++
	s.awaitStage(t, time.Now())
	if t.kind == fixedTurn {
		s.makeEverywhere(t, t.active)
		return
	}
	s.makeSound(t, t.active)
}

// makeSound asks the next engine that was not asked yet for a line.
func (s *Session) makeSound(t *turn, l *line) {
	m, src := s.parts.Synthesizer, l.tried
	if src == 1 {
		m = s.parts.SynthesizerFallback
	}
	l.tried++
	sp := s.cfg.Speech
	sp.Text, sp.Language = l.text, s.language
	if m.Voice != "" {
		sp.Voice = m.Voice
	}
	ctx, cancel := context.WithCancel(t.ctx)
	l.making[src] = cancel
	if src == 0 && s.speaksItself() {
		m, l.making[src] = s.engineSays(t, l), func() { cancel(); s.unsay(l) }
	} else {
		s.emit(time.Now(), "tts.request", SpeechRequest{m.Provider, sp.Voice, sp.Speed, sp.Stability, sp.Similarity, sp.Emotion, sp.Text})
	}
	u := utterance{s: s, ctx: ctx, turn: t.id, line: l.id, source: src, granted: make(chan struct{}), end: -1}
	s.wg.Go("synthesizer", func() {
		err := safe.Do("synthesizer", func() error { return u.speak(m, sp) })
		s.post(s.ctx, soundMade{t.id, l.id, src, u.some, u.end, err})
	})
}

// take: the first sound of a line is there. Whoever comes first is played.
func (h soundReady) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	l := t.line(h.Line)
	if l == nil {
		return // its context is over, too
	}
	if l.fixed || l.maker >= 0 {
		if l.making[h.Source] != nil {
			l.making[h.Source]()
		}
		return
	}
	l.maker = h.Source
	if other := l.making[1-h.Source]; other != nil {
		other()
	}
	if !l.aside {
		t.first(func(m *marks) *time.Time { return &m.audio }, now)
		t.skipAsides()
	}
	s.speaking.waiting = append(s.speaking.waiting, play{t, l, h.Source, h.granted})
	s.playNext()
}

// skipAsides gives up fillers and holding phrases that are not there when the answer is.
func (t *turn) skipAsides() {
	for _, l := range t.lines {
		if l.aside && l.maker < 0 {
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
	for m.busy == nil && len(m.waiting) > 0 {
		p := m.waiting[0]
		m.waiting = m.waiting[1:]
		if p.over(s) {
			continue
		}
		m.busy = &p
		close(p.granted)
	}
}

// take: a synthesizer is done with a line, and everything of it is queued.
func (h soundMade) take(s *Session, _ time.Time) {
	m := &s.speaking
	if b := m.busy; b != nil && b.line.id == h.Line && b.source == h.Source {
		m.busy = nil
	}
	t := s.current(h.Turn)
	if l := t.line(h.Line); l != nil && !l.fixed {
		l.making[h.Source] = nil
		s.lineMade(t, l, h)
	}
	s.playNext()
}

func (s *Session) lineMade(t *turn, l *line, h soundMade) {
	if l.maker == 1-h.Source {
		return
	}
	if h.Err != nil {
		s.fail("tts", h.Err)
	}
	switch {
	case l.maker == h.Source: // what is there is played to its end
		l.done = true
		if h.End >= 0 {
			m := &s.speaking
			l.end, m.to = h.End, max(m.to, h.End)
			m.pace = float64(h.End-l.start) / float64(max(1, weigh(l.text)))
		}
		s.lineDone(t, l)
	case l.making[1-h.Source] != nil:
	case l.tried < 2 && s.parts.SynthesizerFallback.Synthesizer != nil:
		s.makeSound(t, l)
	default:
		l.done = true
		if !l.aside {
			t.failures++
		}
		s.lineDone(t, l)
	}
}

func (s *Session) lineDone(t *turn, l *line) {
	if t.active == l {
		t.active = nil
		s.speakNext(t)
	}
}
