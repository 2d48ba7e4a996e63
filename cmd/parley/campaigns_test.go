package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/db/dbtest"
)

// list is a campaign with what tests read of its leads and calls.
type list struct {
	client
	id int64
}

// campaign makes one from the fields that differ from the defaults.
func (c client) campaign(assistant int64, fields string) list {
	c.t.Helper()
	return list{c, c.id(c.want(201, "POST", "/user/campaigns", fmt.Sprintf(`{"name":"Spring","assistant_id":%d,%s}`, assistant, fields)), "data", "id")}
}

func (l list) lead(phone string, more ...string) int64 {
	l.t.Helper()
	return l.client.id(l.want(200, "POST", "/user/lead", fmt.Sprintf(`{"phone_number":%q,"campaign_id":%d%s}`, phone, l.id, strings.Join(more, ""))), "data", "id")
}

func (l list) press(action string) {
	l.t.Helper()
	l.want(200, "POST", "/user/campaigns/update-status", fmt.Sprintf(`{"campaign_id":%d,"action":%q}`, l.id, action))
}

// lead as an answer shows it: status, attempts and the contacts' statuses.
func (l list) state(id int64) string {
	l.t.Helper()
	var got struct {
		Data struct {
			Status   string
			Attempts int
			Contacts []struct{ Status string } `json:"secondary_contacts"`
		}
	}
	if err := json.Unmarshal([]byte(l.want(200, "GET", fmt.Sprintf("/user/leads/%d", id), "")), &got); err != nil {
		l.t.Fatal(err)
	}
	s := fmt.Sprint(got.Data.Status, " ", got.Data.Attempts)
	for _, k := range got.Data.Contacts {
		s += " | " + k.Status
	}
	return s
}

func (l list) status() string {
	l.t.Helper()
	var got struct{ Data struct{ Status string } }
	if err := json.Unmarshal([]byte(l.want(200, "GET", fmt.Sprintf("/user/campaigns/%d", l.id), "")), &got); err != nil {
		l.t.Fatal(err)
	}
	return got.Data.Status
}

type dialled struct {
	ID      int64
	Phone   string `json:"client_phone_number"`
	Status  string
	Created string `json:"created_at"`
}

// calls lists the campaign's calls, oldest first.
func (l list) calls() (out []dialled) {
	l.t.Helper()
	var got struct{ Data []dialled }
	if err := json.Unmarshal([]byte(l.want(200, "GET", fmt.Sprintf("/user/calls?per_page=100&campaign_id=%d", l.id), "")), &got); err != nil {
		l.t.Fatal(err)
	}
	for _, one := range got.Data {
		out = append([]dialled{one}, out...)
	}
	return out
}

func (c client) eventually(what string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// clock reads the manual clock; advance moves it.
func (c client) clock() time.Time {
	c.t.Helper()
	var got struct{ Data struct{ Now time.Time } }
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/sim/clock", "")), &got); err != nil {
		c.t.Fatal(err)
	}
	return got.Data.Now
}

func (c client) advance(by time.Duration) {
	c.t.Helper()
	answer := c.want(200, "POST", "/sim/clock/advance", fmt.Sprintf(`{"seconds":%d}`, int(by.Seconds())))
	if !strings.HasSuffix(answer, `"settled":true}}`) {
		c.t.Errorf("the clock: %s", answer)
	}
}

