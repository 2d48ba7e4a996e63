package voice

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/safe"
)

// line is one piece of speech: a sentence, the beginning of one, or a few words of our own. One with a tool's call in it is
// not spoken: it is there for the order in which things were said and done.
type line struct {
	id    int
	text  string
	aside bool  // a filler or a holding phrase: heard, but no part of what the model said
	used  *used // a tool

	item   *item   // of a realtime engine's answer
	sound  *stream // that came with it
	sounds chan *stream
	told   bool // the engine knows what was heard of it

	ready bool  // its sound is there
	done  bool  // everything of it is queued, or it was given up
	start int64 // position of its first sample; -1 = none queued
	end   int64 // behind its last one; -1 = not known yet
	marks []mark

	fixed   bool   // what was heard of it is settled:
	heard   string // these words,
	rest    string // not these
	samples int64  // and so many samples
}

// mark is a place in a line: so many bytes of its text are so many samples of its sound.
type mark struct {
	text int
	at   int64
}

// breath is lines of a turn that are spoken in one go, and the engines that try to.
type breath struct {
	lines    []*line
	aside    bool
	ended    bool        // nothing is added any more
	attempts [2]*attempt // under way: the assistant's own voice, and another one
	tried    int
	chosen   *attempt // whose sound is played; nil = none yet
}

// attempt is an engine's utterance of a breath.
type attempt struct {
	id     int
	engine int // 0 = the assistant's own
	out    Utterance
	stop   context.CancelFunc
	unsay  func()  // besides, when it is given up
	lines  []*line // by the numbers of their pieces
}

// play is a line whose sound is there, and how its engine is told to queue it.
type play struct {
	turn    *turn
	line    *line
	attempt *attempt
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
	attempts int
	trust    trust
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
	return &line{id: m.lines, text: text, start: -1, end: -1}
}

// add says a piece of the turn.
func (s *Session) add(t *turn, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	now := time.Now()
	t.first(func(m *marks) *time.Time { return &m.token }, now)
	s.queue(t, s.speaking.line(text))
}

// queue speaks a line behind the others. A realtime engine that speaks itself makes each of its own.
func (s *Session) queue(t *turn, l *line) {
	waits := t.unspoken() != nil
	t.lines = append(t.lines, l)
	if t.breath == nil || t.breath.ended || s.speaksItself() {
		t.breath = t.inhale(false)
	}
	t.breath.ended = s.speaksItself()
	s.speak(t, t.breath, l)
	if !waits {
		s.awaitVoice(t, time.Now())
	}
}

// inhale begins another breath.
func (t *turn) inhale(aside bool) *breath {
	b := &breath{aside: aside}
	t.breaths = append(t.breaths, b)
	return b
}

// speak gives a line to the engines that are at it, or to the first one.
func (s *Session) speak(t *turn, b *breath, l *line) {
	b.lines = append(b.lines, l)
	asked := false
	for _, a := range b.attempts {
		if a != nil {
			s.give(a, l)
			asked = true
		}
	}
	if !asked {
		b.tried = 0
		s.request(t, b, s.firstVoice())
	}
}

// firstVoice is the engine that is asked first.
func (s *Session) firstVoice() int {
	if s.speaksItself() {
		return 0
	}
	return s.speaking.trust.first(time.Now(), s.parts.Synthesizer.Synthesizer, s.hasOther())
}

// hasOther reports that there is another voice than the assistant's own.
func (s *Session) hasOther() bool { return s.parts.SynthesizerFallback.Synthesizer != nil }

// say puts words of our own before whatever is not heard yet, in the assistant's own voice. Another one is asked when that
// does not begin in time.
func (s *Session) say(t *turn, text string) {
	l := s.speaking.line(text)
	l.aside = true
	at := slices.IndexFunc(t.lines, func(l *line) bool { return !l.ready && !l.done })
	if at < 0 {
		at = len(t.lines)
	}
	t.lines = slices.Insert(t.lines, at, l)
	b := t.inhale(true)
	b.lines, b.ended = append(b.lines, l), true
	engine := s.firstVoice()
	if m := t.breath; s.hasOther() && (s.speaksItself() || m != nil && m.chosen == nil && m.tried > 1) {
		engine = 1 // the assistant's own voice does not begin, or is what is waited for
	}
	s.request(t, b, engine)
	s.set(asideAlarm, time.Now().Add(fallbackAfter))
}

// voice is the engine of a number.
func (s *Session) voice(engine int) NamedSynthesizer {
	if engine == 1 {
		return s.parts.SynthesizerFallback
	}
	return s.parts.Synthesizer
}

