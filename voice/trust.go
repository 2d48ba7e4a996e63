package voice

import "time"

// Breaker is an engine that knows when it is not worth asking because its vendor failed lately, whoever asked. Synthesizers and
// Thinkers may be one.
type Breaker interface{ Broken() bool }

func broken(engine any) bool {
	b, ok := engine.(Breaker)
	return ok && b.Broken()
}

// trust says which of two engines is asked first: the assistant's own, unless that failed twice in a row; then the other one,
// for half a minute.
type trust struct {
	failed int
	until  time.Time
}

const (
	mostTrust = 2
	shunFor   = 30 * time.Second
)

// first is 0, or 1 where there is another engine and it is better to ask that.
func (r *trust) first(now time.Time, own any, another bool) int {
	if another && (now.Before(r.until) || broken(own)) {
		return 1
	}
	return 0
}

// lost notes that the own engine failed, or did not begin in time.
func (r *trust) lost(now time.Time) {
	if r.failed++; r.failed >= mostTrust {
		r.until = now.Add(shunFor)
	}
}

// kept notes that it did its work.
func (r *trust) kept() { r.failed = 0 }
