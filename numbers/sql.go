package numbers

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/db"
)

const columns = `id, account_id, number, country_code, type, state, sms_capable, nickname, region, price, price_id, purchase_key, step,
	failure, carrier_ref, subscription, months, paid_until, past_due_at, refusals, release_at, created_at, updated_at`

// owned are the states of numbers that an account sees as its own.
const owned = ` state IN ('active', 'scheduled')`

func (n *Numbers) query(ctx context.Context, q db.Q, where string, args ...any) ([]Number, error) {
	var list []Number
	err := q.Select(ctx, &list, `SELECT `+columns+` FROM phone_numbers WHERE `+where, args...)
	return list, err
}

func (n *Numbers) one(ctx context.Context, q db.Q, where string, args ...any) (Number, error) {
	var x Number
	err := q.Get(ctx, &x, `SELECT `+columns+` FROM phone_numbers WHERE `+where, args...)
	if errors.Is(err, db.ErrNone) {
		err = ErrNotFound
	}
	return x, err
}

// List is every number of the account, newest first.
func (n *Numbers) List(ctx context.Context, owner accounts.ID) ([]Number, error) {
	return n.query(ctx, n.db, `account_id = $1 AND`+owned+` ORDER BY id DESC`, owner)
}

// Texting lists the active numbers that can send texts, newest first.
func (n *Numbers) Texting(ctx context.Context, owner accounts.ID) ([]Number, error) {
	return n.query(ctx, n.db, `account_id = $1 AND state = 'active' AND sms_capable ORDER BY id DESC`, owner)
}

// Get is one number of the account.
func (n *Numbers) Get(ctx context.Context, q db.Q, owner accounts.ID, id ID) (Number, error) {
	return n.one(ctx, q, `account_id = $1 AND id = $2 AND`+owned, owner, id)
}

// Of are the numbers of the account with the given ids, or with nil all, by id.
func (n *Numbers) Of(ctx context.Context, q db.Q, owner accounts.ID, asked []ID) ([]Number, error) {
	if asked == nil {
		return n.query(ctx, q, `account_id = $1 AND`+owned+` ORDER BY id`, owner)
	}
	if len(asked) == 0 {
		return nil, nil
	}
	in, args := db.In(2, asked)
	return n.query(ctx, q, `account_id = $1 AND`+owned+` AND id IN `+in+` ORDER BY id`, append([]any{owner}, args...)...)
}

// Line is a number that calls may leave with, or come to, whoever owns it.
func (n *Numbers) Line(ctx context.Context, q db.Q, id ID) (Number, error) {
	return n.one(ctx, q, `id = $1 AND`+owned, id)
}

// locked is a number of the account that nobody else changes until tx ends.
func (n *Numbers) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) (Number, error) {
	return n.one(ctx, tx, `account_id = $1 AND id = $2 {{lock}}`, owner, id)
}

// Bought finds the dedicated number that the installation's carrier delivers calls for.
func (n *Numbers) Bought(ctx context.Context, q db.Q, number string) (Number, error) {
	return n.one(ctx, q, `number = $1 AND type = 'normal' AND`+owned, number)
}

// Oldest is the account's oldest number that can place calls.
func (n *Numbers) Oldest(ctx context.Context, q db.Q, owner accounts.ID) (Number, error) {
	return n.one(ctx, q, `account_id = $1 AND`+owned+` ORDER BY id LIMIT 1`, owner)
}

// Named finds a number of the account in E.164, one that can send texts first.
func (n *Numbers) Named(ctx context.Context, q db.Q, owner accounts.ID, number string) (Number, error) {
	return n.one(ctx, q, `account_id = $1 AND number = $2 AND`+owned+` ORDER BY CASE WHEN sms_capable THEN 0 ELSE 1 END, id LIMIT 1`,
		owner, number)
}

// Rename sets or, with nil, clears the nickname.
func (n *Numbers) Rename(ctx context.Context, owner accounts.ID, id ID, nickname *string) (Number, error) {
	count, err := n.db.Exec(ctx, `UPDATE phone_numbers SET nickname = $3, updated_at = $4 WHERE account_id = $1 AND id = $2 AND`+owned,
		owner, id, nickname, db.At(n.db.Now()))
	if err != nil {
		return Number{}, err
	}
	if count == 0 {
		return Number{}, ErrNotFound
	}
	return n.Get(ctx, n.db, owner, id)
}

// taken reports whether a number is on this installation, whoever has it.
func (n *Numbers) taken(ctx context.Context, q db.Q, number string) (bool, error) {
	var count int
	err := q.Get(ctx, &count, `SELECT count(*) FROM phone_numbers WHERE number = $1 AND state IN ('buying', 'undoing', 'active', 'scheduled')`,
		number)
	return count > 0, err
}
