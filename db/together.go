package db

import (
	"context"
	"sync/atomic"
)

// Together makes everything that fn does on d under the context it gets one transaction, in whatever rooms: the first
// write begins it; it is committed when fn returns nil, and rolled back otherwise. Reads see what was written. When
// another transaction was in the way fn starts again, as with [DB.Do]. fn must not use that context in two goroutines at
// once, nor write under another one. What is left for [Tx.After] happens after the commit of the whole; from then on the
// context is like any other.
func (d *DB) Together(ctx context.Context, fn func(ctx context.Context) error) error {
	if d.joint(ctx) != nil {
		return fn(ctx)
	}
	return d.retried(ctx, func() error {
		j := &joint{db: d}
		defer j.close()
		if err := fn(context.WithValue(ctx, jointKey{d}, j)); err != nil || j.tx == nil {
			return err
		}
		if err := j.tx.commit(ctx); err != nil {
			return err
		}
		j.close()
		j.tx.committed()
		return nil
	})
}

// Apart is ctx without the transaction of [DB.Together], for what is to last even if that is rolled back. It may be used
// before the transaction has written anything.
func Apart(ctx context.Context) context.Context { return apart{ctx} }

type apart struct{ context.Context }

func (a apart) Value(key any) any {
	if _, is := key.(jointKey); is {
		return nil
	}
	return a.Context.Value(key)
}

// joint is a transaction that a context carries.
type joint struct {
	db   *DB
	tx   *Tx // nil until something is written
	over atomic.Bool
}

type jointKey struct{ *DB }

// joint is the transaction that ctx carries for d, nil when there is none or it is over.
func (d *DB) joint(ctx context.Context) *joint {
	j, _ := ctx.Value(jointKey{d}).(*joint)
	if j == nil || j.over.Load() {
		return nil
	}
	return j
}

// do runs a part. What a failed one did is taken back, and the whole may go on.
func (j *joint) do(ctx context.Context, fn func(tx *Tx) error) (err error) {
	if j.tx == nil {
		if j.tx, err = j.db.begin(ctx); err != nil {
			j.tx = nil
			return err
		}
	}
	if _, err := j.tx.Exec(ctx, `SAVEPOINT part`); err != nil {
		return err
	}
	before := len(j.tx.after)
	if err = fn(j.tx); err == nil {
		_, err = j.tx.Exec(ctx, `RELEASE SAVEPOINT part`)
		return err
	}
	j.tx.after = j.tx.after[:before]
	still := context.WithoutCancel(ctx)
	for _, back := range []string{`ROLLBACK TO SAVEPOINT part`, `RELEASE SAVEPOINT part`} {
		if _, lost := j.tx.Exec(still, back); lost != nil {
			break // nothing more can be done in this transaction, and its commit will say so
		}
	}
	return err
}

// close frees the connection; what was not committed is rolled back.
func (j *joint) close() {
	if !j.over.Swap(true) && j.tx != nil {
		j.tx.close()
	}
}
