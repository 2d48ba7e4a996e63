// Package once has a request that carries an idempotency key do what it asks for once, however often it is sent, in
// whatever processes, and whenever one of them dies.
package once

import (
	"context"
	"errors"

	"parley/db"
	"parley/fault"
)

// Errors of a key that cannot be used now.
var (
	ErrReused  error = fault.General(fault.Conflict, "Idempotency key already used with a different request.")
	ErrRunning error = &fault.Fault{Kind: fault.Conflict, General: true, RetryAfter: 1,
		Message: "A request with this idempotency key is still in progress."}
)

// Claim is one try to do what a key asks for. Until it is over no other try does anything.
type Claim struct {
	Old *Answer // what was answered before; with it there is nothing to do

	store   *Store
	account int64
	name    string
	ref     string // of the effect, the same for every try
	holder  string // this try
	begun   bool   // an earlier try recorded something under ref
	ending  []func(tx *db.Tx) error
}

// Answer is what a request was answered.
type Answer struct {
	Status int
	Body   []byte
}

// held is the condition that this try holds the claim.
const held = `account_id = $1 AND name = $2 AND holder = $3 AND status = 0`

type claimKey struct{}

// In gives what is done under a context the claim.
func (c *Claim) In(ctx context.Context) context.Context { return context.WithValue(ctx, claimKey{}, c) }

func claimOf(ctx context.Context) *Claim {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	return c
}

// Ref names what is done for the request of ctx at a vendor or on a line, where no transaction reaches: the same name for
// every try; empty for a request without a key. again says that an earlier try recorded something under it, of
// which the answer is to be made.
func Ref(ctx context.Context) (ref string, again bool) {
	if c := claimOf(ctx); c != nil {
		return c.ref, c.begun
	}
	return "", false
}

// Begun belongs into the transaction that records the effect under its [Ref], before a vendor is asked. It fails when
// another try has taken over meanwhile.
func Begun(ctx context.Context, tx *db.Tx) error {
	c := claimOf(ctx)
	if c == nil {
		return nil
	}
	return c.still(tx.Exec(ctx, `UPDATE idempotency SET begun = TRUE WHERE `+held, c.account, c.name, c.holder))
}

// Ending runs fn in the transaction that ends the claim of ctx, with the answer or because the request was refused: what
// forgets a failure, so that a try after a crash still finds it. Without a claim it runs at once.
func Ending(ctx context.Context, d *db.DB, fn func(tx *db.Tx) error) error {
	c := claimOf(ctx)
	if c == nil {
		return d.Do(ctx, fn)
	}
	c.ending = append(c.ending, fn)
	return nil
}

// Settle runs an effect and stores its answer. Together they are one transaction, for an effect that is in the database
// alone: then the effect starts over when another transaction was in the way.
func (c *Claim) Settle(ctx context.Context, together bool, effect func(ctx context.Context) (Answer, error)) error {
	settle := func(ctx context.Context) error {
		a, err := effect(ctx)
		if err != nil {
			return err
		}
		if !together { // what was done stays done, whether or not the client still waits
			ctx = context.WithoutCancel(ctx)
		}
		return c.end(ctx, `UPDATE idempotency SET status = $4, body = $5 WHERE `+held, a.Status, a.Body)
	}
	defer c.store.forget(c.holder)
	if together {
		return c.store.db.Together(c.In(ctx), settle)
	}
	return settle(c.In(ctx))
}

// Refused forgets the claim: nothing took effect, or it was taken back.
func (c *Claim) Refused(ctx context.Context) error {
	err := c.end(context.WithoutCancel(ctx), `DELETE FROM idempotency WHERE `+held)
	if errors.Is(err, ErrRunning) {
		return nil
	}
	return err
}

// Leave gives the claim up without an outcome. Of a claim of which nothing took effect nothing stays.
func (c *Claim) Leave(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	c.store.forget(c.holder)
	return c.store.db.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM idempotency WHERE NOT begun AND `+held, c.account, c.name, c.holder); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE idempotency SET lease_real = 0 WHERE `+held, c.account, c.name, c.holder)
		return err
	})
}

// end writes the end of the claim, with what was left for it.
func (c *Claim) end(ctx context.Context, query string, args ...any) error {
	defer c.store.forget(c.holder)
	return c.store.db.Do(ctx, func(tx *db.Tx) error {
		for _, fn := range c.ending {
			if err := fn(tx); err != nil {
				return err
			}
		}
		return c.still(tx.Exec(ctx, query, append([]any{c.account, c.name, c.holder}, args...)...))
	})
}

// still reads the outcome of a statement that this try may make only while it holds the claim.
func (c *Claim) still(n int64, err error) error {
	if err == nil && n == 0 {
		return ErrRunning
	}
	return err
}
