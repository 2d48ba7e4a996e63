package safe_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"parley/safe"
)

// A panic is an error to the owner, and counted.
func TestPanicIsAnError(t *testing.T) {
	before := safe.Panics()
	err := safe.Do("work", func() error { panic("no") })
	if p, ok := errors.AsType[*safe.Panic](err); !ok || p.What != "work" || p.Value != "no" || safe.Panics() != before+1 {
		t.Error(err, safe.Panics()-before)
	}
	want := errors.New("an ordinary one")
	if err := safe.Do("work", func() error { return want }); err != want || safe.Panics() != before+1 {
		t.Error(err, safe.Panics()-before)
	}
}

// A group waits for what panicked as for everything else, and what it deferred has happened.
func TestGroupOutlivesAPanic(t *testing.T) {
	var g safe.Group
	deferred := false
	g.Go("work", func() {
		defer func() { deferred = true }()
		var none []int
		_ = none[len(none)]
	})
	g.Go("work", func() {})
	g.Wait()
	if !deferred {
		t.Error("what was deferred has not happened")
	}
}

// A loop begins again after a panic, until it returns or its context ends.
func TestLoopBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		safe.Loop(t.Context(), "loop", func(context.Context) {
			if starts++; starts < 3 {
				panic(starts)
			}
		})
		if starts != 3 {
			t.Error(starts, "starts")
		}
		ctx, stop := context.WithCancel(t.Context())
		safe.Loop(ctx, "loop", func(context.Context) { starts++; stop(); panic("at the end") })
		if starts != 4 {
			t.Error("begun again after the end of its context")
		}
	})
}
