package api_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

const (
	listSmall = 1_000 // rows of each table
	listReads = 21    // of each route, after the first; fewer when they take long
	listFlat  = 2.0   // a list is flat up to this ratio
)

var listLarge = flag.Int("lists", 1_000_000, "rows of each table where BenchmarkLists reads many")

// lists are the routes that give part of a table, and which part; {id} is the campaign of a third of the calls and all leads,
// {folder} the folder of all assistants, {middle} and {last} are pages of all rows.
var lists = []struct{ route, part string }{
	{"/user/calls", "all"},
	{"/user/calls?per_page=100", "all, 100 a page"},
	{"/user/calls?page={middle}", "all, middle page"},
	{"/user/calls?page={last}", "all, last page"},
	{"/user/calls?status=completed", "nearly all"},
	{"/user/calls?status=failed", "1 in 50"},
	{"/user/calls?status=in-progress", "the newest 20"},
	{"/user/calls?status=ended_by_customer", "half"},
	{"/user/calls?status=ended", "1 in 50"},
	{"/user/calls?type=inbound", "half"},
	{"/user/calls?type=web", "1 in 50"},
	{"/user/calls?assistant_id=1", "all"},
	{"/user/calls?campaign_id={id}", "1 in 3"},
	{"/user/calls?campaign_id=999", "none"},
	{"/user/calls?status=failed&type=inbound&assistant_id=1", "none of 1 in 50"},
	{"/user/calls?status=completed&campaign_id={id}&type=inbound", "1 in 6"},
	{"/user/calls?date_from=2026-01-05&date_to=2026-01-05", "one day of 30"},
	{"/user/calls?date_from=2026-01-20", "eleven days of 30"},
	{"/user/calls?status=failed&date_from=2026-01-05&date_to=2026-01-05", "1 in 50 of a day"},
	{"/user/calls?phone_number=4917", "all"},
	{"/user/calls?phone_number=700077", "few"},
	{"/user/leads", "all"},
	{"/user/leads?page={middle}", "all, middle page"},
	{"/user/leads?page={last}", "all, last page"},
	{"/user/leads?campaign_id={id}", "all"},
	{"/user/leads?date_from=2026-01-05&date_to=2026-01-05", "one day of 30"},
	{"/user/leads?status=completed", "nearly all"},
	{"/user/leads?status=blacklisted", "1 in 50"},
	{"/user/leads?status=blacklisted&campaign_id={id}", "1 in 50"},
	{"/user/leads?status=blacklisted&date_from=2026-01-05&date_to=2026-01-05", "1 in 50 of a day"},
	{"/user/leads?phone_number=700077", "few"},
	{"/user/campaigns", "one, with all leads"},
	{"/user/assistants/get", "all"},
	{"/user/assistants/get?per_page=100", "all, 100 a page"},
	{"/user/assistants/get?per_page=15&page={last}", "all, last page"},
	{"/user/folders", "one, with all assistants"},
	{"/user/conversations", "all"},
	{"/user/conversations?type=whatsapp", "1 in 3"},
	{"/user/conversations?type=api", "none"},
	{"/user/conversations?assistant_id=1", "all"},
	{"/user/conversations?customer_phone=%2B49170000000077", "one"},
	{"/user/conversations?whatsapp_sender_phone=%2B14155550100", "none"},
	{"/user/conversations?external_identifier=nobody", "none"},
	{"/user/webhook-deliveries", "all"},
	{"/user/webhook-deliveries?status=failed", "1 in 50"},
	{"/user/webhook-deliveries?status=succeeded", "nearly all"},
	{"/user/webhook-deliveries?event=conversation.ended", "none"},
	{"/user/webhook-deliveries?call_id=77", "one"},
	{"/user/webhook-deliveries?conversation_id=77", "none"},
	{"/user/whatsapp/senders", "none"},
	{"/user/usage?from=2026-01-01&to=2026-01-30", "thirty days of the ledger"},
	{"/user/usage?from=2026-01-01&to=2026-01-30&group_by=assistant", "the same"},
}

// BenchmarkLists reads pages of every list with 10³ and with 10⁶ rows in each table, on both databases, small and large in
// turns so that a busy machine slows both, and prints the ratio of the medians, and the median with many rows.
func BenchmarkLists(b *testing.B) {
	pairs := listWorlds(b)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nroute\tfilter\tSQLite\tPostgreSQL\tms\ttarget\n")
	worst := map[string]float64{}
	for _, list := range lists {
		path, filter, _ := strings.Cut(list.route, "?")
		if filter != "" {
			filter += ": "
		}
		fmt.Fprintf(t, "%s\t%s%s", path, filter, list.part)
		var took []string
		for _, p := range pairs {
			ratio, many := p.compare(list.route)
			worst[p.name] = max(worst[p.name], ratio)
			fmt.Fprintf(t, "\t%.1f ×", ratio)
			took = append(took, fmt.Sprintf("%.1f", many.Seconds()*1000))
		}
		fmt.Fprintf(t, "\t%s\t≤ %.0f ×\n", strings.Join(took, " · "), listFlat)
	}
	if err := t.Flush(); err != nil {
		b.Fatal(err)
	}
	for name, ratio := range worst {
		b.ReportMetric(ratio, name+"-worst")
	}
	b.ReportMetric(0, "ns/op")
}

