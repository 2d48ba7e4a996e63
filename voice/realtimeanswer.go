package voice

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/agent"
	"parley/safe"
	"parley/sentences"
)

// asked is who is waiting for an answer: a turn, and of words to be said exactly, the line.
type asked struct {
	turn int
	line *line
}

// madeAnswer is what the engine makes of one wish, or of its own accord.
type madeAnswer struct {
	asked          // turn 0: nobody took it yet
	id      string // the engine's
	items   []*item
	split   sentences.Splitter
	calls   []agent.ToolCall
	over    bool
	err     error
	dropped bool // nobody wants it any more
}

// item is a piece of an answer that can be cut short.
type item struct {
	id    string
	text  string
	line  *line   // of a spoken one
	sound *stream // nil = none came
	taken int     // so much of text went into lines
	told  bool    // the engine knows what was heard of it
}

// roundsAtMost is how often one turn uses tools.
const roundsAtMost = 6

// consult has the engine answer, in place of a thinker.
func (s *Session) consult(t *turn, q Thinking) {
	r := s.realtime
	t.tried++
	t.question = q
	t.thinking[0] = func() {}
	s.awaitStage(t, time.Now())
	switch {
	case q.Instruction == "" && r.own != nil:
		a := r.own
		r.own, r.stopped = nil, time.Time{}
		s.adopt(a, t)
	case q.Instruction == "" && !r.stopped.IsZero() && time.Since(r.stopped) < fallbackAfter:
		t.waits, r.stopped = true, time.Time{}
	default:
		s.wish(asked{turn: t.id}, Ask{Instruction: q.Instruction})
	}
}

// wish asks the engine for an answer.
func (s *Session) wish(who asked, a Ask) {
	r := s.realtime
	r.asks++
	a.ID = fmt.Sprintf("ask_%d", r.asks)
	r.asked[a.ID] = who
	if r.conn == nil {
		r.wishes = append(r.wishes, a)
		return
	}
	s.engine(func(c Realtime) error { return c.Respond(a) })
}

// insist asks for an answer that the engine was to give of its own accord.
func (s *Session) insist(t *turn) {
	t.waits = false
	s.wish(asked{turn: t.id}, Ask{Instruction: t.question.Instruction})
}

func (h engineTold) take(s *Session, now time.Time) {
	r, ev := s.realtime, h.Event
	if r == nil || h.Connection != s.hearing.transcriber {
		return
	}
	r.used = r.used.Plus(ev.Used)
	switch ev.Kind {
	case CallerStarted:
		s.callerStarts(now)
	case CallerStopped:
		s.callerStops(ev, now)
	case CallerSaid:
		s.callerSays(ev, now)
	case AnswerBegan:
		s.answerBegan(ev)
	case Troubled:
		s.warn("realtime", ev.Err.Error())
	default:
		if a := r.answers[ev.Answer]; a != nil {
			s.answerGoesOn(a, ev, h.sound)
		}
	}
}

// answerBegan finds out whose answer it is. One that nobody asked for is kept for a turn that takes it; a second one takes the
// place of the first.
func (s *Session) answerBegan(ev RealtimeEvent) {
	r := s.realtime
	if r.answers[ev.Answer] != nil {
		return
	}
	a := &madeAnswer{id: ev.Answer}
	r.answers[a.id] = a
	if who, ok := r.asked[ev.Ask]; ok {
		delete(r.asked, ev.Ask)
		a.asked = who
		if t := s.current(a.turn); t == nil || a.line != nil && a.line.fixed {
			s.decline(a)
		} else if a.line == nil {
			t.thinker = 0
		}
		return
	}
	s.declineOwn()
	if t := s.turn; t != nil && t.waits {
		s.adopt(a, t)
		return
	}
	r.own = a
}

// declineOwn gives up the answer that nobody took.
func (s *Session) declineOwn() {
	if r := s.realtime; r != nil && r.own != nil {
		s.decline(r.own)
		r.own = nil
	}
}

