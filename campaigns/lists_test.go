package campaigns

import (
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// Every filter of the list of leads finds its page by an index that has the order too, from either end, and the totals of
// leads and campaigns are found without reading leads (contract 7.3, 6.3, 1.13).
func TestListIndexes(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const n = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, x := range []struct {
			query string
			rows  int
		}{
			{`INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
				` + n + `SELECT 'A', i || '@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1 FROM n`, 40},
			{`INSERT INTO campaigns (account_id, name, status, settings, completes, created_at, updated_at)
				` + n + `SELECT 1 + i % 40, 'C', 'draft', '{}', FALSE, 1, 1 FROM n`, 80},
			{`INSERT INTO leads (account_id, campaign_id, phone_number, status, attempts, round, dial_no, created_at, updated_at)
				` + n + `SELECT 1 + i % 40, 1 + i % 80, '+49170' || i, CASE WHEN i % 3 = 0 THEN 'created' ELSE 'completed' END, 0, 0, 0,
					CAST(1767225600000000 + i * CAST(10000000000 AS BIGINT) AS BIGINT), 1 FROM n`, 4000},
		} {
			if _, err := d.Exec(t.Context(), x.query, x.rows); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.Settle(t, d)
		for _, x := range []struct {
			LeadFilter
			index string
		}{
			{LeadFilter{}, "leads_account"},
			{LeadFilter{Status: Created}, "leads_status"},
			{LeadFilter{Status: Done}, "leads_status"},
			{LeadFilter{Campaign: 1}, "leads_campaign"},
			{LeadFilter{Campaign: 1, Status: Done}, "leads_campaign_status"},
			{LeadFilter{From: day}, "leads_created"},
			{LeadFilter{To: day}, "leads_created"},
			{LeadFilter{Phone: "4917"}, "leads_account"},
		} {
			for _, offset := range []int{0, 900} {
				query, _, args := x.page(1, 1000, offset, 15)
				dbtest.ByIndex(t, d, x.index, query, args...)
			}
			if where, args := x.where(1); x.Phone == "" {
				dbtest.ByIndex(t, d, "list_counts", `SELECT sum(n) FROM `+db.Counted("leads", where, x.span()), args...)
			}
		}
		query, args := counts([]ID{1, 2})
		dbtest.ByIndex(t, d, "list_counts", query, args...)
	})
}
