// Package billing keeps what customers have and owe: one append-only ledger per account, holds, prices and rates.
//
// A direct account counts minutes, a tenant account credits. Costs are computed in the installation's currency and
// turned into the account's unit once, where they are booked. All amounts are exact, in units of 1e-8.
package billing

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/value"
)

// Settings are what an installation decides about money.
type Settings struct {
	Enforce         bool        // false: costs are booked and nothing is refused for balance
	StartingBalance value.Money // of the first account, in its unit
	Currency        string      // ISO 4217
	OwnTrunk        value.Money // rate per started minute over an account's own trunk
	Prices          Prices
	Rates           *Rates
}

// Prices of messages, in currency.
type Prices struct {
	ChatMessage value.Money
	Marketing   value.Money // WhatsApp templates by category
	Utility     value.Money
	Auth        value.Money
	Freeform    value.Money // any other WhatsApp message
	SMS         value.Money // per segment, where the rates name no price
}

// Billing is the room.
type Billing struct {
	Settings
	accounts *accounts.Accounts
}

// New makes the room. Settings without rates use the shipped table.
func New(a *accounts.Accounts, s Settings) *Billing {
	if s.Rates == nil {
		s.Rates = Shipped()
	}
	return &Billing{Settings: s, accounts: a}
}

// Balance is what an account has, in its unit.
type Balance struct {
	Total value.Money `db:"balance"` // the sum of the ledger
	Held  value.Money `db:"held"`    // set aside by open holds
}

// Available is what may be spent.
func (b Balance) Available() value.Money { return b.Total - b.Held }

// Balance reads what an account has.
func (b *Billing) Balance(ctx context.Context, q db.Q, owner accounts.ID) (bal Balance, err error) {
	err = q.Get(ctx, &bal, `SELECT balance, held FROM balances WHERE account_id = $1`, owner)
	if errors.Is(err, db.ErrNone) {
		return Balance{}, nil // nothing was ever booked
	}
	return bal, err
}

// Positive reports whether an account may start to spend: its balance is above zero, or nobody asks.
func (b *Billing) Positive(ctx context.Context, q db.Q, owner accounts.ID) (bool, error) {
	if !b.Enforce {
		return true, nil
	}
	bal, err := b.Balance(ctx, q, owner)
	return bal.Total > 0, err
}

// Afford fails with fault.NeedsPayment when a price is above the available balance.
func (b *Billing) Afford(ctx context.Context, q db.Q, owner accounts.ID, price value.Money) error {
	if !b.Enforce {
		return nil
	}
	u, err := b.unit(ctx, q, owner)
	if err != nil {
		return err
	}
	bal, err := b.Balance(ctx, q, owner)
	if err == nil && bal.Available() < u.of(price) {
		err = tooLow()
	}
	return err
}

// tooLow refuses for want of balance; callers with words of their own replace it.
func tooLow() error {
	return fault.New(fault.NeedsPayment, "INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again.")
}

// Begin gives the installation's first account its starting balance.
func (b *Billing) Begin(ctx context.Context, tx *db.Tx, owner accounts.ID) error {
	return b.Credit(ctx, tx, owner, "starting_balance", "first", b.StartingBalance, "")
}

// Credit adds an amount of the account's unit, which may be negative; the same kind and ref are credited once.
func (b *Billing) Credit(ctx context.Context, tx *db.Tx, owner accounts.ID, kind, ref string, amount value.Money, note string) error {
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return err
	}
	booked, err := record(ctx, tx, owner, entry{Entry: "credit", Kind: kind, Ref: ref, Amount: amount, Note: note})
	if err != nil || !booked {
		return err
	}
	return save(ctx, tx, owner, Balance{bal.Total + amount, bal.Held})
}

// SetBalance books the adjustment that makes the balance what it should be; ref names the adjustment.
func (b *Billing) SetBalance(ctx context.Context, tx *db.Tx, owner accounts.ID, ref string, to value.Money, note string) error {
	bal, err := lock(ctx, tx, owner)
	if err != nil {
		return err
	}
	return b.Credit(ctx, tx, owner, "adjustment", ref, to-bal.Total, note)
}

// lock reads an account's balance and keeps other transactions off it until this one ends.
func lock(ctx context.Context, tx *db.Tx, owner accounts.ID) (bal Balance, err error) {
	err = tx.Get(ctx, &bal, `SELECT balance, held FROM balances WHERE account_id = $1 {{lock}}`, owner)
	if errors.Is(err, db.ErrNone) { // the first time
		err = tx.Get(ctx, &bal, `INSERT INTO balances (account_id, balance, held) VALUES ($1, 0, 0)
			ON CONFLICT (account_id) DO UPDATE SET balance = balances.balance RETURNING balance, held`, owner)
	}
	return bal, err
}

// save writes a locked balance back.
func save(ctx context.Context, tx *db.Tx, owner accounts.ID, bal Balance) error {
	_, err := tx.Exec(ctx, `UPDATE balances SET balance = $2, held = $3 WHERE account_id = $1`, owner, bal.Total, bal.Held)
	return err
}

// entry is a line of the ledger.
type entry struct {
	Entry     string
	Kind      string
	Ref       string
	Amount    value.Money
	Money     value.Money
	Assistant *assistants.ID
	Note      string
}

// record adds a line to the ledger unless it is there.
func record(ctx context.Context, tx *db.Tx, owner accounts.ID, e entry) (added bool, err error) {
	var note *string
	if e.Note != "" {
		note = &e.Note
	}
	n, err := tx.Exec(ctx, `INSERT INTO ledger (account_id, entry, kind, ref, amount, money, assistant_id, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (account_id, entry, kind, ref) DO NOTHING`,
		owner, e.Entry, e.Kind, e.Ref, e.Amount, e.Money, e.Assistant, note, db.At(tx.Now()))
	return n == 1, err
}
