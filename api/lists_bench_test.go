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
	listReads = 21    // of each route, after the first
	listFlat  = 2.0   // a list is flat up to this ratio
)

var listLarge = flag.Int("lists", 1_000_000, "rows of each table where BenchmarkLists reads many")

// lists are the routes that give part of a table, and which part; {id} is the campaign of a third of the calls and all leads.
var lists = []struct{ route, part string }{
	{"/user/calls", "all"},
	{"/user/calls?per_page=100", "all, 100 a page"},
	{"/user/calls?page=5", "all, fifth page"},
	{"/user/calls?status=completed", "nearly all"},
	{"/user/calls?status=failed", "1 in 50"},
	{"/user/calls?status=in-progress", "the newest 20"},
	{"/user/calls?type=inbound", "half"},
	{"/user/calls?type=web", "1 in 50"},
	{"/user/calls?assistant_id=1", "all"},
	{"/user/calls?campaign_id={id}", "1 in 3"},
	{"/user/calls?campaign_id=999", "none"},
	{"/user/calls?date_from=2026-01-05&date_to=2026-01-05", "one day of 30"},
	{"/user/calls?date_from=2026-01-20", "eleven days of 30"},
	{"/user/calls?phone_number=4917", "all"},
	{"/user/calls?phone_number=700077", "few"},
	{"/user/leads", "all"},
	{"/user/leads?campaign_id={id}", "all"},
	{"/user/leads?date_from=2026-01-05&date_to=2026-01-05", "one day of 30"},
	{"/user/leads?status=blacklisted", "1 in 50"},
	{"/user/leads?status=blacklisted&campaign_id={id}", "1 in 50"},
	{"/user/assistants/get", "all"},
	{"/user/assistants/get?per_page=100", "all, 100 a page"},
	{"/user/conversations", "all"},
	{"/user/conversations?type=whatsapp", "1 in 3"},
	{"/user/conversations?assistant_id=1", "all"},
	{"/user/conversations?customer_phone=%2B49170000000077", "one"},
	{"/user/webhook-deliveries", "all"},
	{"/user/webhook-deliveries?status=failed", "1 in 50"},
	{"/user/webhook-deliveries?call_id=77", "one"},
	{"/user/whatsapp/senders", "none"},
	{"/user/campaigns", "one, with all leads"},
}

