package voice

import (
	"context"
	"fmt"
	"time"

	"parley/agent"
)

type turnKind int

const (
	greetingTurn turnKind = iota
	answerTurn            // to what the caller said
	reengageTurn          // "are you still there?"
	noticeTurn            // said by the model of its own accord
	fixedTurn             // words of our own: apology, farewell
)

// turn is one turn of the assistant, from the moment it is owed to the last sample heard.
type turn struct {
	kind     turnKind
	ctx      context.Context
	cancel   context.CancelFunc
	awaiting bool // for the caller's words

	thinking [2]context.CancelFunc // engine and fallback, while they think
	tried    int                   // how many of them were started
	thinker  int                   // which of them is listened to; -1 = not decided
	tools    int                   // tools running
	call     *agent.Called
	exchange []agent.Message // tool calls and results of this turn

	lines    []*line // everything to be said, in order
	active   *line   // being made into sound
	next     int     // first line not yet begun
	entry    int     // in the transcript; -1 = nothing heard yet
	rest     string  // not heard, once the turn was hushed
	muted    bool    // stopped while a tool runs
	then     Reason  // ends the call when everything was heard
	question Thinking

	owed      time.Time // since when the caller waits for sound; zero = not
	held      time.Time // since when it is ready but the caller speaks
	stoppedAt time.Time
	failures  int // sentences that could not be spoken
	mark      *marks
}

// marks are the moments of an answer to speech.
type marks struct{ silence, endpoint, heard, token, audio, packet time.Time }

func (t *turn) stages(silence, endpoint time.Time) {
	t.mark = &marks{silence: silence, endpoint: endpoint}
}

// first notes a moment the first time it comes.
func (t *turn) first(which func(*marks) *time.Time, at time.Time) {
	if t.mark != nil && which(t.mark).IsZero() {
		*which(t.mark) = at
	}
}

// thought reports that nothing more will be added to the turn.
func (t *turn) thought() bool { return !t.awaiting && t.thinking[0] == nil && t.thinking[1] == nil }

// complete reports that everything was made into sound; it may not have been heard yet.
func (t *turn) complete() bool {
	for _, l := range t.lines {
		if !l.done {
			return false
		}
	}
	return t.thought() && t.next == len(t.lines)
}

// begin makes a turn the one in progress.
func (s *Session) begin(k turnKind) *turn {
	ctx, cancel := context.WithCancel(s.ctx)
	s.turn = &turn{kind: k, ctx: ctx, cancel: cancel, thinker: -1, entry: -1}
	return s.turn
}

// greet speaks the initial message.
func (s *Session) greet() {
	s.greeted = true
	t := s.turn
	if t == nil {
		t = s.begin(greetingTurn)
	}
	t.kind, t.awaiting = greetingTurn, false
	s.owe(t, time.Now())
	s.add(t, s.cfg.Greeting)
}

// answer thinks about the conversation so far and says the result.
func (s *Session) answer(now time.Time) {
	t := s.turn
	if t == nil {
		t = s.begin(answerTurn)
		s.owe(t, now)
	}
	t.awaiting = false
	t.first(func(m *marks) *time.Time { return &m.heard }, now)
	if s.cfg.WaitForCaller && !s.greeted && s.cfg.Greeting != "" {
		s.greet()
		return
	}
	s.greeted = true
	s.armFiller(t, now)
	s.think(t, Thinking{Purpose: agent.PurposeTurn})
	s.armGate()
}

// speakFixed replaces the turn in progress by words of our own.
func (s *Session) speakFixed(text string, then Reason) {
	now := time.Now()
	if t := s.turn; t != nil {
		t.cancel()
		s.conclude(t, s.media.Clear())
		s.mouth.quiet(s, now)
	}
	s.settleStopped()
	s.off(fillerAlarm, fallbackAlarm, holdingAlarm, gateAlarm)
	t := s.begin(fixedTurn)
	t.then = then
	s.owe(t, now)
	s.add(t, text)
}

// think asks a thinker, the fallback when the first was asked already.
func (s *Session) think(t *turn, q Thinking) {
	who, src := s.parts.Mind, t.tried
	if src == 1 {
		who = s.parts.MindFallback
	}
	t.tried++
	t.question = q
	q.History = append(append([]agent.Message{}, s.history...), q.History...)
	q.Notes, q.Language = append([]string{}, s.notes...), s.language
	ctx, cancel := context.WithCancel(t.ctx)
	t.thinking[src] = cancel
	s.awaitStage(t, time.Now())
	s.wg.Go(func() {
		defer cancel()
		err := s.pull(ctx, t, src, who, q)
		s.post(t.ctx, func() { s.thinkerDone(t, src, err) })
	})
}

