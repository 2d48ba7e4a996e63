package payments

import (
	"cmp"
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/jobs"
	"parley/value"

	"github.com/google/uuid"
)

// Auto says when an account tops itself up.
type Auto struct {
	Enabled   bool        `db:"enabled"`
	Below     value.Money `db:"below"`  // available balance that starts it, in the account's unit
	Amount    value.Money `db:"amount"` // in currency
	LastError *string     `db:"last_error"`
}

// What stands before anybody chose.
var usual = Auto{Below: 5 * value.MoneyUnit, Amount: 25 * value.MoneyUnit}

// mostPerDay bounds automatic top-ups of an account in 24 hours.
const mostPerDay = 3

func (p *Payments) auto(ctx context.Context, q db.Q, owner accounts.ID) (a Auto, err error) {
	err = q.Get(ctx, &a, `SELECT enabled, below, amount, last_error FROM auto_topups WHERE account_id = $1`, owner)
	if errors.Is(err, db.ErrNone) {
		return usual, nil
	}
	return a, err
}

// AutoPatch is what a request changes of it.
type AutoPatch struct {
	Enabled       value.Opt[bool]
	Below, Amount value.Opt[value.Money]
}

// SetAuto changes when an account tops itself up, and forgets why it could not. It needs a method on file to be switched on.
func (p *Payments) SetAuto(ctx context.Context, owner accounts.ID, patch AutoPatch) error {
	if patch.Enabled.V {
		if _, _, err := p.till(); err != nil {
			return err
		}
		if m, err := p.method(ctx, owner); err != nil || m == nil || !m.Ready {
			return cmp.Or(err, errNoMethod)
		}
	}
	return p.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO auto_topups (account_id, enabled, below, amount) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id) DO NOTHING`, owner, usual.Enabled, usual.Below, usual.Amount); err != nil {
			return err
		}
		a, err := p.lockedAuto(ctx, tx, owner)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE auto_topups SET enabled = $2, below = $3, amount = $4, last_error = NULL WHERE account_id = $1`,
			owner, value.Or(patch.Enabled.Ptr(), a.Enabled), value.Or(patch.Below.Ptr(), a.Below), value.Or(patch.Amount.Ptr(), a.Amount))
		return err
	})
}

// lockedAuto reads an account's setting and keeps other transactions off it until this one ends.
func (p *Payments) lockedAuto(ctx context.Context, tx *db.Tx, owner accounts.ID) (a Auto, err error) {
	err = tx.Get(ctx, &a, `SELECT enabled, below, amount, last_error FROM auto_topups WHERE account_id = $1 {{lock}}`, owner)
	return a, err
}

// look begins the top-ups that are due.
func (p *Payments) look(ctx context.Context, now time.Time) error {
	var due []accounts.ID
	err := p.DB.Select(ctx, &due, `SELECT a.account_id FROM auto_topups a LEFT JOIN balances b ON b.account_id = a.account_id
		WHERE a.enabled AND coalesce(b.balance - b.held, 0) < a.below`)
	for _, owner := range due {
		err = errors.Join(err, p.DB.Do(ctx, func(tx *db.Tx) error { return p.beginAuto(ctx, tx, owner, now) }))
	}
	return err
}

const jobCharge = "payments.charge"

type chargeRef struct {
	Payment int64 `json:"payment"`
}

// beginAuto judges an account's need under the lock of its setting, and writes one attempt down.
func (p *Payments) beginAuto(ctx context.Context, tx *db.Tx, owner accounts.ID, now time.Time) error {
	a, err := p.lockedAuto(ctx, tx, owner)
	if err != nil || !a.Enabled {
		return err
	}
	bal, err := p.Billing.Balance(ctx, tx, owner)
	if err != nil || bal.Available() >= a.Below {
		return err
	}
	var tried struct{ Open, Today int }
	if err := tx.Get(ctx, &tried, `SELECT count(CASE WHEN state = 'open' THEN 1 END) AS open, count(CASE WHEN created_at > $2 THEN 1 END) AS today
		FROM payments WHERE account_id = $1 AND kind = 'auto' AND (state = 'open' OR created_at > $2)`,
		owner, db.At(now.Add(-24*time.Hour))); err != nil || tried.Open > 0 || tried.Today >= mostPerDay {
		return err
	}
	_, vendor, err := p.till()
	if err != nil {
		return err
	}
	x := payment{Owner: owner, Vendor: vendor, Key: uuid.NewString(), Kind: auto, Amount: a.Amount}
	if x.ID, err = p.begin(ctx, tx, x); err != nil {
		return err
	}
	return p.Jobs.Add(ctx, tx, jobs.New{Kind: jobCharge, Args: chargeRef{x.ID}})
}

// chargeJob carries an automatic top-up out. It can start over: the platform knows the charge by its key.
func (p *Payments) chargeJob(ctx context.Context, job jobs.Job) error {
	var r chargeRef
	if err := job.Decode(&r); err != nil {
		return jobs.Never(err)
	}
	x, err := p.find(ctx, p.DB, `id = $1`, r.Payment)
	if errors.Is(err, db.ErrNone) || err == nil && x.State != open {
		return nil
	}
	if err != nil {
		return err
	}
	ref, err := p.charge(ctx, x, "Automatic top-up")
	switch {
	case errors.Is(err, ErrRefused):
		return p.refuseAuto(ctx, x)
	case err != nil:
		return err
	}
	return p.book(ctx, x.ID, ref)
}

func (p *Payments) charge(ctx context.Context, x payment, what string) (string, error) {
	till, customer, err := p.customer(ctx, x.Owner)
	if err != nil {
		return "", err
	}
	return till.Charge(ctx, Charge{Key: x.vendorKey(), Owner: x.Owner, Customer: customer, Amount: x.Amount,
		Currency: p.Billing.Currency, For: what})
}

// refuseAuto switches automatic top-ups off, and says why.
func (p *Payments) refuseAuto(ctx context.Context, x payment) error {
	return p.DB.Do(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE payments SET state = 'refused' WHERE id = $1 AND state = 'open'`, x.ID)
		if n == 0 || err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE auto_topups SET enabled = $2, last_error = $3 WHERE account_id = $1 AND enabled`, x.Owner, false, refusal)
		return err
	})
}

const refusal = "The payment was refused. Check or replace your payment method."
