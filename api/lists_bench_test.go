package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

// listSizes are the rows of each table at which the lists are read.
var listSizes = []int{1_000, 100_000, 1_000_000}

// lists are the routes that give part of a table; {id} is the campaign.
var lists = []string{
	"/user/calls", "/user/calls?per_page=100", "/user/calls?status=completed", "/user/calls?status=failed", "/user/calls?status=in-progress",
	"/user/calls?type=inbound", "/user/calls?type=web", "/user/calls?assistant_id=1", "/user/calls?campaign_id={id}", "/user/calls?campaign_id=999",
	"/user/calls?date_from=2026-01-05&date_to=2026-01-05", "/user/calls?date_from=2026-01-20", "/user/calls?phone_number=4917",
	"/user/leads", "/user/leads?campaign_id={id}", "/user/leads?date_from=2026-01-05&date_to=2026-01-05",
	"/user/leads?status=blacklisted", "/user/leads?status=blacklisted&campaign_id={id}",
	"/user/assistants/get", "/user/assistants/get?per_page=100",
	"/user/conversations", "/user/conversations?type=whatsapp", "/user/conversations?assistant_id=1", "/user/conversations?customer_phone=%2B49170000000077",
	"/user/webhook-deliveries", "/user/webhook-deliveries?status=failed", "/user/webhook-deliveries?call_id=77",
	"/user/whatsapp/senders", "/user/campaigns",
}

// BenchmarkLists reads every list at 10³, 10⁵ and 10⁶ rows in each table, on both databases, and prints what a request
// costs and the ratio of the largest to the smallest. Counts are warm: the first of a filter in a process's life reads
// the whole index once, and is printed beside.
func BenchmarkLists(b *testing.B) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := apitest.New(b, open(b))
			w := listWorld(b, s)
			times := map[string][]float64{}
			var cold []float64
			for _, rows := range listSizes {
				w.fill(rows)
				for _, route := range lists {
					first, each := w.read(route)
					times[route] = append(times[route], each.Seconds()*1000)
					if rows == listSizes[len(listSizes)-1] {
						cold = append(cold, first.Seconds()*1000)
					}
				}
			}
			t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintf(t, "\n%s\t10³ ms\t10⁵ ms\t10⁶ ms\t10⁶ : 10³\tfirst ms\t\n", name)
			worst := 0.0
			for i, route := range lists {
				ms := times[route]
				worst = max(worst, ms[2]/ms[0])
				fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.1f ×\t%.1f\t\n", route, ms[0], ms[1], ms[2], ms[2]/ms[0], cold[i])
			}
			if err := t.Flush(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(worst, "worst-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// listed is an account whose tables grow.
type listed struct {
	b        *testing.B
	s        *apitest.Server
	campaign string
	have     int
}

func listWorld(b *testing.B, s *apitest.Server) *listed {
	world(s)
	desk := s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1}`).Want(201).Text("data.id")
	campaign := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
	return &listed{b: b, s: s, campaign: campaign}
}

// fill brings the tables to so many rows: January 2026, a few of everything that a filter may look for.
func (w *listed) fill(rows int) {
	w.b.Helper()
	const numbers = `WITH RECURSIVE n(i) AS (SELECT CAST($1 AS BIGINT) + 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT)) `
	const at = `1767225600000000 + CAST(i AS BIGINT) * 2592000` // 10⁶ rows are a month
	for _, query := range []string{
		`INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, client_phone, client_digits, campaign_id, snapshot, input_variables, variables,
			evaluation, entries, answered_by, currency, settled, created_real, created_at, updated_at)
			SELECT 1, 'c' || i, CASE WHEN i % 1000 = 0 THEN 'web' WHEN i % 2 = 0 THEN 'inbound' ELSE 'outbound' END, CASE WHEN i % 1000 = 1 THEN 'failed' ELSE 'completed' END,
			'customer', 1, 'Desk', '+491700' || i, '491700' || i, CASE WHEN i % 3 = 0 THEN CAST($3 AS BIGINT) END, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', TRUE, ` + at + `, ` + at + `, ` + at + ` FROM n`,
		`INSERT INTO leads (account_id, campaign_id, phone_number, status, attempts, round, dial_no, created_at, updated_at)
			SELECT 1, CAST($3 AS BIGINT), '+491700' || i, CASE WHEN i % 1000 = 1 THEN 'blacklisted' ELSE 'completed' END, 1, 0, 1, ` + at + `, ` + at + ` FROM n`,
		`INSERT INTO assistants (account_id, uuid, name, type, mode, status, settings, created_at, updated_at)
			SELECT 1, 'a' || i, 'Desk ' || i, 'inbound', 'pipeline', 'inactive', (SELECT settings FROM assistants WHERE id = 1), ` + at + `, ` + at + ` + 0 * CAST($3 AS BIGINT) FROM n`,
		`INSERT INTO conversations (account_id, uuid, assistant_id, speaker_id, type, state, customer_phone, created_at, updated_at, last_message_at)
			SELECT 1, 'v' || i, 1, 1, CASE WHEN i % 3 = 0 THEN 'whatsapp' ELSE 'widget' END, 'ended', '+4917000000' || i, ` + at + `, ` + at + `, ` + at + ` + 0 * CAST($3 AS BIGINT) FROM n`,
		`INSERT INTO webhook_deliveries (account_id, webhook_id, event, url, host, stream, patience, secret_scope, body, call_id, status, created_at)
			SELECT 1, 'w' || i, 'call.completed', 'https://p.example/', 'p.example', 's', 0, 'account:1', '{}', i, CASE WHEN i % 1000 = 1 THEN 'failed' ELSE 'succeeded' END, ` + at + ` + 0 * CAST($3 AS BIGINT) FROM n`,
	} {
		if _, err := w.s.DB.Exec(w.b.Context(), numbers+query, w.have, rows, w.campaign); err != nil {
			w.b.Fatal(err)
		}
	}
	w.have = rows
	for _, table := range []string{"calls", "leads", "assistants", "conversations", "webhook_deliveries"} {
		query := `ANALYZE ` + table
		if w.s.DB.Postgres() {
			query = `VACUUM ANALYZE ` + table // as the server does by itself after a while
		}
		if _, err := w.s.DB.Exec(w.b.Context(), query); err != nil {
			w.b.Fatal(err)
		}
	}
}

// read asks a list for its first page: how long the first request took, and the median of more.
func (w *listed) read(route string) (first, each time.Duration) {
	w.b.Helper()
	path := "/api" + route
	if n := len("{id}"); len(path) > n && path[len(path)-n:] == "{id}" {
		path = path[:len(path)-n] + w.campaign
	}
	var all []time.Duration
	for range 25 {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+w.s.Token)
		answer := httptest.NewRecorder()
		began := time.Now()
		w.s.API.ServeHTTP(answer, r)
		all = append(all, time.Since(began))
		if answer.Code != http.StatusOK {
			w.b.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	first = all[0]
	slices.Sort(all[1:])
	return first, all[len(all)/2]
}