// decline gives an answer up: nothing more of it is heard, and the engine forgets what was never heard.
func (s *Session) decline(a *madeAnswer) {
	if a.dropped {
		return
	}
	a.dropped = true
	if !a.over {
		s.engine(func(c Realtime) error { return c.Stop(a.id) })
	}
	for _, it := range a.items {
		if it.line == nil {
			s.forget(it)
		}
	}
	if a.over {
		delete(s.realtime.answers, a.id)
	}
}

// forget has the engine forget an item of which nothing was heard.
func (s *Session) forget(it *item) {
	if !it.told {
		it.told = true
		s.engine(func(c Realtime) error { return c.Heard(it.id, 0, "") })
	}
}

// adopt makes an answer of the engine's own that of a turn.
func (s *Session) adopt(a *madeAnswer, t *turn) {
	a.turn, t.waits, t.thinker = t.id, false, 0
	for _, it := range a.items {
		s.pass(a, it)
	}
	if a.over {
		s.answerOver(a)
	}
}

// answerGoesOn takes what comes of an answer after its beginning.
func (s *Session) answerGoesOn(a *madeAnswer, ev RealtimeEvent, sound *stream) {
	switch ev.Kind {
	case AnswerText, AnswerSound:
		it := a.item(ev.Item)
		it.text += ev.Text
		if sound != nil && it.sound == nil {
			it.sound = sound
		}
		if a.dropped && it.line == nil {
			s.forget(it)
		}
		s.pass(a, it)
	case AnswerCall:
		a.calls = append(a.calls, ev.Call)
	case AnswerOver:
		a.over, a.err = true, ev.Err
		s.answerOver(a)
	}
}

func (a *madeAnswer) item(id string) *item {
	for _, it := range a.items {
		if it.id == id {
			return it
		}
	}
	it := &item{id: id}
	a.items = append(a.items, it)
	return it
}

// pass brings what is there of an item to its turn.
func (s *Session) pass(a *madeAnswer, it *item) {
	t := s.current(a.turn)
	if a.dropped || t == nil {
		return
	}
	t.first(func(m *marks) *time.Time { return &m.token }, time.Now())
	switch {
	case a.line != nil:
		s.exactly(a.line, it)
	case s.parts.Realtime.Setting.Text:
		fresh := it.text[it.taken:]
		it.taken = len(it.text)
		for _, sentence := range a.split.Push(fresh) {
			s.addPart(t, it, sentence)
		}
	case it.line != nil:
		if !it.line.fixed {
			it.line.text = strings.TrimSpace(it.text)
		}
	case it.sound != nil && !t.muted:
		it.line = s.speaking.line(strings.TrimSpace(it.text))
		it.line.item, it.line.sound = it, it.sound
		s.queue(t, it.line)
	}
}

// addPart queues a sentence of an item that is text.
func (s *Session) addPart(t *turn, it *item, sentence string) {
	n := len(t.lines)
	if !t.muted {
		s.add(t, sentence)
	}
	for _, l := range t.lines[n:] {
		l.item, it.line = it, l
	}
}

// exactly gives a line the sound of the words that the engine was asked to say.
func (s *Session) exactly(l *line, it *item) {
	if it.sound == nil || l.item != nil {
		return
	}
	l.item, it.line = it, l
	if l.sounds != nil {
		l.sounds <- it.sound
		l.sounds = nil
	}
}

// answerOver does what is left when nothing more comes of an answer.
func (s *Session) answerOver(a *madeAnswer) {
	r := s.realtime
	t := s.current(a.turn)
	if a.err == nil {
		r.lost = 0
	}
	if a.dropped || a.turn != 0 {
		delete(r.answers, a.id)
	}
	switch {
	case a.dropped || t == nil:
	case a.line != nil:
		s.saidExactly(a)
	default:
		if rest := a.split.Flush(); rest != "" && len(a.items) > 0 && s.parts.Realtime.Setting.Text {
			s.addPart(t, a.items[len(a.items)-1], rest)
		}
		s.answered(t, a)
	}
}

