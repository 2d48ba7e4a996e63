package voice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/safe"
)

// realtime is what the session knows of the engine that hears and answers by itself. It belongs to the owner.
type realtime struct {
	conn    Realtime               // nil while there is none
	pending []func(Realtime) error // told to it before it was there
	wishes  []Ask                  // the same
	asks    int                    // there were
	asked   map[string]asked       // wishes that no answer began for, by Ask.ID
	answers map[string]*madeAnswer // not over, or not taken, by the engine's name
	own     *madeAnswer            // that nobody asked for, and no turn has taken yet
	stopped time.Time              // when the engine last took the caller's turn to be over
	item    string                 // and its name for it
	unsaid  int                    // turns in a row, each the continuation of the one before, whose words are to come
	late    *lateWords             // the words of a turn that was answered before they came
	owed    map[string]bool        // calls whose results the engine waits for
	lost    int                    // connections in a row that brought no answer
	notes   []string               // for the rest of the conversation
	used    Usage
}

// lateWords are the places in the record that are kept for them.
type lateWords struct {
	item           string // the engine's name of the turn, if it has one
	entry, message int
}

// catchUp is the most of the caller's words that another connection gets to hear again.
const catchUp = 5 * time.Second

// ears are an engine as the reader of the line sees it.
type ears struct{ Realtime }

func (e ears) Write(pcm []int16) error   { return e.Hear(pcm) }
func (e ears) Recv() (Transcript, error) { return Transcript{}, io.EOF }

// connect opens a conversation with the engine, which knows what was said so far, and makes it the one that hears the caller.
func (s *Session) connect(replay bool) {
	h, r := &s.hearing, s.realtime
	if h.stop != nil {
		h.stop()
	}
	ctx, stop := context.WithCancel(s.ctx)
	h.transcriber, h.provider, h.stop = h.transcriber+1, s.parts.Realtime.Provider, stop
	id := h.transcriber
	h.reader.tell(order{kind: replace, transcriber: id, replay: replay, most: catchUp, keep: h.open || h.awaiting})
	*r = realtime{asks: r.asks, asked: r.asked, wishes: r.wishes, answers: map[string]*madeAnswer{}, owed: map[string]bool{}, late: r.late,
		lost: r.lost, notes: r.notes, used: r.used}
	how := s.setting()
	s.wg.Go("realtime engine", func() {
		var conn Realtime
		err := safe.Do("realtime engine", func() (err error) {
			conn, err = s.parts.Realtime.Open(ctx, how)
			return err
		})
		if err == nil {
			h.reader.attach(id, ears{conn})
			s.post(ctx, connected{id, conn})
			err = safe.Do("realtime events", func() error { return s.follow(ctx, id, conn) })
		}
		if err != nil {
			s.post(ctx, connectionLost{id, err})
		}
	})
}

// setting is how the engine is opened now.
func (s *Session) setting() RealtimeSetting {
	how := s.parts.Realtime.Opening(s.cfg, s.media.Rate())
	how.History, how.Notes = s.memory(), slices.Clone(s.realtime.notes)
	return how
}

// Opening is how a conversation of c is opened first, on a line of rate Hz.
func (t *Talker) Opening(c Config, rate int) RealtimeSetting {
	how := t.Setting
	how.Rate, how.Languages, how.Hints = rate, append([]string{c.Language}, c.Others...), c.Hints
	how.Speech, how.Semantic, how.Silence = c.Speech, c.Semantic, max(c.EndSilence, shortestSilence)
	how.Interrupts = c.InterruptsAtOnce()
	return how
}

// InterruptsAtOnce reports that the first sound of the caller stops the assistant.
func (c Config) InterruptsAtOnce() bool {
	return c.Interruptible && c.InterruptAfter == 0 && c.InterruptWords == 0
}

// follow passes on what the engine tells until it ends or fails. Sound goes into streams, past the owner.
func (s *Session) follow(ctx context.Context, id int, conn Realtime) error {
	streams := map[string]*stream{} // the one of each answer that goes on
	defer func() {
		for _, st := range streams {
			st.end(s)
		}
	}()
	for {
		ev, err := conn.Recv()
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		var begun *stream
		st := streams[ev.Answer]
		switch {
		case ev.Kind == AnswerSound && st != nil && st.item == ev.Item:
			st.add(ev.Sound)
			continue
		case ev.Kind == AnswerSound:
			if st != nil {
				st.end(s)
			}
			begun = newStream(ctx, ev.Item, ev.Sound.Rate)
			begun.add(ev.Sound)
			streams[ev.Answer], ev.Sound = begun, audio.Frame{}
		case ev.Kind == AnswerOver && st != nil:
			st.end(s)
			delete(streams, ev.Answer)
		}
		if !s.post(ctx, engineTold{id, ev, begun}) {
			return nil
		}
	}
}

// What the engine does.
type (
	// connected: a conversation with the engine is open.
	connected struct {
		Connection int
		conn       Realtime
	}
	// connectionLost: it could not be opened, or broke.
	connectionLost struct {
		Connection int
		Err        error
	}
	// engineTold: the engine told something; of sound, that it began.
	engineTold struct {
		Connection int
		Event      RealtimeEvent
		sound      *stream
	}
)

func (connected) name() string      { return "connected" }
func (connectionLost) name() string { return "connection lost" }
func (engineTold) name() string     { return "engine told" }

// RealtimeSession is the data of realtime.session.
type RealtimeSession struct {
	Provider     string   `json:"provider"`
	Model        string   `json:"model"`
	Threshold    *float64 `json:"threshold"`
	Voice        string   `json:"voice"`
	Instructions string   `json:"instructions_sha256"`
}

