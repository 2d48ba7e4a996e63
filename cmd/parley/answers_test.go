package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Whoever picks up a call that we place: a person, a mailbox without and with a message for it, a fax, a service that asks
// who is calling and then puts the call through (contract 4.2, 4.8, 4.9, 5.2, 14.5). Campaigns call mailboxes beside them.
func TestWhoPicksUp(t *testing.T) {
	t.Parallel()
	c, _, _ := desk(t, t.TempDir(), sureWords, "PARLEY_LIMITS_PER_KEY_PER_MINUTE=0") // a busy machine asks often
	assistant := func(settings string) int64 {
		return c.id(c.want(201, "POST", "/user/assistant", `{"name":"Caller","voice_id":2,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC",
			"initial_message":"Hello, this is the map shop.","system_prompt":"You sell maps.","llm_model_id":1,"variables":{"shop":"the map shop"}`+settings+`}`), "data", "id")
	}
	plain, leaves := assistant(""), assistant(`,"voice_mail_message":"Please call {shop} about your order."`)
	const message, again = "Assistant: Please call the map shop about your order.", "Customer: hello\nAssistant: Hello, this is the map shop."
	all := []struct {
		name, phone    string
		assistant      int64
		until          string // hung up once this was said; empty = it ends by itself
		reason, by, is string
		said           string
		id             int64
	}{
		{name: "person", phone: `{"behaviour":"answer"}`, assistant: leaves, until: "Customer: hello", reason: "api_hangup", by: "system", is: "human",
			said: "Customer: hello"},
		{name: "fax", phone: `{"behaviour":"fax"}`, assistant: leaves, reason: "fax_detected", by: "system", is: "machine"},
		{name: "mailbox", phone: `{"behaviour":"voicemail"}`, assistant: plain, reason: "voicemail_detected", by: "assistant", is: "machine"},
		{name: "mailbox with a message", phone: `{"behaviour":"voicemail","greeting":"Hi, this is Mary. Leave a message after the beep."}`, assistant: leaves,
			reason: "voicemail_message_left", by: "assistant", is: "machine", said: message},
		{name: "screening", phone: `{"behaviour":"screening"}`, assistant: leaves, until: again, reason: "api_hangup", by: "system", is: "human", said: again},
	}
	for i := range all { // all at once
		one, phone := &all[i], fmt.Sprintf("+4917055500%02d", i)
		c.want(200, "PUT", "/sim/phones/"+phone, one.phone)
		one.id = c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":%q,"assistant_id":%d}`, phone, one.assistant)), "call_id")
	}
	retried := c.callsMachines(plain)
	for _, one := range all {
		t.Run(one.name, func(t *testing.T) {
			c := client{c.serving, t, c.key}
			got := c.until(one.id, func(got recorded) bool {
				if one.until != "" && !final(got) && strings.Contains(got.Transcript, one.until) && got.AnsweredBy != "unknown" {
					c.ask(t, c.key, "POST", fmt.Sprintf("/api/user/calls/%d/hangup", one.id), "") // perhaps more than once
				}
				return final(got)
			})
			events := c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", one.id), "")
			if got.Status != "completed" || *got.Reason != one.reason || *got.By != one.by || got.AnsweredBy != one.is || !strings.Contains(got.Transcript, one.said) {
				t.Errorf("%s %s by %s, answered by %s\n%s\n%s", got.Status, *got.Reason, *got.By, got.AnsweredBy, got.Transcript, events)
			}
			if last := lastEvent(t, events, "amd"); !strings.Contains(last, fmt.Sprintf(`"result":%q`, one.is)) {
				t.Errorf("the last event says %s", last)
			}
			t.Log(got.Duration, lastEvent(t, events, "amd"), "\n"+got.Transcript)
		})
	}
	t.Run("campaign", func(t *testing.T) { retried(client{c.serving, t, c.key}) })
	c.stop(t)
}

// callsMachines starts two campaigns at mailboxes: a lead whose mailbox answers is done, or tried again when the campaign
// counts that as not reached (contract 6.2, 14.4).
func (c client) callsMachines(assistant int64) (check func(client)) {
	leads := map[string]int64{}
	for i, want := range []string{"completed", "rescheduled"} {
		phone := fmt.Sprintf("+49170555009%d", i)
		c.want(200, "PUT", "/sim/phones/"+phone, `{"behaviour":"voicemail","greeting":"Leave a message after the tone."}`)
		l := c.campaign(assistant, fmt.Sprintf(`"retry_on_voicemail":%t`, want == "rescheduled"))
		leads[want] = l.lead(phone)
		l.press("start")
	}
	return func(c client) {
		for want, lead := range leads {
			c.eventually("the lead is "+want, func() bool { return strings.HasPrefix(list{client: c}.state(lead), want) })
		}
	}
}

// lastEvent is the data of the last event of a type.
func lastEvent(t *testing.T, answer, kind string) (data string) {
	t.Helper()
	var log struct {
		Data []struct {
			Type string
			Data json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(answer), &log); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Data {
		if e.Type == kind {
			data = string(e.Data)
		}
	}
	return data
}
