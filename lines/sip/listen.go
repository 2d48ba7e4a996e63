package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

// socket is one address we listen on.
type socket struct {
	network string // udp, tcp or tls
	local   netip.AddrPort
	udp     *net.UDPConn
	tcp     net.Listener
}

// open binds one element of Config.Listen, for example udp://127.0.0.1:5060. Port 0 takes a free one.
func open(listen string) (socket, error) {
	u, err := url.Parse(listen)
	if err != nil || u.Host == "" || u.Path != "" {
		return socket{}, fmt.Errorf("sip.listen %q: want udp://, tcp:// or tls://HOST:PORT", listen)
	}
	s := socket{network: u.Scheme}
	var addr net.Addr
	switch u.Scheme {
	case "udp":
		a, err := net.ResolveUDPAddr("udp", u.Host)
		if err != nil {
			return s, fmt.Errorf("sip.listen %q: %w", listen, err)
		}
		if s.udp, err = net.ListenUDP("udp", a); err != nil {
			return s, fmt.Errorf("sip.listen %q: %w", listen, err)
		}
		_ = s.udp.SetReadBuffer(1 << 20) // a burst of INVITEs waits here
		addr = s.udp.LocalAddr()
	case "tcp", "tls":
		if s.tcp, err = net.Listen("tcp", u.Host); err != nil {
			return s, fmt.Errorf("sip.listen %q: %w", listen, err)
		}
		addr = s.tcp.Addr()
	default:
		return s, fmt.Errorf("sip.listen %q: only udp, tcp and tls", listen)
	}
	s.local = netip.MustParseAddrPort(addr.String())
	return s, nil
}

// quiet ends the reading of a UDP socket; it can still send.
func (s socket) quiet() {
	if s.udp != nil {
		_ = s.udp.SetReadDeadline(time.Unix(1, 0))
	}
}

func (s socket) close() {
	if s.udp != nil {
		s.udp.Close()
	}
	if s.tcp != nil {
		s.tcp.Close()
	}
}

// parses reports whether the parser survives data as one whole message. sipgo parses on the goroutine that reads
// the socket, where a panic would end the process, so everything is parsed here first.
func parses(p *sip.Parser, data []byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := p.ParseSIP(data)
	return err == nil
}

// addressWindow is how many different sources one reader of sipgo may see: it remembers each for ever,
// so a flood of invented sources would fill the memory. After that many a fresh reader takes over.
const addressWindow = 20000

// serveUDP hands datagrams that pass the guard to sipgo until the socket is closed. ready is called when requests may leave.
func (s *Server) serveUDP(sock socket, ready func()) {
	var old *udpWindow
	for {
		w := &udpWindow{UDPConn: sock.udp, s: s, seen: map[string]struct{}{},
			began: make(chan struct{}), full: make(chan struct{}), retired: make(chan struct{})}
		s.readers.Go("sip reader", func() { _ = s.server.ServeUDP(w) })
		select {
		case <-w.began:
		case <-s.ctx.Done():
			return
		}
		if old == nil {
			ready()
		} else { // sipgo knows the new reader before the old one goes
			close(old.retired)
		}
		select {
		case <-w.full:
			old = w
		case <-s.ctx.Done():
			return
		}
	}
}

// udpWindow is the socket as one reader of sipgo sees it.
type udpWindow struct {
	*net.UDPConn
	s       *Server
	seen    map[string]struct{}
	once    sync.Once
	began   chan struct{} // closed at the first read: the reader is registered with sipgo
	full    chan struct{} // closed when another reader shall take over
	retired chan struct{} // closed when it has
}

// ReadFrom returns the next datagram worth parsing.
func (w *udpWindow) ReadFrom(b []byte) (int, net.Addr, error) {
	w.once.Do(func() { close(w.began) })
	if len(w.seen) > w.s.window {
		close(w.full)
		select {
		case <-w.retired:
		case <-w.s.halted:
		}
		return 0, nil, net.ErrClosed
	}
	for {
		n, from, err := w.UDPConn.ReadFromUDPAddrPort(b)
		if w.s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			<-w.s.halted // sipgo forgets the socket when its reader returns
			return 0, nil, net.ErrClosed
		}
		if err != nil {
			continue // an ICMP error of some earlier datagram
		}
		if n <= 4 || !w.s.budget.take(from.Addr(), 1) || !parses(w.s.parser, b[:n]) {
			continue
		}
		w.seen[from.String()] = struct{}{}
		return n, net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.Addr().Unmap(), from.Port())), nil
	}
}

