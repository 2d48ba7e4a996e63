package webhooks

import (
	"strings"
	"testing"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
)

// Every filter of the delivery log finds its page by an index that has the order too (contract 18.1, 1.13).
func TestListIndexes(t *testing.T) {
	const n = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, x := range []struct {
			query string
			rows  int
		}{
			{`INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
				` + n + `SELECT 'A', i || '@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1 FROM n`, 40},
			{`INSERT INTO webhook_deliveries (account_id, webhook_id, event, url, host, stream, patience, secret_scope, body, call_id, conversation_id, status, created_at)
				` + n + `SELECT 1 + i % 40, 'w' || i, CASE WHEN i % 3 = 0 THEN 'call.completed' ELSE 'conversation.ended' END, 'u', 'h', 's', 0, 'a', '{}', i / 4, i / 4,
					CASE WHEN i % 7 = 0 THEN 'failed' ELSE 'succeeded' END, 1 FROM n`, 4000},
		} {
			if _, err := d.Exec(t.Context(), x.query, x.rows); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.Settle(t, d)
		for _, x := range []struct {
			Filter
			index string
		}{
			{Filter{}, "webhook_deliveries_account"},
			{Filter{Status: "failed"}, "webhook_deliveries_status"},
			{Filter{Status: "succeeded"}, "webhook_deliveries_status"},
			{Filter{Event: CallCompleted}, "webhook_deliveries_event"},
			{Filter{CallID: 7}, "webhook_deliveries_call"},
			{Filter{ConversationID: 7}, "webhook_deliveries_conversation"},
		} {
			for _, at := range []Place{{}, {Before: 3000}, {After: 1000}} {
				rest, args := x.rest(1, at, 15)
				dbtest.ByIndex(t, d, x.index, `SELECT `+columns+from+` WHERE `+rest, args...)
			}
		}
		query, args := results(1, []calls.ID{1, 2, 3})
		if plan := dbtest.Plan(t, d, query, args...); !strings.Contains(plan, "webhook_deliveries_call") {
			t.Errorf("the answers about calls:\n%s", plan)
		}
	})
}
