package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// Limits are those of the account, however many processes are asked at once: outbound calls a minute and a day exactly, and
// never more than five WhatsApp messages in any second. (Parallel calls of a campaign: TestScaleOut.)
//
// Contract: 1.12 11.5
func TestLimitsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	const minute, day = 12, 7
	c := startClusterWith(t, []string{fmt.Sprint("PARLEY_LIMITS_CALLS_PER_MINUTE=", minute), "PARLEY_LIMITS_PER_KEY_PER_MINUTE=0"}, "all", "all", "all")
	m := c.nodes[0]
	ran(t, m.env, "accounts", "create", "--data", m.data, "--email", "day@p.example", "--plan", fmt.Sprint("daily_outbound=", day))
	ran(t, m.env, "balance", "add", "--data", m.data, "--user", "day@p.example", "--amount", "1000", "--note", "welcome")
	daily := ran(t, m.env, "keys", "create", "--data", m.data, "--name", "test", "--user", "day@p.example")
	c.at(0).want(200, "PUT", "/sim/phones/+491701111111", `{"behaviour":"invalid"}`)

	for key, most := range map[string]int{c.key: minute, daily: day} {
		at := client{c.nodes[0].serving, t, key}
		out := c.assistant(at, "outbound", "null", "")
		answers := c.atOnce(key, func(n int) bool { return n < 5 }, "/user/make_call", fmt.Sprintf(`{"phone_number":"+491701111111","assistant_id":%d}`, out))
		accepted := 0
		for _, a := range answers {
			if a.status == 200 {
				accepted++
			} else if a.status != 429 {
				t.Errorf("a call: %d", a.status)
			}
		}
		if accepted != most {
			t.Errorf("%d of %d calls were accepted, want %d", accepted, len(answers), most)
		}
	}

	first := c.at(0)
	desk := c.assistant(first, "outbound", "null", "")
	sender := first.id(first.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","display_name":"Shop","assistant_id":%d}`, desk)), "data", "id")
	template := first.id(first.want(200, "POST", fmt.Sprintf("/sim/whatsapp/senders/%d/templates", sender), `{"name":"ready","body_text":"Ready: {{1}}.","variables":["thing"]}`), "data", "id")
	began := time.Now()
	seconds := func(int) bool { return time.Since(began) < 2500*time.Millisecond }
	sent := slices.DeleteFunc(c.atOnce(c.key, seconds, "/user/whatsapp/send", fmt.Sprintf(`{"sender_id":%d,"template_id":%d,"recipient_phone":"+491709999999","variables":{"1":"map"}}`, sender, template)),
		func(a answered) bool { return a.status != 200 })
	if len(sent) < 10 { // in the first second and the next
		t.Errorf("only %d messages were accepted", len(sent))
	}
	slices.SortFunc(sent, func(a, b answered) int { return cmp.Compare(a.end.UnixNano(), b.end.UnixNano()) })
	for i := range max(0, len(sent)-5) { // six that began and ended within one second were admitted within it
		six := sent[i : i+6]
		began := slices.MinFunc(six, func(a, b answered) int { return a.began.Compare(b.began) }).began
		if took := six[5].end.Sub(began); took < time.Second {
			t.Errorf("six messages within %v", took)
		}
	}
	c.still()
	for _, m := range c.nodes {
		m.stop(t)
	}
}

// answered is a request and when it was made.
type answered struct {
	status     int
	began, end time.Time
}

// atOnce sends a request again and again, over two connections to each process, as long as more says so of the next one.
func (c *cluster) atOnce(key string, more func(n int) bool, path, body string) (out []answered) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, m := range c.nodes {
		for range 2 {
			all.Go(func() {
				for n := 0; more(n); n++ {
					began := time.Now()
					status, _ := m.ask(c.t, key, "POST", "/api"+path, body)
					mu.Lock()
					out = append(out, answered{status, began, time.Now()})
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	return out
}
