package sip

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/lines"
	"parley/lines/linetest"
)

// TestTrunkOverTLS calls a far end that only speaks TLS, with a certificate we trust and with one we do not.
//
// Contract: 10.7
func TestTrunkOverTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil) // only for its certificate
	web.StartTLS()
	defer web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go busy(c)
		}
	}()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	own := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}))
	sum := sha256.Sum256(web.Certificate().Raw)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for name, c := range map[string]struct {
		trunk Trunk
		cfg   *tls.Config
		want  int
	}{
		"trusted by the installation": {Trunk{}, &tls.Config{RootCAs: roots}, 486},
		"of nobody we know":           {Trunk{}, nil, 0},
		"its own authority":           {Trunk{TLSCA: own}, nil, 486},
		"for another name":            {Trunk{TLSCA: own, Address: "localhost"}, nil, 0},
		"pinned":                      {Trunk{TLSFingerprint: hex.EncodeToString(sum[:]), Address: "localhost"}, nil, 486},
		"another one pinned":          {Trunk{TLSFingerprint: strings.Repeat("ab", 32)}, nil, 0},
		"another one pinned, trusted": {Trunk{TLSFingerprint: strings.Repeat("ab", 32), TLSCA: own}, nil, 486},
	} {
		c.trunk.ID, c.trunk.Number, c.trunk.Port, c.trunk.Transport = 3, "205", atoi(port), "tls"
		if c.trunk.Address == "" {
			c.trunk.Address = "127.0.0.1"
		}
		other := Trunk{ID: 4, Number: "206", Address: "127.0.0.1", Port: atoi(port), Transport: "tls"}
		s := serve(t, Config{Trunks: trunks(c.trunk, other), TLS: c.cfg})
		_, err := s.Dial(t.Context(), lines.Destination{To: "300", From: "205", TrunkID: 3, RingFor: patience}, nil)
		var e *lines.DialError
		if !errors.As(err, &e) || e.Code != c.want {
			t.Errorf("%s: want %d: %v", name, c.want, err)
		}
		if _, err = s.Dial(t.Context(), lines.Destination{To: "300", From: "206", TrunkID: 4, RingFor: patience}, nil); c.cfg == nil &&
			(!errors.As(err, &e) || e.Code != 0) {
			t.Errorf("%s: another trunk uses the connection: %v", name, err)
		}
	}
}

// selfSigned is a certificate for 127.0.0.1 and its PEM.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	return web.TLS.Certificates[0], string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}))
}

// TestListenTLS: we are called over TLS, with encrypted audio, and both sides may hang up.
//
// Contract: 10.7
func TestListenTLS(t *testing.T) {
	t.Parallel()
	cert, ca := selfSigned(t)
	legs := make(chan lines.Leg, 1)
	callee := serve(t, Config{Listen: []string{"tls://127.0.0.1:0"},
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil },
		Trunks:      trunks(Trunk{ID: 1, Number: "205", Extension: true, Auth: "auth", Username: "ada", Password: "secret", SRTP: "required"}),
		OnCall:      func(l lines.Leg) { _ = l.Answer(t.Context()); legs <- l }})
	caller := serve(t, Config{Listen: []string{"udp://127.0.0.1:0"}, Default: &Trunk{Number: "100", Address: "127.0.0.1", Username: "ada",
		Password: "secret", Port: int(callee.sockets[0].local.Port()), Transport: "tls", SRTP: "offered", TLSCA: ca}})
	for _, theyHangUp := range []bool{true, false} {
		leg, err := caller.Dial(t.Context(), lines.Destination{To: "205", From: "100", RingFor: patience}, nil)
		if err != nil {
			t.Fatal(err)
		}
		other := receive(t, legs, "leg")
		linetest.Play(t, leg.Media(), 700, patience/4)
		linetest.Hears(t, other.Media(), 700, 0.1)
		if leg.(*Leg).audio.crypto() == nil {
			t.Error("not encrypted")
		}
		if theyHangUp {
			_ = other.Hangup(t.Context())
		} else {
			_ = leg.Hangup(t.Context())
		}
		receive(t, leg.Done(), "end")
		receive(t, other.Done(), "end of the other")
	}
	if n := len(caller.flows); n != 1 {
		t.Errorf("%d connections for two calls", n)
	}
}

