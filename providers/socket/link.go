// Package socket keeps a conversation's WebSocket to a vendor: what is sent never waits, what breaks is opened once more, and
// what a recogniser says over it becomes transcripts.
package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parley/providers/rest"
	"parley/safe"
)

const (
	pingEvery  = 15 * time.Second
	pongTime   = 10 * time.Second
	againTime  = 1500 * time.Millisecond // that a connection in the place of a broken one may take
	settled    = 10 * time.Second        // after which a connection that breaks is worth another one
	byeTime    = time.Second             // that the last message may take
	mostSound  = 4 << 20                 // bytes of sound that wait to be sent, half a minute at 48 kHz; of more the oldest is lost
	mostOthers = 1024                    // other messages that wait
)

// Handler is told what becomes of a link, by one goroutine.
type Handler interface {
	// Message takes what came, which is the handler's. An error breaks the connection; one that is a refusal that does not pass
	// ends the link.
	Message(data []byte) error
	// Broken says that the connection broke, and another one is tried.
	Broken()
	// Again says that another connection took the place of a broken one, and what was not sent is dropped: what is sent in it
	// comes first.
	Again()
	// Ended says that there is no connection any more and why; nil after Close.
	Ended(err error)
}

// Link is a WebSocket of one conversation.
type Link struct {
	dial func(ctx context.Context) (*websocket.Conn, error)
	on   Handler
	ctx  context.Context
	stop context.CancelFunc
	fed  chan struct{}

	mu     sync.Mutex
	queue  []message
	sound  int // bytes of it in the queue
	others int
	bye    []byte
	closed bool
}

type message struct {
	kind  websocket.MessageType
	data  []byte
	sound bool
}

// New makes a link that ends with ctx. What is sent before Start is kept.
func New(ctx context.Context, on Handler, dial func(ctx context.Context) (*websocket.Conn, error)) *Link {
	l := &Link{dial: dial, on: on, fed: make(chan struct{}, 1)}
	l.ctx, l.stop = context.WithCancel(ctx)
	return l
}

// Start connects, and moves messages from then on.
func (l *Link) Start() error {
	conn, err := l.dial(l.ctx)
	if err != nil {
		l.stop()
		return err
	}
	safe.Go("vendor socket", func() {
		err := safe.Do("vendor socket", func() error { return l.run(conn) })
		if l.ctx.Err() != nil {
			err = nil
		}
		l.stop()
		l.on.Ended(err)
	})
	return nil
}

// run serves one connection after the other until the link is over.
func (l *Link) run(conn *websocket.Conn) error {
	for first := true; ; first = false {
		began := time.Now()
		err := l.serve(conn)
		if l.ctx.Err() != nil || final(err) || !first && time.Since(began) < settled {
			return err
		}
		slog.Info("vendor socket broke", "error", err)
		l.on.Broken()
		ctx, stop := context.WithTimeout(l.ctx, againTime)
		conn, err = l.dial(ctx)
		stop()
		if err != nil {
			return err
		}
		l.drop()
		l.on.Again()
	}
}

// final reports that another connection would end the same way.
func final(err error) bool {
	r, ok := errors.AsType[*rest.Refusal](err)
	return ok && !r.Passing()
}

// serve moves messages both ways until the connection ends, and says why.
func (l *Link) serve(conn *websocket.Conn) error {
	ctx, stop := context.WithCancel(l.ctx)
	var work safe.Group
	defer work.Wait()
	defer func() { _ = conn.CloseNow() }()
	defer stop()
	work.Go("vendor socket writer", func() { l.write(ctx, conn) })
	work.Go("vendor socket ping", func() { ping(ctx, conn) })
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return refusal(err)
		}
		if err := l.on.Message(data); err != nil {
			return err
		}
	}
}

// refusal is what a server means that closes with a violated policy: it would do so again.
func refusal(err error) error {
	if c, ok := errors.AsType[websocket.CloseError](err); ok && c.Code == websocket.StatusPolicyViolation {
		return &rest.Refusal{Status: 400, Code: "1008", Message: c.Reason}
	}
	return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
}

func ping(ctx context.Context, conn *websocket.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingEvery):
		}
		limited, stop := context.WithTimeout(ctx, pongTime)
		err := conn.Ping(limited)
		stop()
		if err != nil {
			_ = conn.CloseNow()
			return
		}
	}
}

func (l *Link) write(ctx context.Context, conn *websocket.Conn) {
	for {
		m, bye, ok := l.next()
		switch {
		case ok:
			if conn.Write(ctx, m.kind, m.data) != nil {
				_ = conn.CloseNow()
				return
			}
		case bye:
			if l.bye != nil {
				_ = conn.Write(ctx, websocket.MessageText, l.bye)
			}
			l.stop()
			return
		default:
			select {
			case <-l.fed:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (l *Link) next() (m message, bye, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return m, l.closed, false
	}
	m, l.queue = l.queue[0], l.queue[1:]
	l.forget(m)
	return m, false, true
}

func (l *Link) forget(m message) {
	if m.sound {
		l.sound -= len(m.data)
	} else {
		l.others--
	}
}

// drop forgets what waits to be sent.
func (l *Link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue, l.sound, l.others = nil, 0, 0
}

// Sound sends a message that may be lost when too many wait: binary, or text where the vendor wants it so. It keeps data.
func (l *Link) Sound(kind websocket.MessageType, data []byte) {
	l.send(message{kind, data, true})
}

// Text sends a message that is not lost. It keeps data.
func (l *Link) Text(data []byte) { l.send(message{websocket.MessageText, data, false}) }

func (l *Link) send(m message) {
	l.mu.Lock()
	if !l.closed && (m.sound || l.others < mostOthers) {
		l.queue = append(l.queue, m)
		if m.sound {
			l.sound += len(m.data)
		} else {
			l.others++
		}
	}
	for i := 0; l.sound > mostSound && i < len(l.queue); {
		if !l.queue[i].sound {
			i++
			continue
		}
		l.forget(l.queue[i])
		l.queue = append(l.queue[:i], l.queue[i+1:]...)
	}
	l.mu.Unlock()
	l.wake()
}

func (l *Link) wake() {
	select {
	case l.fed <- struct{}{}:
	default:
	}
}

// Close says goodbye and ends the link. It does not wait.
func (l *Link) Close(bye []byte) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed, l.bye = true, bye
	l.queue, l.sound, l.others = nil, 0, 0
	l.mu.Unlock()
	l.wake()
	time.AfterFunc(byeTime, l.stop)
}
