package calllog

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"parley/calls"
	"parley/value"
)

// Whoever watches a call that another process holds says so every few seconds, from before it is answered on; while
// somebody does, its holder sends the call's events to the other processes as they happen. What is lost on the way is in
// the log.
const (
	watchChannel = "calls.watch"
	relayFor     = 10 * time.Second // after the last sign of a watcher
	relayMost    = 7000             // bytes of one event; a longer one is read from the log
)

// relayed is an event on its way to another process; without a type it says: look into the log.
type relayed struct {
	Seq  int64           `json:"seq"`
	At   int64           `json:"at"` // microseconds
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

func relayChannel(id calls.ID) string { return "call." + strconv.FormatInt(int64(id), 10) }

// WatchElsewhere delivers the events of a call that another process holds, as far as they arrive; one without a type says
// that there may be more in the log. wanted must be called every few seconds, for as long as they are.
func (l *Logs) WatchElsewhere(id calls.ID) (events <-chan Watched, wanted func(context.Context), stop func()) {
	out := make(chan Watched, 256)
	stop = l.db.Listen(relayChannel(id), func(payload string) {
		var e relayed
		_ = json.Unmarshal([]byte(payload), &e) // empty after a lost connection: look into the log
		select {
		case out <- Watched{Seq: e.Seq, At: time.UnixMicro(e.At), Type: e.Type, Data: e.Data}:
		default: // a slow watcher finds it in the log
		}
	})
	wanted = func(ctx context.Context) {
		if err := l.db.Notify(ctx, watchChannel, strconv.FormatInt(int64(id), 10)); err != nil && ctx.Err() == nil {
			l.log.Debug("holder of a call not told of a watcher", "call", id, "error", err)
		}
	}
	return out, wanted, stop
}

// OnWatcher calls f with every call that somebody in another process watches, at each sign of it, until stop.
func (l *Logs) OnWatcher(f func(id calls.ID)) (stop func()) {
	return l.db.Listen(watchChannel, func(payload string) {
		if n, err := strconv.ParseInt(payload, 10, 64); err == nil {
			f(calls.ID(n))
		}
	})
}

// Relay sends the events of one call to the processes where somebody watches, while somebody does.
type Relay struct {
	logs  *Logs
	call  calls.ID
	spawn func(func()) bool // starts a goroutine; false when none is started any more

	mu      sync.Mutex
	log     *Log // nil until the call is answered
	running bool
	until   time.Time // somebody watches
}

// Relay is that of a call.
func (l *Logs) Relay(call calls.ID, spawn func(func()) bool) *Relay {
	return &Relay{logs: l, call: call, spawn: spawn}
}

// Watch takes the sign of a watcher.
func (r *Relay) Watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(relayFor)
	r.start()
}

// From gives the log whose events are sent; nil when the conversation is over.
func (r *Relay) From(log *Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = log
	r.start()
}

// Watched reports whether somebody elsewhere has watched of late.
func (r *Relay) Watched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until)
}

func (r *Relay) start() {
	if log := r.log; log != nil && !r.running && time.Now().Before(r.until) {
		r.running = r.spawn(func() { r.run(log) })
	}
}

// run sends events until nobody elsewhere watches any more.
func (r *Relay) run(log *Log) {
	events, _, stop := log.Watch()
	defer stop()
	log.Flush() // what was before is in the log now
	r.send(relayed{})
	for {
		select {
		case e, ok := <-events:
			if !ok {
				r.send(relayed{}) // its end is in the log
				return
			}
			body, err := value.Marshal(e.Data)
			if err != nil {
				continue // the log has said so
			}
			r.send(relayed{e.Seq, e.At.UnixMicro(), e.Type, body})
		case <-time.After(relayFor):
		}
		if r.over() {
			return
		}
	}
}

// over ends the relay when no watcher has given a sign for a while.
func (r *Relay) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = time.Now().Before(r.until)
	return !r.running
}

func (r *Relay) send(e relayed) {
	text, err := value.Marshal(e)
	if err == nil && len(text) > relayMost {
		text = []byte(`{}`)
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err == nil {
		err = r.logs.db.Notify(ctx, relayChannel(r.call), string(text))
	}
	if err != nil {
		r.logs.log.Debug("event not sent to other processes", "call", r.call, "error", err)
	}
}
