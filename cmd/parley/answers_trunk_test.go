package main

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
	"parley/lines/linetest"
	"parley/lines/media"
	"parley/lines/sip"
)

// Whoever picks up at the end of a trunk, on telephones that are none of the simulator's: a fax, mailboxes of which no
// word is understood, a person. A message begins after the tone, and is over before the line is hung up (contract 4.2,
// 5.2, 10.7, 14.5).
func TestWhoPicksUpATrunk(t *testing.T) {
	t.Parallel()
	c, _, _ := desk(t, t.TempDir(), sureWords, "PARLEY_LIMITS_PER_KEY_PER_MINUTE=0") // a busy machine asks often
	mailbox := append(append(append(silence(0.3), spoken(t)...), silence(0.3)...), beeping(1000, 0.5)...)
	phones := &telephones{sounds: map[string][]int16{
		"49301110000": append(silence(0.3), beeping(2100, 3)...),
		"49301110001": mailbox,
		"49301110002": mailbox,
		"49301110003": spoken(t),
	}, tapes: map[string]*linetest.Tape{}}
	trunk := c.id(c.want(201, "POST", "/user/phone-numbers/sip-trunks", fmt.Sprintf(`{"sip_trunk_type":"number","phone_number":"+4930777","sip_username":"desk","sip_password":"secret",
		"sip_address":"127.0.0.1","port":%d,"sip_calling_format":"e164","inbound_authorization_type":"ip","allowed_inbound_ips":["127.0.0.1"],"country_code":"DE"}`, phones.start(t))), "data", "id")
	assistant := func(settings string) int64 {
		return c.id(c.want(201, "POST", "/user/assistant", fmt.Sprintf(`{"name":"Caller","voice_id":2,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC",
			"initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1,"phone_number_id":%d%s}`, trunk, settings)), "data", "id")
	}
	plain, leaves := assistant(""), assistant(`,"voice_mail_message":"Please call the map shop about your order."`)
	const message = "Assistant: Please call the map shop about your order."
	all := []struct {
		to                   string
		assistant            int64
		reason, by, is, said string
		id                   int64
	}{
		{to: "+49301110000", assistant: leaves, reason: "fax_detected", by: "system", is: "machine"},
		{to: "+49301110001", assistant: plain, reason: "voicemail_detected", by: "assistant", is: "machine"},
		{to: "+49301110002", assistant: leaves, reason: "voicemail_message_left", by: "assistant", is: "machine", said: message},
		{to: "+49301110003", assistant: leaves, reason: "api_hangup", by: "system", is: "human", said: "Assistant: Hello."},
	}
	for i := range all {
		all[i].id = c.id(c.want(200, "POST", "/user/make_call", fmt.Sprintf(`{"phone_number":%q,"assistant_id":%d}`, all[i].to, all[i].assistant)), "call_id")
	}
	for _, one := range all {
		got := c.until(one.id, func(got recorded) bool {
			if one.is == "human" && got.AnsweredBy == "human" && strings.Contains(got.Transcript, one.said) && !final(got) {
				c.ask(t, c.key, "POST", fmt.Sprintf("/api/user/calls/%d/hangup", one.id), "")
			}
			return final(got)
		})
		if got.Status != "completed" || *got.Reason != one.reason || *got.By != one.by || got.AnsweredBy != one.is || !strings.Contains(got.Transcript, one.said) {
			t.Errorf("%s: %s %s by %s, answered by %s\n%s\n%s", one.to, got.Status, *got.Reason, *got.By, got.AnsweredBy, got.Transcript,
				c.want(200, "GET", fmt.Sprintf("/user/calls/%d/events", one.id), ""))
		}
	}
	if heard := phones.heardAfterwards("49301110002"); heard < 1500*time.Millisecond {
		t.Errorf("%v of the message are on the mailbox", heard)
	}
	if heard := phones.heardAfterwards("49301110001"); heard > 500*time.Millisecond {
		t.Errorf("%v are on a mailbox that gets no message", heard)
	}
	c.stop(t)
}

func silence(seconds float64) []int16 { return make([]int16, int(seconds*8000)) }

func beeping(hz, seconds float64) []int16 {
	pcm := silence(seconds)
	audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: hz, Level: 0.3})
	return pcm
}

// telephones answer with a sound each, by the number called, and record.
type telephones struct {
	sounds map[string][]int16
	tapes  map[string]*linetest.Tape
}

func (p *telephones) start(t *testing.T) (port uint16) {
	t.Helper()
	plane, err := media.New(media.Options{PortMin: 42000, PortMax: 42999})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Close)
	for number := range p.sounds {
		p.tapes[number] = linetest.NewTape()
	}
	s, err := sip.Start(sip.Config{Listen: []string{"udp://127.0.0.1:0"}, Media: plane, SessionExpires: -1, Open: true, OnCall: func(leg lines.Leg) {
		number := leg.Info().To
		if leg.Answer(t.Context()) != nil {
			return // the test will miss the call
		}
		leg.Media().Record(p.tapes[number])
		_, _ = leg.Media().Play(t.Context(), p.sounds[number])
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return netip.MustParseAddrPort(strings.TrimPrefix(s.Addrs()[0], "udp://")).Port()
}

// heardAfterwards is how much a telephone heard once it had made its own last sound.
func (p *telephones) heardAfterwards(number string) (sound time.Duration) {
	tape := p.tapes[number]
	<-tape.Done()
	far, ours := tape.Channels()
	last := len(ours) - 1
	for last > 0 && ours[last] > -300 && ours[last] < 300 {
		last--
	}
	for i := last; i+160 <= len(far); i += 160 {
		if audio.Level(far[i:i+160]) > -45 {
			sound += 20 * time.Millisecond
		}
	}
	return sound
}
