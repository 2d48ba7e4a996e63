package payments

import (
	"context"
	"encoding/json"
	"time"

	"parley/jobs"
)

// Look begins the top-ups that are due.
func (p *Payments) Look(ctx context.Context, now time.Time) error { return p.look(ctx, now) }

// ChargeNow runs the job of an automatic top-up.
func (p *Payments) ChargeNow(ctx context.Context, id int64) error {
	args, err := json.Marshal(chargeRef{id})
	if err != nil {
		return err
	}
	return p.chargeJob(ctx, jobs.Job{Args: args})
}
