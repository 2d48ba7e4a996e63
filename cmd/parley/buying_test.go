package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"parley/db/dbtest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manual starts a server whose clock the test moves, on a data folder that may have been in use before.
func manual(t *testing.T, data string, env ...string) client {
	t.Helper()
	c := client{serving: startServer(t, data, append([]string{"PARLEY_CLOCK_MODE=manual"}, env...), "--dev"), t: t}
	c.key = ran(t, env, "keys", "create", "--data", data, "--name", "test")
	return c
}

// onBoth runs a test on each database, of which env tells the program.
func onBoth(t *testing.T, test func(t *testing.T, env string)) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" }, "postgres": dbtest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, "PARLEY_DATABASE_URL="+url(t))
		})
	}
}

// lost sends a request whose server dies.
func (c client) lost(path, body string) {
	c.t.Helper()
	r, err := http.NewRequest("POST", c.url+"/api"+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Idempotency-Key", "of "+body)
	if res, err := http.DefaultClient.Do(r); err == nil {
		res.Body.Close()
		c.t.Errorf("POST %s was answered with %d", path, res.StatusCode)
	}
}

// again sends a request twice with the key it had when its server died, and returns the one answer.
func (c client) again(path, body string) (answer string) {
	c.t.Helper()
	for i := range 2 {
		r, err := http.NewRequest("POST", c.url+"/api"+path, strings.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		r.Header.Set("Idempotency-Key", "of "+body)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode/100 != 2 || i > 0 && (string(b) != answer || res.Header.Get("Idempotency-Replayed") != "true") {
			c.t.Errorf("POST %s: %d %s after %s, %v", path, res.StatusCode, b, answer, err)
		}
		answer = string(b)
	}
	return answer
}

type payments struct {
	Data struct {
		Charges       []struct{ Status string }
		Subscriptions []struct {
			Number string `json:"phone_number"`
			Status string
		}
		Refunds []any
	}
}

// TestKilledWhileBuying ends the process before and after the carrier's order: nobody is charged without a number, and no
// number is without its record.
//
// Contract: 1.14 10.3 16.2
func TestKilledWhileBuying(t *testing.T) { onBoth(t, testKilledWhileBuying) }

func testKilledWhileBuying(t *testing.T, env string) {
	data := t.TempDir()
	for i, fault := range []string{"crash_before_order", "crash_after_order"} {
		number := fmt.Sprintf("+1415555012%d", i)
		c := manual(t, data, env)
		c.want(200, "PUT", "/sim/faults", `{"carrier":"`+fault+`"}`)
		c.lost("/user/phone-numbers/purchase", `{"phone_number":"`+number+`"}`)
		if err := <-c.done; err == nil || c.ProcessState.ExitCode() != 137 {
			t.Fatalf("%s: the process ended with %v", fault, err)
		}
		c = manual(t, data, env)
		if got := c.again("/user/phone-numbers/purchase", `{"phone_number":"`+number+`"}`); !strings.Contains(got, number) {
			t.Errorf("%s: %s", fault, got)
		}
		for end := time.Now().Add(30 * time.Second); !strings.Contains(c.want(200, "GET", "/user/phone-numbers/all", ""), number); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the purchase does not go on", fault)
			}
		}
		var p payments
		if err := json.Unmarshal([]byte(c.want(200, "GET", "/sim/payments", "")), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Data.Charges) != i+1 || len(p.Data.Subscriptions) != i+1 || len(p.Data.Refunds) != 0 {
			t.Errorf("%s: %+v", fault, p)
		}
		c.want(400, "POST", "/user/phone-numbers/purchase", `{"phone_number":"`+number+`"}`)
		c.stop(t)
	}
}

// A request that is under way when its process is killed has its effect once, with the key again in the next life: there is
// one lead and one message, and a call that may have rung is not placed again.
//
// Contract: 1.14 5.1 14.5
func TestKilledWithAKey(t *testing.T) { onBoth(t, testKilledWithAKey) }