// answered goes on behind an answer: with the tools it wants, with another attempt when there was nothing in it, or not at all.
func (s *Session) answered(t *turn, a *madeAnswer) {
	empty := len(a.items) == 0 && len(a.calls) == 0
	switch {
	case len(a.calls) > 0 && a.err == nil && s.parts.Realtime.Hands != nil && t.rounds < roundsAtMost:
		t.rounds++
		s.useTools(t, a.calls)
	case (empty || a.err != nil && !t.says()) && t.rounds == 0 && t.tried == 1:
		t.tried++
		if a.err != nil {
			s.warn("realtime", a.err.Error())
		}
		s.insist(t)
	default:
		thoughtsOver{Turn: t.id, Err: a.err}.take(s, time.Now())
	}
}

// saidExactly looks whether the engine said what it was asked to. What it said is what the caller heard.
func (s *Session) saidExactly(a *madeAnswer) {
	l := a.line
	if l.sounds != nil { // it made none
		close(l.sounds)
		l.sounds = nil
		return
	}
	var said []string
	for _, it := range a.items {
		said = append(said, it.text)
	}
	words := join(said...)
	if words == "" || strings.Join(plainWords(words), " ") == strings.Join(plainWords(l.text), " ") {
		return
	}
	s.warn("realtime", fmt.Sprintf("The engine said something else than it was told to. Told: %q. Said: %q.", l.text, words))
	if !l.fixed {
		l.text = words
	}
}

// engineSays has the engine say the words of a line, in its own voice.
func (s *Session) engineSays(t *turn, l *line) NamedSynthesizer {
	l.sounds = make(chan *stream, 1)
	v := engineVoice{l.sounds}
	if l.sound != nil {
		l.sounds <- l.sound
		l.sounds = nil
	} else {
		s.wish(asked{t.id, l}, Ask{Exactly: l.text})
	}
	return NamedSynthesizer{Synthesizer: v}
}

// speaksItself reports that the engine's own voice is the one that is heard.
func (s *Session) speaksItself() bool { return s.realtime != nil && !s.parts.Realtime.Setting.Text }

// useTools runs what an answer wants done, one after the other, and lets the engine go on with the results.
func (s *Session) useTools(t *turn, calls []agent.ToolCall) {
	connection, hands := s.hearing.transcriber, s.parts.Realtime.Hands
	history := append(append([]agent.Message{}, s.history...), t.messages(notItsOwn)...)
	for _, c := range calls {
		t.calling = append(t.calling, c.ID)
		s.realtime.owed[c.ID] = true
	}
	ctx, id := t.ctx, t.id
	observe := func(th Thought) bool { return s.agree(ctx, id, 0, th) }
	s.wg.Go("tools", func() {
		done := toolsUsed{Turn: id, Connection: connection}
		_ = safe.Do("tools", func() error {
			for _, c := range calls {
				done.Over = hands.Use(ctx, c, history, observe) || done.Over
			}
			return nil
		})
		s.post(s.ctx, done)
	})
}

// giveResult tells the engine what the tool answered that a turn has used last.
func (s *Session) giveResult(t *turn, result json.RawMessage) {
	if s.realtime == nil || len(t.calling) == 0 {
		return
	}
	call := t.calling[0]
	t.calling = t.calling[1:]
	if s.realtime.owed[call] {
		delete(s.realtime.owed, call)
		s.engine(func(c Realtime) error { return c.Result(call, result) })
	}
}

// toolsUsed: the tools that an answer wanted have done their work. Over says that the assistant's part ends here.
type toolsUsed struct {
	Turn, Connection int
	Over             bool
}

func (toolsUsed) name() string { return "tools used" }

