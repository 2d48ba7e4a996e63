package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// keyed is what a request with a key was answered.
type keyed struct {
	status   int
	body     string
	replayed bool
	retry    string // Retry-After
}

// inProgress is the answer while another try of the same request goes on.
var inProgress = keyed{409, `{"message":"A request with this idempotency key is still in progress."}`, false, "1"}

// keyed sends a request with the key that belongs to its body.
func (c client) keyed(path, body string) (k keyed) {
	c.t.Helper()
	r, err := http.NewRequest("POST", c.url+"/api"+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return k
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Idempotency-Key", "of "+body)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Error(err)
		return k
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return keyed{res.StatusCode, strings.TrimSpace(string(b)), res.Header.Get("Idempotency-Replayed") == "true", res.Header.Get("Retry-After")}
}

// Two processes get requests with one key at once: one of them does it, the others hear that it runs or get its answer.
//
// Contract: 1.14 5.1 11.5
func TestOneKeyAtTwoProcesses(t *testing.T) {
	t.Parallel()
	c := startClusterWith(t, []string{"PARLEY_LIMITS_PER_KEY_PER_MINUTE=0"}, "all", "all")
	first := c.at(0)
	caller := c.assistant(first, "outbound", "null", "")
	campaign := first.id(first.want(201, "POST", "/user/campaigns", fmt.Sprintf(`{"name":"Spring","assistant_id":%d}`, caller)), "data", "id")
	sender := first.id(first.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","assistant_id":%d}`, caller)), "data", "id")
	template := first.id(first.want(200, "POST", fmt.Sprintf("/sim/whatsapp/senders/%d/templates", sender), `{"name":"ready","body_text":"It is ready."}`), "data", "id")
	const rounds = 4
	for i, one := range []struct{ path, body, effects string }{
		{"/user/lead", fmt.Sprintf(`{"campaign_id":%d,"allow_duplicate":true,"phone_number":"%%s"}`, campaign), `leads WHERE phone_number = $1`},
		{"/user/whatsapp/send", fmt.Sprintf(`{"sender_id":%d,"template_id":%d,"recipient_phone":"%%s"}`, sender, template), `sim_messages WHERE phone_number = $1`},
		{"/user/make_call", fmt.Sprintf(`{"assistant_id":%d,"phone_number":"%%s"}`, caller), `sim_calls WHERE to_number = $1`},
	} {
		var phones []string
		for round := range rounds {
			phone := fmt.Sprintf("+491705%02d%04d", i, round)
			phones = append(phones, phone)
			first.want(200, "PUT", "/sim/phones/"+phone, `{"behaviour":"answer","ring_ms":1,"script":[{"hangup":true}]}`)
			c.race(one.path, fmt.Sprintf(one.body, phone))
		}
		c.wait(func() string { return "all calls are over" }, func() bool { return c.number(`SELECT count(*) FROM calls WHERE NOT settled`) == 0 })
		for _, phone := range phones {
			if n := c.number(`SELECT count(*) FROM `+one.effects, phone); n != 1 {
				t.Errorf("%s: %d effects for %s", one.path, n, phone)
			}
		}
	}
	for what, n := range map[string]int64{
		"calls":    c.number(`SELECT count(*) FROM calls`),
		"messages": c.number(`SELECT count(*) FROM wa_messages`),
		"charges":  c.number(`SELECT count(*) FROM ledger WHERE entry = 'charge' AND kind LIKE 'whatsapp%'`),
	} {
		if n != rounds {
			t.Errorf("%d %s, want %d", n, what, rounds)
		}
	}
	if n := c.number(`SELECT count(*) FROM holds`); n != 0 {
		t.Errorf("%d holds are left", n)
	}
}

// race sends a request several times to each process, with one key.
func (c *cluster) race(path, body string) {
	c.t.Helper()
	answers := make([]keyed, 8)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = c.at(i%len(c.nodes)).keyed(path, body) })
	}
	all.Wait()
	done := 0
	stored := c.at(0).keyed(path, body)
	if other := c.at(1).keyed(path, body); other != stored || !stored.replayed || stored.status/100 != 2 {
		c.t.Errorf("%s: afterwards %+v and %+v", path, stored, other)
	}
	for _, got := range answers {
		first := stored
		first.replayed = false
		switch got {
		case first:
			done++
		case stored, inProgress:
		default:
			c.t.Errorf("%s: %+v, stored is %+v", path, got, stored)
		}
	}
	if done != 1 {
		c.t.Errorf("%s: done %d times", path, done)
	}
}

// graph is WhatsApp's Cloud API with one sender and one template: it takes each message and never says so.
type graph struct {
	*httptest.Server
	taken chan string // the name of each message it took
}

