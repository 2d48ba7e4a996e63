package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/blobs/blobstest"
	"parley/db"
	"parley/db/dbtest"
)

// cluster is several processes on one PostgreSQL database and one S3-compatible store, and somebody who gets their
// webhooks.
type cluster struct {
	t     *testing.T
	db    *db.DB
	env   []string
	key   string
	nodes []*member

	mu    sync.Mutex
	hooks map[string]string // what was delivered, by webhook-id
	site  *httptest.Server
}

// member is one process of a cluster; it keeps its folder over restarts.
type member struct {
	*serving
	data string
	env  []string
	name string // of its node
}

// startCluster starts a process for each set of roles.
func startCluster(t *testing.T, roles ...string) *cluster { return startClusterWith(t, nil, roles...) }

// startClusterWith adds settings that all processes share.
func startClusterWith(t *testing.T, env []string, roles ...string) *cluster {
	url := dbtest.PostgresURL(t)
	c := &cluster{t: t, db: dbtest.Open(t, url), hooks: map[string]string{}, env: []string{"PARLEY_DATABASE_URL=" + url, "PARLEY_BLOBS_URL=" + blobstest.S3(t), sureWords,
		"PARLEY_SECRETS_KEY=" + base64.StdEncoding.EncodeToString(make([]byte, 32))}}
	c.env = append(c.env, env...)
	c.site = httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(c.site.Close)
	var all sync.WaitGroup
	for i, r := range roles {
		m := &member{data: t.TempDir(), env: append(c.env, "PARLEY_ROLES="+r, fmt.Sprintf("PARLEY_RTP_PORTS=%d-%d", 41000+1000*i, 41999+1000*i))}
		c.nodes = append(c.nodes, m)
		all.Go(func() { c.start(m) }) // all at once, on an empty database
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	c.key = ran(t, c.nodes[0].env, "keys", "create", "--data", t.TempDir(), "--name", "test")
	return c
}

func (c *cluster) start(m *member) {
	m.serving = startServer(c.t, m.data, m.env, "--dev")
	name, err := os.ReadFile(filepath.Join(m.data, "node"))
	if err != nil {
		c.t.Error(err)
	}
	m.name = strings.TrimSpace(string(name))
}

// at is a customer whose requests go to one process.
func (c *cluster) at(i int) client { return client{c.nodes[i].serving, c.t, c.key} }

func (c *cluster) receive(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // one that was cut off comes again
	c.mu.Lock()
	defer c.mu.Unlock()
	id := r.Header.Get("Webhook-Id")
	if before, again := c.hooks[id]; again && before != string(body) {
		c.t.Errorf("webhook %s came with two bodies", id)
	}
	c.hooks[id] = string(body)
}

// number reads one number out of the database.
func (c *cluster) number(query string, args ...any) (n int64) {
	c.t.Helper()
	if err := c.db.Get(c.t.Context(), &n, query, args...); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// wait looks until ok, at most four minutes: processes that died are missed after half of one, and what they
// were about to deliver is tried again later.
func (c *cluster) wait(what func() string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(4 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("in four minutes not: %s", what())
		}
	}
}

// assistant makes one whose calls are told to the site.
func (c *cluster) assistant(at client, typ, number, more string) int64 {
	c.t.Helper()
	return at.id(at.want(201, "POST", "/user/assistant", fmt.Sprintf(`{"name":"Desk","voice_id":2,"language_id":1,"type":%q,"mode":"pipeline","timezone":"UTC",
		"initial_message":"Map shop.","system_prompt":"You sell maps.","llm_model_id":1,"phone_number_id":%s,"post_call_evaluation":false,
		"is_webhook_active":true,"webhook_url":%q,"send_webhook_only_on_completed":false%s}`, typ, number, c.site.URL, more)), "data", "id")
}

// sound is what must be true of an installation in which nothing goes on any more, whatever happened before.
func (c *cluster) sound() {
	c.t.Helper()
	for what, query := range map[string]string{
		"calls without an end":                `SELECT count(*) FROM calls WHERE NOT settled`,
		"two calls for an attempt":            `SELECT count(*) FROM (SELECT 1 FROM calls WHERE lead_id IS NOT NULL GROUP BY lead_id, dial_no HAVING count(*) > 1) x`,
		"attempts without a call":             `SELECT count(*) FROM leads l WHERE l.dial_no <> (SELECT count(*) FROM calls WHERE lead_id = l.id)`,
		"phones that rang once too often":     `SELECT count(*) FROM leads l WHERE (SELECT count(*) FROM sim_calls WHERE to_number = l.phone_number) > l.dial_no`,
		"leads left in the middle":            `SELECT count(*) FROM leads WHERE status IN ('created', 'scheduled', 'processing')`,
		"holds":                               `SELECT count(*) FROM holds`,
		"balances with something held":        `SELECT count(*) FROM balances WHERE held <> 0`,
		"ledgers that are not their balance":  `SELECT count(*) FROM balances b WHERE balance <> (SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM ledger WHERE account_id = b.account_id)`,
		"calls without one delivered webhook": `SELECT count(*) FROM calls c WHERE (SELECT count(*) FROM webhook_deliveries WHERE call_id = c.id AND status = 'succeeded') <> 1`,
		"webhooks of nothing that were tried": `SELECT count(*) FROM webhook_deliveries WHERE status <> 'succeeded'`,
		"questions between processes":         `SELECT count(*) FROM asks WHERE NOT taken AND at_real < 0`,
	} {
		if n := c.number(query); n != 0 {
			c.t.Errorf("%s: %d", what, n)
		}
	}
	var ids []string
	if err := c.db.Select(c.t.Context(), &ids, `SELECT webhook_id FROM webhook_deliveries`); err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if _, came := c.hooks[id]; !came {
			c.t.Errorf("webhook %s never came", id)
		}
	}
	if len(ids) != len(c.hooks) {
		c.t.Errorf("%d webhooks came, %d were sent", len(c.hooks), len(ids))
	}
}

