package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"parley/lines"
)

// answersTo sends a message as it is from an address of its own and returns the first final answer; the messages of
// RFC 4475 want their answers at port 5060, or where their Via says.
func answersTo(t *testing.T, s *Server, n int, raw []byte) string {
	t.Helper()
	p := newPhone(t, s)
	p.conn.Close()
	port := 5060
	for _, line := range strings.Split(string(raw), "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(name), "via") {
			_, sentBy, _ := strings.Cut(strings.TrimSpace(value), " ")
			host, _, _ := strings.Cut(sentBy, ";")
			if _, text, ok := strings.Cut(host, ":"); ok {
				port, _ = strconv.Atoi(strings.TrimSpace(text))
			}
			break
		}
	}
	var err error
	if p.conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 90, byte(n)), Port: port}); err != nil {
		t.Fatal(err)
	}
	defer p.conn.Close()
	p.send(string(raw))
	for {
		switch line := parse(p.read(patience)).line; {
		case strings.HasPrefix(line, "SIP/2.0 1"):
		default:
			return line
		}
	}
}

// Messages that are valid, however strange, are answered as what they are; so are those whose fault has a status of its own.
// Then a normal call goes through.
func TestTortureIsAnswered(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	want := map[string]string{
		"intmeth": "405", "esc02": "405", "dblreq": "405", "escnull": "405", "mpart01": "405", "cparam01": "405", "unksm2": "405",
		"longreq": "200", "esc01": "200", "wsinv": "481", // it has a To tag
		"lwsdisp": "200", "semiuri": "200", "transports": "200", "zeromf": "200",
		"bext01": "420", "badvers": "505", "unkscm": "416", "mcl01": "400", "multi01": "400", "mismatch02": "400", "invut": "415",
	}
	n := 0
	for _, f := range torture(t) {
		name := strings.TrimSuffix(filepath.Base(f), ".dat")
		if want[name] == "" {
			continue
		}
		n++
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := answersTo(t, s, n, raw); !strings.HasPrefix(got, "SIP/2.0 "+want[name]+" ") {
			t.Errorf("%s: %q, want %s", name, got, want[name])
		}
	}
	if n != len(want) {
		t.Errorf("%d of %d messages found", n, len(want))
	}
	call := newPhone(t, s)
	for leg, _ := call.established(legs); leg.Info().SignalID != call.call; { // some of the messages are good calls
		leg = receive(t, legs, "leg")
	}
	call.send(call.request("BYE", "205", ""))
	call.expect("200 OK")
}

// What a request requires and we do not have is named in the refusal, all of it and for every method.
func TestRequiredExtensions(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(p.request("OPTIONS", "205", "", "Require: timer, 100rel", "Proxy-Require: sec-agree", "Require : precondition,,"))
	if m := p.expect("420"); m.header.Get("Unsupported") != "100rel, precondition" {
		t.Errorf("%s", m.raw)
	}
	p.established(legs)
	p.send(p.request("INFO", "205", "", "Require: 100rel"))
	p.expect("420")
	p.send(p.request("BYE", "205", ""))
	p.expect("200 OK")
}

// A method is what it is to the letter (RFC 3261 §7.1), white space around `=` and in CSeq is none of it.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	p.send(strings.ReplaceAll(p.request("INVITE", "205", p.sdp()), "INVITE", "invite"))
	if m := p.expect("405"); m.header.Get("Allow") == "" {
		t.Errorf("%s", m.raw)
	}
	p.send(p.request("REFER", "205", "", "Refer-To: <sip:x@192.0.2.1>"))
	p.expect("405")
	p.call = strings.Repeat("very-long.", 30) + "@[}{\"<>\\"
	p.send(p.request("INVITE", "205", p.sdp(), "From: <sip:phone@127.0.0.1> ;\r\n  tag  =  "+p.from, "CSeq: 1\r\n   INVITE"))
	p.expect("200 OK")
	p.send(p.request("ACK", "205", "", "CSeq: 1 ACK"))
	if leg := receive(t, legs, "leg"); leg.Info().SignalID != p.call {
		t.Errorf("%q", leg.Info().SignalID)
	}
	p.seq = 1
	p.send(p.request("BYE", "205", ""))
	p.expect("200 OK")
}

