package sip

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"parley/lines"
)

// answering is a server that answers every call and gives its legs away.
func answering(t *testing.T, tune ...func(*Server)) (*Server, chan lines.Leg) {
	t.Helper()
	legs := make(chan lines.Leg, 1000)
	s := serve(t, Config{Open: true, OnCall: func(l lines.Leg) {
		if err := l.Answer(context.Background()); err == nil {
			legs <- l
		}
	}}, tune...)
	return s, legs
}

// established makes a call from p that is answered and acknowledged.
func (p *phone) established(legs chan lines.Leg, headers ...string) (lines.Leg, message) {
	p.t.Helper()
	p.send(p.request("INVITE", "205", p.sdp(), headers...))
	ok := p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	return receive(p.t, legs, "leg"), ok
}

func TestInvite(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	leg, ok := p.established(legs)
	if ct := ok.header.Get("Content-Type"); ct != "application/sdp" || !strings.Contains(ok.body, "a=rtpmap:101 telephone-event/8000") {
		t.Errorf("answer %s\n%s", ct, ok.body)
	}
	for _, banner := range []string{"Server", "User-Agent", "Organization"} {
		if v := ok.header.Get(banner); v != "" {
			t.Errorf("%s: %s", banner, v)
		}
	}
	p.send(p.request("OPTIONS", "205", "")) // whose answer comes after all that was under way
	p.expect("200 OK")
	p.never("200", 300*time.Millisecond) // acknowledged: not repeated
	p.send(p.request("BYE", "205", ""))
	p.expect("200 OK")
	receive(t, leg.Done(), "end")
	if !leg.End().Remote {
		t.Errorf("%+v", leg.End())
	}
	p.send(p.request("BYE", "205", ""))
	p.expect("481")
}

func TestAnswerIsRepeatedAndGivenUp(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", p.sdp()))
	p.expect("200 OK")
	for range 2 {
		p.wait("200 OK", true)
	}
	leg := receive(t, legs, "leg")
	receive(t, leg.Done(), "end")
	if leg.End().Err == nil || leg.End().Remote {
		t.Errorf("%+v", leg.End())
	}
	p.expect("BYE")
}

func TestHangupBeforeTheAck(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", p.sdp()))
	p.expect("200 OK")
	leg := receive(t, legs, "leg")
	told := make(chan error, 1)
	go func() { told <- leg.Hangup(t.Context()) }()
	receive(t, leg.Done(), "end")
	p.never("BYE", 200*time.Millisecond)
	p.send(p.request("ACK", "205", ""))
	p.send(p.answer(p.expect("BYE"), "200 OK"))
	if err := receive(t, told, "return of Hangup"); err != nil {
		t.Error(err)
	}
}

func TestReinviteOvertakesTheAck(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", p.sdp()))
	p.expect("200 OK")
	ack := p.request("ACK", "205", "")
	p.send(p.request("INVITE", "205", p.sdp("a=sendonly")))
	if ok := p.expect("200 OK"); !strings.Contains(ok.body, "a=recvonly") {
		t.Errorf("answer to hold\n%s", ok.body)
	}
	p.send(ack)
	p.send(p.request("ACK", "205", ""))
	leg := receive(t, legs, "leg")
	p.send(p.request("BYE", "205", ""))
	p.expect("200 OK")
	receive(t, leg.Done(), "end")
}

func TestHold(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	_, first := p.established(legs)
	version := func(body string) string { return strings.Fields(strings.SplitN(body, "o=", 2)[1])[2] }
	last := version(first.body)
	for _, c := range []struct{ offer, answer string }{
		{p.sdp("a=sendonly"), "recvonly"},
		{p.sdp("a=inactive"), "inactive"},
		{p.sdp("a=sendrecv"), "sendrecv"},
		{strings.Replace(p.sdp(), "c=IN IP4 127.0.0.1", "c=IN IP4 0.0.0.0", 1), "recvonly"},
		{p.sdp(), "sendrecv"},
	} {
		p.send(p.request("INVITE", "205", c.offer))
		ok := p.expect("200 OK")
		p.send(p.request("ACK", "205", ""))
		if !strings.Contains(ok.body, "a="+c.answer) {
			t.Errorf("want %s\n%s", c.answer, ok.body)
		}
		if v := version(ok.body); v == last {
			t.Errorf("changed description keeps version %s", v)
		} else {
			last = v
		}
	}
	p.send(p.request("INVITE", "205", p.sdp())) // a refresh changes nothing
	ok := p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	if version(ok.body) != last {
		t.Error("unchanged description has a new version")
	}
	p.send(p.request("INVITE", "205", strings.Replace(p.sdp(), "RTP/AVP 0 101", "RTP/AVP 3", 1)))
	p.expect("488")
	p.send(p.request("ACK", "205", ""))
	p.send(p.request("UPDATE", "205", p.sdp("a=inactive"))) // the call goes on
	if ok := p.expect("200 OK"); !strings.Contains(ok.body, "a=inactive") {
		t.Errorf("UPDATE answered with\n%s", ok.body)
	}
}

