package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icholy/digest"

	"parley/ids"
	"parley/lines"
)

var anywhere = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// authorization answers the challenge of a 401.
func authorization(t *testing.T, m message, method, uri, user, password string) string {
	t.Helper()
	c, err := digest.ParseChallenge(m.header.Get("WWW-Authenticate"))
	if err != nil {
		t.Fatalf("%v in\n%s", err, m.raw)
	}
	cred, err := digest.Digest(c, digest.Options{Method: method, URI: uri, Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: " + cred.String()
}

// Inbound INVITEs of trunks: by digest, by address, and refused.
//
// Contract: 10.7
func TestInboundAuthorisation(t *testing.T) {
	t.Parallel()
	routed := make(chan Inbound, 10)
	s := serve(t, Config{
		Trunks: trunks(
			Trunk{ID: 1, Number: "+4930123456", Country: "DE", Username: "ada", Password: "secret", Auth: "auth"},
			Trunk{ID: 2, Number: "205", Extension: true, Auth: "ip", Allowed: anywhere},
			Trunk{ID: 3, Number: "206", Extension: true, Auth: "ip", Allowed: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
			Trunk{ID: 4, Number: "+14155550123", Country: "US", Username: "bob", Password: "hidden", Auth: "auth"},
		),
		Route: func(_ context.Context, in Inbound) Decision { routed <- in; return Decision{} },
	})
	for _, c := range []struct {
		name, called, user, password, want string
		trunk                              ids.Number
	}{
		{"password", "+4930123456", "ada", "secret", "603", 1},
		{"password, national number", "030123456", "ada", "secret", "603", 1},
		{"wrong password", "+4930123456", "ada", "wrong", "403", 0},
		{"another trunk's password", "+4930123456", "bob", "hidden", "403", 0},
		{"unknown number", "+4930999", "ada", "secret", "403", 0},
		{"address", "205", "", "", "603", 2},
		{"foreign address", "206", "", "", "403", 0},
		{"foreign address with a password", "206", "ada", "secret", "403", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPhone(t, s)
			invite := p.request("INVITE", c.called, p.sdp())
			p.send(invite)
			m := p.expect("SIP/2.0 ")
			if strings.Contains(m.line, "401") {
				p.send(p.request("ACK", c.called, ""))
				p.send(p.request("INVITE", c.called, p.sdp(), authorization(t, m, "INVITE", "sip:"+c.called+"@"+p.to.String(), c.user, c.password)))
				m = p.expect("SIP/2.0 ")
			}
			if strings.Contains(m.line, "100") {
				m = p.expect("SIP/2.0 ")
			}
			if !strings.Contains(m.line, c.want) {
				t.Fatalf("got %s, want %s", m.line, c.want)
			}
			if c.trunk != 0 {
				if in := receive(t, routed, "routing"); in.Trunk.ID != c.trunk || in.Called != in.Trunk.Number {
					t.Errorf("%+v", in)
				}
			}
		})
	}
	if len(routed) > 0 {
		t.Errorf("routed without authorisation: %+v", <-routed)
	}
}

// A stranger cannot tell which numbers exist.
func TestChallengesAreAlike(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Username: "ada", Password: "secret", Auth: "auth"})})
	answers := map[string]bool{}
	for _, user := range []string{"205", "999", "admin"} {
		p := newPhone(t, s)
		p.send(p.request("INVITE", user, p.sdp()))
		m := p.expect("SIP/2.0")
		c, err := digest.ParseChallenge(m.header.Get("WWW-Authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		c.Nonce = ""
		answers[m.line+c.String()+fmt.Sprint(len(m.header))] = true
		p.never("401", 300*time.Millisecond) // not repeated: it may go to a victim
	}
	if len(answers) != 1 {
		t.Errorf("%v", answers)
	}
}

func TestNonces(t *testing.T) {
	c := &challenger{key: []byte("k")}
	now, from := time.Unix(1_700_000_000, 0), netip.MustParseAddr("192.0.2.1")
	n := c.nonce(now, from, "call")
	for _, k := range []struct {
		name  string
		nonce string
		now   time.Time
		from  string
		call  string
		want  bool
	}{
		{"good", n, now, "192.0.2.1", "call", true},
		{"at the end", n, now.Add(60 * time.Second), "192.0.2.1", "call", true},
		{"late", n, now.Add(61 * time.Second), "192.0.2.1", "call", false},
		{"early", n, now.Add(-time.Second), "192.0.2.1", "call", false},
		{"another address", n, now, "192.0.2.2", "call", false},
		{"another call", n, now, "192.0.2.1", "call2", false},
		{"another key", (&challenger{key: []byte("z")}).nonce(now, from, "call"), now, "192.0.2.1", "call", false},
		{"garbage", "x", now, "192.0.2.1", "call", false},
	} {
		if got := c.fresh(k.nonce, k.now, netip.MustParseAddr(k.from), k.call); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}

// TestTrunkToTrunk: our own challenge, answered by our own dialer.
//
// Contract: 10.7
func TestDialThroughATrunk(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"udp", "tcp"} {
		for _, c := range []struct {
			password string
			code     int
		}{{"secret", 0}, {"wrong", 403}} {
			t.Run(transport+" "+c.password, func(t *testing.T) {
				media := plane(t)
				far := serve(t, Config{Media: media, OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()) },
					Trunks: trunks(Trunk{ID: 9, Number: "+4930123456", Country: "DE", Username: "ada", Password: "secret", Auth: "auth"})})
				var port int
				for _, k := range far.sockets {
					if k.network == transport {
						port = int(k.local.Port())
					}
				}
				near := serve(t, Config{Media: media, Trunks: trunks(Trunk{ID: 5, Number: "+4930777", Username: "ada", Password: c.password,
					Address: "127.0.0.1", Port: port, Transport: transport, Format: "national", Country: "DE", Codecs: []string{"g722", "pcma"}})})
				leg, err := near.Dial(t.Context(), lines.Destination{To: "+4930123456", From: "+4930777", TrunkID: 5, RingFor: patience}, nil)
				if c.code == 0 {
					if err != nil {
						t.Fatal(err)
					}
					if leg.Media().Rate() != 16000 {
						t.Error("not G.722")
					}
					for _, m := range leg.(*Leg).Trace() {
						if m.Title == "INVITE" && (!strings.Contains(m.Text, "INVITE sip:030123456@127.0.0.1") ||
							!strings.Contains(m.Text, "P-Asserted-Identity: <sip:+4930777@127.0.0.1>") || strings.Contains(m.Text, `response="0`)) {
							t.Errorf("%s", m.Text)
						}
						if strings.Contains(m.Text, "nonce=\"") && !strings.Contains(m.Text, "nonce=\"…\"") {
							t.Errorf("not redacted:\n%s", m.Text)
						}
					}
					return
				}
				var e *lines.DialError
				if !errors.As(err, &e) || e.Code != c.code {
					t.Fatalf("%v", err)
				}
			})
		}
	}
}