// A connection that breaks in the middle of a call is opened again for what we have to say.
func TestConnectionBreaks(t *testing.T) {
	t.Parallel()
	legs := make(chan lines.Leg, 1)
	callee := serve(t, Config{Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Auth: "ip", Allowed: loopback}),
		OnCall: func(l lines.Leg) { _ = l.Answer(t.Context()); legs <- l }})
	caller := serve(t, Config{Listen: []string{"udp://127.0.0.1:0"}, Default: &Trunk{Number: "100", Address: "127.0.0.1",
		Port: int(callee.sockets[1].local.Port()), Transport: "tcp"}})
	leg, err := caller.Dial(t.Context(), lines.Destination{To: "205", From: "100", RingFor: patience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := receive(t, legs, "leg")
	f := leg.(*Leg).place.flow
	_ = f.conn.Close()
	receive(t, f.gone, "end of the connection")
	if err := leg.Hangup(t.Context()); err != nil {
		t.Error(err)
	}
	receive(t, other.Done(), "end")
}

// TestRegistrationOverTCP: the registrar calls us over the connection that we registered by, without a password; when it
// breaks we register again at once, from our new address, and take the old one back.
//
// Contract: 10.7
func TestRegistrationOverTCP(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	legs := make(chan lines.Leg, 1)
	list := trunks(Trunk{ID: 7, Number: "+4930123456", Username: "ada", Password: "secret", Address: "127.0.0.1", Port: atoi(port),
		Transport: "tcp", Auth: "auth", Register: true})
	s := serve(t, Config{Listen: []string{"udp://127.0.0.1:0"}, Trunks: list, OnCall: func(l lines.Leg) { legs <- l }},
		func(s *Server) { s.backoff = 50 * time.Millisecond })
	take := func() (net.Conn, message) {
		t.Helper()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		b := make([]byte, 65536)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		m := parse(string(b[:n]))
		_, _ = c.Write([]byte((&phone{from: "r"}).answer(m, "200 OK", "Contact: "+m.header.Get("Contact")+";expires=600")))
		return c, m
	}
	c, m := take()
	first := "<sip:+4930123456@" + c.RemoteAddr().String() + ";transport=tcp>"
	if got := m.header["Contact"]; len(got) != 1 || !strings.HasPrefix(got[0], first) || !strings.Contains(got[0], ";reg-id=1") {
		t.Errorf("%q, want %s", got, first)
	}
	if got := receive(t, list.states, "state"); got != "7 registered" {
		t.Error(got)
	}
	invite := (&phone{t: t, conn: newPhone(t, s).conn, to: s.sockets[0].local, call: "c1", from: "x"}).request("INVITE", "+4930123456", "",
		"Via: SIP/2.0/TCP "+l.Addr().String()+";branch=z9hG4bKx;rport")
	if _, err := c.Write([]byte(invite)); err != nil {
		t.Fatal(err)
	}
	leg := receive(t, legs, "call of the registrar")
	if leg.Info().TrunkID != 7 {
		t.Errorf("%+v", leg.Info())
	}
	_ = leg.Reject(486)
	c.Close()
	c, m = take()
	if got := m.header["Contact"]; len(got) != 2 || !strings.Contains(got[0], c.RemoteAddr().String()) || got[1] != first+";expires=0" {
		t.Errorf("after the connection broke: %q", got)
	}
}

// busy refuses the first INVITE of a connection.
func busy(c net.Conn) {
	defer c.Close()
	b := make([]byte, 65536)
	n, err := c.Read(b)
	if err != nil {
		return
	}
	m := parse(string(b[:n]))
	if strings.HasPrefix(m.line, "INVITE") && strings.Contains(m.header.Get("Via"), "SIP/2.0/TLS") {
		_, _ = c.Write([]byte((&phone{from: "x"}).answer(m, "486 Busy Here")))
	}
	_, _ = c.Read(b)
}
