package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/google/uuid"

	"parley/ids"
)

// Registration times (RFC 3261 §10).
const (
	registerFor = 3600            // seconds asked for
	maxBackoff  = 5 * time.Minute // longest pause after failures
	byeBye      = 2 * time.Second // how long saying goodbye may take
)

// keepRegistered compares the registrations with Config.Trunks until Close and starts, restarts and ends them.
func (s *Server) keepRegistered(ctx context.Context) {
	if s.cfg.Trunks == nil {
		return
	}
	running := map[ids.Number]*registrant{}
	stamp := ""
	defer func() {
		for _, r := range running {
			r.stop()
		}
		for _, r := range running {
			<-r.done
		}
	}()
	tick := time.NewTicker(s.watching)
	defer tick.Stop()
	for {
		list, next, err := s.cfg.Trunks.Registrations(ctx, stamp)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.Error("sip registrations", "error", err)
		case err == nil && (next != stamp || stamp == ""):
			stamp = next
			s.reconcile(ctx, running, list)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) reconcile(ctx context.Context, running map[ids.Number]*registrant, list []Trunk) {
	wanted := map[ids.Number]Trunk{}
	for _, t := range list {
		if t.Register {
			wanted[t.ID] = t
		}
	}
	for id, r := range running {
		if t, ok := wanted[id]; ok && r.keeps(t) {
			delete(wanted, id)
			continue
		}
		r.stop()
		delete(running, id)
		if t, ok := wanted[id]; ok {
			delete(wanted, id)
			running[id] = s.registrant(ctx, t, r.done)
		}
	}
	for id, t := range wanted {
		running[id] = s.registrant(ctx, t, nil)
	}
}

// registrant keeps one trunk registered.
type registrant struct {
	s       *Server
	trunk   Trunk
	callID  sip.CallIDHeader
	tag     string
	seq     uint32
	expiry  int // seconds asked for
	state   Registration
	refusal string         // of the last try
	told    int64          // Trunk.Asked that the record answers
	asked   atomic.Int64   // Trunk.Asked
	flow    *flow          // nil over UDP
	unused  func()         // of the flow
	seen    netip.AddrPort // our address as the registrar saw it in the last answer; unset = not told
	contact sip.Uri        // that we are registered with
	where   place
	dest    string        // ip:port requests are sent to
	at      []netip.Addr  // where calls of the registrar may come from
	now     chan struct{} // somebody asked for a registration at once
	stop    context.CancelFunc
	done    chan struct{}
}

// keeps reports whether the registration of t goes on as it is. It is repeated at once when that was asked for.
func (r *registrant) keeps(t Trunk) bool {
	asked := t.Asked
	t.Asked = r.trunk.Asked
	if !reflect.DeepEqual(t, r.trunk) {
		return false
	}
	if r.asked.Swap(asked) != asked {
		select {
		case r.now <- struct{}{}:
		default:
		}
	}
	return true
}

// registrant starts one, after its predecessor has left.
func (s *Server) registrant(ctx context.Context, t Trunk, predecessor <-chan struct{}) *registrant {
	ctx, stop := context.WithCancel(ctx)
	r := &registrant{s: s, trunk: t, callID: sip.CallIDHeader(uuid.NewString()), tag: dialogTag(), expiry: registerFor, unused: func() {},
		now: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
	r.asked.Store(t.Asked)
	started := s.spawn(func() {
		defer close(r.done)
		if predecessor != nil {
			<-predecessor
		}
		r.run(ctx)
	})
	if !started {
		close(r.done)
	}
	return r
}

func (r *registrant) run(ctx context.Context) {
	defer func() { r.unused() }()
	pause := r.s.backoff
	for ctx.Err() == nil {
		asked := r.asked.Load()
		wait, state, err := r.register(ctx, r.expiry)
		if ctx.Err() != nil {
			break
		}
		if r.report(state, asked, err); state != Registered {
			r.s.log.Warn("sip registration failed", "trunk", r.trunk.ID, "error", err)
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, maxBackoff)
		} else {
			pause = r.s.backoff
		}
		r.rest(ctx, wait)
	}
	if r.state == Registered {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), byeBye)
		defer stop()
		_, _, _ = r.register(ctx, 0)
		r.s.home(r.trunk.ID, nil)
		r.report(Unregistered, r.told, nil)
	}
}

// rest waits until it is time to register again, or somebody asks for it, or the connection is lost. A router in between
// is kept from forgetting us.
func (r *registrant) rest(ctx context.Context, wait time.Duration) {
	again, tick := time.NewTimer(wait), time.NewTicker(flowPing)
	defer again.Stop()
	defer tick.Stop()
	for {
		select {
		case <-again.C:
		case <-r.now:
		case <-r.flow.lostChan():
		case <-ctx.Done():
		case <-tick.C:
			r.ping()
			continue
		}
		return
	}
}

