package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// patient is a phone that is answered and says nothing for five minutes.
const patient = `{"behaviour":"answer","ring_ms":0,"script":[{"wait_ms":300000}]}`

// live are the campaign's calls that go on.
func (l list) live() (ids []int64) {
	l.t.Helper()
	for _, one := range l.calls() {
		if strings.Contains("initiated ringing in-progress", one.Status) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

func (c client) hangUp(id int64) {
	c.t.Helper()
	c.want(200, "POST", fmt.Sprintf("/user/calls/%d/hangup", id), "")
}

// TestInboundReserve has a campaign leave half of four lines free. Calls that somebody orders may use them; the campaign
// goes on when less than its half is used.
//
// Contract: 6.6 5.1 14.4
func TestInboundReserve(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		c.want(200, "PUT", "/sim/phones/+491701000001", patient)
		l := c.campaign(assistant, `"max_calls_in_parallel":4`)
		var leads []int64
		for i := range 4 {
			phone := fmt.Sprintf("+49170100001%d", i)
			c.want(200, "PUT", "/sim/phones/"+phone, patient)
			leads = append(leads, l.lead(phone))
		}
		l.press("start")
		c.eventually("half of the lines are used", func() bool { return len(l.live()) == 2 })
		c.advance(time.Minute)
		if n := len(l.calls()); n != 2 || l.state(leads[2]) != "scheduled 0" {
			t.Errorf("%d calls with two lines kept free; the third lead is %s", n, l.state(leads[2]))
		}
		order := fmt.Sprintf(`{"phone_number":"+491701000001","assistant_id":%d}`, assistant)
		var own []int64
		for range 2 {
			own = append(own, c.id(c.want(200, "POST", "/user/make_call", order), "call_id"))
		}
		if got := c.want(429, "POST", "/user/make_call", order); got != `{"message":"Too many calls in progress.","retry_after":5}` {
			t.Error(got)
		}
		first := l.live()[0]
		c.hangUp(first)
		c.until(first, final)
		c.advance(time.Minute)
		if got := l.state(leads[2]); got != "scheduled 0" {
			t.Errorf("three of four lines are used and the third lead is %s", got)
		}
		for _, id := range own {
			c.hangUp(id)
			c.until(id, final)
		}
		c.eventually("the third lead is called", func() bool { return l.state(leads[2]) == "processing 1" })
		if n := len(l.live()); n != 2 {
			t.Errorf("%d calls at once: %+v", n, l.calls())
		}
		l.press("stop")
	}, "PARLEY_TELEPHONY_INBOUND_RESERVE=0.5", "PARLEY_PLAN_DEFAULT_PARALLEL_PER_ACCOUNT=4")
}

// TestCampaignDrain stops a campaign and lets its call go on: it ends as it would have, its lead is done, nobody else is
// called until the campaign starts again.
//
// Contract: 6.4 14.3 14.4
func TestCampaignDrain(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		c.want(200, "PUT", "/sim/phones/+491701000001", patient)
		c.want(200, "PUT", "/sim/phones/+491701000002", `{"behaviour":"invalid"}`)
		l := c.campaign(assistant, `"max_calls_in_parallel":1`)
		talking, waiting := l.lead("+491701000001"), l.lead("+491701000002")
		l.press("start")
		c.eventually("the first lead is called", func() bool { return len(l.live()) == 1 })
		id := l.live()[0]
		c.until(id, func(one recorded) bool { return one.Status == "in-progress" })
		if got := c.want(200, "POST", "/user/campaigns/update-status", fmt.Sprintf(`{"campaign_id":%d,"action":"stop","drain":true}`, l.id)); got != fmt.Sprintf(`{"message":"The campaign is now stopped.","success":true,"data":{"campaign_id":%d,"status":"stopped"}}`, l.id) {
			t.Error(got)
		}
		c.advance(time.Hour)
		if one := c.call(id); one.Status != "in-progress" || l.state(talking) != "processing 1" || l.state(waiting) != "created 0" {
			t.Errorf("after the stop the call is %s, its lead %s, the other %s", one.Status, l.state(talking), l.state(waiting))
		}
		c.hangUp(id)
		if one := c.until(id, final); one.Status != "completed" || *one.Reason != "api_hangup" {
			t.Errorf("%+v", one)
		}
		c.eventually("the lead is done", func() bool { return l.state(talking) == "completed 1" })
		c.advance(time.Hour)
		if n := len(l.calls()); n != 1 || l.status() != "stopped" || l.state(waiting) != "created 0" {
			t.Errorf("%d calls, the campaign is %s, the other lead %s", n, l.status(), l.state(waiting))
		}
		l.press("start")
		c.eventually("the campaign completes", func() bool { return l.status() == "completed" })
		if n := len(l.calls()); n != 2 || l.state(waiting) != "reached-max-retries 1" {
			t.Errorf("%d calls, the other lead is %s", n, l.state(waiting))
		}
	})
}

