package billing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/value"
)

// leastSeconds is the least AI time an answered call is billed for.
const leastSeconds = 30

// AITime is the item of the seconds, rounded up, that an assistant was active in an answered call.
func AITime(seconds int64, assistant *assistants.ID) Item {
	return Item{Kind: CallAI, Seconds: max(seconds, leastSeconds), Assistant: assistant}
}

// Carriage is the item of one leg: each started minute from its answer at a rate.
func Carriage(rate value.Money, seconds int64, assistant *assistants.ID) Item {
	return Item{Kind: CallCarrier, Money: rate * value.Money(minutes(seconds)), Assistant: assistant}
}

func minutes(seconds int64) int64 { return (max(seconds, 0) + 59) / 60 }

// HoldMinutes sets aside as much of a call as is available: AI time, when an assistant talks, and the carrier's rate for
// up to most seconds. It returns how many seconds are paid for, at most that many; fault.NeedsPayment when the first
// minute does not fit. Holding a ref again changes nothing and returns what was covered before.
func (b *Billing) HoldMinutes(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, assistant bool, rate value.Money,
	most int64) (paid int64, err error) {
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

// callRef names a call in the ledger.
func callRef(c calls.Call) string { return fmt.Sprintf("call:%d", c.ID) }

// carrierRate is what a minute of a call costs to carry: web calls nothing, own trunks their own rate.
func (b *Billing) carrierRate(c calls.Call) value.Money {
	switch {
	case c.Type == calls.Web || c.ClientPhone == nil:
		return 0
	case c.TrunkID != nil:
		return b.OwnTrunk
	}
	return b.CallRate(*c.ClientPhone)
}

// HoldCall sets money aside for a call of at most most. It returns how long that lasts, 0 = to the end;
// fault.NeedsPayment when not even a minute is covered.
func (b *Billing) HoldCall(ctx context.Context, tx *db.Tx, c calls.Call, most time.Duration) (time.Duration, error) {
	want := int64(most.Seconds())
	paid, err := b.HoldMinutes(ctx, tx, c.Owner, callRef(c), true, b.carrierRate(c), want)
	if err != nil || paid >= want {
		return 0, err
	}
	return time.Duration(paid) * time.Second, nil
}

// ChargeCall replaces the hold of a call that is over by what it costs: AI time and carriage. One that nobody answered
// costs nothing.
func (b *Billing) ChargeCall(ctx context.Context, tx *db.Tx, c calls.Call) (ai, carrier value.Money, err error) {
	if !c.Answered() {
		return 0, 0, b.Release(ctx, tx, c.Owner, callRef(c))
	}
	who := c.AssistantID
	talk, line := AITime(c.AISeconds, who), Carriage(b.carrierRate(c), c.Seconds, who)
	bill, err := b.Settle(ctx, tx, c.Owner, callRef(c), talk, line)
	if err != nil {
		return 0, 0, err
	}
	share, err := b.Quote(ctx, tx, c.Owner, line)
	if err != nil {
		return 0, 0, err
	}
	carrier = min(share.Money, bill.Money)
	legs, err := b.chargeLegs(ctx, tx, c)
	return bill.Money - carrier, carrier + legs, err
}

// legRef names a further leg of a call in the ledger.
func legRef(l calls.Leg) string { return fmt.Sprintf("call:%d:leg:%d", l.CallID, l.ID) }

// legRate is what a minute of a further leg costs: own trunks their own rate, sip: addresses that no carrier takes us to nothing.
func (b *Billing) legRate(l calls.Leg) value.Money {
	switch {
	case l.TrunkID != nil:
		return b.OwnTrunk
	case strings.HasPrefix(l.Target, "+"):
		return b.CallRate(l.Target)
	}
	return 0
}

// HoldLeg sets money aside for a further leg of a call, of at most most. It returns how long that lasts, 0 = to the end;
// fault.NeedsPayment when not even a minute is covered.
func (b *Billing) HoldLeg(ctx context.Context, tx *db.Tx, c calls.Call, l calls.Leg, most time.Duration) (time.Duration, error) {
	want := int64(most.Seconds())
	paid, err := b.HoldMinutes(ctx, tx, c.Owner, legRef(l), false, b.legRate(l), want)
	if err != nil || paid >= want {
		return 0, err
	}
	return time.Duration(paid) * time.Second, nil
}

// ReleaseLeg gives the hold of a leg back that nobody answered.
func (b *Billing) ReleaseLeg(ctx context.Context, tx *db.Tx, c calls.Call, l calls.Leg) error {
	return b.Release(ctx, tx, c.Owner, legRef(l))
}

// chargeLegs replaces the holds of a call's further legs by what they cost.
func (b *Billing) chargeLegs(ctx context.Context, tx *db.Tx, c calls.Call) (sum value.Money, err error) {
	legs, err := calls.Legs(ctx, tx, c.ID)
	for _, l := range legs {
		if !l.Answered() {
			if err := b.ReleaseLeg(ctx, tx, c, l); err != nil {
				return 0, err
			}
			continue
		}
		bill, err := b.Settle(ctx, tx, c.Owner, legRef(l), Carriage(b.legRate(l), l.Seconds(c.EndedReal.Time()), c.AssistantID))
		if err != nil {
			return 0, err
		}
		sum += bill.Money
	}
	return sum, err
}

// CallPrice is what a call would be charged if it ended now.
func (b *Billing) CallPrice(ctx context.Context, q db.Q, c calls.Call, now time.Time) (ai, carrier value.Money, err error) {
	if !c.Answered() {
		return 0, 0, nil
	}
	legs, err := calls.Legs(ctx, q, c.ID)
	if err != nil {
		return 0, 0, err
	}
	until, items := now, []Item{Carriage(b.carrierRate(c), c.Duration(now), nil)}
	for _, l := range legs {
		items = append(items, Carriage(b.legRate(l), l.Seconds(now), nil))
		if !l.JoinedReal.IsZero() {
			until = l.JoinedReal.Time() // nobody pays for an assistant that has left
		}
	}
	talked := calls.Begun(until.Sub(c.AnsweredReal.Time()))
	talk, err := b.Quote(ctx, q, c.Owner, AITime(talked, nil))
	if err != nil {
		return 0, 0, err
	}
	line, err := b.Quote(ctx, q, c.Owner, items...)
	return talk.Money, line.Money, err
}
