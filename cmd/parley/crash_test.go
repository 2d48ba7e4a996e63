package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// A process that is killed in the middle of reading 20 documents: the next one reads the rest, none is lost, and no
// passage is there twice.
//
// Contract: 8.4
func TestKilledWhileReading(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			url, env := "sqlite:"+filepath.Join(data, "parley.db"), []string{"PARLEY_ROLES=api,work"}
			if name == "postgres" {
				url = dbtest.PostgresURL(t)
				env = append(env, "PARLEY_DATABASE_URL="+url)
			}
			const all = 20
			var mu sync.Mutex
			read, half, killed := 0, make(chan struct{}), make(chan struct{})
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/page/") {
					http.NotFound(w, r)
					return
				}
				mu.Lock()
				read++
				n := read
				mu.Unlock()
				if n == all/2 {
					close(half)
				}
				if n >= all/2 {
					<-killed // under way when the process dies; those after it come at once
				}
				fmt.Fprintf(w, "<html><head><title>%s</title></head><body>", r.URL.Path)
				for i := range 40 {
					fmt.Fprintf(w, "<p>Sentence %d of %s tells what nobody else tells about maps, roads and rivers of that land.</p>", i, r.URL.Path)
				}
				fmt.Fprint(w, "</body></html>")
			}))
			t.Cleanup(site.Close)
			c := client{startServer(t, data, env, "--dev"), t, ran(t, env, "keys", "create", "--data", data, "--name", "test")}
			base := c.id(c.want(201, "POST", "/user/knowledgebases", `{"name":"Maps"}`), "data", "id")
			for i := range all {
				c.want(201, "POST", fmt.Sprintf("/user/knowledgebases/%d/documents", base),
					fmt.Sprintf(`{"name":"Page %d","type":"website","url":"%s/page/%d","relative_links_limit":1}`, i, site.URL, i))
			}
			<-half
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-c.done
			close(killed)
			c.serving = startServer(t, data, env, "--dev")
			d := dbtest.Open(t, url)
			number := func(query string) int64 { return count(t, d, query) }
			for end := time.Now().Add(2 * time.Minute); number(`SELECT count(*) FROM documents WHERE status = 'processing'`) > 0; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("not all were read")
				}
			}
			c.stop(t)
			for what, query := range map[string]string{
				"documents that are not there":   `SELECT 20 - count(*) FROM documents WHERE status = 'active' AND chunks > 1 AND live = edition`,
				"documents with other passages":  `SELECT count(*) FROM documents d WHERE chunks <> (SELECT count(*) FROM passages WHERE document_id = d.id)`,
				"passages of an earlier reading": `SELECT count(*) FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.edition <> d.live`,
				"passages that are there twice":  `SELECT count(*) FROM (SELECT 1 FROM passages GROUP BY document_id, text HAVING count(*) > 1) x`,
				"passages without their terms":   `SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM passage_terms)`,
			} {
				if n := number(query); n != 0 {
					t.Errorf("%s: %d", what, n)
				}
			}
		})
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