func (h toolsUsed) take(s *Session, now time.Time) {
	if s.realtime == nil {
		return
	}
	if h.Connection == s.hearing.transcriber {
		for call := range s.realtime.owed {
			s.engine(func(c Realtime) error { return c.Result(call, json.RawMessage(`{"error":"It was not carried out."}`)) })
		}
		clear(s.realtime.owed)
	}
	t, over := s.current(h.Turn), h.Over
	switch {
	case t == nil:
	case over && (t.then != AssistantHangup || t.says()):
		thoughtsOver{Turn: t.id}.take(s, now)
	case h.Connection != s.hearing.transcriber:
		s.goOn(t)
	case over:
		s.wish(asked{turn: t.id}, Ask{Instruction: "Say goodbye in one short sentence."})
	default:
		s.wish(asked{turn: t.id}, Ask{})
	}
}

// notItsOwn are lines that the engine did not make.
func notItsOwn(l *line) bool { return l.used == nil && l.item == nil }

// withdraw ends what the engine makes for a turn that is over.
func (s *Session) withdraw(t *turn) {
	r := s.realtime
	if r == nil {
		return
	}
	t.waits = false
	for _, a := range r.answers {
		if a.turn == t.id && !(a.over && a.line == nil) {
			s.decline(a)
		}
	}
}

// unsay ends the saying of one line.
func (s *Session) unsay(l *line) {
	if s.realtime == nil {
		return
	}
	for _, a := range s.realtime.answers {
		if a.line == l && !a.over {
			s.decline(a)
		}
	}
}

// confess tells the engine what was heard of a turn that it did not make or that was cut short.
func (s *Session) confess(t *turn) {
	if s.realtime == nil {
		return
	}
	type part struct {
		words   []string
		samples int64
		rest    bool
	}
	parts := map[*item]*part{}
	for _, l := range t.lines {
		switch {
		case !l.fixed || l.aside:
		case l.item == nil && l.heard != "" && !l.told:
			l.told = true
			s.inform(agent.Message{Role: agent.RoleAssistant, Text: l.heard})
		case l.item != nil:
			p := parts[l.item]
			if p == nil {
				p = &part{}
				parts[l.item] = p
			}
			p.words, p.samples, p.rest = append(p.words, l.heard), p.samples+l.samples, p.rest || l.rest != ""
		}
	}
	for _, l := range t.lines { // in order
		p := parts[l.item]
		if p == nil || l.item.told || !p.rest && !l.item.unfinished() {
			continue
		}
		l.item.told = true
		it, sound := l.item, s.lasts(p.samples)
		s.engine(func(c Realtime) error { return c.Heard(it.id, sound, join(p.words...)) })
	}
}

// unfinished reports that text of an item never became a line.
func (it *item) unfinished() bool { return it.taken > 0 && it.taken < len(it.text) }

// breakOff ends all answers of a connection that is gone. Of a spoken one, what is on its way is heard.
func (s *Session) breakOff() {
	r := s.realtime
	for _, a := range r.answers {
		if l := a.line; l != nil && l.sounds != nil {
			close(l.sounds)
			l.sounds = nil
		}
		for _, it := range a.items {
			if it.line != nil && !a.over && it.sound != nil {
				s.shorten(it)
			}
		}
	}
	for _, who := range r.asked {
		if l := who.line; l != nil && l.sounds != nil {
			close(l.sounds)
			l.sounds = nil
		}
	}
	r.answers, r.asked, r.wishes, r.own = map[string]*madeAnswer{}, map[string]asked{}, nil, nil
}

// shorten takes the words out of a line whose sound did not come any more.
func (s *Session) shorten(it *item) {
	l := it.line
	need := s.pace() / float64(s.media.Rate()) * float64(weigh(l.text))
	have := float64(it.sound.made.Load()) / float64(it.sound.rate)
	if !l.fixed && have < 0.9*need {
		l.text, _ = cut(l.text, have/need)
	}
}

// goOn has an answer that broke off made to its end.
func (s *Session) goOn(t *turn) {
	q := Thinking{Purpose: t.question.Purpose, Instruction: t.question.Instruction, History: t.messages(notItsOwn)}
	if n := len(q.History); n > 0 && q.History[n-1].Role == agent.RoleAssistant {
		q.Instruction = cutOffByNoise
	}
	for _, m := range q.History {
		s.inform(m)
	}
	t.tried, t.rounds = 0, 0
	s.think(t, q)
}
