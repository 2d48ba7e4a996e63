package db

import (
	"context"
	"strings"
	"sync"
	"time"

	"parley/safe"
)

// bell carries short messages between the goroutines and processes that share a database.
type bell struct {
	mu        sync.Mutex
	listeners map[int]listener
	next      int
	stop      context.CancelFunc // ends the listening connection; nil while there is none
	ready     chan struct{}      // closed when that connection listens for the first time
	done      chan struct{}
}

type listener struct {
	channel string
	fn      func(payload string)
}

// Notify calls the listeners of a channel here and, on PostgreSQL, in every other process on the same database.
// Call it after the commit ([Tx.After]); payloads are at most 7900 bytes. Messages may be lost while a connection
// is down: they are hints, never the only copy.
func (d *DB) Notify(ctx context.Context, channel, payload string) error {
	d.bell.ring(channel, payload)
	if !d.Postgres() {
		return nil
	}
	_, err := d.Exec(ctx, `SELECT pg_notify('parley', $1)`, d.node+" "+channel+" "+payload)
	return err
}

// Listen calls fn for each message on a channel until stop is called or the database is closed.
// fn must not block. After a lost connection is back, fn is called with an empty payload.
// What is sent once Listen has returned is heard, unless PostgreSQL was away for seconds.
func (d *DB) Listen(channel string, fn func(payload string)) (stop func()) {
	b := &d.bell
	id := d.listen(channel, fn)
	if d.Postgres() {
		select {
		case <-b.ready:
		case <-time.After(5 * time.Second):
		}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, id)
	}
}

func (d *DB) listen(channel string, fn func(payload string)) (id int) {
	b := &d.bell
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[int]listener{}
	}
	b.next++
	b.listeners[b.next] = listener{channel, fn}
	if d.Postgres() && b.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		b.stop, b.ready, b.done = cancel, make(chan struct{}), make(chan struct{})
		safe.Go("listening connection", func() {
			defer close(b.done)
			safe.Loop(ctx, "listening connection", d.listenPostgres)
		})
	}
	return b.next
}

// ring calls the local listeners of a channel; an empty channel means all of them.
func (b *bell) ring(channel, payload string) {
	b.mu.Lock()
	var fns []func(string)
	for _, l := range b.listeners {
		if channel == "" || l.channel == channel {
			fns = append(fns, l.fn)
		}
	}
	b.mu.Unlock()
	for _, fn := range fns {
		fn(payload)
	}
}

// hear takes a message from the wire; our own were delivered when they were sent.
func (d *DB) hear(message string) {
	node, rest, _ := strings.Cut(message, " ")
	if node == d.node {
		return
	}
	channel, payload, _ := strings.Cut(rest, " ")
	d.bell.ring(channel, payload)
}

func (b *bell) close() {
	b.mu.Lock()
	stop, done := b.stop, b.done
	b.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}
