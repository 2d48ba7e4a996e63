package sip

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/lines"
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
	_, port, _ := net.SplitHostPort(l.Addr().String())
	trunk := &Trunk{Number: "205", Address: "127.0.0.1", Port: atoi(port), Transport: "tls"}
	for want, cfg := range map[int]*tls.Config{486: {RootCAs: roots}, 0: nil} {
		s := serve(t, Config{Default: trunk, TLS: cfg})
		_, err := s.Dial(t.Context(), lines.Destination{To: "300", From: "205", RingFor: patience}, nil)
		var e *lines.DialError
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("want %d: %v", want, err)
		}
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
