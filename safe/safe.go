// Package safe starts goroutines whose panics do not end the process: every call and request would end with it. A panic is
// logged with its stack, counted, and an error to whoever owns the work. What Go itself ends a process for stays fatal:
// memory used up, a stack overflow, a map written by two at once.
package safe

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Panic is the error of work that panicked. Its text is for logs.
type Panic struct {
	What  string // the work, in fixed words
	Value any    // what it panicked with
}

func (p *Panic) Error() string { return fmt.Sprintf("%s panicked: %v", p.What, p.Value) }

var panics atomic.Int64

// Panics is how many there have been in this process.
func Panics() int64 { return panics.Load() }

// Do runs fn. A panic is logged, and is a [*Panic].
func Do(what string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			panics.Add(1)
			slog.Error("panic", "in", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &Panic{what, p}
		}
	}()
	return fn()
}

// Run is Do for what has no error: it reports whether fn returned.
func Run(what string, fn func()) (well bool) {
	return Do(what, func() error { fn(); return nil }) == nil
}

// Go runs fn in a goroutine of its own. A panic ends that goroutine alone; what must happen at its end fn defers.
func Go(what string, fn func()) {
	go Run(what, fn)
}

// Group is a [sync.WaitGroup] of goroutines as Go starts them. The zero Group is ready.
type Group struct{ wg sync.WaitGroup }

// Go runs fn in a goroutine that Wait waits for.
func (g *Group) Go(what string, fn func()) {
	g.wg.Go(func() { Run(what, fn) })
}

// Loop runs fn in a goroutine that Wait waits for, as [Loop] does.
func (g *Group) Loop(ctx context.Context, what string, fn func(ctx context.Context)) {
	g.wg.Go(func() { Loop(ctx, what, fn) })
}

// Wait returns when every goroutine has ended.
func (g *Group) Wait() { g.wg.Wait() }

// pause is between a panic and the next start of a loop.
const pause = time.Second

// Loop runs fn, which ends by itself when ctx does, and starts it again a second after it has panicked.
func Loop(ctx context.Context, what string, fn func(ctx context.Context)) {
	for !Run(what, func() { fn(ctx) }) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