// TestWindowCloses has the hours end while a call runs and a lead waits: the call goes on, the lead is called when the
// hours of the next day begin.
//
// Contract: 6.2 14.4
func TestWindowCloses(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		c.want(200, "PUT", "/sim/phones/+491701000001", patient)
		c.want(200, "PUT", "/sim/phones/+491701000002", `{"behaviour":"invalid"}`)
		begin := c.clock().UTC()
		l := c.campaign(assistant, fmt.Sprintf(`"max_calls_in_parallel":1,"timezone":"UTC","allowed_hours_start_time":%q,"allowed_hours_end_time":%q`,
			begin.Format("15:04"), begin.Add(10*time.Minute).Format("15:04")))
		talking, waiting := l.lead("+491701000001"), l.lead("+491701000002")
		l.press("start")
		c.eventually("the first lead is called", func() bool { return len(l.live()) == 1 })
		id := l.live()[0]
		c.until(id, func(one recorded) bool { return one.Status == "in-progress" })
		c.advance(11 * time.Minute) // the minute of the end is open
		c.advance(10 * time.Minute)
		if one := c.call(id); one.Status != "in-progress" {
			t.Errorf("the end of the hours has ended a call: %+v", one)
		}
		c.hangUp(id)
		c.until(id, final)
		c.eventually("the lead is done", func() bool { return l.state(talking) == "completed 1" })
		c.advance(time.Hour)
		if n := len(l.calls()); n != 1 || l.state(waiting) != "scheduled 0" || l.status() != "in-progress" {
			t.Errorf("%d calls, the lead is %s, the campaign %s", n, l.state(waiting), l.status())
		}
		c.advance(24 * time.Hour)
		c.eventually("the campaign completes", func() bool { return l.status() == "completed" })
		all := l.calls()
		at, err := time.Parse(time.DateTime, all[len(all)-1].Created)
		if late := at.Sub(begin.Truncate(time.Minute)) - 24*time.Hour; len(all) != 2 || err != nil || late < 0 || late > time.Minute {
			t.Errorf("%d calls, the last %v after the next day's hours began, %v", len(all), late, err)
		}
	})
}

// TestDailyLimit reaches the calls an account may place in a day, with calls of a campaign and one of its own, exactly; the
// campaign waits for the day to pass.
//
// Contract: 6.6 5.1 16.5
func TestDailyLimit(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		order := fmt.Sprintf(`{"phone_number":"+491701000001","assistant_id":%d}`, assistant)
		c.want(200, "PUT", "/sim/phones/+491701000001", `{"behaviour":"busy"}`)
		c.until(c.id(c.want(200, "POST", "/user/make_call", order), "call_id"), final)
		l := c.campaign(assistant, `"max_calls_in_parallel":2`)
		for i := range 5 {
			phone := fmt.Sprintf("+49170100001%d", i)
			c.want(200, "PUT", "/sim/phones/"+phone, `{"behaviour":"invalid"}`)
			l.lead(phone)
		}
		begin := c.clock()
		l.press("start")
		placed := func(n int) func() bool {
			return func() bool { return len(l.calls()) == n && len(l.live()) == 0 }
		}
		c.eventually("the limit is reached", placed(3))
		c.advance(time.Hour)
		if n := len(l.calls()); n != 3 || l.status() != "in-progress" {
			t.Errorf("%d calls of the campaign with one before, want 3 of 4 in a day; it is %s", n, l.status())
		}
		if got := c.want(429, "POST", "/user/make_call", order); !strings.Contains(got, `"retry_after":`) {
			t.Error(got)
		}
		c.advance(22*time.Hour + 58*time.Minute - c.clock().Sub(begin.Add(time.Hour)))
		if n := len(l.calls()); n != 3 {
			t.Errorf("%d calls before the day has passed", n)
		}
		c.advance(10 * time.Minute)
		c.eventually("the campaign completes", func() bool { return l.status() == "completed" })
		if n := len(l.calls()); n != 5 {
			t.Errorf("%d calls, want one for each lead", n)
		}
	}, "PARLEY_LIMITS_DAILY_OUTBOUND=4")
}

// TestBlockedDuringARun puts numbers on the do-not-call list while a campaign runs: one that is being called, one that
// waits, one that was to be tried again.
//
// Contract: 6.6 14.4 18.1
func TestBlockedDuringARun(t *testing.T) {
	t.Parallel()
	eachManual(t, func(c client, assistant int64) {
		phones := []string{"+491701000001", "+491701000002", "+491701000003"}
		for i, world := range []string{`{"behaviour":"busy"}`, patient, `{"behaviour":"invalid"}`} {
			c.want(200, "PUT", "/sim/phones/"+phones[i], world)
		}
		l := c.campaign(assistant, `"max_calls_in_parallel":1,"retry_interval":30`)
		again, talking, waiting := l.lead(phones[0]), l.lead(phones[1]), l.lead(phones[2])
		l.press("start")
		c.eventually("the second lead is called", func() bool { return l.state(talking) == "processing 1" && len(l.live()) == 1 })
		if got := l.state(again); got != "rescheduled 1" {
			t.Errorf("the first lead is %s", got)
		}
		id := l.live()[0]
		c.until(id, func(one recorded) bool { return one.Status == "in-progress" })
		for _, phone := range phones {
			c.want(200, "POST", "/user/do-not-call", fmt.Sprintf(`{"phone_number":%q}`, phone))
		}
		if got := l.state(again) + ", " + l.state(talking) + ", " + l.state(waiting); got != "blacklisted 1, processing 1, blacklisted 0" {
			t.Error(got)
		}
		if one := c.call(id); one.Status != "in-progress" {
			t.Errorf("the list has ended a call: %+v", one)
		}
		c.hangUp(id)
		c.until(id, final)
		c.eventually("the campaign completes", func() bool { return l.status() == "completed" })
		c.advance(time.Hour)
		if n := len(l.calls()); n != 2 || l.state(talking) != "completed 1" {
			t.Errorf("%d calls, the lead that was called is %s", n, l.state(talking))
		}
	})
}