// BenchmarkLists reads the first page of every list with 10³ and with 10⁶ rows in each table, on both databases, small and
// large in turns so that a busy machine slows both, and prints the ratio of the medians. The first request of a filter in
// a process's life counts once what is settled; it is not in the median but beside it.
func BenchmarkLists(b *testing.B) {
	pairs := listWorlds(b)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nroute\tfilter\tSQLite\tPostgreSQL\tfirst, ms\ttarget\n")
	worst := map[string]float64{}
	for _, list := range lists {
		path, filter, _ := strings.Cut(list.route, "?")
		if filter != "" {
			filter += ": "
		}
		fmt.Fprintf(t, "%s\t%s%s", path, filter, list.part)
		var firsts []string
		for _, p := range pairs {
			ratio, first := p.compare(list.route)
			worst[p.name] = max(worst[p.name], ratio)
			fmt.Fprintf(t, "\t%.1f ×", ratio)
			firsts = append(firsts, fmt.Sprintf("%.0f", first.Seconds()*1000))
		}
		fmt.Fprintf(t, "\t%s\t≤ %.0f ×\n", strings.Join(firsts, " · "), listFlat)
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

// compare reads a list's first page in turns: how much the median costs with many rows to one with few, and how long the
// very first with many took.
func (p pair) compare(route string) (ratio float64, first time.Duration) {
	p.small.read(route)
	first = p.large.read(route)
	var few, many []time.Duration
	for range listReads {
		few, many = append(few, p.small.read(route)), append(many, p.large.read(route))
	}
	slices.Sort(few)
	slices.Sort(many)
	return many[listReads/2].Seconds() / few[listReads/2].Seconds(), first
}

// listed is an account whose tables are filled.
type listed struct {
	b        *testing.B
	s        *apitest.Server
	campaign string
}

func listWorld(b *testing.B, d *db.DB) *listed {
	b.Helper()
	s := apitest.New(b, d)
	world(s)
	desk := s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1}`).Want(201).Text("data.id")
	campaign := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
	return &listed{b: b, s: s, campaign: campaign}
}

// listTables are the rows of January 2026, evenly spread: a few of everything that a filter may look for.
var listTables = []struct{ table, insert string }{
	{"calls", `INSERT INTO calls (account_id, uuid, type, status, ended_by, assistant_id, assistant_name, client_phone, client_digits, campaign_id, snapshot, input_variables, variables,
		evaluation, entries, answered_by, currency, settled, created_real, created_at, updated_at)
		SELECT 1, 'c' || i, CASE WHEN i % 50 = 0 THEN 'web' WHEN i % 2 = 0 THEN 'inbound' ELSE 'outbound' END,
		CASE WHEN i > rows - 20 THEN 'in-progress' WHEN i % 50 = 1 THEN 'failed' ELSE 'completed' END,
		'customer', 1, 'Desk', '+491700' || i, '491700' || i, CASE WHEN i % 3 = 0 THEN campaign END, '{}', '{}', '{}', '{}', '[]', 'human', 'USD', TRUE, at, at, at FROM n`},
	{"leads", `INSERT INTO leads (account_id, campaign_id, phone_number, status, attempts, round, dial_no, created_at, updated_at)
		SELECT 1, campaign, '+491700' || i, CASE WHEN i % 50 = 1 THEN 'blacklisted' ELSE 'completed' END, 1, 0, 1, at, at FROM n`},
	{"assistants", `INSERT INTO assistants (account_id, uuid, name, type, mode, status, settings, created_at, updated_at)
		SELECT 1, 'a' || i, 'Desk ' || i, 'inbound', 'pipeline', 'inactive', '{}', at, at FROM n`},
	{"conversations", `INSERT INTO conversations (account_id, uuid, assistant_id, speaker_id, type, state, customer_phone, created_at, updated_at, last_message_at)
		SELECT 1, 'v' || i, 1, 1, CASE WHEN i % 3 = 0 THEN 'whatsapp' ELSE 'widget' END, 'ended', '+4917000000' || i, at, at, at FROM n`},
	{"webhook_deliveries", `INSERT INTO webhook_deliveries (account_id, webhook_id, event, url, host, stream, patience, secret_scope, body, call_id, status, created_at)
		SELECT 1, 'w' || i, 'call.completed', 'https://p.example/', 'p.example', 's', 0, 'account:1', '{}', i, CASE WHEN i % 50 = 1 THEN 'failed' ELSE 'succeeded' END, at FROM n`},
}

// fill puts so many rows into every table. Indexes are made afterwards, as it is done for any large import, and the
// references of the rows, which all go to the first of each table, are not looked up.
func (w *listed) fill(ctx context.Context, rows int) error {
	const numbers = `WITH RECURSIVE counted(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM counted WHERE i < CAST($1 AS BIGINT)),
		n AS (SELECT i, CAST($1 AS BIGINT) AS rows, CAST($2 AS BIGINT) AS campaign, 1767225600000000 + i * (2592000000000 / CAST($1 AS BIGINT)) AS at FROM counted) `
	indexes := `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 AND sql IS NOT NULL`
	hurry, after := []string{`PRAGMA foreign_keys = OFF`, `PRAGMA cache_size = -200000`}, `ANALYZE `
	if w.s.DB.Postgres() {
		indexes = `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE schemaname = 'public' AND tablename = $1
			AND indexname NOT IN (SELECT conname FROM pg_constraint)`
		hurry, after = nil, `VACUUM ANALYZE ` // as the server does by itself after a while
	}
	for _, query := range hurry {
		if _, err := w.s.DB.Exec(ctx, query); err != nil {
			return err
		}
	}
	for _, one := range listTables {
		err := w.s.DB.Do(ctx, func(tx *db.Tx) error {
			var dropped []struct{ Name, SQL string }
			if err := tx.Select(ctx, &dropped, indexes, one.table); err != nil {
				return err
			}
			var queries []string
			if w.s.DB.Postgres() {
				queries = append(queries, `SET LOCAL session_replication_role = replica`, `SET LOCAL maintenance_work_mem = '256MB'`)
			}
			for _, x := range dropped {
				queries = append(queries, `DROP INDEX `+x.Name)
			}
			for _, query := range queries {
				if _, err := tx.Exec(ctx, query); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, numbers+one.insert, rows, w.campaign); err != nil {
				return err
			}
			for _, x := range dropped {
				if _, err := tx.Exec(ctx, x.SQL); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", one.table, err)
		}
		if _, err := w.s.DB.Exec(ctx, after+one.table); err != nil {
			return err
		}
	}
	return nil
}

// read asks for the first page of a list and says how long it took.
func (w *listed) read(route string) time.Duration {
	w.b.Helper()
	path := "/api" + strings.ReplaceAll(route, "{id}", w.campaign)
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
