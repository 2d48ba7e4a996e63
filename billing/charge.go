package billing

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/value"
)

// Kinds of charges. WhatsApp kinds are "whatsapp_" and the category, or "whatsapp_freeform".
const (
	CallAI      = "call_ai"
	CallCarrier = "call_carrier"
	ChatMessage = "chat_message"
	SMS         = "sms"
)

// Item is one thing that costs: an amount of money, or AI time, which is billed by the plan.
type Item struct {
	Kind      string
	Money     value.Money
	Seconds   int64 // of AI time
	Assistant *assistants.ID
	Note      string
}

// Bill is what items cost: in currency, and in the account's unit as it was booked.
type Bill struct {
	Money  value.Money
	Amount value.Money
}

func (u unit) bill(i Item) Bill {
	return Bill{u.money(i.Seconds) + i.Money, u.time(i.Seconds) + u.of(i.Money)}
}

// Quote is what items would cost an account.
func (b *Billing) Quote(ctx context.Context, q db.Q, owner accounts.ID, items ...Item) (sum Bill, err error) {
	u, err := b.unit(ctx, q, owner)
	for _, i := range items {
		one := u.bill(i)
		sum.Money, sum.Amount = sum.Money+one.Money, sum.Amount+one.Amount
	}
	return sum, err
}

// Hold sets a price aside under a ref; fault.NeedsPayment when it does not fit. A ref is held once: holding it again
// changes nothing.
func (b *Billing) Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, price value.Money) error {
	u, err := b.unit(ctx, tx, owner)
	if err != nil {
		return err
	}
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return err
	}
	if b.Enforce && bal.Available() < u.of(price) {
		_, err := held(ctx, tx, owner, ref)
		return err
	}
	_, err = hold(ctx, tx, owner, bal, ref, u.of(price))
	return err
}

// held is what is set aside under a ref already; without a hold the refusal for want of balance.
func held(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string) (amount value.Money, err error) {
	err = tx.Get(ctx, &amount, `SELECT amount FROM holds WHERE account_id = $1 AND ref = $2`, owner, ref)
	if errors.Is(err, db.ErrNone) {
		err = tooLow()
	}
	return amount, err
}

// hold sets an amount aside; false when the ref holds one already. The balance is locked.
func hold(ctx context.Context, tx *db.Tx, owner accounts.ID, bal Balance, ref string, amount value.Money) (added bool, err error) {
	n, err := tx.Exec(ctx, `INSERT INTO holds (account_id, ref, amount, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (account_id, ref) DO NOTHING`,
		owner, ref, amount, db.At(tx.Now()))
	if err != nil || n == 0 {
		return false, err
	}
	return true, save(ctx, tx, owner, Balance{bal.Total, bal.Held + amount})
}

// Release gives a hold back; releasing what is not held changes nothing.
func (b *Billing) Release(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string) error {
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return err
	}
	after, err := release(ctx, tx, owner, bal, ref)
	if err != nil || after == bal {
		return err
	}
	return save(ctx, tx, owner, after)
}

func release(ctx context.Context, tx *db.Tx, owner accounts.ID, bal Balance, ref string) (Balance, error) {
	var held value.Money
	err := tx.Get(ctx, &held, `DELETE FROM holds WHERE account_id = $1 AND ref = $2 RETURNING amount`, owner, ref)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	bal.Held -= held
	return bal, err
}

// Settle replaces a hold by what was really used and returns its cost. Each kind is booked once per ref, so settling
// again changes nothing. Should the use exceed the hold and all that is available beside it, the account pays what it
// has and no more while balances are enforced.
func (b *Billing) Settle(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, items ...Item) (Bill, error) {
	return b.book(ctx, tx, owner, ref, items, func(bal Balance, _ value.Money) (limit value.Money, err error) {
		return max(bal.Available(), 0), nil
	})
}

// Charge books one price without a hold before it; fault.NeedsPayment when it does not fit. The same kind and ref are
// charged once.
func (b *Billing) Charge(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, item Item) (Bill, error) {
	return b.book(ctx, tx, owner, ref, []Item{item}, func(bal Balance, amount value.Money) (value.Money, error) {
		if bal.Available() < amount {
			return 0, tooLow()
		}
		return amount, nil
	})
}

// book writes what is not yet in the ledger. The limit is asked, while balances are enforced, for the most that may be
// taken of the amount that is new.
func (b *Billing) book(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, items []Item,
	limit func(bal Balance, amount value.Money) (value.Money, error)) (total Bill, err error) {
	u, err := b.unit(ctx, tx, owner)
	if err != nil {
		return total, err
	}
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return total, err
	}
	if bal, err = release(ctx, tx, owner, bal, ref); err != nil {
		return total, err
	}
	var fresh []Item
	var due value.Money
	for _, i := range items {
		there, err := charged(ctx, tx, owner, i.Kind, ref)
		if err != nil {
			return total, err
		}
		one := u.bill(i)
		total.Money += one.Money
		if there != nil {
			total.Amount += *there
			continue
		}
		fresh = append(fresh, i)
		due += one.Amount
	}
	most := due
	if b.Enforce && len(fresh) > 0 {
		if most, err = limit(bal, due); err != nil {
			return total, err
		}
	}
	for _, i := range fresh {
		one := u.bill(i)
		take := min(one.Amount, most)
		most -= take
		if _, err := record(ctx, tx, owner, entry{"charge", i.Kind, ref, -take, one.Money, i.Assistant, i.Note}); err != nil {
			return total, err
		}
		bal.Total -= take
		total.Amount += take
	}
	return total, save(ctx, tx, owner, bal)
}

// charged is what was booked already; nil when nothing was.
func charged(ctx context.Context, tx *db.Tx, owner accounts.ID, kind, ref string) (*value.Money, error) {
	var amount value.Money
	err := tx.Get(ctx, &amount, `SELECT amount FROM ledger WHERE account_id = $1 AND entry = 'charge' AND kind = $2 AND ref = $3`,
		owner, kind, ref)
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	amount = -amount
	return &amount, err
}

// Refund gives a charge back, once; what was never charged is not refunded.
func (b *Billing) Refund(ctx context.Context, tx *db.Tx, owner accounts.ID, kind, ref string) error {
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return err
	}
	var c entry
	err = tx.Get(ctx, &c, `SELECT kind, ref, amount, money, assistant_id AS assistant FROM ledger
		WHERE account_id = $1 AND entry = 'charge' AND kind = $2 AND ref = $3`, owner, kind, ref)
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	c.Entry, c.Amount, c.Money = "refund", -c.Amount, -c.Money
	booked, err := record(ctx, tx, owner, c)
	if err != nil || !booked {
		return err
	}
	return save(ctx, tx, owner, Balance{bal.Total + c.Amount, bal.Held})
}
