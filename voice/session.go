package voice

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/audio/sounds"
	"parley/fault"
	"parley/lines"
	"parley/safe"
)

// Session is one conversation on an answered line.
//
// Run is the only goroutine that reads or changes its state. Recognising, thinking and speaking run beside it; they
// know the inbox, into which they put what happened, and nothing else.
type Session struct {
	cfg   Config
	parts Parts
	media lines.Media
	log   *slog.Logger

	inbox chan happening // bounded: a slow owner holds the engines back
	gone  chan struct{}  // closed when Run is over
	wg    safe.Group
	trace func(at time.Time, what any) // tests see everything that reaches the owner

	// Everything below belongs to Run: what hears, what answers and what speaks, each with its own state, and what they share.
	hearing  hearing
	speaking speaking
	answering
	realtime *realtime // nil = the three of them

	ctx    context.Context
	began  time.Time
	over   Reason
	alarms [alarmCount]time.Time

	entries  []Entry
	language string
	report   Report

	quiet   quiet
	quietOn bool // the greeting is over
	asked   int  // re-engagement lines of this silence
	held    bool
	deaf    bool    // nobody listens: the caller waits, or is about to
	parked  *parked // the caller waits
	keypad  string
	who     *who
}

// New makes a conversation on media, the audio of an answered leg. Run starts it.
func New(cfg Config, media lines.Media, parts Parts) *Session {
	if parts.Observe == nil {
		parts.Observe = func(Event) {}
	}
	if parts.Log == nil {
		parts.Log = slog.Default()
	}
	return &Session{
		cfg: cfg, media: media, parts: parts, log: parts.Log, language: cfg.Language,
		inbox: make(chan happening, 64), gone: make(chan struct{}),
	}
}

// Run holds the conversation until it ends, the line is over, or ctx is cancelled; a cause of type Reason becomes the
// report's reason. The leg itself is not hung up.
func (s *Session) Run(ctx context.Context) Report {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s.ctx, s.began = own, time.Now()
	if !safe.Run("conversation", func() { s.talk(ctx) }) {
		s.end(EngineFailure)
	}
	safe.Run("end of a conversation", s.close)
	s.sum()
	stop()
	close(s.gone)
	s.leave()
	s.media.Under(nil, 0)
	return s.report
}

// talk is the conversation, from its first moment to the reason of its end.
func (s *Session) talk(ctx context.Context) {
	s.start()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for s.over == "" {
		s.settle(time.Now())
		if s.over != "" {
			break
		}
		timer.Reset(time.Until(s.next()))
		select {
		case ev, ok := <-s.media.Events():
			if !ok {
				s.end(CustomerHangup)
				break
			}
			s.note(ev)
			s.notice(ev)
		case h := <-s.inbox:
			s.do(h)
		case <-timer.C:
		case <-ctx.Done():
			s.end(reasonOf(ctx))
		}
		s.ring(time.Now())
	}
}

func reasonOf(ctx context.Context) Reason {
	if r, ok := errors.AsType[Reason](context.Cause(ctx)); ok {
		return r
	}
	return ServerShutdown
}

func (s *Session) start() {
	if s.cfg.Answering != nil {
		s.who = newWho(s.cfg)
	}
	s.hearing.reader = s.newReader()
	s.wg.Loop(s.ctx, "reader of the line", s.hearing.reader.run)
	s.ambience()
	d, able := s.media.(lines.Denoiser)
	if able {
		d.Denoise(s.cfg.Denoise)
	}
	s.emit(s.began, "audio.denoise", Denoise{able && s.cfg.Denoise})
	s.employ(false)
	if s.cfg.MaxDuration > 0 {
		s.set(durationAlarm, s.began.Add(s.cfg.MaxDuration))
		s.set(noticeAlarm, s.began.Add(s.cfg.MaxDuration-noticeBefore))
	}
	if s.cfg.Funds > 0 {
		s.set(fundsAlarm, s.began.Add(s.cfg.Funds))
		s.set(farewellAlarm, s.began.Add(s.cfg.Funds-farewellBefore))
	}
	if s.cfg.WaitForCaller || s.cfg.Greeting == "" {
		s.quietOn = true
		return
	}
	s.greet()
}

