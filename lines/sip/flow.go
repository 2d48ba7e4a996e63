package sip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// flow is a connection that we opened over TCP or TLS. All that is between us and its far end takes it, in both directions
// (RFC 5626 §3.1): registrations, calls, and the calls that a registrar has for us. It is pinged while somebody uses it.
type flow struct {
	id    flowID
	ready chan struct{} // closed when conn or err is set
	conn  *guardedConn
	err   error
	gone  chan struct{} // closed when the connection is lost
	users atomic.Int32
}

// flowID names a flow: two trunks share one where they mean the same far end and believe the same certificates.
type flowID struct {
	transport string // TCP or TLS
	addr      string // ip:port of the far end
	name      string // that its certificate has to be for; "" over TCP
	ca, pin   string // Trunk.TLSCA, Trunk.TLSFingerprint
}

const (
	flowPing = 25 * time.Second // RFC 5626 §4.4.1: more often than routers forget
	flowIdle = 10 * time.Minute // without a user
)

var ping = []byte("\r\n\r\n")

// connect finds a flow, or opens one.
func (s *Server) connect(ctx context.Context, id flowID) (*flow, error) {
	s.mu.Lock()
	f := s.flows[id]
	if f == nil {
		if s.closed {
			s.mu.Unlock()
			return nil, net.ErrClosed
		}
		f = &flow{id: id, ready: make(chan struct{}), gone: make(chan struct{})}
		s.flows[id] = f
		s.wg.Go("sip connection", func() { s.keepFlow(f) })
	}
	s.mu.Unlock()
	select {
	case <-f.ready:
		return f, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keepFlow opens a flow and stays with it until it is lost.
func (s *Server) keepFlow(f *flow) {
	defer close(f.gone)
	defer func() {
		s.mu.Lock()
		delete(s.flows, f.id)
		s.mu.Unlock()
	}()
	if f.conn, f.err = s.dialFlow(f.id); f.err == nil {
		f.err = s.adopt(f.conn)
	}
	close(f.ready)
	if f.err != nil {
		return
	}
	defer f.conn.Close()
	used, tick := time.Now(), time.NewTicker(flowPing)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if f.users.Load() > 0 {
				used = now
			}
			_ = f.conn.SetWriteDeadline(now.Add(flowPing))
			if _, err := f.conn.Write(ping); err != nil || now.Sub(used) > flowIdle {
				return
			}
		case <-f.conn.closed:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Server) dialFlow(id flowID) (*guardedConn, error) {
	ctx, stop := context.WithTimeout(s.ctx, dialTime)
	defer stop()
	d := s.dialer(&net.TCPAddr{}) // a port of its own: sipgo knows connections by their local address
	c, err := d.DialContext(ctx, "tcp", id.addr)
	if err != nil {
		return nil, err
	}
	if id.transport == "TLS" {
		t := tls.Client(c, s.believing(id))
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		c = t
	}
	return s.guarded(c, func() {}, 0), nil
}

// adopt gives a connection to sipgo and waits until it reads there.
func (s *Server) adopt(c *guardedConn) error {
	to := s.opened["tcp"]
	if _, ok := c.Conn.(*tls.Conn); ok {
		to = s.opened["tls"]
	}
	select {
	case to.conns <- c:
	case <-s.ctx.Done():
		c.Close()
		return net.ErrClosed
	}
	select {
	case <-c.began:
		return nil
	case <-c.closed:
		return net.ErrClosed
	case <-s.ctx.Done():
		return net.ErrClosed
	}
}

// addr is our end of the flow.
func (f *flow) addr() netip.AddrPort {
	a := netip.MustParseAddrPort(f.conn.LocalAddr().String())
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func (f *flow) lost() bool {
	select {
	case <-f.gone:
		return true
	default:
		return false
	}
}

// use keeps the flow open until done is called. A nil flow is none.
func (f *flow) use() (done func()) {
	if f == nil {
		return func() {}
	}
	f.users.Add(1)
	return func() { f.users.Add(-1) }
}

// lostChan is closed when the flow is lost; a nil flow never is.
func (f *flow) lostChan() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.gone
}

// opened is where sipgo accepts the connections that we opened.
type opened struct {
	conns chan net.Conn
	done  <-chan struct{}
}

func (o *opened) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

func (o *opened) Close() error   { return nil }
func (o *opened) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }

// believing is who may be at the other end of a TLS connection: whoever has a certificate for the name from the system's
// roots, from Config.TLS or from the trunk's own, or the one certificate that the trunk names.
func (s *Server) believing(id flowID) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.cfg.TLS != nil {
		c = s.cfg.TLS.Clone()
	}
	c.ServerName = id.name
	if id.ca != "" {
		if c.RootCAs == nil {
			c.RootCAs, _ = x509.SystemCertPool() // nil where there is none
		}
		if c.RootCAs == nil {
			c.RootCAs = x509.NewCertPool()
		}
		c.RootCAs = c.RootCAs.Clone()
		c.RootCAs.AppendCertsFromPEM([]byte(id.ca))
	}
	if pin, err := hex.DecodeString(id.pin); err == nil && len(pin) == sha256.Size {
		c.InsecureSkipVerify = true // VerifyConnection does it
		c.VerifyConnection = func(is tls.ConnectionState) error { return pinned(is, pin, c.RootCAs, id.name) }
	}
	return c
}

// pinned takes the certificate that is named by its sum, else one that verifies as usual.
func pinned(is tls.ConnectionState, pin []byte, roots *x509.CertPool, name string) error {
	if len(is.PeerCertificates) == 0 {
		return errors.New("no certificate")
	}
	leaf := is.PeerCertificates[0]
	if sum := sha256.Sum256(leaf.Raw); bytes.Equal(sum[:], pin) {
		return nil
	}
	more := x509.NewCertPool()
	for _, c := range is.PeerCertificates[1:] {
		more.AddCert(c)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: more}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: is.PeerCertificates, Err: err}
	}
	return nil
}
