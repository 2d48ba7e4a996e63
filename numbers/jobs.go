package numbers

import (
	"context"
	"fmt"
	"time"

	"parley/db"
	"parley/jobs"
)

// The durable work of the room.
const (
	jobBuy     = "numbers.buy"     // takes a purchase to its end, or back
	jobRenew   = "numbers.renew"   // charges the next month when the paid one ends
	jobCancel  = "numbers.cancel"  // ends a subscription
	jobRelease = "numbers.release" // gives a number back when its time is over
)

// ref is what the jobs are about.
type ref struct {
	ID ID `json:"id"`
}

func unique(kind string, id ID) string { return fmt.Sprintf("%s:%d", kind, id) }

// forever is how often money and numbers are tried for: never given up.
const forever = 1 << 30

func (n *Numbers) register(r *jobs.Runner) {
	r.Register(jobBuy, jobs.Options{MaxAttempts: forever, Timeout: 2 * time.Minute}, n.buy)
	r.Register(jobRenew, jobs.Options{MaxAttempts: forever}, n.renew)
	r.Register(jobCancel, jobs.Options{MaxAttempts: forever}, n.cancel)
	r.Register(jobRelease, jobs.Options{MaxAttempts: forever}, n.release)
	r.Every("numbers.sweep", time.Hour, n.sweep)
}

// sweep forgets failed purchases whose buyer did not wait for the answer, and Caller IDs nobody verified.
func (n *Numbers) sweep(ctx context.Context, now time.Time) error {
	_, err := n.db.Exec(ctx, `DELETE FROM phone_numbers WHERE state = 'failed' AND updated_at < $1 OR state = 'pending' AND updated_at < $2`,
		db.At(now.Add(-time.Hour)), db.At(now.Add(-24*time.Hour)))
	return err
}