// Limits of TCP connections that others opened.
const (
	maxConns        = 2000
	maxConnsPerAddr = 50
	connIdle        = 10 * time.Minute
	connFirst       = 20 * time.Second       // for the handshake of TLS and the first message
	acceptPause     = 100 * time.Millisecond // after a connection that could not be taken
)

// guardedListener limits connections and looks at what they send before sipgo does.
type guardedListener struct {
	net.Listener
	s     *Server
	tls   *tls.Config // nil = TCP
	mu    sync.Mutex
	conns map[netip.Addr]int
	total int
}

func (l *guardedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil && !errors.Is(err, net.ErrClosed) { // out of descriptors: sipgo would give the listener up
			select {
			case <-time.After(acceptPause):
				continue
			case <-l.s.ctx.Done():
			}
		}
		if err != nil {
			return nil, err
		}
		addr := remoteIP(c)
		if !l.enter(addr) {
			c.Close()
			continue
		}
		raw := c
		if l.tls != nil {
			c = tls.Server(c, l.tls)
		}
		return l.s.guarded(c, func() { raw.Close(); l.leave(addr) }, connIdle), nil
	}
}

func (l *guardedListener) enter(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= maxConns || l.conns[addr] >= maxConnsPerAddr && !addr.IsLoopback() {
		return false
	}
	l.total++
	l.conns[addr]++
	return true
}

func (l *guardedListener) leave(addr netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.conns[addr]--; l.conns[addr] <= 0 {
		delete(l.conns, addr)
	}
}

func remoteIP(c net.Conn) netip.Addr {
	a, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}

// guardedConn feeds a shadow parser with every byte before it lets sipgo have them.
type guardedConn struct {
	net.Conn
	s      *Server
	addr   netip.Addr
	idle   time.Duration // silence that ends it; 0 = none does
	opened time.Time
	heard  bool // a whole message came
	shadow *sip.ParserStream
	left   func() // after its end
	closed chan struct{}
	began  chan struct{} // closed at the first read: sipgo has it
	once   sync.Once
	reads  sync.Once
}

func (s *Server) guarded(c net.Conn, left func(), idle time.Duration) *guardedConn {
	return &guardedConn{Conn: c, s: s, addr: remoteIP(c), idle: idle, opened: time.Now(), shadow: s.parser.NewSIPStream(), left: left,
		closed: make(chan struct{}), began: make(chan struct{})}
}

func (c *guardedConn) Read(b []byte) (int, error) {
	c.reads.Do(func() { close(c.began) })
	if c.idle > 0 {
		_ = c.Conn.SetReadDeadline(c.until())
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.fine(b[:n]) {
		c.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// until is when something must have come: the first message soon after the connection, whatever dribbles in meanwhile.
func (c *guardedConn) until() time.Time {
	if !c.heard {
		return c.opened.Add(connFirst)
	}
	return time.Now().Add(c.idle)
}

func (c *guardedConn) fine(data []byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	messages := 0
	err := c.shadow.ParseSIPStream(data, func(sip.Message) { messages++ })
	if err != nil && !errors.Is(err, sip.ErrParseSipPartial) {
		return len(data) <= 4 // keep-alive line ends between messages
	}
	c.heard = c.heard || messages > 0
	return messages == 0 || c.s.budget.take(c.addr, messages)
}

func (c *guardedConn) Close() (err error) {
	c.once.Do(func() {
		err = c.Conn.Close()
		close(c.closed)
		c.left()
	})
	return err
}

// localFor is our address as the far end of dst sees it on this machine: the socket's own, or for a wildcard
// socket the address of the interface the route to dst leaves through.
func localFor(ctx context.Context, sock netip.Addr, dst string) netip.Addr {
	if !sock.IsUnspecified() {
		return sock
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "udp", dst) // sends nothing
	if err != nil {
		return sock
	}
	defer c.Close()
	return netip.MustParseAddrPort(c.LocalAddr().String()).Addr().Unmap()
}