// still waits until nothing goes on: no call, no lead that is due, no webhook under way.
func (c *cluster) still() {
	c.t.Helper()
	left := map[string]string{"calls": `calls WHERE NOT settled`, "leads": `leads WHERE status IN ('created', 'scheduled', 'processing')`,
		"webhooks": `webhook_deliveries WHERE status = 'pending'`, "messages": `wa_messages WHERE outbound AND status IN ('sending', 'queued', 'sent')`}
	var goesOn string
	c.wait(func() string { return "everything is over, but for" + goesOn }, func() bool {
		goesOn = ""
		for what, where := range left {
			if n := c.number(`SELECT count(*) FROM ` + where); n > 0 {
				goesOn += fmt.Sprintf(" %d %s", n, what)
			}
		}
		return goesOn == ""
	})
}

// stream follows the events of a call until it is over or ctx ends, and delivers each as TYPE DATA.
func (c client) stream(ctx context.Context, call int64) <-chan string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/api/user/calls/%d/stream", c.url, call), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	out := make(chan string, 1000)
	go func() {
		defer close(out)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e struct {
					Type string
					Data json.RawMessage
				}
				_ = json.Unmarshal([]byte(text), &e) // what is no event is not waited for
				out <- e.Type + " " + string(e.Data)
			}
		}
	}()
	return out
}

// sees waits for an event that contains some text.
func (c client) sees(events <-chan string, text string) {
	c.t.Helper()
	limit := time.After(patience)
	var seen []string
	for {
		select {
		case e, ok := <-events:
			if !ok {
				c.t.Fatalf("the stream ended without %q: %q", text, seen)
			}
			if seen = append(seen, e); strings.Contains(e, text) {
				return
			}
		case <-limit:
			c.t.Fatalf("no %q in %q", text, seen)
		}
	}
}
