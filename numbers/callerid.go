package numbers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

// A code for a Caller ID lives so long, may be tried so often, and only so many are sent to a number of an account in a day.
const (
	codeLife  = 10 * time.Minute
	codeTries = 5
	codesSent = 5
)

// AddCallerID sends a code to a number that the account wants to show. Asking again sends another code.
func (n *Numbers) AddCallerID(ctx context.Context, owner accounts.ID, number string) (ID, error) {
	if !strict.MatchString(number) || country(number) == "" {
		return 0, errUnreadable
	}
	if !n.cfg.Phones.Allows(number) {
		return 0, errUncallable
	}
	code, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return 0, err
	}
	text := fmt.Sprintf("%06d", code)
	id, err := n.pending(ctx, owner, number, text)
	if err != nil {
		return 0, err
	}
	return id, n.cfg.CallerIDs.SendCode(ctx, owner, number, text)
}

// pending stores the code, never in the clear.
func (n *Numbers) pending(ctx context.Context, owner accounts.ID, number, code string) (id ID, err error) {
	now := n.db.Now()
	err = n.db.Do(ctx, func(tx *db.Tx) error {
		var have []Number
		if have, err = n.query(ctx, tx, `account_id = $1 AND number = $2 AND`+owned, owner, number); err != nil {
			return err
		}
		if len(have) > 0 {
			return errTaken
		}
		if err := tx.Get(ctx, &id, `INSERT INTO phone_numbers (account_id, number, country_code, type, state, code, code_until, codes_sent, created_at, updated_at)
			VALUES ($1, $2, $3, 'caller_id', 'pending', $4, $5, 0, $6, $6)
			ON CONFLICT (account_id, number) WHERE type = 'caller_id' DO UPDATE SET code = excluded.code, code_until = excluded.code_until,
				code_tries = 0, codes_sent = phone_numbers.codes_sent RETURNING id`,
			owner, number, country(number), "", db.At(now.Add(codeLife)), db.At(now)); err != nil {
			return err
		}
		count, err := tx.Exec(ctx, `UPDATE phone_numbers SET code = $2, updated_at = $3,
			codes_sent = CASE WHEN updated_at < $4 THEN 1 ELSE codes_sent + 1 END
			WHERE id = $1 AND state = 'pending' AND (codes_sent < $5 OR updated_at < $4)`,
			id, digest(id, code), db.At(now), db.At(now.Add(-24*time.Hour)), codesSent)
		if err == nil && count == 0 {
			err = errTooManyCodes
		}
		return err
	})
	return id, err
}

func digest(id ID, code string) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", id, code))
	return hex.EncodeToString(h[:])
}

// VerifyCallerID makes a pending Caller ID the account's when the code is right.
func (n *Numbers) VerifyCallerID(ctx context.Context, owner accounts.ID, id ID, code string) (Number, error) {
	x, err := n.one(ctx, n.db, `account_id = $1 AND id = $2 AND type = 'caller_id'`, owner, id)
	if err != nil {
		return x, err
	}
	if x.State == Active {
		return x, nil
	}
	if right, err := n.tryCode(ctx, id, code); err != nil {
		return x, err
	} else if !right {
		return x, fault.Input(fault.Bad("code", "in"))
	}
	if err := n.cfg.CallerIDs.Allow(ctx, owner, x.Number); err != nil {
		return x, err
	}
	_, err = n.db.Exec(ctx, `UPDATE phone_numbers SET state = 'active', code = NULL, code_until = NULL, updated_at = $2
		WHERE id = $1 AND state = 'pending'`, id, db.At(n.db.Now()))
	if err != nil {
		return x, err
	}
	return n.Get(ctx, n.db, owner, id)
}

// PendingCallerID finds what a code can be given for.
func (n *Numbers) PendingCallerID(ctx context.Context, owner accounts.ID, id ID) error {
	_, err := n.one(ctx, n.db, `account_id = $1 AND id = $2 AND type = 'caller_id'`, owner, id)
	return err
}

// tryCode counts the try before it looks, so that codes cannot be guessed in parallel.
func (n *Numbers) tryCode(ctx context.Context, id ID, code string) (bool, error) {
	var want string
	err := n.db.Do(ctx, func(tx *db.Tx) error {
		return tx.Get(ctx, &want, `UPDATE phone_numbers SET code_tries = code_tries + 1
			WHERE id = $1 AND state = 'pending' AND code_tries < $2 AND code_until > $3 RETURNING code`, id, codeTries, db.At(n.db.Now()))
	})
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(digest(id, code))) == 1, err
}
