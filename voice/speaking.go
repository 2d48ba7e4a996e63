package voice

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/audio"
	"parley/safe"
)

// line is one piece of speech: a sentence, or a few words of our own.
type line struct {
	text   string
	aside  bool // a filler or a holding phrase: heard, but no part of what the model said
	done   bool // everything of it is queued, or it was given up
	making [2]context.CancelFunc
	tried  int
	maker  int   // whose sound is played; -1 = none yet
	start  int64 // position of its first sample; -1 = none queued
	end    int64 // behind its last one; -1 = not known yet

	fixed   bool   // what was heard of it is settled:
	heard   string // these words,
	rest    string // not these
	samples int64  // and so many samples
}

// play is a line handed to the goroutine that fills the line's queue.
type play struct {
	ctx    context.Context
	turn   *turn
	line   *line
	frames <-chan []int16
}

// speaking is what the session knows of its own voice.
type speaking struct {
	sounding bool
	dry      bool   // the queue ran empty inside a line
	busy     bool   // a play is with the filling goroutine
	waiting  []play // made, not yet begun
	to       int64  // position up to which samples are known to be queued
	pace     float64
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

// add queues a sentence of the turn.
func (s *Session) add(t *turn, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	t.first(func(m *marks) *time.Time { return &m.token }, time.Now())
	t.lines = append(t.lines, &line{text: text, maker: -1, start: -1, end: -1})
	s.speakNext(t)
}

// say puts words of our own before whatever is not heard yet. Every engine is asked at once: one of them may be why we
// have to say something.
func (s *Session) say(t *turn, text string) {
	l := &line{text: text, aside: true, maker: -1, start: -1, end: -1}
	at := t.next
	if t.active != nil {
		at--
	}
	t.lines = append(t.lines[:at], append([]*line{l}, t.lines[at:]...)...)
	t.next++
	s.makeEverywhere(t, l)
}

func (s *Session) makeEverywhere(t *turn, l *line) {
	s.makeSound(t, l)
	if s.parts.SynthesizerFallback.Synthesizer != nil {
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
	s.emit(time.Now(), "tts.request", SpeechRequest{m.Provider, sp.Voice, sp.Speed, sp.Stability, sp.Similarity, sp.Emotion, sp.Text})
	ctx, cancel := context.WithCancel(t.ctx)
	l.making[src] = cancel
	frames := make(chan []int16, 32)
	s.wg.Go("synthesizer", func() {
		ready := func() bool { return s.post(ctx, func() { s.ready(play{ctx, t, l, frames}, src) }) }
		some := false
		err := safe.Do("synthesizer", func() (err error) {
			some, err = synthesize(ctx, m, sp, s.media.Rate(), frames, ready)
			return err
		})
		close(frames)
		s.post(t.ctx, func() { s.made(t, l, src, some, err) })
	})
}

var errNoSound = errors.New("the synthesizer made no sound")

// synthesize fills frames at the line's rate; ready is called before the first one.
func synthesize(ctx context.Context, m NamedSynthesizer, sp Speech, rate int, frames chan<- []int16, ready func() bool) (some bool, err error) {
	var r *audio.Resampler
	from := 0
	send := func(pcm []int16) bool {
		if len(pcm) == 0 {
			return true
		}
		if !some && !ready() {
			return false
		}
		some = true
		select {
		case frames <- append([]int16(nil), pcm...):
			return true
		case <-ctx.Done():
			return false
		}
	}
	for f, err := range m.Speak(ctx, sp) {
		if err != nil {
			return some, err
		}
		if r == nil || from != f.Rate {
			r, from = audio.NewResampler(f.Rate, rate), f.Rate
		}
		if !send(r.Process(f.PCM)) {
			return some, ctx.Err()
		}
	}
	if r != nil {
		send(r.Flush())
	}
	if !some && ctx.Err() == nil {
		return false, errNoSound
	}
	return some, ctx.Err()
}

// ready: the first sound of a line is there. Whoever comes first is played.
func (s *Session) ready(p play, src int) {
	l := p.line
	if p.turn != s.turn || l.fixed || l.maker >= 0 {
		if l.making[src] != nil {
			l.making[src]()
		}
		return
	}
	l.maker = src
	if other := l.making[1-src]; other != nil {
		other()
	}
	if !l.aside {
		p.turn.first(func(m *marks) *time.Time { return &m.audio }, time.Now())
		p.turn.skipAsides()
	}
	s.speaking.waiting = append(s.speaking.waiting, p)
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
	if t == nil || t.kind != answerTurn || t.entry >= 0 || !s.caller.speaking || !s.cfg.Interruptible || len(m.waiting) == 0 {
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

// playNext hands the next line over when the last one is queued.
func (s *Session) playNext() {
	m := &s.speaking
	if s.overlaps(time.Now()) {
		return
	}
	for !m.busy && len(m.waiting) > 0 {
		p := m.waiting[0]
		m.waiting = m.waiting[1:]
		if p.ctx.Err() != nil {
			continue
		}
		m.busy = true
		s.plays <- p // never blocks: one at a time, and the channel holds one
	}
}

// made: an engine is done with a line.
func (s *Session) made(t *turn, l *line, src int, some bool, err error) {
	l.making[src] = nil
	if t != s.turn || l.fixed || l.maker == 1-src {
		return
	}
	if err != nil {
		s.fail("tts", err)
	}
	if some {
		return // what is there is played to its end
	}
	switch {
	case l.making[1-src] != nil:
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
