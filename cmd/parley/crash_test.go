package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

// world is what a server meets in this test: a site that it reads and receivers of its webhooks. Both answer at first; then
// all but the last receiver let it wait, until it was killed.
type world struct {
	site   *httptest.Server
	hooks  []*httptest.Server
	killed chan struct{}
	kill   func() // closes it, once

	mu       sync.Mutex
	read     int // documents whose last page was answered
	answered []int
	held     int                 // requests that wait for an answer
	before   map[string][]string // bodies of the webhooks that came before the kill, by webhook-id
	after    map[string][]string
}

const (
	documents = 20
	readFirst = 6 // of the documents

	receivers = 5
	each      = 40 // webhooks of a receiver
	hookFirst = 10 // of them are answered
	perHost   = 4  // requests at once (contract 15.1)
	readers   = 2  // documents at once
)

func newWorld(t *testing.T) *world {
	w := &world{killed: make(chan struct{}), answered: make([]int, receivers), before: map[string][]string{}, after: map[string][]string{}}
	w.kill = sync.OnceFunc(func() { close(w.killed) })
	w.site = httptest.NewServer(http.HandlerFunc(w.page))
	t.Cleanup(w.site.Close)
	for i := range receivers {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { w.hook(i, r) }))
		t.Cleanup(s.Close)
		w.hooks = append(w.hooks, s)
	}
	t.Cleanup(w.kill) // before the servers are closed
	return w
}

// page is one of the two pages of a document.
func (w *world) page(out http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/page/") {
		http.NotFound(out, r)
		return
	}
	link := fmt.Sprintf(`<a href="%s/more">more</a>`, r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/more") {
		w.wait(&w.read, readFirst)
		link = ""
	}
	fmt.Fprintf(out, "<html><head><title>%s</title></head><body>", r.URL.Path)
	for i := range 40 {
		fmt.Fprintf(out, "<p>Sentence %d of %s tells what nobody else tells about maps, roads and rivers of that land.</p>", i, r.URL.Path)
	}
	fmt.Fprint(out, link, "</body></html>")
}

func (w *world) hook(receiver int, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.mu.Lock()
	when := w.before
	if w.over() {
		when = w.after
	}
	id := r.Header.Get("Webhook-Id")
	when[id] = append(when[id], string(body))
	w.mu.Unlock()
	if receiver != receivers-1 {
		w.wait(&w.answered[receiver], hookFirst)
	}
}

func (w *world) over() bool {
	select {
	case <-w.killed:
		return true
	default:
		return false
	}
}

// wait lets the first few through, and holds the others until the kill.
func (w *world) wait(through *int, first int) {
	w.mu.Lock()
	*through++
	hold := *through > first
	if hold {
		w.held++
	}
	w.mu.Unlock()
	if hold {
		<-w.killed
	}
}

// A process that is killed in the middle of reading 20 documents and of 200 deliveries: the next one does the rest. No
// passage is missing or there twice. A webhook whose answer was recorded is not sent again; any other is sent then, once,
// whether or not it was under way, with the id and the body that it had.
//
// Contract: 8.4 15.1 15.4
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			url, env := "sqlite:"+filepath.Join(data, "parley.db"), []string{"PARLEY_LIMITS_PER_KEY_PER_MINUTE=0"}
			if name == "postgres" {
				url = dbtest.PostgresURL(t)
				env = append(env, "PARLEY_DATABASE_URL="+url)
			}
			w := newWorld(t)
			key := ran(t, env, "keys", "create", "--data", data, "--name", "test")
			live := func(roles string) client {
				return client{startServer(t, data, append(env, "PARLEY_ROLES="+roles), "--dev"), t, key}
			}
			c := live("api") // takes everything, does nothing of it
			ended := c.order(w)
			c.stop(t)

			c = live("api,work")
			d := dbtest.Open(t, url)
			c.eventually("the middle", func() bool {
				w.mu.Lock()
				held := w.held
				w.mu.Unlock()
				return held >= (receivers-1)*perHost+readers && count(t, d, `SELECT count(*) FROM documents WHERE status = 'active'`) == readFirst &&
					count(t, d, `SELECT count(*) FROM webhook_deliveries`) == receivers*each
			})
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-c.done
			done := delivered(t, d)
			w.middle(t, done)
			w.kill()

			c = live("api,work")
			c.eventually("everything is done", func() bool {
				return count(t, d, `SELECT count(*) FROM documents WHERE status = 'processing'`)+count(t, d, `SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'`) == 0
			})
			c.stop(t)
			w.sentOnce(t, done, ended)
			readOnce(t, d)
		})
	}
}