func newGraph(t *testing.T) *graph {
	g := &graph{taken: make(chan string, 10)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /100":
			_, _ = io.WriteString(w, `{"display_phone_number":"+1 415-555-0123","verified_name":"Shop","messaging_limit_tier":"TIER_UNLIMITED"}`)
		case "GET /200/message_templates":
			_, _ = io.WriteString(w, `{"data":[{"id":"1","name":"ready","language":"en","status":"APPROVED","category":"UTILITY","components":[{"type":"BODY","text":"It is ready."}]}]}`)
		case "POST /100/messages":
			var m struct {
				To  string
				Ref string `json:"biz_opaque_callback_data"`
			}
			b, err := io.ReadAll(r.Body)
			if err != nil || json.Unmarshal(b, &m) != nil || m.Ref == "" {
				t.Errorf("a message without a name: %s %v", b, err)
			}
			g.taken <- m.Ref
			if m.To == "491701230002" {
				<-r.Context().Done() // whoever asked is gone
			}
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			t.Errorf("asked for %s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// callback has the platform say that a message was delivered.
func (c client) callback(ref, sid string) {
	c.t.Helper()
	body := fmt.Sprintf(`{"entry":[{"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"100"},
		"statuses":[{"id":%q,"status":"delivered","timestamp":"1700000000","biz_opaque_callback_data":%q}]}}]}]}`, sid, ref)
	mac := hmac.New(sha256.New, []byte("app secret"))
	_, _ = io.WriteString(mac, body)
	r, err := http.NewRequest("POST", c.url+"/hooks/whatsapp", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		c.t.Errorf("the callback: %d", res.StatusCode)
	}
}

// The platform takes messages and its answers are lost. With its connection: the request failed, and stays so whatever the
// platform says later. With our process: nobody knows, until the platform calls back. Neither is sent or charged twice.
//
// Contract: 1.14 11.5 16.2
func TestLostAnswerOfWhatsApp(t *testing.T) { onBoth(t, testLostAnswerOfWhatsApp) }

func testLostAnswerOfWhatsApp(t *testing.T, env string) {
	g, data := newGraph(t), t.TempDir()
	settings := []string{env, "PARLEY_WHATSAPP_API_URL=" + g.URL, "PARLEY_WHATSAPP_APP_SECRET=app secret"}
	c := manual(t, data, settings...)
	desk := c.id(c.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":2,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC",
		"initial_message":"Hello.","system_prompt":"Help.","llm_model_id":1}`), "data", "id")
	sender := c.id(c.want(200, "POST", "/user/whatsapp/senders", fmt.Sprintf(`{"carrier":"whatsapp_cloud","phone_number":"+14155550123","assistant_id":%d,
		"credentials":{"phone_number_id":"100","business_account_id":"200","access_token":"token"}}`, desk)), "data", "id")
	c.want(200, "POST", fmt.Sprintf("/user/whatsapp/senders/%d/templates/sync", sender), "")
	body := fmt.Sprintf(`{"sender_id":%d,"template_id":1,"recipient_phone":"+49170123000%%d"}`, sender)
	total, _ := c.money()
	paid := func(when string, want bool) {
		t.Helper()
		now, available := c.money()
		if now != available || now < total != want {
			t.Errorf("%s: %v of %v, available %v", when, now, total, available)
		}
	}

	broken := fmt.Sprintf(body, 1)
	refused := c.keyed("/user/whatsapp/send", broken)
	if refused.status != 422 || refused.replayed || !strings.Contains(refused.body, `"UNKNOWN_ERROR"`) || !strings.Contains(refused.body, "Failed to send message.") {
		t.Fatalf("a broken connection: %+v", refused)
	}
	refused.replayed = true
	ref := <-g.taken
	for _, when := range []string{"before", "after"} {
		if got := c.keyed("/user/whatsapp/send", broken); got != refused {
			t.Errorf("again %s the callback: %+v, want %+v", when, got, refused)
		}
		paid("broken, "+when+" the callback", false)
		c.callback(ref, "wamid.1")
	}

	killed := fmt.Sprintf(body, 2)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.lost("/user/whatsapp/send", killed)
	}()
	ref = <-g.taken
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.done
	<-sent
	c = manual(t, data, settings...)
	for range 2 {
		if got := c.keyed("/user/whatsapp/send", killed); got != inProgress {
			t.Errorf("again before the callback: %+v", got)
		}
	}
	c.callback(ref, "wamid.2")
	c.again("/user/whatsapp/send", killed)
	paid("delivered", true)
	once, _ := c.money()
	c.callback(ref, "wamid.2")
	c.again("/user/whatsapp/send", killed)
	if again, available := c.money(); again != once || available != once {
		t.Errorf("charged again: %v after %v, available %v", again, once, available)
	}
	if len(g.taken) != 0 {
		t.Errorf("%d messages were sent again", len(g.taken))
	}
	c.stop(t)
}