// ping keeps a router's memory of our UDP port fresh; flows do that themselves.
func (r *registrant) ping() {
	if r.flow != nil || !r.seen.IsValid() || r.seen == r.where.local || r.state != Registered {
		return
	}
	to, err := netip.ParseAddrPort(r.dest)
	for _, k := range r.s.sockets {
		if err == nil && k.udp != nil && k.local == r.where.local {
			_, _ = k.udp.WriteToUDPAddrPort(ping, to)
		}
	}
}

// home notes where a trunk is registered: at these addresses, or nowhere.
func (s *Server) home(id ids.Number, at []netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.homes, id); len(at) > 0 {
		s.homes[id] = at
	}
}

// report records a changed state, and that an asking was answered.
func (r *registrant) report(state Registration, asked int64, why error) {
	refusal := said(why)
	if r.state == state && r.refusal == refusal && r.told == asked {
		return
	}
	r.state, r.refusal, r.told = state, refusal, asked
	if state != Registered {
		r.s.home(r.trunk.ID, nil)
	}
	ctx, stop := context.WithTimeout(context.Background(), byeBye)
	defer stop()
	t := r.trunk
	t.Asked = asked
	if err := r.s.cfg.Trunks.Registered(ctx, t, state, refusal); err != nil {
		r.s.log.Error("sip registration state", "trunk", r.trunk.ID, "error", err)
	}
}

// registrarError is the answer of a registrar that did not register us.
type registrarError struct{ *sip.Response }

func (e registrarError) Error() string { return statusLine(e.StatusCode, e.Reason) }

// said is what the owner of a trunk is told of a failure. What is at an address that answers nothing is not his to know.
func said(err error) string {
	answer, untrusted := registrarError{}, (*tls.CertificateVerificationError)(nil)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &answer):
		return cut(strings.ToValidUTF8(answer.Error(), ""), 200)
	case errors.As(err, &untrusted):
		return "certificate not trusted"
	}
	return "no answer"
}

func cut(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes])
	}
	return s
}

// register sends one REGISTER, with an answer to a challenge. It returns when to register again.
func (r *registrant) register(ctx context.Context, expires int) (wait time.Duration, state Registration, err error) {
	if err := r.find(ctx); err != nil {
		return 0, Failed, err
	}
	req := r.request(expires)
	for tries := 0; ; tries++ {
		res, err := r.s.roundTrip(ctx, req, &trace{})
		if err != nil {
			return 0, Failed, err
		}
		switch code := res.StatusCode; {
		case res.IsSuccess():
			return r.registered(req, res, expires), Registered, nil
		case (code == 401 || code == 407) && tries < 2 && answerChallenge(req, res, r.trunk.Username, r.trunk.Password):
		case code == 423 && tries < 2 && res.GetHeader("Min-Expires") != nil:
			r.expiry = min(max(atoi(res.GetHeader("Min-Expires").Value()), r.expiry), 24*3600)
			req.RemoveHeader("Expires")
			req.AppendHeader(sip.NewHeader("Expires", fmt.Sprint(r.expiry)))
		case code == 405 || code == 501: // the far end keeps no registrations
			return 0, Unregistered, registrarError{res}
		default:
			return 0, Failed, registrarError{res}
		}
		next(req, r.where)
		r.seq = req.CSeq().SeqNo
	}
}

// registered takes a success and returns when to register again: soon when the registrar saw us at another address
// than we told it, which is where its calls reach us.
func (r *registrant) registered(req *sip.Request, res *sip.Response, expires int) time.Duration {
	if expires == 0 {
		return 0
	}
	r.contact = *req.Contact().Address.Clone()
	r.s.home(r.trunk.ID, r.at)
	if seen := seenAs(res); seen.IsValid() && seen != r.seen {
		if r.seen = seen; r.ours().Address.String() != r.contact.String() {
			return time.Second
		}
	}
	return max(granted(req, res, expires)/2, time.Second)
}