// ambience puts the sound of a place under the call. Nobody waits until it is made.
func (s *Session) ambience() {
	name, volume := s.cfg.Ambience, s.cfg.AmbienceVolume
	if !sounds.Known(name) {
		return
	}
	s.emit(s.began, "ambient", Ambient{name, volume})
	s.wg.Go("ambience", func() { s.media.Under(sounds.Loop(name, s.media.Rate()), volume) })
}

// note lets tests see what reaches the owner.
func (s *Session) note(what any) {
	if s.trace != nil {
		s.trace(time.Now(), what)
	}
}

// end is said once: the first reason stands.
func (s *Session) end(r Reason) {
	if s.over == "" {
		s.over, s.report.Ended = r, time.Now()
		s.note(r)
		if s.parts.Ended != nil {
			s.parts.Ended(r)
		}
	}
}

// leave waits for the goroutines. An engine that does not let go is left behind rather than hold the call's record up.
func (s *Session) leave() {
	done := make(chan struct{})
	safe.Go("end of a conversation", func() { s.wg.Wait(); close(done) })
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		s.log.Error("engine does not stop")
	}
}

// close writes down what is still open when the conversation ends.
func (s *Session) close() {
	now := time.Now()
	played := s.media.Clear()
	for _, t := range []*turn{s.stopped, s.turn} {
		if t != nil {
			t.cancel()
			s.conclude(t, played)
		}
	}
	s.turn, s.stopped = nil, nil
	s.speaking.quiet(s, now)
	if s.parts.Greeting != nil {
		s.parts.Greeting.Close()
	}
	s.remembered(s.kept...)
	s.lastWords()
	s.concludeWho(now)
	s.account(now)
}

// sum fills in the report.
func (s *Session) sum() {
	s.report.Reason, s.report.Began, s.report.Entries = s.over, s.began, s.transcript()
	s.report.History, s.report.Language = s.memory(), s.language
}

// transcript leaves out turns of which nothing was heard.
func (s *Session) transcript() []Entry {
	out := make([]Entry, 0, len(s.entries))
	for _, e := range s.entries {
		if e.Text != "" {
			out = append(out, e)
		}
	}
	return out
}

// ErrOver is returned for a conversation that has ended.
var ErrOver = errors.New("the conversation is over")

// Say takes typed text as the caller's turn.
func (s *Session) Say(ctx context.Context, text string) error {
	return s.ask(ctx, textTyped{text})
}

// Hint gives the assistant a fact or an instruction for the rest of the call that the caller does not hear.
func (s *Session) Hint(ctx context.Context, text string) error {
	return s.ask(ctx, hintGiven{text})
}

// SendDigits presses keys towards the caller: 0-9 * # A-D, w is a pause of half a second.
func (s *Session) SendDigits(ctx context.Context, keys string) error {
	if err := s.media.SendDigits(keys); err != nil {
		return err
	}
	return s.ask(ctx, keysSent{keys})
}

func (s *Session) ask(ctx context.Context, h happening) error {
	if !s.post(ctx, h) {
		return errors.Join(ErrOver, ctx.Err())
	}
	return nil
}

func (s *Session) emit(at time.Time, kind string, data any) {
	s.parts.Observe(Event{At: at, Type: kind, Data: data})
}

func (s *Session) warn(stage, message string) {
	s.emit(time.Now(), "warning", Trouble{stage, message})
}

func (s *Session) fail(stage string, err error) {
	s.log.Warn("engine failed", "stage", stage, "error", err)
	s.emit(time.Now(), "error", Trouble{stage, fault.Say(err, lost[stage])})
}

// lost says which engine failed where its own words are not for customers.
var lost = map[string]string{"stt": "The transcriber failed.", "llm": "The model failed.", "tts": "The synthesizer failed.",
	"realtime": "The realtime engine failed."}
