package voice

import "time"

// quiet is the one clock of silence of a call: it runs while neither side makes a sound.
type quiet struct {
	total time.Duration
	since time.Time // zero while it stands still
}

// run starts or stops the clock.
func (q *quiet) run(on bool, now time.Time) {
	switch {
	case on && q.since.IsZero():
		q.since = now
	case !on && !q.since.IsZero():
		q.total += now.Sub(q.since)
		q.since = time.Time{}
	}
}

// reset puts the clock back to zero; it keeps running when it was.
func (q *quiet) reset(now time.Time) {
	q.total = 0
	if !q.since.IsZero() {
		q.since = now
	}
}

// when is the moment the clock will show d if it goes on running; the zero time while it stands still.
func (q *quiet) when(d time.Duration) time.Time {
	if q.since.IsZero() || d <= 0 {
		return time.Time{}
	}
	return q.since.Add(d - q.total)
}