// seenAs is our address as the far end saw it (RFC 3581); unset when it did not say.
func seenAs(res *sip.Response) netip.AddrPort {
	via := res.Via()
	if via == nil {
		return netip.AddrPort{}
	}
	host, _ := via.Params.Get("received")
	port, _ := via.Params.Get("rport")
	if host == "" {
		host = via.Host
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if n := atoi(port); err == nil && n > 0 && n < 1<<16 {
		return netip.AddrPortFrom(addr.Unmap(), uint16(n))
	}
	return netip.AddrPort{}
}

// ours is where the registrar's calls reach us: over the flow it is asked by, or at the address it sees.
func (r *registrant) ours() *sip.ContactHeader {
	p := r.where
	if p.flow != nil {
		p.port = int(p.local.Port())
	}
	if r.seen.IsValid() && (p.flow != nil || !r.s.cfg.PublicIP.IsValid()) {
		p.host, p.port = r.seen.Addr(), int(r.seen.Port())
	}
	c := p.contact(r.trunk.Number) // so that a call to our Contact names the number
	if p.flow != nil {             // RFC 5626 §4.2: a registrar that knows of it forgets the connection before
		c.Params.Add("+sip.instance", `"<urn:uuid:`+r.instance()+`>"`)
		c.Params.Add("reg-id", "1")
	}
	return c
}

// instance names the trunk to its registrar, always the same.
func (r *registrant) instance() string {
	t := r.trunk
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%d %s %s@%s", t.ID, t.Number, t.Username, t.Address)).String()
}

// target is the registrar.
func (r *registrant) target() sip.Uri {
	u := sip.Uri{Scheme: "sip", Host: r.trunk.Address, Port: r.trunk.Port}
	if r.trunk.Transport != "" && r.trunk.Transport != "udp" {
		u.UriParams.Add("transport", r.trunk.Transport)
	}
	return u
}

// find looks where the registrar is, and opens the connection to it.
func (r *registrant) find(ctx context.Context) error {
	t, target := r.trunk, r.target()
	hop := r.s.nextHop(t, target)
	at, port, err := r.s.lookUp(ctx, hop, r.s.proxied(t))
	if err != nil {
		return err
	}
	if r.at = at; !slices.ContainsFunc(at, func(a netip.Addr) bool { return r.dest == net.JoinHostPort(a.String(), port) }) {
		r.dest, _ = r.s.resolve(ctx, hop, false) // else it stays: a name may mean several
	}
	where, err := r.s.outward(ctx, t, target.UriParams.GetOr("transport", "udp"), r.dest, hostOf(hop))
	if err != nil {
		return err
	}
	r.s.trustPeer(r.dest)
	if where.flow != r.flow {
		r.unused()
		r.flow, r.unused, r.seen = where.flow, where.flow.use(), netip.AddrPort{}
	}
	r.where = where
	return nil
}

func (r *registrant) request(expires int) *sip.Request {
	t := r.trunk
	r.seq++
	me := sip.Uri{Scheme: "sip", User: escapeUser(t.Username), Host: t.Address}
	req := sip.NewRequest(sip.REGISTER, r.target())
	req.AppendHeader(r.where.via())
	if r.s.proxied(t) {
		req.AppendHeader(r.s.proxyRoute())
	}
	from := sip.FromHeader{Address: me}
	from.Params.Add("tag", r.tag)
	callID, hops := r.callID, sip.MaxForwardsHeader(70)
	req.AppendHeader(&hops)
	req.AppendHeader(&from)
	req.AppendHeader(&sip.ToHeader{Address: *me.Clone()})
	req.AppendHeader(&callID)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: r.seq, MethodName: sip.REGISTER})
	contact := r.ours()
	req.AppendHeader(contact)
	if r.contact.Host != "" && r.contact.String() != contact.Address.String() { // where we are no longer
		old := &sip.ContactHeader{Address: *r.contact.Clone()}
		old.Params.Add("expires", "0")
		req.AppendHeader(old)
	}
	req.AppendHeader(sip.NewHeader("Expires", fmt.Sprint(expires)))
	req.AppendHeader(allowHeader())
	if r.flow != nil {
		req.AppendHeader(sip.NewHeader("Supported", "path, outbound"))
	}
	req.SetBody(nil)
	r.where.from(req)
	req.SetDestination(r.dest)
	return req
}

// granted is how long the registrar keeps us: the expires parameter of our Contact, else Expires, else what we asked for.
func granted(req *sip.Request, res *sip.Response, asked int) time.Duration {
	seconds := asked
	if h := res.GetHeader("Expires"); h != nil && atoi(h.Value()) > 0 {
		seconds = atoi(h.Value())
	}
	ours := req.Contact().Address
	for _, h := range res.GetHeaders("Contact") {
		c, ok := h.(*sip.ContactHeader)
		if !ok || c.Address.User != ours.User || c.Address.Host != ours.Host {
			continue
		}
		if v, ok := c.Params.Get("expires"); ok && atoi(v) > 0 {
			seconds = atoi(v)
		}
	}
	return time.Duration(seconds) * time.Second
}

// trustPeer lifts the message budget of an address we talk to ourselves.
func (s *Server) trustPeer(hostport string) {
	if a, err := netip.ParseAddrPort(hostport); err == nil {
		s.budget.trust(a.Addr())
	}
}
