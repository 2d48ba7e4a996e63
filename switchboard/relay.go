package switchboard

import (
	"context"
	"encoding/json"
	"strconv"
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
func (s *Switchboard) WatchElsewhere(id calls.ID) (events <-chan Watched, wanted func(context.Context), stop func()) {
	out := make(chan Watched, 256)
	stop = s.DB.Listen(relayChannel(id), func(payload string) {
		var e relayed
		_ = json.Unmarshal([]byte(payload), &e) // empty after a lost connection: look into the log
		select {
		case out <- Watched{Seq: e.Seq, At: time.UnixMicro(e.At), Type: e.Type, Data: e.Data}:
		default: // a slow watcher finds it in the log
		}
	})
	wanted = func(ctx context.Context) {
		if err := s.DB.Notify(ctx, watchChannel, strconv.FormatInt(int64(id), 10)); err != nil && ctx.Err() == nil {
			s.Log.Debug("holder of a call not told of a watcher", "call", id, "error", err)
		}
	}
	return out, wanted, stop
}

// watched takes the sign of a watcher in another process.
func (s *Switchboard) watched(payload string) {
	n, err := strconv.ParseInt(payload, 10, 64)
	if err != nil {
		return
	}
	l := s.find(calls.ID(n))
	if l == nil {
		return
	}
	l.mu.Lock()
	l.relayUntil = time.Now().Add(relayFor)
	l.mu.Unlock()
	s.relayIfWatched(l)
}

// relayIfWatched begins to send the events of a call that was answered to the processes where somebody watches.
func (s *Switchboard) relayIfWatched(l *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rec := l.record
	if rec == nil || l.relaying || time.Now().After(l.relayUntil) {
		return
	}
	l.relaying = s.spawn(func() { s.relay(l, rec) })
}

// relay sends a call's events to other processes until nobody there watches any more.
func (s *Switchboard) relay(l *live, rec *recorder) {
	events, _, stop := rec.watch()
	defer stop()
	rec.flush() // what was before is in the log now
	s.send(l.call.ID, relayed{})
	for {
		select {
		case e, ok := <-events:
			if !ok {
				s.send(l.call.ID, relayed{}) // its end is in the log
				return
			}
			body, err := value.Marshal(e.Data)
			if err != nil {
				continue // the log has said so
			}
			s.send(l.call.ID, relayed{e.Seq, e.At.UnixMicro(), e.Type, body})
		case <-time.After(relayFor):
		}
		if l.unwatched() {
			return
		}
	}
}

// unwatched ends the relay of a call when no watcher has given a sign for a while.
func (l *live) unwatched() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.relaying = time.Now().Before(l.relayUntil)
	return !l.relaying
}

func (s *Switchboard) send(id calls.ID, e relayed) {
	text, err := value.Marshal(e)
	if err == nil && len(text) > relayMost {
		text = []byte(`{}`)
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err == nil {
		err = s.DB.Notify(ctx, relayChannel(id), string(text))
	}
	if err != nil {
		s.Log.Debug("event not sent to other processes", "call", id, "error", err)
	}
}
