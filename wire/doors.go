package wire

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Doors bound the connections of a listener: what comes beyond is answered 503 and closed at once.
type Doors struct {
	All        int            // connections at a time
	PerAddress int            // of them from one address, or one /64 of IPv6
	Proxies    []netip.Prefix // stand for many clients and are counted in All alone
}

// Open listens through the doors. The client of such a connection must read what it is sent: writing ends when for 30 s
// it takes nothing.
func (d Doors) Open(l net.Listener) net.Listener {
	return &doors{Listener: l, Doors: d}
}

type doors struct {
	net.Listener
	Doors
	inside seats
}

// Accept waits for the next connection for which there is room.
func (d *doors) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := d.enter(c.RemoteAddr()); ok {
			return &conn{Conn: c, leave: leave}, nil
		}
		turnAway(c)
	}
}

func (d *doors) enter(from net.Addr) (leave func(), ok bool) {
	claims := []claim{{"", d.All}}
	if at, err := netip.ParseAddrPort(from.String()); err == nil && !within(d.Proxies, at.Addr().Unmap()) {
		claims = append(claims, claim{network(at.Addr()), d.PerAddress})
	}
	return d.inside.take(claims...)
}

// full is an answer that a socket's buffer takes without waiting.
const full = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 33\r\n" +
	"Retry-After: 5\r\nConnection: close\r\n\r\n" + `{"message":"Service Unavailable"}`

func turnAway(c net.Conn) {
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)) // nobody waits for a client beyond the bounds
	_, _ = c.Write([]byte(full))
	_ = c.Close()
}

// writeIdle is how long a client may leave what it was sent unread, writeStep how much of it.
const (
	writeIdle = 30 * time.Second
	writeStep = 32 << 10
)

// conn is a connection inside the doors.
type conn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Write ends with an error when the client stops reading.
func (c *conn) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var step int
		if err = c.SetWriteDeadline(time.Now().Add(writeIdle)); err == nil {
			step, err = c.Conn.Write(b[n:min(len(b), n+writeStep)])
		}
		n += step
	}
	return n, err
}

// Close gives the place to the next one.
func (c *conn) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// CloseWrite ends our half, so that a client that still sends sees the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// network is what an address counts as: of IPv6 its /64, which one client has all of.
func network(a netip.Addr) string {
	a = a.Unmap()
	if a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.String()
}

func within(all []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(a) })
}

// seats count what is open at a time, by name.
type seats struct {
	mu    sync.Mutex
	taken map[string]int
}

// claim is one place among at most so many of a name.
type claim struct {
	name string
	most int
}

// take takes a place of every name, or none of them.
func (s *seats) take(claims ...claim) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		if s.taken[c.name] >= c.most {
			return nil, false
		}
	}
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	for _, c := range claims {
		s.taken[c.name]++
	}
	return func() { s.release(claims) }, true
}

func (s *seats) release(claims []claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		if s.taken[c.name]--; s.taken[c.name] == 0 {
			delete(s.taken, c.name)
		}
	}
}
