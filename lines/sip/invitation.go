package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/google/uuid"

	"parley/lines"
)

// invitation is an outbound INVITE until it is answered.
type invitation struct {
	s       *Server
	leg     *Leg
	trunk   Trunk
	d       lines.Destination
	target  sip.Uri
	dest    string // where it is sent, host:port
	proof   bool   // the target is the trunk's own: its password may be used there
	session int    // seconds asked for; 0 = none
	seq     uint32
	moves   int // redirections followed
}

func isURI(to string) bool { return strings.HasPrefix(to, "sip:") || strings.HasPrefix(to, "sips:") }

// prepare finds the way to a destination and takes a port for its audio.
func (s *Server) prepare(ctx context.Context, d lines.Destination) (*invitation, error) {
	trunk, err := s.line(ctx, d)
	if err != nil {
		return nil, err
	}
	i := &invitation{s: s, trunk: trunk, d: d, seq: 1}
	if i.target, err = i.uri(); err != nil {
		return nil, err
	}
	i.proof = i.target.Host == trunk.Address
	transport := i.target.UriParams.GetOr("transport", "udp")
	own := s.proxied(trunk) || d.TrunkID == 0 && s.cfg.Default != nil && i.proof
	hop := s.nextHop(trunk, i.target)
	if i.dest, err = s.resolve(ctx, hop, own); err != nil {
		return nil, err
	}
	s.trustPeer(i.dest)
	l := s.newLeg()
	if l.place, err = s.outward(ctx, trunk, transport, i.dest, hostOf(hop)); err != nil {
		return nil, err
	}
	if l.audio, err = s.newAudio(l.place.bind, l.place.host, trunk); err != nil {
		return nil, err
	}
	i.leg = l
	l.trunk, l.state = trunk, talking
	l.id = dialogID{callID: uuid.NewString(), local: dialogTag()}
	l.user = trunk.Number
	if l.user == "" {
		l.user = d.From
	}
	l.info.SignalID, l.info.From, l.info.To, l.info.TrunkID, l.info.RemoteAddr = l.id.callID, d.From, d.To, trunk.ID, i.dest
	if d.Placed != nil {
		d.Placed(l.id.callID)
	}
	if s.cfg.SessionExpires > 0 {
		i.session = max(int(s.cfg.SessionExpires/time.Second), s.minSE)
	}
	return i, nil
}

// uri is whom the INVITE is for.
func (i *invitation) uri() (u sip.Uri, err error) {
	if isURI(i.d.To) {
		if err = sip.ParseUri(i.d.To, &u); err == nil && u.Host == "" {
			err = fmt.Errorf("address %q has no host", i.d.To)
		}
		if u.Scheme == "sips" {
			u.UriParams.Add("transport", "tls")
		}
		u.Scheme, u.Headers = "sip", nil
		return u, err
	}
	t := i.trunk
	if t.Address == "" {
		return u, errors.New("the line has no address")
	}
	u = sip.Uri{Scheme: "sip", User: escapeUser(t.dialled(i.d.To)), Host: t.Address, Port: t.Port}
	if t.Transport != "" && t.Transport != "udp" {
		u.UriParams.Add("transport", t.Transport)
	}
	return u, nil
}

// proxied reports whether the requests of a trunk leave through the installation's proxy.
func (s *Server) proxied(t Trunk) bool { return t.Proxy && s.cfg.Proxy != "" }

// nextHop is host:port a request for target goes to.
func (s *Server) nextHop(t Trunk, target sip.Uri) string {
	if s.proxied(t) {
		if _, _, err := net.SplitHostPort(s.cfg.Proxy); err == nil {
			return s.cfg.Proxy
		}
		return net.JoinHostPort(s.cfg.Proxy, "5060")
	}
	port := target.Port
	if port == 0 {
		port = sip.DefaultPort(target.UriParams.GetOr("transport", "udp"))
	}
	return net.JoinHostPort(strings.Trim(target.Host, "[]"), strconv.Itoa(port))
}

// hostOf is the host of host:port.
func hostOf(hostport string) string {
	host, _, _ := net.SplitHostPort(hostport)
	return host
}

// request builds the INVITE of one attempt.
func (i *invitation) request() *sip.Request {
	l := i.leg
	r := sip.NewRequest(sip.INVITE, *i.target.Clone())
	r.AppendHeader(l.place.via())
	if i.s.proxied(i.trunk) {
		r.AppendHeader(i.s.proxyRoute())
	}
	host := i.trunk.Address
	if host == "" {
		host = l.place.host.String()
	}
	me := sip.Uri{Scheme: "sip", User: escapeUser(i.d.From), Host: host}
	l.local = sip.FromHeader{Address: me}
	l.local.Params.Add("tag", l.id.local)
	to := sip.ToHeader{Address: sip.Uri{Scheme: "sip", User: i.target.User, Host: i.target.Host, Port: i.target.Port}}
	callID, hops := sip.CallIDHeader(l.id.callID), sip.MaxForwardsHeader(70)
	from := sip.FromHeader{Address: *me.Clone(), Params: l.local.Params.Clone()}
	r.AppendHeader(&hops)
	r.AppendHeader(&from)
	r.AppendHeader(&to)
	r.AppendHeader(&callID)
	r.AppendHeader(&sip.CSeqHeader{SeqNo: i.seq, MethodName: sip.INVITE})
	r.AppendHeader(l.place.contact(l.user))
	r.AppendHeader(allowHeader())
	r.AppendHeader(supportedHeader())
	if i.d.From != "" {
		r.AppendHeader(sip.NewHeader("P-Asserted-Identity", "<"+me.String()+">"))
	}
	if i.session > 0 {
		r.AppendHeader(sip.NewHeader("Session-Expires", strconv.Itoa(i.session)))
		r.AppendHeader(sip.NewHeader("Min-SE", strconv.Itoa(i.s.minSE)))
	}
	for k, v := range i.d.Headers {
		if headerSafe(k) && headerSafe(v) {
			r.AppendHeader(sip.NewHeader(k, v))
		}
	}
	setSDP(r, l.audio.offer())
	l.place.from(r)
	r.SetDestination(i.dest)
	return r
}

// headerSafe: no line ends in what others put into our headers.
func headerSafe(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }

func (s *Server) proxyRoute() *sip.RouteHeader {
	u := sip.Uri{Scheme: "sip", Host: s.cfg.Proxy}
	if host, port, err := net.SplitHostPort(s.cfg.Proxy); err == nil {
		u.Host, u.Port = host, atoi(port)
	}
	u.UriParams.Add("lr", "")
	return &sip.RouteHeader{Address: u}
}
