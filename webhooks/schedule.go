package webhooks

import (
	"math/rand/v2"
	"time"
)

// waits are the times between one try and the next; the first three are kept to the second.
var waits = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour}

const exact = 3 // of the waits; also all there are without the long tail

// wait is how long to wait after the given number of failed tries; false means that it was the last one.
func wait(failed int, longTail bool) (time.Duration, bool) {
	if failed > len(waits) || failed > exact && !longTail {
		return 0, false
	}
	d := waits[failed-1]
	if failed > exact { // spread, so that a receiver that comes back is not overrun
		d += time.Duration((rand.Float64()*0.2 - 0.1) * float64(d))
	}
	return d, true
}

// worthRetry reports whether a failed answer may be different next time. status 0 is no answer.
func worthRetry(event string, status int) bool {
	switch {
	case status == 410:
		return false
	case status == 408 || status == 425 || status == 429 || status < 400 || status >= 500:
		return true
	}
	return event != MessageStatus
}