// Calls leave through the proxy when the trunk says so.
//
// Contract: 10.7
func TestProxyAndRedirect(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{})
	proxy := newPhone(t, s)
	s2 := serve(t, Config{Proxy: proxy.addr(), Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Address: "192.0.2.77", Proxy: true})})
	proxy.to = s2.sockets[0].local
	failed := make(chan error, 1)
	go func() {
		_, err := s2.Dial(t.Context(), lines.Destination{To: "300", From: "205", TrunkID: 1}, nil)
		failed <- err
	}()
	m := proxy.expect("INVITE sip:300@192.0.2.77")
	if m.header.Get("Route") != "<sip:"+proxy.addr()+";lr>" {
		t.Errorf("route %s", m.header.Get("Route"))
	}
	for range 15 { // more than sipgo's own client bears
		proxy.send(proxy.answer(m, "183 Session Progress"))
	}
	proxy.send(proxy.answer(m, "302 Moved", "Contact: <sip:elsewhere@127.0.0.1>"))
	var e *lines.DialError
	if err := receive(t, failed, "end"); !errors.As(err, &e) || e.Code != 302 {
		t.Errorf("redirect: %v", err)
	}
	proxy.expect("ACK")
	proxy.never("INVITE", 100*time.Millisecond)
}

// TestAnswerAfterCancel: the far end's 200 crosses our CANCEL.
func TestAnswerAfterCancel(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{})
	p := newPhone(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Dial(ctx, lines.Destination{To: "sip:300@" + p.addr()}, nil)
		failed <- err
	}()
	m := p.expect("INVITE")
	p.send(p.answer(m, "180 Ringing"))
	cancel()
	receive(t, failed, "end")
	c := p.expect("CANCEL")
	p.send(p.answer(c, "200 OK"))
	p.send(p.answer(m, "200 OK", "Contact: <sip:phone@"+p.addr()+">"))
	p.expect("ACK")
	p.send(p.answer(p.expect("BYE"), "200 OK"))
}

