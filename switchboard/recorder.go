package switchboard

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/calls"
	"parley/db"
	"parley/voice"
)

// recorder carries the events of one conversation to the scribe, who writes them into its log, and to those who watch.
type recorder struct {
	board *Switchboard
	call  calls.ID
	busy  sync.Mutex // held while the scribe writes

	mu       sync.Mutex
	seq      int64
	pending  []calls.Event
	entries  []calls.Entry
	spoke    bool
	changed  bool             // the transcript
	answered calls.AnsweredBy // as last found out; empty = nothing new
	urgent   bool             // it should be written soon
	watchers []chan Watched
	finished bool
}

// Watched is an event as it happens. Seq is its number in the log; 0 = it is not kept.
type Watched struct {
	Seq  int64
	At   time.Time
	Type string
	Data any
}

// newRecorder begins after what the log holds already; from now on it is the only one that writes to it.
func (s *Switchboard) newRecorder(c calls.Call) *recorder {
	r := &recorder{board: s, call: c.ID}
	known, err := s.Calls.Events(s.ctx, s.DB, c.ID)
	if err != nil {
		s.Log.Error("log of a call not read: its events are numbered from 1", "call", c.ID, "error", err)
	}
	r.seq = int64(len(known))
	s.scribe.join(r)
	return r
}

// observe takes one event. It runs on the conversation's goroutine and does not wait.
func (r *recorder) observe(e voice.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := Watched{At: e.At, Type: e.Type, Data: e.Data}
	if !e.Live {
		made, err := calls.MakeEvent(e.At, e.Type, e.Data)
		if err != nil {
			r.board.Log.Error("event not encoded", "type", e.Type, "error", err)
			return
		}
		r.seq++
		w.Seq = r.seq
		r.pending = append(r.pending, made)
		r.say(e)
	}
	for _, c := range r.watchers {
		select {
		case c <- w:
		default: // a slow watcher misses it
		}
	}
}

// say follows the transcript.
func (r *recorder) say(e voice.Event) {
	switch d := e.Data.(type) {
	case voice.UserTurn:
		r.entries = append(r.entries, calls.Entry{Text: d.Text, At: e.At.UnixMicro()})
		r.spoke = true
	case voice.AssistantTurn:
		r.entries = append(r.entries, calls.Entry{Text: d.Text, Assistant: true, At: e.At.UnixMicro(), Interrupted: d.Interrupted})
	case voice.Pickup:
		r.answered = calls.AnsweredBy(d.Result)
		r.hurry()
		return
	default:
		return
	}
	r.changed = true
	r.hurry()
}

// hurry has what gathered written soon.
func (r *recorder) hurry() {
	r.urgent = true
	r.board.scribe.hurry()
}

// note is what of a conversation has to be written.
type note struct {
	*recorder
	events   []calls.Event
	entries  []calls.Entry
	spoke    bool
	changed  bool
	answered calls.AnsweredBy // empty = not known now
}

// take returns what has gathered, false when that is nothing or not urgent. Until done the recorder is busy.
func (r *recorder) take(urgent bool) (note, bool) {
	r.busy.Lock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished || urgent && !r.urgent || len(r.pending) == 0 && !r.changed { // an answer is an event
		r.busy.Unlock()
		return note{}, false
	}
	n := note{r, slices.Clone(r.pending), nil, r.spoke, r.changed, r.answered}
	if r.changed {
		n.entries = slices.Clone(r.entries)
	}
	r.changed, r.answered, r.urgent = false, "", false
	return n, true
}

func (n note) write(ctx context.Context, tx *db.Tx) error {
	if err := n.board.Calls.Log(ctx, tx, n.call, n.events); err != nil {
		return err
	}
	if n.answered != "" {
		if err := n.board.Calls.SetAnsweredBy(ctx, tx, n.call, n.answered); err != nil {
			return err
		}
	}
	if !n.changed {
		return nil
	}
	return n.board.Calls.SetTranscript(ctx, tx, n.call, n.entries, n.spoke)
}

// done ends what take began. What was not written stays for the next time.
func (n note) done(written bool) {
	n.mu.Lock()
	if written {
		n.pending = n.pending[len(n.events):]
	} else {
		n.recorder.changed = n.recorder.changed || n.changed
		if n.recorder.answered == "" {
			n.recorder.answered = n.answered
		}
	}
	n.mu.Unlock()
	n.busy.Unlock()
}

// flush writes what has gathered now.
func (r *recorder) flush() {
	if n, ok := r.take(false); ok {
		r.board.scribe.write([]note{n})
	}
}

// finish ends the writing; what is left goes with the end of the call.
func (r *recorder) finish() []calls.Event {
	r.board.scribe.leave(r)
	r.busy.Lock() // whatever is being written is written
	defer r.busy.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.watchers {
		close(c)
	}
	r.watchers, r.finished = nil, true
	return r.pending
}

// watch delivers events from now on; seq is the number of the last one before. The channel is closed at the end.
func (r *recorder) watch() (events <-chan Watched, seq int64, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan Watched, 256)
	if r.finished {
		close(c)
		return c, r.seq, func() {}
	}
	r.watchers = append(r.watchers, c)
	return c, r.seq, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if i := slices.Index(r.watchers, c); i >= 0 {
			r.watchers = slices.Delete(r.watchers, i, i+1)
		}
	}
}
