package dbtest

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/db"
)

// Race runs two changes at once, in every order that one interruption can make: a is held before its first step (a
// statement, BEGIN, COMMIT), while b runs to its end or until it waits for a; in the next round before its second, and so on
// until a has no further step; then b is the one that is held. Each gets the number of the round, from 1, so that what it
// writes can differ from round to round, and must hand its context on to the database. after looks at what the two have left;
// round by round it should find both changes, or one of them refused.
func Race(t testing.TB, d *db.DB, a, b func(ctx context.Context, round int), after func(round int)) {
	t.Helper()
	round, before := 0, broken(d)
	for _, order := range [][2]func(context.Context, int){{a, b}, {b, a}} {
		for step := 1; ; step++ {
			round++
			if !interrupt(t, d, step, round, order[0], order[1]) {
				after(round)
				break
			}
			after(round)
		}
	}
	if n := broken(d) - before; n > 0 {
		t.Errorf("%d deadlocks: the two take their rows in different orders", n)
	}
	if round < 4 {
		t.Errorf("%d rounds: the changes do not hand their context on", round)
	}
}

// deadlocks counts, for each open database, the transactions that began again because another was in their way.
var deadlocks sync.Map // *atomic.Int64 by URL

func counter(url string) *atomic.Int64 {
	n, _ := deadlocks.LoadOrStore(url, new(atomic.Int64))
	return n.(*atomic.Int64)
}

func broken(d *db.DB) int64 { return counter(d.URL()).Load() }

// held marks the context of the change that is held before one of its steps.
type held struct{}

// holder counts the steps of a change and stops it before one of them.
type holder struct {
	mu       sync.Mutex
	taken    int
	stop     int
	arrived  chan struct{}
	released chan struct{}
}

// step is called before every step that anybody takes.
func step(ctx context.Context) error {
	if h, ok := ctx.Value(held{}).(*holder); ok {
		h.step()
	}
	return nil
}

func (h *holder) step() {
	h.mu.Lock()
	h.taken++
	here := h.taken == h.stop
	h.mu.Unlock()
	if here {
		close(h.arrived)
		<-h.released
	}
}

// interrupt runs first with second in between, before a step of first; false when first did not have as many.
func interrupt(t testing.TB, d *db.DB, step, round int, first, second func(context.Context, int)) bool {
	t.Helper()
	h := &holder{stop: step, arrived: make(chan struct{}), released: make(chan struct{})}
	firstDone := run(func() { first(context.WithValue(t.Context(), held{}, h), round) })
	reached := true
	select {
	case <-h.arrived:
	case <-firstDone:
		reached = false
	}
	before := d.Waited()
	secondDone := run(func() { second(t.Context(), round) })
	if reached {
		for late := time.Now().Add(10 * time.Second); !over(secondDone) && !waits(t, d, before); runtime.Gosched() {
			if time.Now().After(late) {
				t.Error("one change waits for another, and not in the database")
				break
			}
		}
		close(h.released)
	}
	<-firstDone
	<-secondDone
	return reached
}

func run(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// waits reports whether somebody waits for a row of another transaction, or on SQLite for the one connection that writes.
func waits(t testing.TB, d *db.DB, before int64) bool {
	t.Helper()
	if !d.Postgres() {
		return d.Waited() > before
	}
	var n int
	if err := d.Get(t.Context(), &n,
		`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`); err != nil {
		t.Error(err)
		return true
	}
	return n > 0
}
