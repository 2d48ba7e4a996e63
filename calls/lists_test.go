package calls

import (
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// Every filter of the list finds its page by an index that has the order too, from either end, and its total without
// reading the account's calls (contract 5.3, 1.13).
func TestListIndexes(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fillCalls(t, d)
		for _, x := range []struct {
			Filter
			index string
		}{
			{Filter{}, "calls_account"},
			{Filter{Status: Completed}, "calls_status"},
			{Filter{Status: Failed}, "calls_status"},
			{Filter{Status: Ended}, "calls_ended"},
			{Filter{Status: EndedByCustomer}, "calls_ended"},
			{Filter{Type: Web}, "calls_type"},
			{Filter{AssistantID: 1}, "calls_assistant"},
			{Filter{CampaignID: 1}, "calls_campaign"},
			{Filter{From: day}, "calls_created"},
			{Filter{To: day}, "calls_created"},
			{Filter{From: day, To: day.AddDate(0, 0, 1)}, "calls_created"},
			{Filter{Phone: "4917"}, "calls_account"},
		} {
			for _, offset := range []int{0, 900} {
				query, _, args := x.page(1, 1000, offset, 15)
				dbtest.ByIndex(t, d, x.index, query, args...)
			}
			query, args := x.total(1)
			if x.Phone != "" { // by any index of the account
				dbtest.ByIndex(t, d, "calls_", query, args...)
				continue
			}
			for _, index := range []string{"calls_open", "list_counts", "list_changes_list"} {
				dbtest.ByIndex(t, d, index, query, args...)
			}
		}
	})
}

// fillCalls puts calls of forty accounts in, so that PostgreSQL has something to plan with.
func fillCalls(t *testing.T, d *db.DB) {
	t.Helper()
	const n = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
	for _, x := range []struct {
		query string
		rows  int
	}{
		{`INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
			` + n + `SELECT 'A', i || '@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1 FROM n`, 40},
		{`INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, client_digits, campaign_id, snapshot, input_variables, variables, evaluation,
				entries, answered_by, currency, created_real, created_at, updated_at)
			` + n + `SELECT 1 + i % 40, 'c' || i, CASE WHEN i % 7 = 0 THEN 'web' ELSE 'inbound' END, CASE WHEN i % 9 = 1 THEN 'failed' ELSE 'completed' END,
				CASE WHEN i % 3 = 0 THEN 'system' ELSE 'customer' END, i % 41, 'A', '49170' || i, i % 43, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', 1,
				CAST(1767225600000000 + i * CAST(10000000000 AS BIGINT) AS BIGINT), 1 FROM n`, 4000},
	} {
		if _, err := d.Exec(t.Context(), x.query, x.rows); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.Settle(t, d)
}