// order has 20 documents read and ends 200 conversations, whose ids it returns.
func (c client) order(w *world) (ended []string) {
	c.t.Helper()
	base := c.id(c.want(201, "POST", "/user/knowledgebases", `{"name":"Maps"}`), "data", "id")
	for i := range documents {
		c.want(201, "POST", fmt.Sprintf("/user/knowledgebases/%d/documents", base),
			fmt.Sprintf(`{"name":"Page %02d","type":"website","url":"%s/page/%02d","relative_links_limit":2}`, i, w.site.URL, i))
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, receiver := range w.hooks {
		assistant := c.id(c.want(201, "POST", "/user/assistant", fmt.Sprintf(`{"name":"Desk","voice_id":2,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC",
			"initial_message":"Map shop.","system_prompt":"You sell maps.","llm_model_id":1,"post_call_evaluation":false,"conversation_ended_webhook_url":%q}`, receiver.URL)), "data", "id")
		all.Go(func() {
			for range each {
				id := c.chatAndEnd(assistant)
				mu.Lock()
				ended = append(ended, id)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
	return ended
}

// chatAndEnd is a conversation of one message. It may run beside the test.
func (c client) chatAndEnd(assistant int64) string {
	post := func(path, body string) []byte {
		status, answer := c.ask(c.t, c.key, "POST", "/api/conversations"+path, body)
		if status != 200 {
			c.t.Errorf("%s: %d %s", path, status, answer)
		}
		return []byte(answer)
	}
	var begun struct {
		ID string `json:"conversation_id"`
	}
	if err := json.Unmarshal(post("", fmt.Sprintf(`{"assistant_id":%d}`, assistant)), &begun); err != nil {
		c.t.Error(err)
	}
	post("/"+begun.ID+"/messages", `{"message":"Good morning"}`)
	post("/"+begun.ID+"/end", "")
	return begun.ID
}

// delivered are the webhook-ids of the deliveries that are recorded as done.
func delivered(t *testing.T, d *db.DB) map[string]bool {
	t.Helper()
	var ids []string
	if err := d.Select(t.Context(), &ids, `SELECT webhook_id FROM webhook_deliveries WHERE status = 'succeeded'`); err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, id := range ids {
		done[id] = true
	}
	return done
}

// middle shows that the kill came in the middle: some webhooks were done, some under way, some had not begun.
func (w *world) middle(t *testing.T, done map[string]bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	underWay := len(w.before) - len(done)
	waiting := receivers*each - len(w.before)
	if len(done) < (receivers-1)*hookFirst || underWay < (receivers-1)*perHost || waiting < each {
		t.Errorf("when it was killed, %d webhooks were done, %d under way, %d waiting", len(done), underWay, waiting)
	}
	t.Logf("killed with %d webhooks done, %d under way, %d waiting", len(done), underWay, waiting)
}

// sentOnce checks what came before and after the kill.
func (w *world) sentOnce(t *testing.T, done map[string]bool, ended []string) {
	t.Helper()
	told := map[string]int{} // events by conversation
	ids := maps.Clone(w.before)
	maps.Copy(ids, w.after)
	for id := range ids {
		before, after := w.before[id], w.after[id]
		if len(before) > 1 || done[id] && len(after) != 0 || !done[id] && len(after) != 1 {
			t.Errorf("webhook %s came %d times before the kill, then %d times; done when it was killed: %v", id, len(before), len(after), done[id])
		}
		bodies := slices.Concat(before, after)
		if len(slices.Compact(bodies)) != 1 {
			t.Errorf("webhook %s came with different bodies %q", id, bodies)
		}
		var e struct {
			Conversation string `json:"conversation_id"`
		}
		if err := json.Unmarshal([]byte(bodies[0]), &e); err != nil {
			t.Error(err)
		}
		told[e.Conversation]++
	}
	for _, id := range ended {
		if told[id] != 1 {
			t.Errorf("conversation %s was told of by %d webhooks", id, told[id])
		}
	}
	if len(ids) != receivers*each {
		t.Errorf("%d webhooks came", len(ids))
	}
}

// readOnce checks that every document is there as if nobody had been killed: they differ in nothing but their number.
func readOnce(t *testing.T, d *db.DB) {
	t.Helper()
	for what, query := range map[string]string{
		"documents that are not there":   `SELECT 20 - count(*) FROM documents WHERE status = 'active' AND chunks > 2 AND live = edition`,
		"documents with other passages":  `SELECT count(*) FROM documents d WHERE chunks <> (SELECT count(*) FROM passages WHERE document_id = d.id)`,
		"passages of an earlier reading": `SELECT count(*) FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.edition <> d.live`,
		"passages without their terms":   `SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM passage_terms)`,
	} {
		if n := count(t, d, query); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	var passages []struct {
		URL  string `db:"url"`
		Text string `db:"text"`
	}
	if err := d.Select(t.Context(), &passages, `SELECT d.url, p.text FROM passages p JOIN documents d ON d.id = p.document_id ORDER BY d.id, p.id`); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, p := range passages {
		number := p.URL[strings.LastIndex(p.URL, "/")+1:]
		texts[number] += strings.ReplaceAll(p.Text, "/page/"+number, "/page/N") + "\n--\n"
	}
	first := texts["00"] // read before the kill
	if strings.Count(first, "Sentence 39 of /page/N tells") != 1 || strings.Count(first, "Sentence 39 of /page/N/more tells") != 1 {
		t.Errorf("the first document reads\n%s", first)
	}
	for number, text := range texts {
		if text != first {
			t.Errorf("document %s differs from the first:\n%s", number, text)
		}
	}
}

// count reads one number out of a database.
func count(t *testing.T, d *db.DB, query string) (n int64) {
	t.Helper()
	if err := d.Get(t.Context(), &n, query); err != nil {
		t.Fatal(err)
	}
	return n
}