// eachManual runs a server with a manual clock on either database, with an assistant that calls; settings adapt it.
func eachManual(t *testing.T, test func(c client, assistant int64), settings ...string) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			env := append([]string{"PARLEY_CLOCK_MODE=manual", "PARLEY_LIMITS_PER_KEY_PER_MINUTE=0", sureWords}, settings...)
			if kind == "postgres" {
				env = append(env, "PARLEY_DATABASE_URL="+dbtest.PostgresURL(t))
			}
			data := t.TempDir()
			key := ran(t, env, "keys", "create", "--data", data, "--name", "test")
			c := client{startServer(t, data, env, "--dev"), t, key}
			out := c.id(c.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":2,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC",
				"initial_message":"Map shop.","system_prompt":"You sell maps.","llm_model_id":1,"max_silence_duration":360}`), "data", "id")
			test(c, out)
			c.stop(t)
		})
	}
}

// TestCampaignOnSimulatedPhones dials phones of every kind on the manual clock: each ends as the table of calls says, the
// tries again come at their own moment, contacts are dialled in turn, and the campaign completes.
//
// Contract: 6.1 6.2 6.6 14.3 14.4 14.5
func TestCampaignOnSimulatedPhones(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		phone := func(number, world string) { c.want(200, "PUT", "/sim/phones/"+number, world) }
		talk := `{"behaviour":"answer","ring_ms":0,"script":[{"wait_for":"speech_end","timeout_ms":15000},{"say":"Good morning to you"},{"wait_ms":300},{"hangup":true}]}`
		phone("+491701000001", `{"behaviour":"busy"}`)
		phone("+491701000002", `{"behaviour":"decline"}`)
		phone("+491701000003", `{"behaviour":"invalid"}`)
		phone("+491701000004", `{"behaviour":"carrier_error"}`)
		phone("+491701000005", talk)
		phone("+491701000006", `{"behaviour":"busy"}`)
		phone("+491701000007", `{"behaviour":"busy"}`)
		phone("+491701000008", talk)
		l := c.campaign(assistant, `"max_retries":1,"retry_interval":60,"max_calls_in_parallel":2`)
		busy, declined, wrong, broken, answered := l.lead("+491701000001"), l.lead("+491701000002"), l.lead("+491701000003"), l.lead("+491701000004"), l.lead("+491701000005")
		family := l.lead("+491701000006", `,"secondary_contacts":[{"phone_number":"+491701000007"},{"phone_number":"+491701000008"},{"phone_number":"+491701000009"}]`)
		never := l.lead("+491701000010")
		c.want(200, "POST", "/user/do-not-call", `{"phone_number":"+491701000010"}`)
		begin := c.clock()
		l.press("start")

		c.eventually("everybody was called once", func() bool {
			live := 0
			for _, one := range l.calls() {
				if strings.Contains("initiated ringing in-progress", one.Status) {
					live++
				}
			}
			if live > 2 {
				t.Errorf("%d calls at once", live)
			}
			return strings.HasPrefix(l.state(answered), "completed") && strings.HasPrefix(l.state(family), "completed")
		})
		if got := l.state(family); got != "completed 1 | completed | completed | created" {
			t.Errorf("the lead with contacts is %s", got)
		}
		for id, want := range map[int64]string{busy: "rescheduled 1", declined: "rescheduled 1", wrong: "reached-max-retries 1", broken: "rescheduled 1", never: "blacklisted 0"} {
			if got := l.state(id); got != want {
				t.Errorf("lead %d is %s, want %s", id, got, want)
			}
		}
		if n := len(l.calls()); n != 8 || l.status() != "in-progress" {
			t.Errorf("%d calls, the campaign is %s", n, l.status())
		}

		c.advance(59 * time.Minute)
		if n := len(l.calls()); n != 8 {
			t.Errorf("%d calls, some before their time", n)
		}
		c.advance(5 * time.Hour)
		c.eventually("the campaign completes", func() bool { return l.status() == "completed" })
		for id, want := range map[int64]string{busy: "reached-max-retries 2", declined: "reached-max-retries 2", broken: "reached-max-retries 2"} {
			if got := l.state(id); got != want {
				t.Errorf("lead %d is %s, want %s", id, got, want)
			}
		}
		all := l.calls()
		if len(all) != 11 {
			t.Errorf("%d calls: %+v", len(all), all)
		}
		for _, again := range all[8:] {
			at, err := time.Parse(time.DateTime, again.Created)
			if late := at.Sub(begin) - time.Hour; err != nil || late < -time.Second || late > time.Minute {
				t.Errorf("%s was called again %s after the first call, want an hour", again.Phone, at.Sub(begin))
			}
		}
	})
}

// TestCampaignHours starts no call before its window opens, and then at that very minute; a stop hangs up.
//
// Contract: 6.2 6.4 14.3 14.4
func TestCampaignHours(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		c.want(200, "PUT", "/sim/phones/+491701000001", `{"behaviour":"answer","script":[{"wait_ms":60000}]}`)
		open := c.clock().Add(2 * time.Hour).UTC()
		l := c.campaign(assistant, fmt.Sprintf(`"timezone":"UTC","allowed_hours_start_time":%q,"allowed_hours_end_time":%q`, open.Format("15:04"), open.Add(time.Hour).Format("15:04")))
		lead := l.lead("+491701000001")
		l.press("start")
		c.advance(time.Hour)
		if n := len(l.calls()); n != 0 || l.state(lead) != "scheduled 0" {
			t.Errorf("%d calls outside the hours; the lead is %s", n, l.state(lead))
		}
		c.advance(90 * time.Minute)
		all := l.calls()
		if len(all) != 1 || all[0].Created != open.Format("2006-01-02 15:04:00") {
			t.Fatalf("calls %+v, want one at %s", all, open.Format("15:04:00"))
		}
		c.until(all[0].ID, func(one recorded) bool { return one.Status == "in-progress" })
		l.press("stop")
		one := c.until(all[0].ID, final)
		if *one.Reason != "campaign_stopped" || *one.By != "system" {
			t.Errorf("%+v", one)
		}
		c.eventually("the attempt is given back", func() bool { return l.state(lead) == "rescheduled 0" })
	})
}
