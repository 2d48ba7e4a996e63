package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Three processes with a role each: the API is anywhere, calls are on the process that holds them. Whatever can be asked of
// a call is asked of the two that do not hold it.
//
// Contract: 4.9 5.1 18.1 18.3
func TestRoles(t *testing.T) {
	c := startCluster(t, "api", "voice", "work")
	number := c.desk(c.at(0))
	out := c.assistant(c.at(0), "outbound", "null", "")
	c.steered(number)
	c.fromTheBrowser()

	// A call that goes out, ordered where there are no lines.
	at := c.at(0)
	at.want(200, "PUT", "/sim/phones/+491701111111", `{"behaviour":"answer","script":[{"wait_ms":500},{"hangup":true}]}`)
	id := at.id(at.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":"+491701111111","assistant_id":%d}`, out)), "call_id")
	if one := c.at(2).until(id, final); one.Status != "completed" || *one.Reason != "customer_hangup" {
		t.Errorf("%+v", one)
	}
	if c.number(`SELECT count(*) FROM calls WHERE node <> $1`, c.nodes[1].name) != 0 {
		t.Error("a process without the role holds calls")
	}
	c.still()
	c.sound()
	for _, m := range c.nodes {
		m.stop(t)
	}
}

// steered is a call that comes in at the process with the lines, seen, heard and steered over both of the others.
func (c *cluster) steered(number string) {
	c.t.Helper()
	at := c.at(0)
	id := at.id(at.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":60000}]}`, number)), "data", "call_id")
	path := fmt.Sprintf("/user/calls/%d", id)
	events := at.stream(c.t.Context(), id)
	at.sees(events, `turn.assistant {"text":"Map shop."`)
	for _, i := range []int{0, 2} {
		signalling := c.at(i).want(200, "GET", path+"/signalling", "")
		if !strings.Contains(signalling, `"title":"INVITE"`) || !strings.Contains(signalling, `"title":"200 OK"`) {
			c.t.Errorf("signalling of a call that goes on: %s", signalling)
		}
	}
	ears := []*browser{at.listenIn(id), c.at(2).listenIn(id)}
	c.at(2).want(200, "POST", path+"/whisper", `{"text":"Be kind."}`)
	at.want(200, "POST", path+"/say", `{"text":"Which maps?"}`)
	at.sees(events, `turn.user {"text":"Which maps?"`)
	for _, ear := range ears {
		ear.hears(c.t) // the answer
	}
	c.at(2).want(200, "POST", path+"/hangup", "")
	at.sees(events, `call.state {"status":"completed","reason":"api_hangup"}`)
	one := at.until(id, final)
	if one.Status != "completed" || *one.Reason != "api_hangup" || !strings.HasPrefix(one.Transcript, "Assistant: Map shop.") {
		c.t.Errorf("%+v", one)
	}
	at.want(409, "POST", path+"/whisper", `{"text":"Too late."}`)
	at.want(409, "POST", path+"/listen", `{"sdp":"v=0"}`)
	if !strings.Contains(at.want(200, "GET", path+"/signalling", ""), `"title":"BYE"`) {
		c.t.Error("the signalling of a call that is over has no BYE")
	}
	res, err := http.Get(one.Recording) // made by one process, stored in S3, read by another
	if err != nil {
		c.t.Fatal(err)
	}
	wav, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != 200 || len(wav) < 8000 {
		c.t.Errorf("recording over another process: %s, %d bytes, %v", res.Status, len(wav), err)
	}
}

// fromTheBrowser is a browser call that is offered to the process with the API, and ended by its page over a third one.
func (c *cluster) fromTheBrowser() {
	c.t.Helper()
	call := c.at(0).browser()
	events := c.at(2).stream(c.t.Context(), call.id)
	c.at(2).sees(events, `turn.assistant {"text":"Map shop."`)
	call.hears(c.t)
	end := fmt.Sprintf("/web-calls/%s?token=", call.uuid)
	c.at(2).want(404, "DELETE", end+"another", "")
	c.at(2).want(200, "DELETE", end+call.token, "")
	c.at(2).sees(events, `call.state {"status":"completed","reason":"customer_hangup"}`)
	if one := c.at(0).call(call.id); one.Type != "web" || one.Status != "completed" || *one.By != "customer" {
		c.t.Errorf("%+v", one)
	}
}

// desk buys a number for an assistant that answers it.
func (c *cluster) desk(at client) (number string) {
	c.t.Helper()
	var found struct {
		Data []struct {
			Number string `json:"phone_number"`
		}
	}
	if err := json.Unmarshal([]byte(at.want(200, "GET", "/user/phone-numbers/search", "")), &found); err != nil {
		c.t.Fatal(err)
	}
	number = found.Data[0].Number
	id := at.id(at.want(201, "POST", "/user/phone-numbers/purchase", fmt.Sprintf(`{"phone_number":%q}`, number)), "data", "id")
	c.assistant(at, "inbound", fmt.Sprint(id), `,"record":true`)
	return number
}

// campaign starts one with leads on phones that are not answered, do not exist, or are answered for a moment.
func (c *cluster) campaign(at client, assistant int64, prefix string, leads, parallel int) int64 {
	c.t.Helper()
	id := at.id(at.want(201, "POST", "/user/campaigns", fmt.Sprintf(`{"name":"Spring","assistant_id":%d,"max_calls_in_parallel":%d,"timezone":"UTC"}`, assistant, parallel)), "data", "id")
	worlds := []string{`{"behaviour":"no_answer"}`, `{"behaviour":"invalid"}`, `{"behaviour":"answer","ring_ms":100,"script":[{"wait_ms":1500},{"hangup":true}]}`}
	for i := range leads {
		phone := fmt.Sprintf("+49170%s%04d", prefix, i)
		at.want(200, "PUT", "/sim/phones/"+phone, worlds[i%len(worlds)])
		at.want(200, "POST", "/user/lead", fmt.Sprintf(`{"phone_number":%q,"campaign_id":%d}`, phone, id))
	}
	at.want(200, "POST", "/user/campaigns/update-status", fmt.Sprintf(`{"campaign_id":%d,"action":"start"}`, id))
	return id
}

// mostAtOnce looks at the calls of a campaign until ctx ends and tells how many there were at once.
func (c *cluster) mostAtOnce(ctx context.Context, campaign int64) (most int64) {
	for ctx.Err() == nil {
		var n int64
		err := c.db.Get(ctx, &n, `SELECT count(*) FROM calls WHERE campaign_id = $1 AND status IN ('initiated', 'ringing', 'in-progress')`, campaign)
		if err == nil {
			most = max(most, n)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return most
}

// write sends template messages over one process, as fast as it goes, until ctx ends, and returns the ids of those that
// were acknowledged.
func (c *cluster) write(ctx context.Context, at client, sender, template int64, name string) (sids []string) {
	for n := 0; ctx.Err() == nil; n++ {
		r, err := http.NewRequestWithContext(ctx, "POST", at.url+"/api/user/whatsapp/send", strings.NewReader(fmt.Sprintf(
			`{"sender_id":%d,"template_id":%d,"recipient_phone":"+491709999999","variables":{"1":"%s %d"}}`, sender, template, name, n)))
		if err != nil {
			c.t.Error(err)
			return sids
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return sids // the process was killed: nothing was acknowledged
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		var sent struct {
			SID string `json:"message_sid"`
		}
		switch {
		case err != nil:
			return sids
		case res.StatusCode == 200 && json.Unmarshal(answer, &sent) == nil:
			sids = append(sids, sent.SID)
		case res.StatusCode != 429:
			c.t.Errorf("message refused: %s %s", res.Status, answer)
			return sids
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return sids
}

// Three processes that do everything; two are killed in the middle, later each is restarted in turn.
//
// Contract: 11.5, 14.4, 15.1
func TestScaleOut(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "all", "all", "all")
	first := c.at(0)
	out := c.assistant(first, "outbound", "null", `,"ringing_time":3`)
	sender := first.id(first.want(200, "POST", "/sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+14155550123","display_name":"Shop","assistant_id":%d}`, out)), "data", "id")
	template := first.id(first.want(200, "POST", fmt.Sprintf("/sim/whatsapp/senders/%d/templates", sender), `{"name":"ready","body_text":"Ready: {{1}}.","variables":["thing"]}`), "data", "id")

	const parallel = 5
	campaign := c.campaign(c.at(1), out, "111", 18, parallel)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var beside sync.WaitGroup
	var most int64
	beside.Go(func() { most = c.mostAtOnce(ctx, campaign) })
	writing, enough := context.WithTimeout(ctx, 5*time.Second)
	defer enough()
	began := time.Now()
	var writers sync.WaitGroup
	sids := make([][]string, len(c.nodes))
	for i := range c.nodes {
		at := c.at(i)
		writers.Go(func() { sids[i] = c.write(writing, at, sender, template, fmt.Sprint("thing ", i)) })
	}

	c.wait(func() string { return "both victims hold calls" }, func() bool {
		return c.number(`SELECT count(DISTINCT node) FROM calls WHERE status IN ('initiated', 'ringing', 'in-progress') AND node IN ($1, $2)`, c.nodes[1].name, c.nodes[2].name) == 2
	})
	for _, m := range c.nodes[1:] {
		if err := m.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-m.done
	}
	writers.Wait()
	lasted := time.Since(began)
	c.forsake()
	c.still()
	stop()
	beside.Wait()
	if most > parallel || most < parallel {
		t.Errorf("%d calls of the campaign at once, want %d reached and never more", most, parallel)
	}
	if n := c.number(`SELECT count(*) FROM calls WHERE reason = 'server_restart'`); n == 0 {
		t.Error("no call was lost with its process: nothing was shown")
	}
	c.messages(sids, lasted)
	c.sound()

	// Rolling restart: the two come back, then each is stopped in turn while calls go on. Nothing is lost now.
	lost := c.number(`SELECT count(*) FROM calls WHERE reason IN ('server_restart', 'server_shutdown')`)
	for _, m := range c.nodes[1:] {
		c.start(m)
	}
	number := c.desk(first)
	c.campaign(c.at(2), out, "222", 9, parallel)
	for i, m := range c.nodes {
		at := c.at(i)
		id := at.id(at.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":3000},{"hangup":true}]}`, number)), "data", "call_id")
		if c.number(`SELECT count(*) FROM calls WHERE id = $1 AND node = $2`, id, m.name) != 1 {
			t.Errorf("call %d is not where it came in", id)
		}
		m.stop(t)
		c.start(m)
		if one := c.at((i + 1) % 3).call(id); one.Status != "completed" || *one.Reason != "customer_hangup" {
			t.Errorf("a call of a process that was stopped: %+v", one)
		}
	}
	c.still()
	c.sound()
	if n := c.number(`SELECT count(*) FROM calls WHERE reason IN ('server_restart', 'server_shutdown')`); n != lost {
		t.Errorf("%d calls lost in a rolling restart", n-lost)
	}
	for _, m := range c.nodes {
		m.stop(t)
	}
}

// forsake lets the ten minutes pass after which a message counts as not sent: those that a killed process was about to hand
// to the platform. No other is under way any more.
func (c *cluster) forsake() {
	c.t.Helper()
	if _, err := c.db.Exec(c.t.Context(), `UPDATE jobs SET run_at = 1 WHERE kind = 'messaging.abandoned' AND done_at IS NULL`); err != nil {
		c.t.Fatal(err)
	}
}

// messages checks that what was acknowledged is stored and was delivered, once, and no faster than five in a second.
func (c *cluster) messages(sids [][]string, lasted time.Duration) {
	c.t.Helper()
	acknowledged := 0
	for _, list := range sids {
		for _, sid := range list {
			acknowledged++
			if n := c.number(`SELECT count(*) FROM wa_messages WHERE sid = $1 AND status = 'delivered'`, sid); n != 1 {
				c.t.Errorf("message %s is stored %d times", sid, n)
			}
			if n := c.number(`SELECT count(*) FROM sim_messages WHERE sid = $1 AND status = 'delivered'`, sid); n != 1 {
				c.t.Errorf("message %s came %d times", sid, n)
			}
		}
	}
	if n := c.number(`SELECT count(*) FROM (SELECT 1 FROM sim_messages GROUP BY text HAVING count(*) > 1) x`); n != 0 {
		c.t.Errorf("%d messages came twice", n)
	}
	if most := 5 * int(lasted.Seconds()+2); acknowledged > most || acknowledged == 0 {
		c.t.Errorf("%d messages in %v, want 1 to %d", acknowledged, lasted, most)
	}
}
