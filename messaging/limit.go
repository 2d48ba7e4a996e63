package messaging

import (
	"context"
	"time"

	"parley/db"
)

// Rate admits five sends of a kind in any second of real time, exactly, however many processes ask: the last five times
// stand in one row, and one guarded write decides.
type Rate struct {
	DB   *db.DB
	Kind string // "template" or "freeform"
}

// PerSecond is the number of sends admitted in any second.
const PerSecond = 5

// Take asks for one send. left is how many more fit into this second; a refused one is told when to come again.
func (r Rate) Take(ctx context.Context, owner int64) (left int, again time.Time, err error) {
	now := time.Now()
	var row struct {
		T1 int64 `db:"t1"`
		T2 int64 `db:"t2"`
		T3 int64 `db:"t3"`
		T4 int64 `db:"t4"`
	}
	us := now.UnixMicro()
	n, err := r.DB.Exec(ctx, `INSERT INTO send_rates (account_id, kind, t1, t2, t3, t4, t5) VALUES ($1, $2, 0, 0, 0, 0, $3)
		ON CONFLICT (account_id, kind) DO UPDATE SET t1 = send_rates.t2, t2 = send_rates.t3, t3 = send_rates.t4, t4 = send_rates.t5,
		t5 = CASE WHEN excluded.t5 > send_rates.t5 THEN excluded.t5 ELSE send_rates.t5 END
		WHERE send_rates.t1 <= excluded.t5 - 1000000`, owner, r.Kind, us)
	if err != nil {
		return 0, now, err
	}
	if err := r.DB.Get(ctx, &row, `SELECT t1, t2, t3, t4 FROM send_rates WHERE account_id = $1 AND kind = $2`, owner, r.Kind); err != nil {
		return 0, now, err
	}
	if n == 0 {
		return 0, time.UnixMicro(row.T1).Add(time.Second), nil
	}
	for _, t := range []int64{row.T1, row.T2, row.T3, row.T4} {
		if t <= us-1_000_000 {
			left++
		}
	}
	return left, time.Time{}, nil
}
