package messaging

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

// Rate admits five sends of a kind in any second of real time, exactly, however many processes ask: the last five times
// stand in one row, and one guarded write decides.
type Rate struct {
	DB   *db.DB
	Kind string // "template" or "freeform"
}

// PerSecond is the number of sends admitted in any second.
const PerSecond = 5

type times struct {
	T1 int64 `db:"t1"`
	T2 int64 `db:"t2"`
	T3 int64 `db:"t3"`
	T4 int64 `db:"t4"`
	T5 int64 `db:"t5"`
}

// Left is what remains of the limit: how many sends are admitted now, or with none, when the next one is.
type Left struct {
	Remaining int
	Reset     time.Time
}

// left is the state of the limit at a moment: the next send needs the oldest of the five to be a second old.
func (t times) left(now time.Time) Left {
	q := Left{Reset: now}
	for _, at := range []int64{t.T1, t.T2, t.T3, t.T4, t.T5} {
		if at <= now.UnixMicro()-1_000_000 {
			q.Remaining++
		}
	}
	if q.Remaining == 0 {
		q.Reset = time.UnixMicro(t.T1).Add(time.Second)
	}
	return q
}

// Peek tells whether a send would be admitted now, without counting it.
func (r Rate) Peek(ctx context.Context, owner accounts.ID) (Left, error) {
	return r.peek(ctx, r.DB, owner)
}

func (r Rate) peek(ctx context.Context, q db.Q, owner accounts.ID) (Left, error) {
	var t times
	err := q.Get(ctx, &t, `SELECT t1, t2, t3, t4, t5 FROM send_rates WHERE account_id = $1 AND kind = $2`, owner, r.Kind)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return t.left(time.Now()), err
}

// Take counts one send, or refuses it. In a transaction that fails afterwards the send was not counted.
func (r Rate) Take(ctx context.Context, q db.Q, owner accounts.ID) error {
	now := time.Now()
	n, err := q.Exec(ctx, `INSERT INTO send_rates (account_id, kind, t1, t2, t3, t4, t5) VALUES ($1, $2, 0, 0, 0, 0, $3)
		ON CONFLICT (account_id, kind) DO UPDATE SET t1 = send_rates.t2, t2 = send_rates.t3, t3 = send_rates.t4, t4 = send_rates.t5,
		t5 = CASE WHEN excluded.t5 > send_rates.t5 THEN excluded.t5 ELSE send_rates.t5 END
		WHERE send_rates.t1 <= excluded.t5 - 1000000`, owner, r.Kind, now.UnixMicro())
	if err != nil || n > 0 {
		return err
	}
	left, err := r.peek(ctx, q, owner)
	if err != nil {
		return err
	}
	return fault.Exceeded(PerSecond, left.Reset)
}
