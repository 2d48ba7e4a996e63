package chats

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/value"
)

// Every filter of the list of conversations finds its page by an index that has the order too (contract 13.5, 1.13).
func TestListIndexes(t *testing.T) {
	const n = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, x := range []struct {
			query string
			rows  int
		}{
			{`INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
				` + n + `SELECT 'A', i || '@p.example', 'direct', 'UTC', '{}', 'ok', 1, 1 FROM n`, 40},
			{`INSERT INTO assistants (account_id, uuid, name, type, mode, status, settings, created_at, updated_at)
				` + n + `SELECT 1 + i % 40, 'a' || i, 'A', 'inbound', 'pipeline', 'active', '{}', 1, 1 FROM n`, 80},
			{`INSERT INTO conversations (account_id, uuid, assistant_id, type, state, external_identifier, sender_phone, customer_phone, created_at, updated_at, last_message_at)
				` + n + `SELECT 1 + i % 40, 'v' || i, 1 + i % 80, CASE WHEN i % 3 = 0 THEN 'whatsapp' ELSE 'widget' END, 'ended', 'x' || i % 9, '+49' || i % 11, '+48' || i % 7, 1, i, 1 FROM n`, 4000},
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
			{Filter{}, "conversations_account"},
			{Filter{Type: "whatsapp"}, "conversations_type"},
			{Filter{Assistant: value.Ref{ID: 1}}, "conversations_assistant"},
			{Filter{CustomerPhone: "+481"}, "conversations_customer"},
			{Filter{SenderPhone: "+491"}, "conversations_sender_phone"},
			{Filter{External: "x1"}, "conversations_identifier"},
		} {
			for _, at := range []Place{{}, {At: 3000, ID: 3000}, {At: 3000, ID: 3000, Newer: true}} {
				rest, args := x.rest(1, at, 15)
				dbtest.ByIndex(t, d, x.index, `SELECT `+columns+from+` WHERE `+rest, args...)
			}
		}
	})
}
