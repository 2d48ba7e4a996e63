// Package calllog writes what happens in a conversation into the log of its call while it goes on, many calls in one
// transaction, and shows it to those who watch, in this process and in others.
package calllog

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"parley/calls"
	"parley/db"
	"parley/voice"
)

// Logs is the room.
type Logs struct {
	db     *db.DB
	calls  *calls.Calls
	log    *slog.Logger
	scribe *scribe
}

// New opens the room.
func New(d *db.DB, c *calls.Calls, log *slog.Logger) *Logs {
	l := &Logs{db: d, calls: c, log: log}
	l.scribe = newScribe(l)
	return l
}

// Log carries the events of one conversation to the scribe, who writes them down, and to those who watch.
type Log struct {
	logs *Logs
	call calls.ID
	busy sync.Mutex // held while the scribe writes

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

// Open goes on after what the log of a call holds already; until Finish nobody else writes to it.
func (l *Logs) Open(ctx context.Context, call calls.ID) *Log {
	r := &Log{logs: l, call: call}
	known, err := l.calls.Events(ctx, l.db, call)
	if err != nil {
		l.log.Error("log of a call not read: its events are numbered from 1", "call", call, "error", err)
	}
	r.seq = int64(len(known))
	l.scribe.join(r)
	return r
}

// Observe takes one event. It runs on the conversation's goroutine and does not wait.
func (r *Log) Observe(e voice.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := Watched{At: e.At, Type: e.Type, Data: e.Data}
	if !e.Live {
		made, err := calls.MakeEvent(e.At, e.Type, e.Data)
		if err != nil {
			r.logs.log.Error("event not encoded", "type", e.Type, "error", err)
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
func (r *Log) say(e voice.Event) {
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
func (r *Log) hurry() {
	r.urgent = true
	r.logs.scribe.hurry()
}

// note is what of a conversation has to be written.
type note struct {
	*Log
	events   []calls.Event
	entries  []calls.Entry
	spoke    bool
	changed  bool
	answered calls.AnsweredBy // empty = not known now
}

// take returns what has gathered, false when that is nothing or not urgent. Until done the log is busy.
func (r *Log) take(urgent bool) (note, bool) {
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
	if err := n.logs.calls.Log(ctx, tx, n.call, n.events); err != nil {
		return err
	}
	if n.answered != "" {
		if err := n.logs.calls.SetAnsweredBy(ctx, tx, n.call, n.answered); err != nil {
			return err
		}
	}
	if !n.changed {
		return nil
	}
	return n.logs.calls.SetTranscript(ctx, tx, n.call, n.entries, n.spoke)
}

// done ends what take began. What was not written stays for the next time.
func (n note) done(written bool) {
	n.mu.Lock()
	if written {
		n.pending = n.pending[len(n.events):]
	} else {
		n.Log.changed = n.Log.changed || n.changed
		if n.Log.answered == "" {
			n.Log.answered = n.answered
		}
	}
	n.mu.Unlock()
	n.busy.Unlock()
}

// Flush writes what has gathered now.
func (r *Log) Flush() {
	if n, ok := r.take(false); ok {
		r.logs.scribe.write([]note{n})
	}
}

// Finish ends the writing; what is left goes with the end of the call.
func (r *Log) Finish() []calls.Event {
	r.logs.scribe.leave(r)
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

// Watch delivers events from now on; seq is the number of the last one before. The channel is closed at the end.
func (r *Log) Watch() (events <-chan Watched, seq int64, stop func()) {
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