func TestDelayedOffer(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", ""))
	ok := p.expect("200 OK")
	if !strings.Contains(ok.body, "RTP/AVP 0 8 9 101") {
		t.Errorf("offer\n%s", ok.body)
	}
	select {
	case <-legs:
		t.Error("answered before there is audio")
	case <-time.After(100 * time.Millisecond):
	}
	p.send(p.request("ACK", "205", strings.Replace(p.sdp(), "RTP/AVP 0", "RTP/AVP 8", 1)))
	leg := receive(t, legs, "leg")
	if leg.Media() == nil {
		t.Error("no audio")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ended := make(chan lines.End, 1)
	s := serve(t, Config{Open: true, OnCall: func(l lines.Leg) {
		_ = l.Ring()
		<-l.Done()
		ended <- l.End()
	}})
	p := newPhone(t, s)
	invite := p.request("INVITE", "205", p.sdp())
	p.send(invite)
	p.expect("180 Ringing")
	via := parse(invite).header.Get("Via")
	p.send(p.request("CANCEL", "205", "", "Via: "+via))
	p.expect("487")
	p.send(p.request("ACK", "205", "", "Via: "+via))
	if end := receive(t, ended, "end"); end != (lines.End{Remote: true, Code: 487}) {
		t.Errorf("%+v", end)
	}
	p.send(p.request("CANCEL", "205", ""))
	p.expect("481")
}

func TestRefusedInvites(t *testing.T) {
	t.Parallel()
	s, _ := answering(t)
	for name, c := range map[string]struct {
		body    string
		headers []string
		want    string
		header  string
	}{
		"no common codec":    {body: "GSM", want: "488"},
		"broken description": {body: "hello", want: "400"},
		"not a description":  {body: "hello", headers: []string{"Content-Type: text/plain"}, want: "415", header: "Accept: application/sdp"},
		"unknown extension":  {headers: []string{"Require: timer, 100rel"}, want: "420", header: "Unsupported: 100rel"},
		"no contact":         {headers: []string{"Contact:"}, want: "400"},
		"wrong method":       {headers: []string{"CSeq: 1 BYE"}, want: "400"},
		"no from tag":        {headers: []string{"From: <sip:phone@127.0.0.1>"}, want: "400"},
		"too many hops":      {headers: []string{"Max-Forwards: 300"}, want: "400"},
		"small session":      {headers: []string{"Supported: timer", "Session-Expires: 60"}, want: "422", header: "Min-SE: 90"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPhone(t, s)
			body := c.body
			switch body {
			case "":
				body = p.sdp()
			case "GSM":
				body = strings.Replace(p.sdp(), "RTP/AVP 0 101", "RTP/AVP 3", 1)
			}
			p.send(p.request("INVITE", "205", body, c.headers...))
			m := p.expect(c.want)
			if name, value, _ := strings.Cut(c.header, ": "); m.header.Get(name) != value {
				t.Errorf("want %q in\n%s", c.header, m.raw)
			}
		})
	}
}

func TestOtherMethods(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("OPTIONS", "nobody", ""))
	if m := p.expect("200 OK"); !strings.Contains(m.header.Get("Allow"), "INVITE") {
		t.Errorf("%s", m.raw)
	}
	for method, want := range map[string]string{"BYE": "481", "UPDATE": "481", "REGISTER": "405", "SUBSCRIBE": "405", "MESSAGE": "405", "FANCY": "405"} {
		p.send(p.request(method, "205", ""))
		p.expect(want)
	}
	p.established(legs)
	for method, want := range map[string]string{"OPTIONS": "200", "INFO": "200", "REFER": "603", "FANCY": "405"} {
		p.send(p.request(method, "205", ""))
		p.expect(want)
	}
	p.send(p.request("UPDATE", "205", "", "CSeq: 1 UPDATE"))
	p.expect("500")
}

func TestSessionTimerTheyRefresh(t *testing.T) {
	t.Parallel()
	s, legs := answering(t, func(s *Server) { s.minSE = 1 })
	p := newPhone(t, s)
	leg, ok := p.established(legs, "Supported: timer", "Session-Expires: 2;refresher=uac")
	if ok.header.Get("Session-Expires") != "2;refresher=uac" || ok.header.Get("Require") != "timer" {
		t.Errorf("%s", ok.raw)
	}
	p.send(p.request("UPDATE", "205", "", "Supported: timer", "Session-Expires: 2;refresher=uac"))
	if m := p.expect("200 OK"); m.header.Get("Session-Expires") != "2;refresher=uac" {
		t.Errorf("%s", m.raw)
	}
	p.expect("BYE") // no further refresh
	receive(t, leg.Done(), "end")
	if leg.End().Err != errExpired {
		t.Errorf("%+v", leg.End())
	}
}

