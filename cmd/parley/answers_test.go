package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Whoever picks up a call that we place: a mailbox without and with a message for it, a fax, a service that asks who is
// calling and then puts the call through, a person (contract 4.2, 4.8, 4.9, 5.2, 14.5).
func TestWhoPicksUp(t *testing.T) {
	c, _, _ := desk(t, t.TempDir())
	assistant := func(settings string) int64 {
		return c.id(c.want(201, "POST", "/user/assistant", `{"name":"Caller","voice_id":2,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC",
			"initial_message":"Hello, this is the map shop.","system_prompt":"You sell maps.","llm_model_id":1,"variables":{"shop":"the map shop"}`+settings+`}`), "data", "id")
	}
	plain, leaves := assistant(""), assistant(`,"voice_mail_message":"Please call {shop} about your order."`)
	const message = "Assistant: Please call the map shop about your order."
	for i, one := range []struct {
		name, phone    string
		assistant      int64
		until          string // hung up once this was said; empty = it ends by itself
		reason, by, is string
		said           string
	}{
		{"mailbox", `{"behaviour":"voicemail"}`, plain, "", "voicemail_detected", "assistant", "machine", ""},
		{"mailbox with a message", `{"behaviour":"voicemail","greeting":"Hi, this is Mary. Leave a message after the beep."}`, leaves, "",
			"voicemail_message_left", "assistant", "machine", message},
		{"fax", `{"behaviour":"fax"}`, leaves, "", "fax_detected", "system", "machine", ""},
		{"screening", `{"behaviour":"screening"}`, leaves, "Customer: hello\nAssistant: Hello, this is the map shop.", "api_hangup", "system", "human",
			"Assistant: Hello, this is the map shop.\nCustomer: "},
		{"person", `{"behaviour":"answer"}`, leaves, "Customer: hello", "api_hangup", "system", "human", "Assistant: Hello, this is the map shop."},
	} {
		t.Run(one.name, func(t *testing.T) {
			c := client{c.serving, t, c.key}
			phone := fmt.Sprintf("+4917055500%02d", i)
			c.want(200, "PUT", "/sim/phones/"+phone, one.phone)
			id := c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":%q,"assistant_id":%d}`, phone, one.assistant)), "call_id")
			got := c.call(id)
			for end := time.Now().Add(time.Minute); !final(got) && time.Now().Before(end); got = c.call(id) {
				if one.until != "" && strings.Contains(got.Transcript, one.until) && got.AnsweredBy != "unknown" {
					c.want(200, "POST", fmt.Sprintf("/user/calls/%d/hangup", id), "")
				}
				time.Sleep(200 * time.Millisecond)
			}
			events := c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), "")
			if got.Status != "completed" || *got.Reason != one.reason || *got.By != one.by || got.AnsweredBy != one.is || !strings.Contains(got.Transcript, one.said) {
				t.Errorf("%s %s by %s, answered by %s\n%s\n%s", got.Status, *got.Reason, *got.By, got.AnsweredBy, got.Transcript, events)
			}
			if last := lastEvent(t, events, "amd"); !strings.Contains(last, fmt.Sprintf(`"result":%q`, one.is)) {
				t.Errorf("the last event says %s", last)
			}
			t.Log(got.Duration, lastEvent(t, events, "amd"), "\n"+got.Transcript)
		})
	}
	t.Run("campaign", func(t *testing.T) { client{c.serving, t, c.key}.retriesMachines(plain) })
	c.stop(t)
}

// retriesMachines runs two campaigns at mailboxes: a lead whose mailbox answers is done, or tried again when the campaign
// counts that as not reached (contract 6.2, 14.4).
func (c client) retriesMachines(assistant int64) {
	c.want(200, "PUT", "/sim/phones/+491705550099", `{"behaviour":"voicemail","greeting":"Leave a message after the tone."}`)
	status := func(lead int64) string {
		_, rest, _ := strings.Cut(c.want(200, "GET", fmt.Sprintf("/user/leads/%d", lead), ""), `"status":"`)
		s, _, _ := strings.Cut(rest, `"`)
		return s
	}
	for retry, want := range map[bool]string{false: "completed", true: "rescheduled"} {
		campaign := c.id(c.want(201, "POST", "/user/campaigns", fmt.Sprintf(`{"name":"C","assistant_id":%d,"retry_on_voicemail":%t}`, assistant, retry)), "data", "id")
		lead := c.id(c.want(200, "POST", "/user/lead", fmt.Sprintf(`{"phone_number":"+491705550099","campaign_id":%d}`, campaign)), "data", "id")
		c.want(200, "POST", "/user/campaigns/update-status", fmt.Sprintf(`{"campaign_id":%d,"action":"start"}`, campaign))
		got := ""
		for end := time.Now().Add(time.Minute); got != want && time.Now().Before(end); got = status(lead) {
			time.Sleep(200 * time.Millisecond)
		}
		if got != want {
			c.t.Errorf("retry_on_voicemail %t: the lead is %s, want %s", retry, got, want)
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
