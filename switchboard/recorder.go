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

// recorder carries the events of one conversation into its log, grouped so that a database with one writer keeps up,
// and to those who watch.
type recorder struct {
	board *Switchboard
	call  calls.ID
	over  chan struct{}
	done  chan struct{}
	poke  chan struct{}

	mu       sync.Mutex
	seq      int64
	pending  []calls.Event
	entries  []calls.Entry
	spoke    bool
	changed  bool             // the transcript
	answered calls.AnsweredBy // as last found out; empty = nothing new
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

const (
	logEvery = time.Second // events that are not turns may wait that long
	logMost  = 64
)

// newRecorder begins after what the log holds already; from now on it is the only one that writes to it.
func (s *Switchboard) newRecorder(c calls.Call) *recorder {
	r := &recorder{board: s, call: c.ID, over: make(chan struct{}), done: make(chan struct{}), poke: make(chan struct{}, 1)}
	if known, err := s.Calls.Events(s.ctx, s.DB, c.ID); err == nil {
		r.seq = int64(len(known))
	}
	go r.run()
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

// hurry has what gathered written now.
func (r *recorder) hurry() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

func (r *recorder) run() {
	defer close(r.done)
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.poke:
		case <-tick.C:
		case <-r.over:
			return
		}
		r.flush()
	}
}

// flush writes what has gathered. What cannot be written stays for the next time.
func (r *recorder) flush() {
	r.mu.Lock()
	events, entries, spoke, changed, answered := slices.Clone(r.pending), slices.Clone(r.entries), r.spoke, r.changed, r.answered
	r.changed, r.answered = false, ""
	r.mu.Unlock()
	if len(events) == 0 && !changed { // an answer is an event
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	err := r.board.DB.Do(ctx, func(tx *db.Tx) error {
		if err := r.board.Calls.Log(ctx, tx, r.call, events); err != nil {
			return err
		}
		if answered != "" {
			if err := r.board.Calls.SetAnsweredBy(ctx, tx, r.call, answered); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		return r.board.Calls.SetTranscript(ctx, tx, r.call, entries, spoke)
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.board.Log.Error("events not recorded", "call", r.call, "error", err)
		r.changed = r.changed || changed
		if r.answered == "" {
			r.answered = answered
		}
		return
	}
	r.pending = r.pending[len(events):]
}

// finish ends the writing; what is left goes with the end of the call.
func (r *recorder) finish() []calls.Event {
	close(r.over)
	<-r.done
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
