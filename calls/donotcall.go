package calls

import (
	"context"
	"fmt"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

// Blocked is a number that an account never calls.
type Blocked struct {
	ID        int64   `db:"id"`
	Phone     string  `db:"phone"` // E.164
	Reason    *string `db:"reason"`
	CreatedAt db.Time `db:"created_at"`
}

// Block puts a number on the do-not-call list. One that is there already stays as it is, unless a reason is given.
func (c *Calls) Block(ctx context.Context, owner accounts.ID, phone, reason string) (Blocked, error) {
	var b Blocked
	err := c.db.Do(ctx, func(tx *db.Tx) error {
		err := tx.Get(ctx, &b, `INSERT INTO do_not_call (account_id, phone, reason, created_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, phone) DO UPDATE SET reason = coalesce(excluded.reason, do_not_call.reason)
			RETURNING id, phone, reason, created_at`, owner, phone, null(reason), db.At(tx.Now()))
		if err != nil {
			return fmt.Errorf("block number: %w", err)
		}
		if c.beside.Blocked == nil {
			return nil
		}
		return c.beside.Blocked(ctx, tx, owner, phone)
	})
	return b, err
}

// Unblock takes a number off the list.
func (c *Calls) Unblock(ctx context.Context, owner accounts.ID, id int64) error {
	n, err := c.db.Exec(ctx, `DELETE FROM do_not_call WHERE id = $1 AND account_id = $2`, id, owner)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "", "No entry with this id exists in your do-not-call list.")
	}
	return err
}

// BlockedList is the whole list, newest first.
func (c *Calls) BlockedList(ctx context.Context, q db.Q, owner accounts.ID) ([]Blocked, error) {
	out := []Blocked{}
	err := q.Select(ctx, &out, `SELECT id, phone, reason, created_at FROM do_not_call WHERE account_id = $1 ORDER BY id DESC`, owner)
	return out, err
}

// IsBlocked tells which of the numbers are on the list.
func (c *Calls) IsBlocked(ctx context.Context, q db.Q, owner accounts.ID, phones ...string) (map[string]bool, error) {
	out := map[string]bool{}
	in, args := db.In(2, phones)
	var found []string
	err := q.Select(ctx, &found, `SELECT phone FROM do_not_call WHERE account_id = $1 AND phone IN `+in, append([]any{owner}, args...)...)
	for _, p := range found {
		out[p] = true
	}
	return out, err
}
