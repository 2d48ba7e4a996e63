package payments

import (
	"context"
	"errors"
	"fmt"

	"parley/accounts"
	"parley/db"
	"parley/numbers"
	"parley/value"
)

// Months charges numbers by the month on a platform that is asked for each charge: nobody else has a calendar of them.
type Months struct{ *Payments }

var _ numbers.Payments = Months{}

// Ready reports whether the account has a method on file.
func (m Months) Ready(ctx context.Context, owner accounts.ID) (bool, error) {
	method, err := m.method(ctx, owner)
	return method != nil && method.Ready, err
}

// Subscribe charges the first month.
func (m Months) Subscribe(ctx context.Context, s numbers.Subscription) (numbers.Paid, error) {
	return m.month(ctx, s.Owner, s.Key, 0, s.Price, "Telephone number "+s.Number)
}

// Renew charges a further month at the price of the first.
func (m Months) Renew(ctx context.Context, owner accounts.ID, key string, number int) (numbers.Paid, error) {
	first, err := m.find(ctx, m.DB, `account_id = $1 AND key_ = $2`, owner, monthKey(key, 0))
	if err != nil {
		return numbers.Paid{}, err
	}
	return m.month(ctx, owner, key, number, first.Amount, "Telephone number, a further month")
}

// Cancel gives the first month back when it should; nothing else of a subscription is at the platform.
func (m Months) Cancel(ctx context.Context, owner accounts.ID, key string, refund bool) error {
	x, err := m.find(ctx, m.DB, `account_id = $1 AND key_ = $2`, owner, monthKey(key, 0))
	if errors.Is(err, db.ErrNone) || err == nil && !refund {
		return nil
	}
	if err != nil {
		return err
	}
	if x.State == open { // nobody knows whether it was charged: asked again, it is or it was
		if _, err := m.month(ctx, owner, key, 0, x.Amount, "Telephone number"); err != nil && !errors.Is(err, numbers.ErrRefused) {
			return err
		}
		if x, err = m.find(ctx, m.DB, `id = $1`, x.ID); err != nil {
			return err
		}
	}
	if x.State != paid || x.Returned == x.Amount {
		return nil
	}
	till, _, err := m.till()
	if err != nil {
		return err
	}
	if err := till.Refund(ctx, x.Key+":refund", *x.Ref); err != nil {
		return err
	}
	_, err = m.DB.Exec(ctx, `UPDATE payments SET returned = amount WHERE id = $1 AND state = 'paid'`, x.ID)
	return err
}

func monthKey(key string, number int) string { return fmt.Sprintf("%s:%d", key, number) }

// month charges one month, once. A charge that was refused is tried under another name the next time.
func (m Months) month(ctx context.Context, owner accounts.ID, key string, number int, price value.Money, what string) (numbers.Paid,
	error) {
	x, err := m.due(ctx, owner, key, number, price)
	if err != nil {
		return numbers.Paid{}, err
	}
	done := numbers.Paid{Ref: key, Until: x.Until.Time()}
	if x.State == paid {
		return done, nil
	}
	ref, err := m.charge(ctx, x, what)
	switch {
	case errors.Is(err, ErrRefused):
		_, err = m.DB.Exec(ctx, `UPDATE payments SET state = 'refused', tries = tries + 1 WHERE id = $1 AND state = 'open' AND tries = $2`,
			x.ID, x.Tries)
		return done, errors.Join(err, numbers.ErrRefused)
	case err != nil:
		return done, err
	}
	return done, m.book(ctx, x.ID, ref)
}

// due is the row of a month, open unless it is paid.
func (m Months) due(ctx context.Context, owner accounts.ID, key string, number int, price value.Money) (x payment, err error) {
	err = m.DB.Do(ctx, func(tx *db.Tx) error {
		x, err = m.locked(ctx, tx, `account_id = $1 AND key_ = $2`, owner, monthKey(key, number))
		none := errors.Is(err, db.ErrNone)
		if err != nil && !none || !none && x.State != refused {
			return err
		}
		until, err := m.until(ctx, tx, owner, key, number)
		if err != nil {
			return err
		}
		if none {
			_, vendor, err := m.till()
			if err != nil {
				return err
			}
			x = payment{Owner: owner, Vendor: vendor, Key: monthKey(key, number), Kind: month, State: open, Amount: price, Until: &until}
			x.ID, err = m.begin(ctx, tx, x)
			return err
		}
		x.State, x.Until = open, &until
		_, err = tx.Exec(ctx, `UPDATE payments SET state = 'open', until = $2 WHERE id = $1`, x.ID, until)
		return err
	})
	return x, err
}

// until is the end of a month: of the paid time before it, or of today when it comes a whole month late.
func (m Months) until(ctx context.Context, tx *db.Tx, owner accounts.ID, key string, number int) (db.Time, error) {
	begin := tx.Now()
	last, err := m.find(ctx, tx, `account_id = $1 AND key_ = $2`, owner, monthKey(key, number-1))
	if err == nil && !last.Until.Time().AddDate(0, 1, 0).Before(begin) {
		begin = last.Until.Time()
	}
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return db.At(begin.AddDate(0, 1, 0)), err
}
