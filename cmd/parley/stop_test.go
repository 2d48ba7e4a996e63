package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// After SIGTERM running calls may go on for the grace and no longer, whichever line they are on and whether or not the far
// end still answers; their records are closed, and the program ends with 0 (running.md "Stop"; contract 14.5).
//
// Contract: 14.5
func TestStoppedInCalls(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c, number, _ := desk(t, data, sureWords)
	c.stop(t)
	c.serving = startServer(t, data, []string{"PARLEY_SHUTDOWN_GRACE=2", sureWords}, "--dev")
	ids := []int64{
		c.id(c.want(200, "POST", "/sim/calls", fmt.Sprintf(`{"from":"+491701234567","to":%q,"script":[{"wait_ms":60000}]}`, number)), "data", "call_id"),
		c.browser().id,
		c.vanished(),
	}
	for _, id := range ids {
		c.until(id, func(one recorded) bool { return one.Transcript != "" })
	}
	began := time.Now()
	c.stop(t)
	if took := time.Since(began); took < 2*time.Second { // no call would have ended by itself
		t.Errorf("stopping took %v with a grace of 2 s", took)
	}
	c.serving = startServer(t, data, []string{sureWords}, "--dev")
	for _, id := range ids {
		if one := c.until(id, final); one.Status != "completed" || *one.Reason != "server_shutdown" || *one.By != "system" || one.Duration < 2 || one.Recording == "" {
			t.Errorf("%+v", one)
		}
	}
	c.stop(t)
}

// Work that does not heed its end cannot keep the program from ending (running.md "Stop").
func TestOverdue(t *testing.T) {
	for _, inTime := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ended := -1
			ctx, stop := context.WithCancel(t.Context())
			callOff := overdue(ctx, time.Minute, func(code int) { ended = code })
			defer callOff()
			time.Sleep(time.Hour) // runs
			stop()
			if inTime {
				time.Sleep(30 * time.Second)
				callOff()
			}
			time.Sleep(time.Hour)
			if want := map[bool]int{true: -1, false: 0}[inTime]; ended != want {
				t.Errorf("in time %v: exit %d", inTime, ended)
			}
		})
	}
}

// desk is the uuid of the assistant that answers the number.
func (c client) desk() string {
	c.t.Helper()
	var list []struct{ UUID, Type string }
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/assistants", "")), &list); err != nil {
		c.t.Fatal(err)
	}
	for _, a := range list {
		if a.Type == "inbound" {
			return a.UUID
		}
	}
	c.t.Fatal("no inbound assistant")
	return ""
}

// vanished calls the desk over a trunk, and never says anything again once it was answered.
func (c client) vanished() int64 {
	c.t.Helper()
	const extension = "77"
	trunk := c.id(c.want(201, "POST", "/user/phone-numbers/sip-trunks", fmt.Sprintf(`{"sip_trunk_type":"extension","phone_number":%q,"sip_username":"desk","sip_password":"secret",
		"sip_address":"127.0.0.1","sip_calling_format":"e164","inbound_authorization_type":"ip","allowed_inbound_ips":["127.0.0.1"],"country_code":"DE"}`, extension)), "data", "id")
	c.want(201, "POST", "/user/assistant", fmt.Sprintf(`{"name":"Trunk","voice_id":2,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC",
		"initial_message":"Map shop.","system_prompt":"You sell maps.","llm_model_id":1,"record":true,"phone_number_id":%d}`, trunk))
	at := regexp.MustCompile(`SIP +udp://(\S+)`).FindStringSubmatch(c.banner)
	if at == nil {
		c.t.Fatalf("no SIP address in\n%s", c.banner)
	}
	conn, err := net.Dial("udp", at[1])
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	body := fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n", conn.LocalAddr().(*net.UDPAddr).Port)
	request := func(method, to, body string) string {
		return fmt.Sprintf("%s sip:%s@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%s\r\nMax-Forwards: 70\r\nFrom: <sip:555@127.0.0.1>;tag=a\r\nTo: <sip:%s@127.0.0.1>%s\r\n"+
			"Call-ID: gone@127.0.0.1\r\nCSeq: 1 %s\r\nContact: <sip:555@%s>\r\nContent-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s",
			method, extension, at[1], conn.LocalAddr(), method, extension, to, method, conn.LocalAddr(), len(body), body)
	}
	if _, err := conn.Write([]byte(request("INVITE", "", body))); err != nil {
		c.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // cannot fail on an open socket
	tag := regexp.MustCompile(`(?im)^To:.*(;tag=\S+)`)
	for buf := make([]byte, 4096); ; {
		n, err := conn.Read(buf)
		if err != nil {
			c.t.Fatal(err)
		}
		answer := string(buf[:n])
		if strings.HasPrefix(answer, "SIP/2.0 200") {
			if _, err := conn.Write([]byte(request("ACK", tag.FindStringSubmatch(answer)[1], ""))); err != nil {
				c.t.Fatal(err)
			}
			break
		}
		if !strings.HasPrefix(answer, "SIP/2.0 1") {
			c.t.Fatal(answer)
		}
	}
	var list struct{ Data []recorded }
	if err := json.Unmarshal([]byte(c.want(200, "GET", "/user/calls?phone_number=555", "")), &list); err != nil || len(list.Data) != 1 {
		c.t.Fatalf("%v %+v", err, list)
	}
	return list.Data[0].ID
}
