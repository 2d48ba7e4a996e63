package billing

import (
	"context"

	"parley/accounts"
	"parley/db"
	"parley/value"
)

// leastSeconds is the least AI time an answered call is billed for.
const leastSeconds = 30

// AITime is the item of the seconds, rounded up, that an assistant was active in an answered call.
func AITime(seconds int64, assistant *int64) Item {
	return Item{Kind: CallAI, Seconds: max(seconds, leastSeconds), Assistant: assistant}
}

// Carriage is the item of one leg: each started minute from its answer at a rate.
func Carriage(rate value.Money, seconds int64, assistant *int64) Item {
	return Item{Kind: CallCarrier, Money: rate * value.Money(minutes(seconds)), Assistant: assistant}
}

func minutes(seconds int64) int64 { return (max(seconds, 0) + 59) / 60 }

// HoldCall sets aside as much of a call as is available: AI time, when an assistant talks, and the carrier's rate for
// up to most seconds. It returns how many seconds are paid for, at most that many; fault.NeedsPayment when the first
// minute does not fit. Holding a ref again changes nothing and returns what was covered before.
func (b *Billing) HoldCall(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, assistant bool, rate value.Money, most int64) (paid int64, err error) {
	u, err := b.unit(ctx, tx, owner)
	if err != nil {
		return 0, err
	}
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return 0, err
	}
	perMinute := u.of(rate)
	if assistant {
		perMinute += u.time(60)
	}
	n := max(minutes(most), 1)
	if !b.Enforce || bal.Available() >= perMinute {
		if b.Enforce && perMinute > 0 {
			n = min(n, int64(bal.Available()/perMinute))
		}
		if added, err := hold(ctx, tx, owner, bal, ref, perMinute*value.Money(n)); added || err != nil {
			return min(n*60, most), err
		}
	}
	before, err := held(ctx, tx, owner, ref)
	if err != nil {
		return 0, err
	}
	n = max(minutes(most), 1)
	if perMinute > 0 {
		n = min(n, int64(before/perMinute))
	}
	return min(n*60, most), nil
}