// TestRepeatedAnswer: the ACK is lost, and a second phone answers too.
func TestRepeatedAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{})
	p := newPhone(t, s)
	legs := make(chan lines.Leg, 1)
	go func() {
		l, err := s.Dial(t.Context(), lines.Destination{To: "sip:300@" + p.addr()}, nil)
		if err != nil {
			t.Error(err)
		}
		legs <- l
	}()
	m := p.expect("INVITE")
	ok := strings.Replace(p.answer(m, "200 OK", "Contact: <sip:phone@"+p.addr()+">", "Content-Type: application/sdp"),
		"Content-Length: 0\r\n\r\n", "Content-Length: "+strconv.Itoa(len(p.sdp()))+"\r\n\r\n"+p.sdp(), 1)
	p.send(ok)
	p.expect("ACK")
	leg := receive(t, legs, "leg")
	p.send(ok)
	p.wait("ACK", true)
	p.send(strings.ReplaceAll(ok, "tag="+p.from, "tag=another"))
	p.expect("ACK")
	bye := p.expect("BYE")
	if !strings.Contains(bye.header.Get("To"), "tag=another") {
		t.Errorf("hung up the wrong phone: %s", bye.raw)
	}
	p.send(p.answer(bye, "200 OK"))
	select {
	case <-leg.Done():
		t.Error("the call is over")
	default:
	}
}

// registrar is a far end that keeps registrations, for one user.
type registrar struct {
	*phone
	mu       sync.Mutex
	password string
	got      chan string // "ada 3600 <contact>"
}

func newRegistrar(t *testing.T, s *Server, password string, expires int) *registrar {
	r := &registrar{phone: newPhone(t, s), password: password, got: make(chan string, 100)}
	done := make(chan struct{})
	t.Cleanup(func() { r.conn.Close(); <-done })
	go func() {
		defer close(done)
		b := make([]byte, 65536)
		for {
			n, from, err := r.conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			r.to = from
			r.register(parse(string(b[:n])), expires)
		}
	}()
	return r
}

func (r *registrar) register(m message, expires int) {
	if !strings.HasPrefix(m.line, "REGISTER") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &digest.Challenge{Realm: "far", Nonce: "n1", Algorithm: "MD5", QOP: []string{"auth"}}
	cred, err := digest.ParseCredentials(m.header.Get("Authorization"))
	if err != nil {
		r.send(r.answer(m, "401 Unauthorized", "WWW-Authenticate: "+c.String()))
		return
	}
	want, _ := digest.Digest(c, digest.Options{Method: "REGISTER", URI: cred.URI, Username: "ada", Password: r.password, Cnonce: cred.Cnonce, Count: cred.Nc})
	if want.Response != cred.Response {
		r.send(r.answer(m, "403 Forbidden"))
		return
	}
	r.got <- m.header.Get("Expires") + " " + m.header.Get("Contact")
	r.send(r.answer(m, "200 OK", fmt.Sprintf("Contact: %s;expires=%d", m.header.Get("Contact"), expires)))
}