// A digest proves one request: not another number's, not twice, not without its count.
//
// Contract: 10.7
func TestDigestIsForOneRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Username: "ada", Password: "secret", Auth: "auth"})})
	challenged := func(p *phone) *digest.Challenge {
		p.send(p.request("INVITE", "205", p.sdp()))
		c, err := digest.ParseChallenge(p.expect("401").header.Get("WWW-Authenticate"))
		if err != nil || fmt.Sprint(c.QOP) != "[auth]" {
			t.Fatalf("%v %v", c, err)
		}
		return c
	}
	try := func(p *phone, c *digest.Challenge, o digest.Options, change func(*digest.Credentials)) message {
		o.Method, o.Username, o.Password = "INVITE", "ada", "secret"
		if o.URI == "" {
			o.URI = "sip:205@" + p.to.String()
		}
		cred, err := digest.Digest(c, o)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(cred)
		}
		p.send(p.request("INVITE", "205", p.sdp(), "Authorization: "+cred.String()))
		m := p.expect("SIP/2.0 ")
		for strings.Contains(m.line, " 100 ") {
			m = p.expect("SIP/2.0 ")
		}
		if strings.Contains(m.line, " 603 ") {
			p.send(p.request("ACK", "205", ""))
		}
		return m
	}
	for name, c := range map[string]struct {
		o      digest.Options
		change func(*digest.Credentials)
		want   string
	}{
		"right":                  {want: "603"},
		"a later count":          {o: digest.Options{Count: 7}, want: "603"},
		"the URI in other words": {o: digest.Options{URI: "SIP:205@127.0.0.1:PORT;user=phone"}, want: "603"},
		"the host alone":         {o: digest.Options{URI: "sip:127.0.0.1:PORT"}, want: "603"},
		"another number":         {o: digest.Options{URI: "sip:206@127.0.0.1:PORT"}, want: "400"},
		"another host":           {o: digest.Options{URI: "sip:205@192.0.2.1:PORT"}, want: "400"},
		"another port":           {o: digest.Options{URI: "sip:205@127.0.0.1:1"}, want: "400"},
		"no URI":                 {change: func(c *digest.Credentials) { c.URI = "" }, want: "400"},
		"a count never given":    {change: func(c *digest.Credentials) { c.Nc = 0 }, want: "400"},
		"a quality not offered":  {change: func(c *digest.Credentials) { c.QOP = "auth-int" }, want: "400"},
		"a count not signed":     {change: func(c *digest.Credentials) { c.Nc = 9 }, want: "403"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t, s)
			c.o.URI = strings.ReplaceAll(c.o.URI, "PORT", strconv.Itoa(int(p.to.Port())))
			if m := try(p, challenged(p), c.o, c.change); !strings.HasPrefix(m.line, "SIP/2.0 "+c.want) {
				t.Errorf("%s, want %s", m.line, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		qop   []string
		tries []string // count and answer
	}{
		"overheard":           {[]string{"auth"}, []string{"1 603", "1 401", "2 603", "1 401"}},
		"nothing counts it":   {nil, []string{"0 603", "0 401"}}, // RFC 2069: such a nonce serves once
		"a wrong one is free": {[]string{"auth"}, []string{"3 603", "2 401", "4 603"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t, s)
			chal := challenged(p)
			chal.QOP = c.qop
			for _, x := range c.tries {
				count, want, _ := strings.Cut(x, " ")
				m := try(p, chal, digest.Options{Count: atoi(count)}, nil)
				if !strings.HasPrefix(m.line, "SIP/2.0 "+want) || (want == "401") != strings.Contains(m.header.Get("WWW-Authenticate"), "stale=true") {
					t.Fatalf("count %s: %s, want %s", count, m.raw, want)
				}
			}
		})
	}
}