func TestSessionTimerWeRefresh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, allow, method string }{{"with UPDATE", "Allow: INVITE, UPDATE", "UPDATE"}, {"with re-INVITE", "Allow: INVITE", "INVITE"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, legs := answering(t, func(s *Server) { s.minSE = 1 })
			p := newPhone(t, s)
			leg, _ := p.established(legs, "Supported: timer", "Session-Expires: 2;refresher=uas", c.allow)
			for range 2 {
				m := p.expect(c.method)
				if m.header.Get("Session-Expires") != "2;refresher=uac" {
					t.Errorf("%s", m.raw)
				}
				p.send(p.answer(m, "200 OK", "Session-Expires: 2;refresher=uac", "Contact: <sip:phone@"+p.addr()+">"))
				if c.method == "INVITE" {
					p.expect("ACK")
				}
			}
			p.send(p.answer(p.expect(c.method), "481 Gone"))
			receive(t, leg.Done(), "end")
			if leg.End().Err != errExpired {
				t.Errorf("%+v", leg.End())
			}
		})
	}
}

// TestTorture sends every RFC 4475 message of sipgo's test data, over both transports, and then makes a call.
func TestTorture(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	for _, f := range torture(t) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p.send(string(b))
		overTCP(t, s, b)
	}
	call := newPhone(t, s)
	leg, _ := call.established(legs)
	for leg.Info().SignalID != call.call { // some of the messages are good calls
		leg = receive(t, legs, "leg")
	}
	call.send(call.request("BYE", "205", ""))
	call.expect("200 OK")
}

func TestGarbage(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	good := p.request("INVITE", "205", p.sdp())
	for _, h := range []string{"Via", "From", "To", "Call-ID", "CSeq", "Max-Forwards", "Contact", "Content-Length"} {
		for _, v := range []string{"", " ", ",", ";", "<", "\"", "-1", "99999999999999999999", "sip:", "<sip:>", "*", ";tag", ";tag=", "\x00"} {
			p.send(p.request("INVITE", "205", p.sdp(), h+":"+v))
			p.send(p.request("ACK", "205", "", h+":"+v))
		}
	}
	for i := range len(good) { // cut off anywhere
		if i%7 == 0 {
			p.send(good[:i])
		}
	}
	call := newPhone(t, s)
	call.established(legs)
	if s.Legs() == 0 {
		t.Error("no call")
	}
}

func TestRefer(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	for _, c := range []struct {
		accept, report string
		want           int
	}{{"202 Accepted", "SIP/2.0 200 OK", 0}, {"202 Accepted", "SIP/2.0 486 Busy Here", 486}, {"603 Decline", "", 603}} {
		p := newPhone(t, s)
		leg, _ := p.established(legs)
		done := make(chan error, 1)
		go func() { done <- leg.(lines.Referrer).Refer(t.Context(), "+4930999") }()
		m := p.expect("REFER")
		if m.header.Get("Refer-To") != "<sip:+4930999@127.0.0.1>" {
			t.Errorf("%s", m.raw)
		}
		p.send(p.answer(m, c.accept))
		for _, report := range []string{"SIP/2.0 100 Trying", c.report} {
			if c.report == "" {
				continue
			}
			p.send(p.request("NOTIFY", "205", report+"\r\n", "Event: refer", "Subscription-State: active", "Content-Type: message/sipfrag"))
			p.expect("200 OK")
		}
		err := receive(t, done, "outcome of the transfer")
		var e *lines.DialError
		if c.want == 0 && err != nil || c.want != 0 && (!errors.As(err, &e) || e.Code != c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		p.send(p.request("NOTIFY", "205", "", "Event: refer"))
		p.expect("481")
	}
}

// TestFlood sends from more addresses than one reader of sipgo may remember: fresh readers take over, and calls go on.
func TestFlood(t *testing.T) {
	t.Parallel()
	s, legs := answering(t, func(s *Server) { s.window = 3 })
	for range 10 {
		p := newPhone(t, s)
		leg, _ := p.established(legs)
		p.send(p.request("BYE", "205", ""))
		p.expect("200 OK")
		receive(t, leg.Done(), "end")
	}
}

func TestBudget(t *testing.T) {
	b := newBudget()
	stranger, trunk := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	n := 0
	for b.take(stranger, 1) {
		n++
	}
	if n < budgetBurst || n > 2*budgetBurst {
		t.Errorf("a stranger may send %d messages at once", n)
	}
	b.trust(trunk)
	for range 10 * budgetBurst {
		if !b.take(trunk, 1) || !b.take(netip.MustParseAddr("::1"), 1) {
			t.Fatal("a trunk, or this machine, is limited")
		}
	}
	n = 0
	for b.take(netip.MustParseAddr("2001:db8::1"), 1) {
		n++
	}
	if b.take(netip.MustParseAddr("2001:db8::2"), 1) {
		t.Error("a network of one customer has many budgets")
	}
}