// A trunk registers, renews it, and goes.
//
// Contract: 10.7
func TestRegistration(t *testing.T) {
	t.Parallel()
	idle := serve(t, Config{})
	r := newRegistrar(t, idle, "secret", 2)
	_, port, _ := strings.Cut(r.addr(), ":")
	trunk := Trunk{ID: 7, Number: "+4930123456", Username: "ada", Password: "secret", Address: "127.0.0.1", Port: atoi(port), Register: true}
	list := trunks(trunk)
	s := serve(t, Config{Trunks: list}, func(s *Server) { s.watching, s.backoff = 50*time.Millisecond, 100*time.Millisecond })
	contact := fmt.Sprintf("<sip:+4930123456@%s>", s.sockets[0].local)
	for range 2 { // the first one, and a refresh at half of its 2 s
		if got := receive(t, r.got, "registration"); got != "3600 "+contact {
			t.Errorf("%s", got)
		}
	}
	if got := receive(t, list.states, "state"); got != "7 registered" {
		t.Errorf("%s", got)
	}
	trunk.Password = "wrong"
	list.set(trunk)
	for _, want := range []string{"7 none", "7 failed 403 Forbidden"} { // the old one is taken back
		if got := receive(t, list.states, "state"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r.mu.Lock()
	r.password = "wrong" // found by the retries
	r.mu.Unlock()
	if got := receive(t, list.states, "state"); got != "7 registered" {
		t.Errorf("%s", got)
	}
	list.set()
	if got := receive(t, list.states, "state"); got != "7 none" {
		t.Errorf("%s", got)
	}
	last := ""
	for len(r.got) > 0 {
		last = <-r.got
	}
	if last != "0 "+contact {
		t.Errorf("not taken back: %s", last)
	}
}

// Somebody who asks for a registration gets one at once, over the registration there is.
//
// Contract: 10.7
func TestRegisterWhenAsked(t *testing.T) {
	t.Parallel()
	r := newRegistrar(t, serve(t, Config{}), "secret", 3600)
	_, port, _ := strings.Cut(r.addr(), ":")
	trunk := Trunk{ID: 7, Number: "205", Username: "ada", Password: "secret", Address: "127.0.0.1", Port: atoi(port), Register: true}
	list := trunks(trunk)
	serve(t, Config{Trunks: list}, func(s *Server) { s.watching = 50 * time.Millisecond })
	for trunk.Asked = range int64(3) {
		list.set(trunk)
		if got := receive(t, r.got, "registration"); !strings.HasPrefix(got, "3600 ") {
			t.Errorf("registration %d: %s", trunk.Asked, got)
		}
		if got := receive(t, list.states, "state"); got != "7 registered" {
			t.Errorf("%s", got)
		}
	}
}

// TestCallsOfTheRegistrar: what comes from where we are registered needs no password, what comes from elsewhere does, and so
// does the registrar once we have left it.
//
// Contract: 10.7
func TestCallsOfTheRegistrar(t *testing.T) {
	t.Parallel()
	r := newRegistrar(t, serve(t, Config{}), "secret", 3600)
	_, port, _ := strings.Cut(r.addr(), ":")
	list := trunks(Trunk{ID: 7, Number: "205", Extension: true, Username: "ada", Password: "secret", Address: "127.0.0.1", Port: atoi(port),
		Auth: "auth", Register: true})
	s := serve(t, Config{Trunks: list, OnCall: func(l lines.Leg) { _ = l.Reject(486) }}, func(s *Server) { s.watching = 50 * time.Millisecond })
	if got := receive(t, list.states, "state"); got != "7 registered" {
		t.Error(got)
	}
	call := func(from, want string) {
		t.Helper()
		p := newPhone(t, s)
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		p.conn = conn
		p.send(p.request("INVITE", "205", p.sdp()))
		p.expect(want)
	}
	call("127.0.0.1", "486")
	call("127.0.0.2", "401")
	list.set()
	if got := receive(t, list.states, "state"); got != "7 none" {
		t.Error(got)
	}
	list.set(Trunk{ID: 7, Number: "205", Extension: true, Username: "ada", Password: "secret", Address: "127.0.0.1", Port: atoi(port), Auth: "auth"})
	call("127.0.0.1", "401")
}

func TestNoRegistrar(t *testing.T) {
	t.Parallel()
	far := serve(t, Config{})
	list := trunks(Trunk{ID: 7, Number: "205", Username: "ada", Password: "secret", Address: "127.0.0.1", Port: int(far.sockets[0].local.Port()), Register: true})
	serve(t, Config{Trunks: list})
	if got := receive(t, list.states, "state"); got != "7 none 405 Method Not Allowed" {
		t.Errorf("a far end without registrations: %s", got)
	}
}
