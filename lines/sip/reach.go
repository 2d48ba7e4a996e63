package sip

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/emiago/sipgo/sip"
)

// errRefused is an address that nobody may be called at. It looks like silence to whoever chose it.
var errRefused = errors.New("address not allowed")

// lookupTime is how long the name of a far end's Contact may take to be resolved.
const lookupTime = 2 * time.Second

// mayReach reports whether requests may be sent to an address. Those of the installation's own line and proxy always may.
func (s *Server) mayReach(a netip.Addr) bool {
	if s.cfg.Reach == nil || s.cfg.Reach(a.Unmap()) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, own := s.own[a.Unmap()]
	return own
}

// resolve turns a host name into the address that is called, IPv4 first, of those that may be. own: the name is the
// installation's, not a customer's.
func (s *Server) resolve(ctx context.Context, hostport string, own bool) (string, error) {
	list, port, err := s.lookUp(ctx, hostport, own)
	if err != nil {
		return "", err
	}
	best := list[0]
	for _, a := range list {
		if a.Is4() && !best.Is4() {
			best = a
		}
	}
	return net.JoinHostPort(best.String(), port), nil
}

// lookUp finds the addresses of a host that may be called: at least one.
func (s *Server) lookUp(ctx context.Context, hostport string, own bool) (list []netip.Addr, port string, err error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, "", err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		list = []netip.Addr{a}
	} else if list, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, "", err
	}
	for i := range list {
		list[i] = list[i].Unmap()
	}
	if own {
		s.mu.Lock()
		for _, a := range list {
			s.own[a] = struct{}{}
		}
		s.mu.Unlock()
	}
	list = slices.DeleteFunc(list, func(a netip.Addr) bool { return !s.mayReach(a) })
	if len(list) == 0 {
		return nil, "", errRefused
	}
	return list, port, nil
}

// dialer looks at the address of each connection at the moment it is made: a name may mean another one by now.
func (s *Server) dialer(local net.Addr) net.Dialer {
	return net.Dialer{Timeout: dialTime, LocalAddr: local,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			if a, err := netip.ParseAddrPort(address); err != nil || !s.mayReach(a.Addr()) {
				return errRefused
			}
			return nil
		}}
}

// dialTime is how long a connection may take to come about; a transaction gives up after 32 s.
const dialTime = 30 * time.Second

// reachBack sends our requests to where the far end's came from when its Contact is a private address somewhere behind a
// router (RFC 5626 in spirit, without its registration), and when Contact or Record-Route name what may not be reached. A
// name is looked up, for as long as ctx allows.
func (l *Leg) reachBack(ctx context.Context, src netip.AddrPort) {
	hop := l.target
	if len(l.routes) > 0 {
		hop = l.routes[0].Address
	}
	host := strings.Trim(hop.Host, "[]")
	literal, err := netip.ParseAddr(host)
	switch {
	case !src.IsValid():
	case err == nil && len(l.routes) == 0 && literal != src.Addr() && (literal.IsPrivate() || literal.IsUnspecified() || literal.IsLoopback()):
		l.dest = src.String()
	case err == nil && (literal.Unmap() == src.Addr() || l.s.mayReach(literal)):
		l.dest = ""
	case err == nil:
		l.dest = src.String()
	case l.s.cfg.Reach != nil:
		port := hop.Port
		if port == 0 {
			port = sip.DefaultPort(l.place.transport)
		}
		ctx, stop := context.WithTimeout(ctx, lookupTime)
		defer stop()
		if l.dest, err = l.s.resolve(ctx, net.JoinHostPort(host, strconv.Itoa(port)), false); err != nil {
			l.dest = src.String()
		}
	}
}
