package asks

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/db/dbtest"
	"parley/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A question is answered once, by one process; a refusal arrives as what it is; nobody's answer is awaited for ever.
func TestAsk(t *testing.T) {
	url := dbtest.PostgresURL(t)
	here, afar := New(dbtest.Open(t, url), "n1"), New(dbtest.Open(t, url), "n2")
	var mu sync.Mutex
	asked := map[string]int{}
	echo := func(_ context.Context, body json.RawMessage) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[string(body)]++
		if string(body) == "13" {
			return nil, fault.New(fault.Conflict, "BAD", "No %s", body)
		}
		return map[string]any{"n": body}, nil
	}
	serving, stop := context.WithCancel(t.Context())
	var wg, server sync.WaitGroup
	server.Go(func() { _ = here.Serve(serving, map[string]Answerer{"echo": echo}, func() bool { return true }) })
	defer server.Wait()
	defer stop()
	for n := range 30 {
		wg.Go(func() {
			var out struct{ N int }
			err := afar.Ask(t.Context(), []string{"", "n1"}[n%2], "echo", n, &out)
			if f := fault.Of(err); n == 13 && (err == nil || f.Kind != fault.Conflict || f.Code != "BAD" || f.Message != "No 13") {
				t.Errorf("refusal %v", err)
			} else if n != 13 && (err != nil || out.N != n) {
				t.Errorf("%d: %d %v", n, out.N, err)
			}
		})
	}
	wg.Wait()
	for n, times := range asked {
		if times != 1 {
			t.Errorf("%s asked %d times", n, times)
		}
	}
	short, give := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer give()
	if err := afar.Ask(short, "gone", "echo", 1, nil); err == nil {
		t.Error("an answer of nobody")
	}
	var left int
	if err := here.db.Get(t.Context(), &left, `SELECT count(*) FROM asks`); err != nil || left != 0 {
		t.Errorf("%d questions left over, %v", left, err)
	}
}
