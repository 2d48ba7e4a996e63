package payments

import (
	"context"
	"errors"

	"parley/billing"
	"parley/db"
	"parley/value"
)

// Refunded tells that so much of a payment was given back in all. What is new of it is taken off the balance.
func (p *Payments) Refunded(ctx context.Context, ref string, total value.Money) error {
	_, vendor, err := p.till()
	if err != nil {
		return err
	}
	return p.DB.Do(ctx, func(tx *db.Tx) error {
		x, err := p.locked(ctx, tx, `vendor = $1 AND ref = $2`, vendor, ref)
		if errors.Is(err, db.ErrNone) || err == nil && total <= x.Returned {
			return nil // not one of ours, or known
		}
		if err != nil {
			return err
		}
		total = min(total, x.Amount)
		taken := x.share(total) - x.share(x.Returned)
		if err := p.Billing.Credit(ctx, tx, x.Owner, "topup_refund", x.Key+":"+total.String(), -taken, ""); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE payments SET returned = $2 WHERE id = $1`, x.ID, total)
		return err
	})
}

// Disputed tells that a customer's bank took a payment back, or gave it back to us; dispute is the platform's name for it.
func (p *Payments) Disputed(ctx context.Context, ref, dispute string, amount value.Money, won bool) error {
	_, vendor, err := p.till()
	if err != nil {
		return err
	}
	return p.DB.Do(ctx, func(tx *db.Tx) error {
		x, err := p.find(ctx, tx, `vendor = $1 AND ref = $2`, vendor, ref)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		kind, sum := "topup_dispute", -x.share(min(amount, x.Amount))
		if won {
			kind, sum = "topup_dispute_won", -sum
		}
		return p.Billing.Credit(ctx, tx, x.Owner, kind, dispute, sum, "")
	})
}

// share is what of the credit stands for a part of the payment.
func (x payment) share(part value.Money) value.Money {
	return billing.Share(x.Credited, part, x.Amount)
}

// Paid tells that a charge went through, for one whose answer was lost.
func (p *Payments) Paid(ctx context.Context, key, ref string) error {
	_, vendor, err := p.till()
	if err != nil {
		return err
	}
	x, err := p.find(ctx, p.DB, `vendor = $1 AND key_ = $2`, vendor, plainKey(key))
	if errors.Is(err, db.ErrNone) || err == nil && (x.State != open || x.Kind != auto) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.book(ctx, x.ID, ref)
}
