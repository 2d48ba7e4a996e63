package db_test

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// A count stays exact while rows are added, removed and hidden; two processes agree.
func TestTally(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := d.Exec(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		var owner int64
		if err := d.Get(t.Context(), &owner, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at) VALUES ('A', 'a@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1) RETURNING id`); err != nil {
			t.Fatal(err)
		}
		const fill = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO sms (account_id, from_number, to_number, body, segments, price, ref, status, created_at)
			SELECT CAST($1 AS BIGINT), '', CASE WHEN i % 3 = 0 THEN 'third' ELSE '' END, '', 1, 0, CAST($2 AS TEXT) || i, 'sent', CAST($3 AS BIGINT) FROM n`
		here, there := db.NewTally("sms", d.SettledUpTo("sms")), db.NewTally("sms", d.SettledUpTo("sms"))
		check := func(all, third int) {
			t.Helper()
			for _, y := range []*db.Tally{here, there, here} {
				n, err := y.Count(t.Context(), d, owner, `account_id = $1`, owner)
				m, err2 := y.Count(t.Context(), d, owner, `account_id = $1 AND to_number = $2`, owner, "third")
				if n != all || m != third || err != nil || err2 != nil {
					t.Errorf("%d and %d, want %d and %d (%v, %v)", n, m, all, third, err, err2)
				}
			}
		}
		check(0, 0)
		exec(fill, owner, "old", 1) // settled
		check(1200, 400)
		exec(fill, owner, "new", int64(db.At(d.Now())))
		check(2400, 800)
		exec(`DELETE FROM sms WHERE ref = 'old3'`)
		if err := here.Removed(t.Context(), d, owner); err != nil {
			t.Fatal(err)
		}
		check(2399, 799)
		exec(`UPDATE sms SET created_at = 1`)
		check(2399, 799)
		exec(`INSERT INTO sms (account_id, from_number, to_number, body, segments, price, ref, status, created_at) VALUES ($1, '', 'third', '', 1, 0, 'one', 'sent', 1)`, owner)
		check(2400, 800)
	})
}
