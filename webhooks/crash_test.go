package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/ssrf"
)

// childMain is a process that delivers until it is killed.
func childMain() bool {
	url := os.Getenv("PARLEY_WEBHOOKS_CHILD")
	if url == "" {
		return false
	}
	d, err := db.Open(context.Background(), url)
	if err != nil {
		fmt.Println(err)
		return true
	}
	r := jobs.NewRunner(d, jobs.Lease(300*time.Millisecond))
	New(d, r, ssrf.New(netip.MustParsePrefix("127.0.0.0/8")), plainBox{}, true, nil)
	fmt.Println(r.Run(context.Background()))
	return true
}

// TestKilledInTheMiddle kills a process in the middle of 200 deliveries: another one sends the rest, none is lost, and
// only what was under way may come twice, under the same webhook-id.
//
// Contract: 15.1
func TestKilledInTheMiddle(t *testing.T) {
	for name, open := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			url := open(t)
			l := newLabOf(t, dbtest.Open(t, url), func(d *db.DB) *jobs.Runner { return jobs.NewRunner(d, jobs.Poll(50*time.Millisecond)) })
			const all = 200
			for i := range all {
				l.add(Event{Name: CallCompleted, CallID: calls.ID(i + 1), Payload: i})
			}
			half, killed := make(chan struct{}), make(chan struct{})
			l.mu.Lock() // requests come from another process
			l.answer = func(n int, _ *http.Request) (int, string) {
				if n == all/2 {
					close(half)
					<-killed // under way when the process dies
				}
				return 200, ""
			}
			l.mu.Unlock()
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "PARLEY_WEBHOOKS_CHILD="+url)
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			<-half
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // it was killed
			close(killed)
			l.start(l.runner)
			for len(settledIDs(t, l.d)) < all {
				select {
				case <-t.Context().Done():
					t.Fatal("not all were delivered")
				case <-time.After(10 * time.Millisecond):
				}
			}
			ids, twice := map[string]string{}, 0
			for _, r := range l.requests() {
				id := r.Header.Get("webhook-id")
				if body, again := ids[id]; again {
					twice++
					if body != r.Body {
						t.Error("one id for two events")
					}
				}
				ids[id] = r.Body
			}
			if len(ids) != all || twice > perHost {
				t.Error(len(ids), "events,", twice, "of them twice")
			}
		})
	}
}

func settledIDs(t *testing.T, d *db.DB) (ids []int64) {
	t.Helper()
	if err := d.Select(t.Context(), &ids, `SELECT id FROM webhook_deliveries WHERE status = 'succeeded'`); err != nil {
		t.Fatal(err)
	}
	return ids
}