// pair is one database engine with few and with many rows.
type pair struct {
	name         string
	small, large *listed
}

// listWorlds fills all databases, one engine beside the other.
func listWorlds(b *testing.B) []pair {
	b.Helper()
	pairs := []pair{
		{"sqlite", listWorld(b, dbtest.SQLite(b)), listWorld(b, dbtest.SQLite(b))},
		{"postgres", listWorld(b, dbtest.Postgres(b)), listWorld(b, dbtest.Postgres(b))},
	}
	began := time.Now()
	errs := make([]error, len(pairs))
	var all sync.WaitGroup
	for i, p := range pairs {
		all.Go(func() {
			if errs[i] = p.small.fill(b.Context(), listSmall); errs[i] == nil {
				errs[i] = p.large.fill(b.Context(), *listLarge)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("filled in %s", time.Since(began).Round(time.Second))
	return pairs
}

// compare reads a page in turns: how much the median costs with many rows to one with few, and how much that is.
func (p pair) compare(route string) (ratio float64, took time.Duration) {
	var few, many []time.Duration
	p.small.read(route)
	p.large.read(route)
	for began := time.Now(); len(many) < 5 || len(many) < listReads && time.Since(began) < 5*time.Second; {
		few, many = append(few, p.small.read(route)), append(many, p.large.read(route))
	}
	slices.Sort(few)
	slices.Sort(many)
	took = many[len(many)/2]
	return took.Seconds() / few[len(few)/2].Seconds(), took
}

// listed is an account whose tables are filled.
type listed struct {
	b        *testing.B
	s        *apitest.Server
	campaign string
	rows     int
}

func listWorld(b *testing.B, d *db.DB) *listed {
	b.Helper()
	s := apitest.New(b, d)
	world(s)
	desk := s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1}`).Want(201).Text("data.id")
	campaign := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
	s.Send("POST /user/folders", `{"name":"All"}`).Want(201)
	return &listed{b: b, s: s, campaign: campaign}
}

// listTables are the rows of January 2026, evenly spread: a few of everything that a filter may look for.
var listTables = []struct{ table, insert string }{
	{"calls", `INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, client_phone, client_digits, campaign_id, snapshot, input_variables, variables,
		evaluation, entries, answered_by, currency, settled, created_real, created_at, updated_at)
		SELECT 1, 'c' || (1000000000 + i), CASE WHEN i % 50 = 0 THEN 'web' WHEN i % 2 = 0 THEN 'inbound' ELSE 'outbound' END,
		CASE WHEN i > rows - 20 THEN 'in-progress' WHEN i % 50 = 1 THEN 'failed' ELSE 'completed' END,
		CASE WHEN i > rows - 20 THEN NULL WHEN i % 50 = 3 THEN 'system' WHEN i % 2 = 0 THEN 'customer' ELSE 'assistant' END, 1, 'Desk', '+491700' || i, '491700' || i, CASE WHEN i % 3 = 0 THEN campaign END, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', TRUE, at, at, at FROM n`},
	{"leads", `INSERT INTO leads (account_id, campaign_id, phone_number, status, attempts, round, dial_no, created_at, updated_at)
		SELECT 1, campaign, '+491700' || i, CASE WHEN i % 50 = 1 THEN 'blacklisted' ELSE 'completed' END, 1, 0, 1, at, at FROM n`},
	{"assistants", `INSERT INTO assistants (account_id, uuid, name, type, mode, status, folder_id, settings, created_at, updated_at)
		SELECT 1, 'a' || (1000000000 + i), 'Desk ' || i, 'inbound', 'pipeline', 'inactive', 1, '{}', at, at FROM n`},
	{"conversations", `INSERT INTO conversations (account_id, uuid, assistant_id, speaker_id, type, state, customer_phone, created_at, updated_at, last_message_at)
		SELECT 1, 'v' || (1000000000 + i), 1, 1, CASE WHEN i % 3 = 0 THEN 'whatsapp' ELSE 'widget' END, 'ended', '+4917000000' || i, at, at, at FROM n`},
	{"webhook_deliveries", `INSERT INTO webhook_deliveries (account_id, webhook_id, event, url, host, stream, patience, secret_scope, body, call_id, status, created_at)
		SELECT 1, 'w' || i, 'call.completed', 'https://p.example/', 'p.example', 's', 0, 'account:1', '{}', i, CASE WHEN i % 50 = 1 THEN 'failed' ELSE 'succeeded' END, at FROM n`},
	{"ledger", `INSERT INTO ledger (account_id, entry, kind, ref, amount, money, assistant_id, created_at)
		SELECT 1, 'charge', CASE WHEN i % 3 = 0 THEN 'sms' ELSE 'call' END, 'r' || (1000000000 + i), -100000000, 10000000, 1, at FROM n`},
}

// listCounts are what the triggers, which rest meanwhile, would have noted of those rows.
var listCounts = []string{
	`DELETE FROM list_changes`, `DELETE FROM list_counts`,
	`INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
		SELECT 'calls', account_id, created_at / 86400000000 * 86400000000, campaign_id, assistant_id, type, status, ended_by, count(*)
		FROM calls WHERE status IN ('completed', 'busy', 'no-answer', 'failed') GROUP BY 2, 3, 4, 5, 6, 7, 8`,
	`INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
		SELECT 'leads', account_id, created_at / 86400000000 * 86400000000, campaign_id, status, count(*) FROM leads GROUP BY 2, 3, 4, 5`,
	`INSERT INTO list_changes (list, account_id, created_at, folder_id, n)
		SELECT 'assistants', account_id, created_at / 86400000000 * 86400000000, folder_id, count(*) FROM assistants GROUP BY 2, 3, 4`,
	`INSERT INTO list_changes (list, account_id, created_at, assistant_id, type, status, n, amount, money)
		SELECT 'ledger', account_id, created_at / 86400000000 * 86400000000, assistant_id, kind, entry, count(*), sum(amount), sum(money) FROM ledger GROUP BY 2, 3, 4, 5, 6`,
}

// fill puts so many rows into every table, all in one transaction. Indexes are made afterwards, as it is done for any large
// import, the references of the rows, which all go to the first of each table, are not looked up, and triggers rest.
func (w *listed) fill(ctx context.Context, rows int) error {
	const numbers = `WITH RECURSIVE counted(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM counted WHERE i < CAST($1 AS BIGINT)),
		n AS (SELECT i, CAST($1 AS BIGINT) AS rows, CAST($2 AS BIGINT) AS campaign, 1767225600000000 + i * (2592000000000 / CAST($1 AS BIGINT)) AS at FROM counted) `
	w.rows = rows
	apart := `SELECT name, sql, type FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = $1 AND sql IS NOT NULL`
	before := []string{`PRAGMA foreign_keys = OFF`, `PRAGMA cache_size = -400000`, `PRAGMA temp_store = MEMORY`}
	if w.s.DB.Postgres() {
		apart = `SELECT indexname AS name, indexdef AS sql, 'index' AS type FROM pg_indexes WHERE schemaname = 'public' AND tablename = $1
			AND indexname NOT IN (SELECT conname FROM pg_constraint)`
		before = nil
	}
	for _, query := range before {
		if _, err := w.s.DB.Exec(ctx, query); err != nil {
			return err
		}
	}
	err := w.s.DB.Do(ctx, func(tx *db.Tx) error {
		if tx.DB().Postgres() {
			for _, set := range []string{`session_replication_role = replica`, `maintenance_work_mem = '256MB'`} {
				if _, err := tx.Exec(ctx, `SET LOCAL `+set); err != nil {
					return err
				}
			}
		}
		for _, one := range listTables {
			var dropped []struct{ Name, SQL, Type string }
			if err := tx.Select(ctx, &dropped, apart, one.table); err != nil {
				return err
			}
			for _, x := range dropped {
				if _, err := tx.Exec(ctx, `DROP `+x.Type+` `+x.Name); err != nil {
					return err
				}
			}
			began := time.Now()
			if _, err := tx.Exec(ctx, numbers+one.insert, rows, w.campaign); err != nil {
				return fmt.Errorf("%s: %w", one.table, err)
			}
			inserted := time.Since(began)
			for _, x := range dropped {
				if _, err := tx.Exec(ctx, x.SQL); err != nil {
					return err
				}
			}
			w.b.Logf("%d %s: %s, with %d indexes %s", rows, one.table, inserted.Round(time.Millisecond), len(dropped), time.Since(began).Round(time.Millisecond))
		}
		for _, query := range listCounts {
			if _, err := tx.Exec(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = w.s.DB.FoldCounts(ctx)
	}
	if err == nil && w.s.DB.Postgres() { // as the server does by itself after a while; SQLite plans without statistics
		_, err = w.s.DB.Exec(ctx, `VACUUM ANALYZE`)
	}
	return err
}

// read asks for a page of a list and says how long it took.
func (w *listed) read(route string) time.Duration {
	w.b.Helper()
	last := (w.rows + 14) / 15
	path := "/api" + strings.NewReplacer("{id}", w.campaign, "{middle}", fmt.Sprint(last/2), "{last}", fmt.Sprint(last)).Replace(route)
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer "+w.s.Token)
	answer := httptest.NewRecorder()
	began := time.Now()
	w.s.API.ServeHTTP(answer, r)
	took := time.Since(began)
	if answer.Code != http.StatusOK {
		w.b.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	return took
}
