package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
)

// source is where a request came from.
func source(req *sip.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(req.Source())
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// place is where our side of one exchange is: the socket its requests leave from, and our address as the far end knows it.
type place struct {
	transport string         // UDP, TCP or TLS
	local     netip.AddrPort // the listening socket, or our end of flow; unset = a connection that the far end opened
	flow      *flow          // nil = UDP, or a connection that the far end opened
	host      netip.Addr     // for Via, Contact and SDP
	port      int            // for Via and Contact; 0 = the connection's
	bind      netip.Addr     // for media sockets
}

var errNoSocket = errors.New("sip.listen has no socket that reaches this address")

// placeFor finds the socket for a peer at dst (ip:port).
func (s *Server) placeFor(ctx context.Context, transport, dst string) (place, error) {
	p := place{transport: sip.NetworkToUpper(transport)}
	to, err := netip.ParseAddrPort(dst)
	if err != nil {
		return p, fmt.Errorf("address %q: %w", dst, err)
	}
	sock := netip.AddrPortFrom(unspecified(to.Addr()), 0)
	for _, k := range s.sockets {
		if reaches(k.local.Addr(), to.Addr()) && k.network == sip.NetworkToLower(p.transport) {
			sock, p.port = k.local, int(k.local.Port())
			break
		}
	}
	if p.transport == "UDP" {
		if p.port == 0 {
			return p, errNoSocket
		}
		p.local = sock
	}
	p.host = localFor(ctx, sock.Addr().Unmap(), dst)
	p.bind = p.host
	if s.cfg.PublicIP.IsValid() {
		p.host = s.cfg.PublicIP
		if sock.Addr().IsUnspecified() {
			p.bind = unspecified(to.Addr())
		}
	}
	return p, nil
}

// outward is placeFor a far end of trunk that we turn to: over a flow, unless the transport is UDP. name is its host name.
func (s *Server) outward(ctx context.Context, t Trunk, transport, dst, name string) (place, error) {
	p, err := s.placeFor(ctx, transport, dst)
	if err != nil || p.transport == "UDP" {
		return p, err
	}
	id := flowID{transport: p.transport, addr: dst}
	if p.transport == "TLS" {
		id.name, id.ca, id.pin = name, t.TLSCA, t.TLSFingerprint
	}
	if p.flow, err = s.connect(ctx, id); err != nil {
		return p, err
	}
	if p.local = p.flow.addr(); p.port == 0 {
		p.port = int(p.local.Port())
	}
	return p, nil
}

func unspecified(like netip.Addr) netip.Addr {
	if like.Unmap().Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// reaches reports whether a socket bound to local can send to remote.
func reaches(local, remote netip.Addr) bool {
	local, remote = local.Unmap(), remote.Unmap()
	switch {
	case local == netip.IPv6Unspecified():
		return true
	case local.Is4() != remote.Is4():
		return false
	case local.IsUnspecified():
		return true
	}
	return local.IsLoopback() == remote.IsLoopback()
}

// via is the top Via of a request from here, with a fresh branch.
func (p place) via() *sip.ViaHeader {
	v := &sip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: p.transport, Host: p.host.String(), Port: p.port}
	v.Params.Add("branch", sip.GenerateBranchN(16))
	v.Params.Add("rport", "")
	return v
}

// contact is where requests of the far end reach us.
func (p place) contact(user string) *sip.ContactHeader {
	u := sip.Uri{Scheme: "sip", User: escapeUser(user), Host: p.host.String(), Port: p.port}
	if p.transport != "UDP" {
		u.UriParams.Add("transport", sip.NetworkToLower(p.transport))
	}
	return &sip.ContactHeader{Address: u}
}

// from makes a request leave from our listening socket, or over our flow; other connections are chosen by their far end.
func (p place) from(r *sip.Request) {
	if p.local.IsValid() {
		r.Laddr = sip.Addr{IP: net.IP(p.local.Addr().AsSlice()), Port: int(p.local.Port())}
	}
	r.SetTransport(p.transport)
}

// asIs tells sipgo that a request is complete.
func asIs(*sipgo.Client, *sip.Request) error { return nil }
