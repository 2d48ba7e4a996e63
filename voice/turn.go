package voice

import (
	"context"
	"slices"
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
	messageTurn           // for a machine
)

// answering is what the assistant does with what it heard: its turn, and what it remembers.
type answering struct {
	turn       *turn // in progress; nil = listening
	turns      int   // there were
	stopped    *turn // cut short by the caller, taken up again when no words follow
	kept       []string
	history    []agent.Message
	notes      []string
	greeted    bool
	greetingAt time.Time // its first sound
	failed     int       // answers in a row that could not be given
	tools      int       // that were used
	minds      trust
	fillers    int // that were spoken
}

// current is the turn with a number while it is in progress, nil when it is over.
func (a *answering) current(id int) *turn {
	if a.turn == nil || a.turn.id != id {
		return nil
	}
	return a.turn
}

// turn is one turn of the assistant, from the moment it is owed to the last sample heard.
type turn struct {
	id       int
	kind     turnKind
	ctx      context.Context
	cancel   context.CancelFunc
	awaiting bool // for the caller's words
	ahead    bool // a realtime engine answers before they are there
	waits    bool // for an answer that it gives of its own accord
	rounds   int  // of tools it used
	calling  []string

	thinking [2]context.CancelFunc // engine and fallback, while they think
	tried    int                   // how many of them were started
	mind     int                   // the engine that was asked first: 1 = the fallback
	thinker  int                   // which of them is listened to; -1 = not decided
	tools    int                   // tools running
	using    *used                 // the one whose result is awaited
	agreed   []chan struct{}       // of models that wait until more of what they said is spoken

	lines    []*line   // everything said and done, in order
	breath   *breath   // in which the answer is spoken
	breaths  []*breath // all that are under way
	entry    int       // in the transcript; -1 = nothing heard yet
	rest     string    // not heard, once the turn was hushed
	muted    bool      // stopped while a tool runs
	pause    *pause    // what its thinker waits for
	then     Reason    // ends the call when everything was heard
	question Thinking

	successor *Successor // takes over when everything was heard

	owed      time.Time // since when the caller waits for sound; zero = not
	held      time.Time // since when it is ready but the caller speaks
	soundAt   time.Time // first sound
	stoppedAt time.Time
	failures  int // sentences that could not be spoken
	holds     int // holding phrases
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
	return t.thought() && t.said()
}

// says reports that there is something to be said, or was.
func (t *turn) says() bool {
	return slices.ContainsFunc(t.lines, func(l *line) bool { return l.used == nil })
}

// begin makes a turn the one in progress.
func (s *Session) begin(k turnKind) *turn {
	ctx, cancel := context.WithCancel(s.ctx)
	s.turns++
	t := &turn{id: s.turns, kind: k, ctx: ctx, thinker: -1, entry: -1}
	t.cancel = func() { s.withdraw(t); cancel() }
	s.turn = t
	return t
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
	through := s.who.putThrough(s.history)
	if s.cfg.Greeting != "" && (s.cfg.WaitForCaller && !s.greeted || through) {
		s.greet()
		return
	}
	s.greeted = true
	if !t.ahead {
		s.armFiller(t, now)
		s.think(t, Thinking{Purpose: agent.PurposeTurn})
	}
	s.armGate()
}

// speakFixed replaces the turn in progress by words of our own.
func (s *Session) speakFixed(text string, then Reason) {
	now := time.Now()
	s.stopSound()
	if t := s.turn; t != nil {
		t.cancel()
		s.conclude(t, s.media.Clear())
		s.speaking.quiet(s, now)
	}
	s.settleStopped()
	s.off(fillerAlarm, fallbackAlarm, asideAlarm, holdingAlarm, gateAlarm)
	t := s.begin(fixedTurn)
	t.then = then
	s.owe(t, now)
	s.add(t, text)
}

// drop ends a turn that has nothing to say.
func (s *Session) drop(t *turn) {
	t.cancel()
	s.turn = nil
	s.off(fillerAlarm, fallbackAlarm, asideAlarm, holdingAlarm, giveUpAlarm)
}

// settle ends what has ended: sound that was heard to its end, and with it the turn.
func (s *Session) settle(now time.Time) {
	s.speaking.settle(s, now)
	s.reached(now)
	if s.turn != nil {
		s.exhale(s.turn)
		s.turn.letThink()
	}
	if t := s.turn; t != nil && t.complete() && !t.muted && !s.speaking.sounding {
		s.finish(t, now)
	}
	if s.turn == nil && s.hearing.awaiting && s.over == "" && !s.who.busy() {
		s.awaitWords(now)
	}
	s.tick(now)
}

// finish ends a turn that was heard to its end.
func (s *Session) finish(t *turn, now time.Time) {
	t.cancel()
	s.turn = nil
	s.off(gateAlarm, fillerAlarm, fallbackAlarm, asideAlarm, holdingAlarm, giveUpAlarm)
	s.conclude(t, s.media.Played())
	switch t.kind {
	case greetingTurn:
		s.quietOn = true
		s.whoHeard(now)
	case messageTurn:
		s.who.enter(talking, now) // the call goes on
	case answerTurn:
		if t.failures == 0 {
			s.failed = 0
		} else if t.then == "" && t.successor == nil {
			s.regret()
			return
		}
	}
	switch {
	case t.then != "":
		s.end(t.then)
	case t.successor != nil:
		s.succeed(t.successor, now)
	default:
		s.answerKept(now)
	}
}

// regret goes on after an answer that no voice spoke to its end.
func (s *Session) regret() {
	if s.failed++; s.failed >= mostFailures {
		s.end(EngineFailure)
		return
	}
	s.speakFixed(phrase(s.language).apology, "")
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
	s.confess(t)
	s.history = append(s.history, t.messages(nil)...)
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