func (h connected) take(s *Session, now time.Time) {
	r := s.realtime
	if r == nil || h.Connection != s.hearing.transcriber {
		return
	}
	r.conn = h.conn
	how := s.parts.Realtime.Setting
	if t := how.Threshold; t != nil {
		s.media.SetThreshold(float32(*t))
	}
	sum := sha256.Sum256([]byte(how.Instructions))
	s.emit(now, "realtime.session", RealtimeSession{s.parts.Realtime.Provider, how.Model, how.Threshold, s.cfg.Speech.Voice,
		hex.EncodeToString(sum[:])})
	for _, say := range r.pending {
		s.engine(say)
	}
	for _, a := range r.wishes {
		s.engine(func(c Realtime) error { return c.Respond(a) })
	}
	r.pending, r.wishes = nil, nil
}

// engine says something to the engine, at once or when it is there. A failure shows in its Recv.
func (s *Session) engine(say func(Realtime) error) {
	r := s.realtime
	switch {
	case r == nil:
	case r.conn == nil:
		r.pending = append(r.pending, say)
	default:
		if err := say(r.conn); err != nil {
			s.log.Debug("not told to the engine", "error", err)
		}
	}
}

// inform adds to what a realtime engine knows of the conversation.
func (s *Session) inform(m agent.Message) {
	s.engine(func(c Realtime) error { return c.Tell(m) })
}

// remark gives the model a fact or an instruction for the rest of the call.
func (s *Session) remark(text string) {
	s.notes = append(s.notes, text)
	if s.realtime != nil {
		s.realtime.notes = append(s.realtime.notes, text)
		s.engine(func(c Realtime) error { return c.Note(text) })
	}
}

const (
	mostLost   = 3 // connections in a row
	lostPause  = 300 * time.Millisecond
	beyondHelp = "The realtime engine is gone. The assistant's text model goes on without it."
)

// take opens another connection, at once the first time. What cannot be mended is left to the parts of a pipeline, where there are
// any.
func (f connectionLost) take(s *Session, now time.Time) {
	r := s.realtime
	if r == nil || f.Connection != s.hearing.transcriber {
		return
	}
	s.fail("realtime", f.Err)
	r.conn = nil
	r.lost++
	s.breakOff()
	switch {
	case errors.Is(f.Err, ErrRefused) || r.lost >= mostLost:
		s.standIn(now)
	case r.lost == 1:
		s.reconnect(now)
	default:
		s.set(reopenAlarm, now.Add(time.Duration(r.lost-1)*lostPause))
	}
}

// reopen lets another connection or transcriber hear what the caller is saying.
func (s *Session) reopen(now time.Time) {
	if s.realtime != nil {
		s.reconnect(now)
		return
	}
	s.listen(s.parts.Transcriber, true)
}

// reconnect opens another connection; an answer that was being made goes on from where it broke off.
func (s *Session) reconnect(now time.Time) {
	h := &s.hearing
	unheard := h.open || h.awaiting
	s.connect(unheard)
	if h.awaiting {
		s.endTurn()
	}
	if t := s.turn; t != nil && t.thinking[0] != nil && !t.waits && t.tools == 0 {
		s.goOn(t)
	}
}

// standIn ends the engine's part in the conversation.
func (s *Session) standIn(now time.Time) {
	s.account(now)
	s.realtime = nil
	if s.parts.Thinker == nil || s.parts.Transcriber.Open == nil {
		s.breakDown()
		return
	}
	s.warn("realtime", beyondHelp)
	s.listen(s.parts.Transcriber, true)
	if s.hearing.awaiting {
		s.endTurn()
	}
	if t := s.turn; t != nil && t.thinking[0] != nil && t.tools == 0 {
		s.goOn(t)
	}
}

// hearAnew has somebody else hear the caller from now on: another transcriber, or another connection to the engine.
func (s *Session) hearAnew(second NamedTranscriber) {
	if s.realtime != nil {
		s.breakOff()
		s.connect(false)
		return
	}
	s.listen(second, false)
}

// engineSpeaks has the engine go on in another language.
func (s *Session) engineSpeaks(language string) {
	if s.realtime != nil {
		note := "From now on, speak " + agent.LanguageName(language) + "."
		s.realtime.notes = append(s.realtime.notes, note)
		s.engine(func(c Realtime) error { return c.Note(note) })
	}
}

// VendorUsage is the data of usage: what a vendor counted in this call. Cost is nil where no price is known.
type VendorUsage struct {
	Stage    string   `json:"stage"`
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Units    Usage    `json:"units"`
	Cost     *float64 `json:"cost"`
}

// account tells what the engine took, when its part is over.
func (s *Session) account(now time.Time) {
	r := s.realtime
	if r == nil || r.used == (Usage{}) {
		return
	}
	u := VendorUsage{"realtime", s.parts.Realtime.Provider, s.parts.Realtime.Setting.Model, r.used, nil}
	s.report.Usage = append(s.report.Usage, u)
	s.emit(now, "usage", u)
}

// employ makes the engines of the session's parts the ones that hear the caller.
func (s *Session) employ(replay bool) {
	s.realtime = nil
	if s.parts.Realtime == nil {
		s.listen(s.parts.Transcriber, replay)
		return
	}
	s.realtime = &realtime{asked: map[string]asked{}}
	s.connect(replay)
}

// openEars has the caller heard again.
func (s *Session) openEars() {
	if s.realtime != nil {
		s.connect(false)
		return
	}
	s.listen(s.parts.Transcriber, false)
}

// disconnect ends the conversation with the engine for a while.
func (s *Session) disconnect() {
	if s.realtime != nil {
		s.breakOff()
		s.realtime.conn = nil
	}
}