func testKilledWithAKey(t *testing.T, env string) {
	data := t.TempDir()
	c := manual(t, data, env)
	assistant := func(kind string) int64 {
		return c.id(c.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":2,"language_id":1,"type":"`+kind+`","mode":"pipeline","timezone":"UTC",
			"initial_message":"Hello.","system_prompt":"Help.","llm_model_id":1}`), "data", "id")
	}
	caller, desk := assistant("outbound"), assistant("inbound")
	campaign := c.id(c.want(201, "POST", "/user/campaigns", fmt.Sprintf(`{"name":"Spring","assistant_id":%d}`, caller)), "data", "id")
	sender := c.id(c.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","assistant_id":%d}`, desk)), "data", "id")
	template := c.id(c.want(200, "POST", fmt.Sprintf("/sim/whatsapp/senders/%d/templates", sender), `{"name":"ready","body_text":"It is ready."}`), "data", "id")
	for _, one := range []struct{ path, body, list, each string }{
		{"/user/lead", fmt.Sprintf(`{"campaign_id":%d,"phone_number":"+491701234567","allow_duplicate":true}`, campaign), "/user/leads", `"campaign_id":`},
		{"/user/make_call", fmt.Sprintf(`{"assistant_id":%d,"phone_number":"+491701234567"}`, caller), "/user/calls", `"client_phone_number":`},
		{"/user/whatsapp/send", fmt.Sprintf(`{"sender_id":%d,"template_id":%d,"recipient_phone":"+491701234567"}`, sender, template),
			"/sim/whatsapp/messages", `"message_sid":`},
	} {
		for range 3 {
			before := strings.Count(c.want(200, "GET", one.list, ""), one.each)
			body := strings.Replace(one.body, "4567", fmt.Sprint(4000+before), 1)
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				if r, err := http.NewRequest("POST", c.url+"/api"+one.path, strings.NewReader(body)); err == nil {
					r.Header.Set("Authorization", "Bearer "+c.key)
					r.Header.Set("Idempotency-Key", "of "+body)
					if res, err := http.DefaultClient.Do(r); err == nil { // it was quicker
						res.Body.Close()
					}
				}
			}()
			c.want(200, "GET", "/user/me", "") // about as long as the request takes
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-c.done
			<-sent
			c = manual(t, data, env)
			c.again(one.path, body)
			if after := strings.Count(c.want(200, "GET", one.list, ""), one.each); after != before+1 {
				t.Errorf("%s: %d before, %d after", one.path, before, after)
			}
		}
	}
	c.stop(t)
}

// TestKilledWhileTheMessageIsOut kills the process while the platform keeps it waiting: the price stays set aside until
// it is clear that nothing was sent, and comes back once.
//
// Contract: 11.5 16.4
func TestKilledWhileTheMessageIsOut(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := manual(t, data)
	assistant := c.id(c.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"Help.","llm_model_id":1}`), "data", "id")
	sender := c.id(c.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","assistant_id":%d}`, assistant)), "data", "id")
	template := c.id(c.want(200, "POST", fmt.Sprintf("/sim/whatsapp/senders/%d/templates", sender), `{"name":"ready","body_text":"It is ready."}`), "data", "id")
	c.want(200, "PUT", "/sim/faults", `{"whatsapp":"timeout"}`)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		c.lost("/user/whatsapp/send", fmt.Sprintf(`{"sender_id":%d,"template_id":%d,"recipient_phone":"+491701234567"}`, sender, template))
	}()
	before, available := c.money()
	for end := time.Now().Add(9 * time.Second); available == before && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		before, available = c.money()
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.done
	<-answered
	c = manual(t, data)
	if total, available := c.money(); total != before || available >= total {
		t.Errorf("after the kill: balance %v, available %v", total, available)
	}
	c.want(200, "POST", "/sim/clock/advance", `{"seconds":600}`)
	for range 2 {
		if total, available := c.money(); total != before || available != total {
			t.Errorf("ten minutes later: balance %v, available %v", total, available)
		}
		c.want(200, "POST", "/sim/clock/advance", `{"seconds":600}`)
	}
	c.want(200, "POST", "/user/whatsapp/send", fmt.Sprintf(`{"sender_id":%d,"template_id":%d,"recipient_phone":"+491701234567"}`, sender, template))
	if total, available := c.money(); total >= before || available != total {
		t.Errorf("sent: balance %v, available %v", total, available)
	}
	c.stop(t)
}
