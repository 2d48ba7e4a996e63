package assistants

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// A page of assistants is found by an index, from either end, and their number and that of a folder's without reading them
// (contract 4.5, 1.13).
func TestListIndexes(t *testing.T) {
	const n = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, x := range []struct {
			query string
			rows  int
		}{
			{`INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
				` + n + `SELECT 'A', i || '@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1 FROM n`, 40},
			{`INSERT INTO assistants (account_id, uuid, name, type, mode, status, settings, created_at, updated_at, deleted_at)
				` + n + `SELECT 1 + i % 40, 'a' || i, 'A', 'inbound', 'pipeline', 'active', '{}', 1, 1, CASE WHEN i % 3 = 0 THEN 1 END FROM n`, 4000},
		} {
			if _, err := d.Exec(t.Context(), x.query, x.rows); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.Settle(t, d)
		for _, offset := range []int{0, 900} {
			query, args := pageOf(1, 1000, offset, 15)
			dbtest.ByIndex(t, d, "assistants_listed", query, args...)
		}
		dbtest.ByIndex(t, d, "list_counts", `SELECT sum(n) FROM `+db.Counted("assistants", `account_id = $1`, false), 1)
		dbtest.ByIndex(t, d, "list_counts", Folders(d).query(`AND g.id = $2`), 1, 1)
	})
}