// pull takes thoughts one by one. A tool runs only when the owner has agreed: two engines may be thinking.
func (s *Session) pull(ctx context.Context, t *turn, src int, who Thinker, q Thinking) error {
	for th, err := range who.Think(ctx, q) {
		if err != nil {
			return err
		}
		agreed := make(chan struct{})
		if !s.post(ctx, func() { s.thought(t, src, th, agreed) }) {
			return ctx.Err()
		}
		select {
		case <-agreed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// thought takes one step of an answer. The first engine with something to say or do is the one that goes on.
func (s *Session) thought(t *turn, src int, th Thought, agreed chan struct{}) {
	if t != s.turn || t.thinking[src] == nil {
		return
	}
	_, calls := data[agent.Called](th.Event)
	if t.thinker < 0 && (th.Text != "" || calls || th.Hangup) {
		t.thinker = src
		if other := t.thinking[1-src]; other != nil {
			other()
			t.thinking[1-src] = nil
		}
	}
	if th.Event != nil {
		s.emit(time.Now(), th.Event.Type, th.Event.Data)
		s.toolStep(t, th.Event)
	}
	if s.turn != t {
		return
	}
	if th.Hangup {
		t.then = AssistantHangup
	}
	if th.Text != "" && !t.muted {
		s.add(t, th.Text)
	}
	close(agreed)
}

// toolStep follows the tools of a turn: they are part of what the model remembers.
func (s *Session) toolStep(t *turn, e *agent.Event) {
	if c, ok := data[agent.Called](e); ok {
		t.tools++
		t.call = &c
		s.off(fallbackAlarm)
		return
	}
	a, ok := data[agent.Answered](e)
	if !ok || t.call == nil {
		return
	}
	t.tools--
	id := fmt.Sprintf("call_%d", len(s.history)+len(t.exchange))
	t.exchange = append(t.exchange,
		agent.Message{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: id, Name: t.call.Name, Arguments: t.call.Arguments}}},
		agent.Message{Role: agent.RoleTool, CallID: id, Text: string(a.Result)})
	t.call = nil
	if t.muted {
		s.unmute(t)
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

// thinkerDone is called when an engine has nothing more to say, or failed.
func (s *Session) thinkerDone(t *turn, src int, err error) {
	if t != s.turn || t.thinking[src] == nil {
		return
	}
	t.thinking[src] = nil
	if err != nil {
		s.fail("llm", err)
		if t.thinker < 0 && t.tried < 2 && s.parts.MindFallback != nil {
			s.think(t, t.question)
			return
		}
	}
	if len(t.lines) == 0 && t.then == "" && t.thought() {
		if t.kind == answerTurn {
			s.apologise(t)
			return
		}
		s.drop(t)
	}
}

// drop ends a turn that has nothing to say.
func (s *Session) drop(t *turn) {
	t.cancel()
	s.turn = nil
	s.off(fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm)
}

// interrupt stops the assistant at this instant: the line is emptied, the engines are cancelled, and what was not
// heard is taken out of the record. Without words within two seconds it is taken back.
func (s *Session) interrupt(now time.Time) {
	t := s.turn
	played := s.media.Clear()
	if s.mouth.sounding && !s.mouth.dry && s.caller.speaking {
		s.emit(now, "barge_in", BargeIn{now.Sub(s.caller.onset).Milliseconds(), len(plainWords(s.caller.text()))})
	}
	s.mouth.quiet(s, now)
	s.off(gateAlarm, fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm)
	if t.tools > 0 { // a tool's work is not broken off
		t.hush(played, s.pace())
		t.muted = true
		return
	}
	t.cancel()
	t.hush(played, s.pace())
	t.stoppedAt = now
	s.turn, s.stopped = nil, t
	if t.kind == greetingTurn {
		s.quietOn = true
	}
	s.set(resumeAlarm, now.Add(resumeAfter))
}

// mayStop reports whether the caller may stop this turn: not a farewell, not one that was stopped already, and not a
// greeting of which nothing was heard, because people who pick up say hello.
func (s *Session) mayStop(t *turn) bool {
	return t != nil && t.then == "" && !t.awaiting && !t.muted && !(t.kind == greetingTurn && t.entry < 0)
}

// unmute is called when the tool of a stopped turn is done: the turn ends there if the caller said something.
func (s *Session) unmute(t *turn) {
	t.muted = false
	unheard := t.takeRest()
	if len(s.kept) == 0 && !s.caller.speaking && !s.caller.open && !s.caller.awaiting {
		s.add(t, unheard)
		return
	}
	t.cancel()
	s.turn = nil
	s.conclude(t, s.media.Played())
	s.answerKept(time.Now())
}

// settleStopped makes an interruption final.
func (s *Session) settleStopped() {
	if t := s.stopped; t != nil {
		s.stopped = nil
		s.off(resumeAlarm)
		s.conclude(t, 0)
	}
}

// resume takes an interruption back that brought no words: the assistant goes on where it stopped.
func (s *Session) resume(now time.Time) {
	old := s.stopped
	if old == nil || s.caller.speaking || s.caller.open || s.caller.awaiting {
		return // asked again when it is clear what the caller said
	}
	s.stopped = nil
	s.off(resumeAlarm)
	t := s.begin(old.kind)
	t.lines, t.next, t.entry, t.exchange, t.mark = old.lines, len(old.lines), old.entry, old.exchange, old.mark
	s.owe(t, now)
	said, rest := old.spoken(false), old.takeRest()
	s.add(t, rest)
	if old.thought() {
		return
	}
	q := Thinking{Purpose: agent.PurposeTurn, History: append([]agent.Message{}, old.exchange...)}
	if said = join(said, rest); said != "" {
		q.History = append(q.History, agent.Message{Role: agent.RoleAssistant, Text: said})
		q.Instruction = "You were cut off by a noise. Go on exactly where you stopped, without repeating anything."
	}
	s.think(t, q)
}

// settle ends what has ended: sound that was heard to its end, and with it the turn.
func (s *Session) settle(now time.Time) {
	s.mouth.settle(s, now)
	if t := s.turn; t != nil && t.complete() && !t.muted && !s.mouth.sounding {
		s.finish(t, now)
	}
	if s.turn == nil && s.caller.awaiting && s.over == "" {
		s.awaitWords(now)
	}
	s.tick(now)
}

// finish ends a turn that was heard to its end.
func (s *Session) finish(t *turn, now time.Time) {
	t.cancel()
	s.turn = nil
	s.off(gateAlarm, fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm)
	s.conclude(t, s.media.Played())
	switch t.kind {
	case greetingTurn:
		s.quietOn = true
	case answerTurn:
		switch {
		case t.failures == 0:
			s.failed = 0
		case t.entry < 0:
			if s.failed++; s.failed >= mostFailures {
				s.end(EngineFailure)
			}
		}
	}
	if t.then != "" {
		s.end(t.then)
		return
	}
	s.answerKept(now)
}

// answerKept answers what the caller said while the assistant could not be stopped.
func (s *Session) answerKept(now time.Time) {
	if len(s.kept) == 0 {
		return
	}
	s.remembered(s.kept...)
	s.kept = nil
	s.answer(now)
}

// conclude writes a turn into the record: what was heard of it.
func (s *Session) conclude(t *turn, played int64) {
	t.hush(played, s.pace())
	s.history = append(s.history, t.exchange...)
	t.exchange = nil
	if said := t.spoken(false); said != "" {
		s.history = append(s.history, agent.Message{Role: agent.RoleAssistant, Text: said})
	}
	heard := t.spoken(true)
	if heard == "" {
		return
	}
	e := &s.entries[t.entry]
	e.Text, e.Interrupted = heard, t.rest != ""
	data := AssistantTurn{Text: heard, Interrupted: e.Interrupted, PlayedMS: t.samples() * 1000 / int64(s.media.Rate())}
	if m := t.mark; m != nil && !m.packet.IsZero() && t.kind == answerTurn {
		data.Stages = m.stages()
	}
	s.emit(time.Now(), "turn.assistant", data)
}

func (m *marks) stages() *Stages {
	ms := func(t time.Time) int64 { return max(0, t.Sub(m.silence).Milliseconds()) }
	return &Stages{ms(m.endpoint), ms(m.heard), ms(m.token), ms(m.audio), ms(m.packet)}
}
