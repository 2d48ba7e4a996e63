package voice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/agent"
	"parley/safe"
)

// think asks a thinker, the fallback when the first was asked already.
func (s *Session) think(t *turn, q Thinking) {
	if s.realtime != nil {
		s.consult(t, q)
		return
	}
	src := t.tried
	if src == 0 {
		t.mind = s.minds.first(time.Now(), s.parts.Thinker, s.parts.ThinkerFallback != nil)
	}
	who := s.parts.Thinker
	if s.isSecond(t, src) {
		who = s.parts.ThinkerFallback
	}
	t.tried++
	t.question = q
	q.History = append(s.memory(), q.History...)
	q.Notes, q.Language = append([]string{}, s.notes...), s.language
	ctx, cancel := context.WithCancel(t.ctx)
	t.thinking[src] = cancel
	s.awaitStage(t, time.Now())
	s.wg.Go("thinker", func() {
		defer cancel()
		err := safe.Do("thinker", func() error { return s.pull(ctx, t.id, src, who, q) })
		s.post(t.ctx, thoughtsOver{t.id, src, err})
	})
}

// isSecond reports that an attempt at a turn is the fallback's: the engines take turns, as far as there are two.
func (s *Session) isSecond(t *turn, src int) bool {
	return s.parts.ThinkerFallback != nil && (t.mind+src)%2 == 1
}

// thinkAgain has a model take over from one that failed, or stopped in the middle: another one, or the same once more where
// something was said already. It reports whether there is one.
func (s *Session) thinkAgain(t *turn) bool {
	begun := t.thinker >= 0
	if s.realtime != nil || t.tried >= 2 || !begun && s.parts.ThinkerFallback == nil || begun && t.kind != answerTurn {
		return false
	}
	t.thinker, t.tools, t.using = -1, 0, nil
	if begun {
		s.carryOn(t, cutOffByFault)
	} else {
		s.think(t, t.question)
	}
	return true
}

// pull takes thoughts one by one. A tool runs only when the owner has agreed: two engines may be thinking.
func (s *Session) pull(ctx context.Context, turn, src int, who Thinker, q Thinking) error {
	for th, err := range who.Think(ctx, q) {
		if err != nil {
			return err
		}
		if !s.agree(ctx, turn, src, th) {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// agree puts a step of an answer to the owner and waits until it was taken; false when the turn is over.
func (s *Session) agree(ctx context.Context, turn, src int, th Thought) bool {
	agreed := make(chan struct{})
	if !s.post(ctx, thoughtCame{turn, src, th, agreed}) {
		return false
	}
	select {
	case <-agreed:
		return true
	case <-ctx.Done():
		return false
	}
}

// memory is what was said and done so far, for a model.
func (s *Session) memory() []agent.Message {
	return slices.DeleteFunc(append([]agent.Message(nil), s.history...), func(m agent.Message) bool { return m.Text == "" && len(m.Calls) == 0 })
}

// take takes one step of an answer. The first engine with something to say or do is the one that goes on.
func (h thoughtCame) take(s *Session, now time.Time) {
	t, src, th := s.current(h.Turn), h.Source, h.Thought
	if t == nil || t.thinking[src] == nil {
		return
	}
	_, calls := data[agent.Called](th.Event)
	if t.thinker < 0 && (th.Text != "" || calls || th.Then != "") {
		t.thinker = src
		s.trustMind(t, src, true, now)
		if other := t.thinking[1-src]; other != nil {
			other()
			t.thinking[1-src] = nil
			s.trustMind(t, 1-src, false, now)
		}
	}
	if th.moves() {
		t.muted = false
	}
	if th.Event != nil {
		s.emit(now, th.Event.Type, th.Event.Data)
		s.toolStep(t, th.Event)
	}
	if s.turn != t {
		return
	}
	if th.Then != "" {
		t.then = th.Then
	}
	if th.Successor != nil {
		t.successor = th.Successor
	}
	if th.Resume {
		s.unpark(now)
	}
	if th.Park != nil {
		s.closeEars()
	}
	if th.Text != "" && !t.muted {
		s.add(t, th.Text)
	}
	if th.Pause || th.Park != nil {
		t.pause = &pause{h.agreed, th.Park}
		return
	}
	t.agreed = append(t.agreed, h.agreed)
	t.letThink()
}

// mostUnspoken is how many lines of an answer are kept that are not spoken; then its model waits.
const mostUnspoken = 24

// letThink lets the models of a turn go on while there is room for what they say.
func (t *turn) letThink() {
	waiting := 0
	for _, l := range t.lines {
		if !l.done {
			waiting++
		}
	}
	if waiting < mostUnspoken {
		for _, agreed := range t.agreed {
			close(agreed)
		}
		t.agreed = nil
	}
}

// toolStep follows the tools of a turn: they are part of what the model remembers.
func (s *Session) toolStep(t *turn, e *agent.Event) {
	if c, ok := data[agent.Called](e); ok {
		t.tools++
		s.tools++
		t.using = &used{id: fmt.Sprintf("call_%d", s.tools), call: c}
		t.lines = append(t.lines, &line{used: t.using, ready: true, done: true, fixed: true})
		s.off(fallbackAlarm)
		return
	}
	a, ok := data[agent.Answered](e)
	if !ok || t.using == nil {
		return
	}
	t.tools--
	t.using.result = a.Result
	if !slices.ContainsFunc(t.lines, func(l *line) bool { return l.used == t.using }) { // written down before it was there
		t.lines = append(t.lines, &line{used: t.using, ready: true, done: true, fixed: true})
	}
	t.using = nil
	s.giveResult(t, a.Result)
	if t.muted {
		s.unmute(t)
	}
}

// used is a tool that a turn used.
type used struct {
	id     string
	call   agent.Called
	result []byte // nil while it runs
}

// trustMind notes how one of the two models did.
func (s *Session) trustMind(t *turn, src int, well bool, now time.Time) {
	switch {
	case s.isSecond(t, src):
	case well:
		s.minds.kept()
	default:
		s.minds.lost(now)
	}
}

func data[T any](e *agent.Event) (T, bool) {
	if e == nil {
		var none T
		return none, false
	}
	v, ok := e.Data.(T)
	return v, ok
}

// take ends an engine's part in a turn.
func (h thoughtsOver) take(s *Session, now time.Time) {
	t := s.current(h.Turn)
	if t == nil || t.thinking[h.Source] == nil {
		return
	}
	t.thinking[h.Source] = nil
	if h.Err != nil {
		s.fail("llm", h.Err)
		s.trustMind(t, h.Source, false, now)
		if s.thinkAgain(t) {
			return
		}
		if t.kind == answerTurn && t.says() && t.thought() && t.then == "" {
			s.add(t, phrase(s.language).apology)
		}
	}
	if !t.says() && t.then == "" && t.successor == nil && t.thought() {
		if t.kind == answerTurn {
			s.apologise(t)
			return
		}
		s.drop(t)
	}
}
