// Package events tells connected clients what changes in their account, on every node: ids and short states, no content.
package events

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"parley/db"
)

// Event is one change.
type Event struct {
	ID      int64           `json:"id"` // rises with time; a client that reconnects sends the last one it saw
	Account int64           `json:"account"`
	Kind    string          `json:"kind"` // call, conversation, campaign, document, delivery, …
	Data    json.RawMessage `json:"data"`
}

const (
	channel  = "live"
	remember = 256 // events kept per account for clients that reconnect
	backlog  = 64  // events a slow client may be behind before it is cut off and has to reconnect

	accountsKept = 1000 // when more accounts than this have events kept, those of the quiet ones go
	forgetAfter  = 10 * time.Minute
)

// Hub passes events to the subscribers of this node; the database carries them to the other nodes.
type Hub struct {
	db   *db.DB
	stop func()

	mu       sync.Mutex
	last     int64
	recent   map[int64][]Event
	watchers map[int64]map[chan Event]struct{}
}

// New starts a hub. Close ends it.
func New(d *db.DB) *Hub {
	h := &Hub{db: d, recent: map[int64][]Event{}, watchers: map[int64]map[chan Event]struct{}{}}
	h.stop = d.Listen(channel, func(payload string) {
		if payload == "" { // the connection to the other nodes was lost, and what they said with it
			h.cut()
			return
		}
		var e Event
		if json.Unmarshal([]byte(payload), &e) == nil {
			h.take(e)
		}
	})
	return h
}

// Close stops listening.
func (h *Hub) Close() { h.stop() }

// Publish tells the account's clients on all nodes. Call it after the commit that made it true. A lost event is no loss:
// clients read the state itself.
func (h *Hub) Publish(ctx context.Context, account int64, kind string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.last = max(h.last+1, time.Now().UnixMicro())
	e := Event{h.last, account, kind, body}
	h.mu.Unlock()
	payload, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return h.db.Notify(ctx, channel, string(payload))
}

func (h *Hub) take(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = max(h.last, e.ID)
	kept := append(h.recent[e.Account], e)
	h.recent[e.Account] = kept[max(0, len(kept)-remember):]
	if len(h.recent) > accountsKept {
		h.forget(e.ID - forgetAfter.Microseconds())
	}
	for w := range h.watchers[e.Account] {
		select {
		case w <- e:
		default: // too slow: it reconnects and catches up
			close(w)
			delete(h.watchers[e.Account], w)
		}
	}
}

// forget drops the events of accounts in which nothing has happened since an id.
func (h *Hub) forget(since int64) {
	for account, events := range h.recent {
		if events[len(events)-1].ID < since {
			delete(h.recent, account)
		}
	}
}

// cut sends every client away: it reconnects and reads the state afresh.
func (h *Hub) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for account, watchers := range h.watchers {
		for w := range watchers {
			close(w)
		}
		delete(h.watchers, account)
	}
	clear(h.recent)
}

// Subscribe delivers the account's events after the given id (0 = from now on) until ctx ends. The channel is closed
// when the subscriber falls behind, when events of other nodes may have been lost, or when ctx ends.
func (h *Hub) Subscribe(ctx context.Context, account, after int64) <-chan Event {
	w := make(chan Event, remember+backlog)
	h.mu.Lock()
	defer h.mu.Unlock()
	if after > 0 {
		for _, e := range h.recent[account] {
			if e.ID > after {
				w <- e
			}
		}
	}
	if h.watchers[account] == nil {
		h.watchers[account] = map[chan Event]struct{}{}
	}
	h.watchers[account][w] = struct{}{}
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.watchers[account][w]; there {
			delete(h.watchers[account], w)
			close(w)
		}
		if len(h.watchers[account]) == 0 {
			delete(h.watchers, account)
		}
	})
	return w
}