// other is the engine to try beside or after one; the same again where there is no other.
func (s *Session) other(engine int) int {
	if !s.hasOther() {
		return engine
	}
	return 1 - engine
}

// request has an engine speak what of a breath is not spoken.
func (s *Session) request(t *turn, b *breath, engine int) {
	m, sp := s.voice(engine), s.cfg.Speech
	sp.Text, sp.Language = "", s.language
	if m.Voice != "" {
		sp.Voice = m.Voice
	}
	s.speaking.attempts++
	a := &attempt{id: s.speaking.attempts, engine: engine, unsay: func() {}}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(t.ctx)
	if l := b.unspoken(); engine == 0 && s.speaksItself() && l != nil {
		m, a.unsay = s.engineSays(t, l), func() { s.unsay(l) }
	}
	if err := safe.Do("synthesizer", func() error { a.out = s.utter(ctx, t, m, sp, b); return nil }); err != nil {
		a.out = failed(ctx, err)
	}
	b.attempts[engine] = a
	b.tried++
	for _, l := range b.lines {
		if !l.done {
			s.give(a, l)
		}
	}
	if b.ended {
		s.endText(a)
	}
	u := utterance{s: s, ctx: ctx, out: a.out, turn: t.id, attempt: a.id, end: -1}
	s.wg.Go("synthesizer", u.run)
}

// utter opens an utterance, or takes the one that was opened with the greeting while it rang.
func (s *Session) utter(ctx context.Context, t *turn, m NamedSynthesizer, sp Speech, b *breath) Utterance {
	if g := s.parts.Greeting; g != nil && t.kind == greetingTurn && len(b.lines) == 1 && g.Is(m, sp, b.lines[0].text) {
		s.parts.Greeting = nil
		context.AfterFunc(ctx, g.Close)
		return g
	}
	return Open(ctx, m.Synthesizer, sp)
}

func failed(ctx context.Context, err error) Utterance {
	p := NewPipe(ctx)
	p.Finish(err)
	return p
}

// give writes a line to an engine as its next piece.
func (s *Session) give(a *attempt, l *line) {
	m, sp := s.voice(a.engine), s.cfg.Speech
	if m.Voice != "" {
		sp.Voice = m.Voice
	}
	if a.engine == 1 || !s.speaksItself() {
		s.emit(time.Now(), "tts.request", SpeechRequest{m.Provider, sp.Voice, sp.Speed, sp.Stability, sp.Similarity, sp.Emotion, l.text})
	}
	a.lines = append(a.lines, l)
	safe.Run("synthesizer", func() { a.out.Write(l.text); a.out.Flush() })
}

// exhale says that a turn's text is complete.
func (s *Session) exhale(t *turn) {
	b := t.breath
	if b == nil || b.ended || !t.thought() {
		return
	}
	b.ended = true
	for _, a := range b.attempts {
		if a != nil {
			s.endText(a)
		}
	}
}

func (s *Session) endText(a *attempt) { safe.Run("synthesizer", a.out.End) }

// find is the attempt of a number with its breath, nil when it was given up.
func (t *turn) find(id int) (*breath, *attempt) {
	if t == nil {
		return nil, nil
	}
	for _, b := range t.breaths {
		for _, a := range b.attempts {
			if a != nil && a.id == id {
				return b, a
			}
		}
	}
	return nil, nil
}

// drop gives an attempt up.
func (b *breath) drop(a *attempt) {
	a.unsay()
	b.leave(a)
}

// leave lets an attempt go that is over.
func (b *breath) leave(a *attempt) {
	a.stop()
	b.attempts[a.engine] = nil
	if b.chosen == a {
		b.chosen = nil
	}
}

// hold gives a whole breath up.
func (b *breath) hold() {
	b.ended = true
	for _, a := range b.attempts {
		if a != nil {
			b.drop(a)
		}
	}
}

// unspoken is the first line of a breath that is not spoken.
func (b *breath) unspoken() *line {
	for _, l := range b.lines {
		if !l.done {
			return l
		}
	}
	return nil
}

// unspoken is the first line of the answer that is not spoken.
func (t *turn) unspoken() *line {
	_, l := t.unsaid()
	return l
}

// unsaid is that line with its breath.
func (t *turn) unsaid() (*breath, *line) {
	for _, b := range t.breaths {
		if l := b.unspoken(); l != nil && !b.aside {
			return b, l
		}
	}
	return nil, nil
}
