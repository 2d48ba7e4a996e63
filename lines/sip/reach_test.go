package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/lines"
)

// but refuses the second loopback address, as a guard refuses our own network.
func but(refused string) func(netip.Addr) bool {
	return func(a netip.Addr) bool { return a != netip.MustParseAddr(refused) }
}

// trap is an address where nothing may arrive: the name of what knocked, if something did.
func trap(t *testing.T, ip string) (port int, knocked func() string) {
	t.Helper()
	tcp, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	port = tcp.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenPacket("udp", fmt.Sprintf("%s:%d", ip, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	return port, func() string {
		soon := time.Now().Add(50 * time.Millisecond)
		_ = tcp.(*net.TCPListener).SetDeadline(soon)
		_ = udp.SetReadDeadline(soon)
		if c, err := tcp.Accept(); err == nil {
			c.Close()
			return "tcp"
		}
		if n, _, err := udp.ReadFrom(make([]byte, 2000)); err == nil {
			return fmt.Sprint("udp, ", n, " bytes")
		}
		return ""
	}
}

// Addresses that customers choose are called only where policy allows it, by number and by name; the refusal looks like
// silence. The installation's own line and proxy are not asked about.
//
// Contract: 15.7
func TestReach(t *testing.T) {
	t.Parallel()
	port, knocked := trap(t, "127.0.0.2")
	s := serve(t, Config{Reach: but("127.0.0.2"), Trunks: trunks(
		Trunk{ID: 1, Number: "205", Extension: true, Address: "127.0.0.2", Port: port},
		Trunk{ID: 2, Number: "206", Extension: true, Address: "127.0.0.2", Port: port, Transport: "tcp"})})
	for _, d := range []lines.Destination{
		{To: "300", TrunkID: 1},
		{To: "300", TrunkID: 2},
		{To: fmt.Sprintf("sip:x@127.0.0.2:%d", port)},
		{To: fmt.Sprintf("sip:x@127.0.0.2:%d;transport=tcp", port)},
		{To: fmt.Sprintf("sips:x@127.0.0.2:%d", port)},
		{To: fmt.Sprintf("sip:x@127.0.0.2:%d", port), TrunkID: 1},
	} {
		var e *lines.DialError
		if _, err := s.Dial(t.Context(), d, nil); !errors.As(err, &e) || e.Code != 0 || !errors.Is(err, errRefused) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if what := knocked(); what != "" {
		t.Errorf("reached by %s", what)
	}
	strict := serve(t, Config{Reach: func(netip.Addr) bool { return false }})
	if _, err := strict.Dial(t.Context(), lines.Destination{To: fmt.Sprintf("sip:x@localhost:%d", port)}, nil); !errors.Is(err, errRefused) {
		t.Errorf("by name: %v", err)
	}

	far, _ := answering(t)
	address := far.sockets[0].local
	for name, cfg := range map[string]Config{
		"own line":  {Default: &Trunk{Address: "127.0.0.1", Port: int(address.Port())}},
		"own proxy": {Proxy: address.String(), Default: &Trunk{Address: "192.0.2.1", Proxy: true}},
		"over TCP":  {Default: &Trunk{Address: "127.0.0.1", Port: int(far.sockets[1].local.Port()), Transport: "tcp"}},
	} {
		cfg.Reach = func(netip.Addr) bool { return false }
		leg, err := serve(t, cfg).Dial(t.Context(), lines.Destination{To: "205", RingFor: patience}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = leg.Hangup(t.Context())
	}
}

// A name that passed when it was looked up may mean another address when the connection is made.
func TestReachWhenDialled(t *testing.T) {
	t.Parallel()
	port, knocked := trap(t, "127.0.0.2")
	s := serve(t, Config{Reach: but("127.0.0.2")})
	d := s.dialer(nil)
	if c, err := d.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.2:%d", port)); err == nil {
		c.Close()
		t.Error("connected")
	}
	if what := knocked(); what != "" {
		t.Errorf("reached by %s", what)
	}
}

// A far end's Contact and Record-Route lead nowhere we may not go: requests go back to where the call came from.
func TestContactOfOurOwnNetwork(t *testing.T) {
	t.Parallel()
	port, knocked := trap(t, "127.0.0.2")
	legs := make(chan lines.Leg, 1)
	s := serve(t, Config{Open: true, Reach: but("127.0.0.2"), OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()); legs <- l }})
	inside := fmt.Sprintf("<sip:x@127.0.0.2:%d;lr>", port)
	for name, headers := range map[string][]string{
		"contact":      {"Contact: " + inside},
		"route":        {"Record-Route: " + inside},
		"no such host": {"Contact: <sip:x@no-such-host.invalid>"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t, s)
			leg, _ := p.established(legs, headers...)
			go func() { _ = leg.Hangup(context.Background()) }()
			p.send(p.answer(p.expect("BYE"), "200 OK"))
			receive(t, leg.Done(), "end")
		})
	}
	p := newPhone(t, s)
	leg, _ := p.established(legs)
	p.send(p.request("UPDATE", "205", "", "Contact: "+inside))
	p.expect("200 OK")
	go func() { _ = leg.Hangup(context.Background()) }()
	p.send(p.answer(p.expect("BYE"), "200 OK"))
	if what := knocked(); what != "" {
		t.Errorf("reached by %s", what)
	}
}

// REFER has others call; not even they are sent into our own network.
//
// Contract: 15.7
func TestReferIntoOurOwnNetwork(t *testing.T) {
	t.Parallel()
	legs := make(chan lines.Leg, 1)
	s := serve(t, Config{Open: true, Reach: but("127.0.0.2"), OnCall: func(l lines.Leg) { _ = l.Answer(context.Background()); legs <- l }})
	p := newPhone(t, s)
	leg, _ := p.established(legs)
	if err := leg.(*Leg).Refer(t.Context(), "sip:x@127.0.0.2:5060"); !errors.Is(err, errRefused) {
		t.Errorf("%v", err)
	}
	p.never("REFER", 50*time.Millisecond)
}

// The state of a registration says the same of a closed port, a silent one, one that talks nonsense and a refused address.
func TestRegistrationIsNoPortScanner(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	nonsense, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nonsense.Close() })
	go func() {
		for {
			c, err := nonsense.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.p.example ESMTP\r\n"))
			c.Close()
		}
	}()
	portOf := func(a net.Addr) int { return int(netip.MustParseAddrPort(a.String()).Port()) }
	for name, far := range map[string]Trunk{
		"silent":   {Address: "127.0.0.1", Port: portOf(silent.LocalAddr())},
		"closed":   {Address: "127.0.0.1", Port: portOf(closed.Addr()), Transport: "tcp"},
		"nonsense": {Address: "127.0.0.1", Port: portOf(nonsense.Addr()), Transport: "tcp"},
		"refused":  {Address: "127.0.0.2", Port: 5060},
		"unknown":  {Address: strings.Repeat("x", 20) + ".invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far.ID, far.Number, far.Username, far.Password, far.Register = 7, "205", "ada", "secret", true
			list := trunks(far)
			serve(t, Config{Reach: but("127.0.0.2"), Trunks: list})
			if got := receive(t, list.states, "state"); got != "7 failed no answer" {
				t.Errorf("%s", got)
			}
		})
	}
}
