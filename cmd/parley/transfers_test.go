package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"parley/audio"
)

const supervisor = "+493098765432"

// transferring is a desk whose inbound assistant passes callers on.
func transferring(t *testing.T, data, tool string) (c client, number string) {
	t.Helper()
	c, number, _ = desk(t, data, sureWords)
	var list []struct {
		ID     int64
		Type   string
		Number *int64 `json:"phone_number_id"`
	}
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/assistants", "")), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.Type == "inbound" {
			c.want(200, "PUT", fmt.Sprintf("/user/assistant/%d", a.ID), fmt.Sprintf(`{"ringing_time":20,"tools":[%s]}`,
				strings.ReplaceAll(tool, "NUMBER", fmt.Sprint(*a.Number))))
		}
	}
	return c, number
}

// asks is a caller who wants a person and then listens for as long.
func (c client) asks(number string, ms int) (phone, call int64) {
	c.t.Helper()
	answer := c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_for":"speech_end","timeout_ms":30000},{"wait_ms":300},
		{"say":"Please connect me to a person."},{"wait_ms":%d},{"hangup":true}]}`, number, ms))
	return c.id(answer, "data", "id"), c.id(answer, "data", "call_id")
}

// answers has the supervisor's phone do something once it is picked up, and then make a tone of 700 Hz.
func (c client) answers(before string) {
	c.t.Helper()
	beep := make([]int16, 8000*3)
	audio.GenSignal(beep, 8000, 0, audio.Tone{Hz: 700, Level: 0.3})
	c.want(200, "PUT", "/sim/phones/"+supervisor, `{"behaviour":"answer","ring_ms":1500,"script":[`+before+`{"play":"`+
		base64.StdEncoding.EncodeToString(wave(beep))+`"},{"wait_ms":500},{"hangup":true}]}`)
}

// hears reports how many blocks of 100 ms of what a simulated phone heard hold a tone.
func (c client) hears(phone int64, hz float64) (blocks int) {
	c.t.Helper()
	c.eventually("the phone tells what it heard", func() bool { return c.lived(phone).State == "ended" })
	body := c.want(200, "GET", strings.TrimPrefix(*c.lived(phone).Audio, c.url+"/api"), "")
	r, err := audio.NewWAVReader(strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	block := make([]int16, r.Channels*r.Rate/10)
	for {
		n, err := r.Read(block)
		if n < len(block) || err != nil {
			return blocks
		}
		left := make([]int16, 0, n/2)
		for i := 0; i < n; i += 2 {
			left = append(left, block[i])
		}
		if audio.FindSignal(left, r.Rate, hz)[0].Level > 0.05 {
			blocks++
		}
	}
}

// A caller asks for a person: hears ringing, then the person, over real signalling and audio. The call ends with the person's
// hang-up, both legs are paid, nothing stays held.
//
// Contract: 4.4 5.2 14.5 16.2 16.4
func TestTransferredCall(t *testing.T) {
	t.Parallel()
	c, number := transferring(t, t.TempDir(), `{"type":"call_transfer","phone_number":"`+supervisor+`"}`)
	before, _ := c.money()
	c.answers("")
	phone, id := c.asks(number, 60000)
	one := c.until(id, final)
	if one.Status != "completed" || *one.Reason != "transferred" || *one.By != "system" {
		t.Fatalf("%+v\n%s", one, c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), ""))
	}
	if n := c.hears(phone, 700); n < 15 {
		t.Errorf("the caller heard %d blocks of the person", n)
	}
	if n := c.hears(phone, 425); n < 5 {
		t.Errorf("the caller heard %d blocks of ringing", n)
	}
	heard(t, one)
	if total, available := c.money(); total != available || total >= before {
		t.Errorf("balance %v of %v, available %v", total, before, available)
	}
	c.stop(t)
}

// A supervisor is told about a caller, presses 1 and is connected.
//
// Contract: 4.4 5.2 14.5
func TestWarmTransferredCall(t *testing.T) {
	t.Parallel()
	c, number := transferring(t, t.TempDir(), `{"type":"warm_call_transfer","supervisor_phone":"`+supervisor+`","outbound_phone_id":NUMBER,"description":"A person is asked for."}`)
	c.answers(`{"wait_for":"speech_end","timeout_ms":30000},{"wait_ms":300},{"dtmf":"1"},{"wait_ms":6000},`)
	phone, id := c.asks(number, 90000)
	one := c.until(id, final)
	if *one.Reason != "warm_transferred" || *one.By != "system" {
		t.Fatalf("%+v\n%s", one, c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), ""))
	}
	if n := c.hears(phone, 700); n < 15 {
		t.Errorf("the caller heard %d blocks of the supervisor", n)
	}
	for _, said := range []string{"Please hold while I connect you with a supervisor.", "You are now connected with a supervisor."} {
		if !strings.Contains(one.Transcript, said) {
			t.Errorf("%q is not in\n%s", said, one.Transcript)
		}
	}
	c.stop(t)
}

// A process that is killed while two people talk charges both legs once and holds nothing (contract 16.4).
//
// Contract: 14.5 16.4
func TestKilledInATransfer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c, number := transferring(t, data, `{"type":"call_transfer","phone_number":"`+supervisor+`"}`)
	before, _ := c.money()
	c.want(200, "PUT", "/sim/phones/"+supervisor, `{"behaviour":"answer","ring_ms":500,"script":[{"wait_ms":60000}]}`)
	_, id := c.asks(number, 60000)
	c.eventually("the two are connected", func() bool {
		return strings.Contains(c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", id), ""), `"result":"connected"`)
	})
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.done
	var after float64
	for life := range 2 {
		c.serving = startServer(t, data, nil, "--dev")
		one := c.until(id, final)
		if *one.Reason != "server_restart" || one.Cost <= 0 {
			t.Errorf("%+v", one)
		}
		total, available := c.money()
		if total != available || total >= before || life > 0 && total != after {
			t.Errorf("life %d: balance %v of %v, then %v, available %v", life, total, before, after, available)
		}
		after = total
		c.stop(t)
	}
}