// A call goes to the account whose number is meant, never to one that lists the caller's address and has a number that reads
// the same.
//
// Contract: 10.7
func TestCallsStayWithTheirAccount(t *testing.T) {
	t.Parallel()
	routed := make(chan Inbound, 1)
	s := serve(t, Config{Trunks: trunks(
		Trunk{ID: 1, Account: 1, Number: "+4930123456", Country: "DE", Username: "ada", Password: "secret", Auth: "auth"},
		Trunk{ID: 2, Account: 2, Number: "4930123456", Extension: true, Auth: "ip", Allowed: anywhere},
		Trunk{ID: 3, Account: 2, Number: "+4330123456", Country: "AT", Auth: "ip", Allowed: anywhere},
		Trunk{ID: 4, Account: 3, Number: "+4930999999", Country: "DE", Auth: "ip", Allowed: anywhere},
		Trunk{ID: 5, Account: 4, Number: "+4930999999", Country: "DE", Auth: "ip", Allowed: anywhere},
	), Route: func(_ context.Context, in Inbound) Decision { routed <- in; return Decision{} }})
	for _, called := range []string{"+4930123456", "4930123456", "004930123456", "030123456"} {
		p := newPhone(t, s)
		p.send(p.request("INVITE", called, p.sdp()))
		m := p.expect("401")
		p.send(p.request("ACK", called, ""))
		p.send(p.request("INVITE", called, p.sdp(), authorization(t, m, "INVITE", "sip:"+called+"@"+p.to.String(), "ada", "secret")))
		p.expect("603")
		p.send(p.request("ACK", called, ""))
		if in := receive(t, routed, "routing"); in.Trunk.ID != 1 {
			t.Errorf("%s went to trunk %d", called, in.Trunk.ID)
		}
	}
	p := newPhone(t, s)
	p.send(p.request("INVITE", "+4330123456", p.sdp()))
	p.expect("603")
	if in := receive(t, routed, "routing"); in.Trunk.ID != 3 {
		t.Errorf("%+v", in)
	}
	p = newPhone(t, s)
	p.send(p.request("INVITE", "+4930999999", p.sdp())) // of two accounts, by whatever way that came about: nobody's
	p.expect("401")
	if len(routed) > 0 {
		t.Errorf("%+v", <-routed)
	}
}

// A panic in what is done for one call ends that call; the far end is told, and other calls notice nothing.
func TestPanicCostsOneCall(t *testing.T) {
	t.Parallel()
	calls := make(chan *Leg, 10)
	s := serve(t, Config{Open: true, OnCall: func(l lines.Leg) {
		calls <- l.(*Leg)
		if l.Info().To == "666" {
			panic("whoever takes the calls")
		}
		_ = l.Answer(context.Background())
	}})
	bystander := newPhone(t, s)
	bystander.send(bystander.request("INVITE", "205", bystander.sdp()))
	bystander.expect("200 OK")
	bystander.send(bystander.request("ACK", "205", ""))
	other := receive(t, calls, "leg")

	p := newPhone(t, s)
	p.send(p.request("INVITE", "666", p.sdp()))
	p.expect("500")
	p.send(p.request("ACK", "666", ""))
	receive(t, receive(t, calls, "leg").Done(), "end")

	p = newPhone(t, s)
	p.send(p.request("INVITE", "205", p.sdp()))
	p.expect("200 OK")
	p.send(p.request("ACK", "205", ""))
	leg := receive(t, calls, "leg")
	if err := leg.do(t.Context(), func() error { panic("in the dialog") }); !errors.Is(err, ErrOver) {
		t.Errorf("%v", err)
	}
	p.send(p.answer(p.expect("BYE"), "200 OK"))
	receive(t, leg.Done(), "end")
	select {
	case <-other.Done():
		t.Error("another call is over")
	default:
	}
	bystander.send(bystander.request("BYE", "205", ""))
	bystander.expect("200 OK")
}

// slowTrunks know nothing for as long as they are asked.
type slowTrunks struct{ Trunks }

func (slowTrunks) Called(ctx context.Context, _ string) ([]Trunk, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// When nobody finds out in time who takes a call, the caller hears 503 and when to come back; the answer that comes later
// does no harm.
func TestSlowRouting(t *testing.T) {
	t.Parallel()
	soon := func(s *Server) { s.routing = 50 * time.Millisecond }
	free := make(chan struct{})
	for name, cfg := range map[string]Config{
		"trunks unknown": {Trunks: slowTrunks{trunks()}},
		"route unknown":  {Open: true, Route: func(ctx context.Context, _ Inbound) Decision { <-ctx.Done(); return Decision{} }},
		"nobody takes it": {Open: true, OnCall: func(l lines.Leg) {
			<-l.Done()
			if err := l.Answer(context.Background()); err == nil {
				t.Error("answered after all")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, cfg, soon)
			p := newPhone(t, s)
			p.send(p.request("INVITE", "205", p.sdp()))
			if m := p.expect("503"); m.header.Get("Retry-After") == "" {
				t.Errorf("%s", m.raw)
			}
			p.send(p.request("ACK", "205", ""))
		})
	}
	s := serve(t, Config{Open: true, OnCall: func(l lines.Leg) {
		_ = l.Ring()
		<-free
		_ = l.Answer(context.Background())
	}}, soon)
	p := newPhone(t, s)
	p.send(p.request("INVITE", "205", p.sdp()))
	p.expect("180")
	p.never("503", 150*time.Millisecond)
	free <- struct{}{}
	p.expect("200 OK")
}
