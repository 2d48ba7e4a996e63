package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
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
	refusal string        // of the last try
	told    int64         // Trunk.Asked that the record answers
	asked   atomic.Int64  // Trunk.Asked
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
	r := &registrant{s: s, trunk: t, callID: sip.CallIDHeader(uuid.NewString()), tag: dialogTag(), expiry: registerFor,
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
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-r.now:
		case <-ctx.Done():
		}
		again.Stop()
	}
	if r.state == Registered {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), byeBye)
		defer stop()
		_, _, _ = r.register(ctx, 0)
		r.report(Unregistered, r.told, nil)
	}
}

// report records a changed state, and that an asking was answered.
func (r *registrant) report(state Registration, asked int64, why error) {
	refusal := said(why)
	if r.state == state && r.refusal == refusal && r.told == asked {
		return
	}
	r.state, r.refusal, r.told = state, refusal, asked
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
	req, where, err := r.request(ctx, expires)
	if err != nil {
		return 0, Failed, err
	}
	for tries := 0; ; tries++ {
		res, err := r.s.roundTrip(ctx, req, &trace{})
		if err != nil {
			return 0, Failed, err
		}
		switch code := res.StatusCode; {
		case res.IsSuccess():
			return max(granted(req, res, expires)/2, time.Second), Registered, nil
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
		next(req, where)
		r.seq = req.CSeq().SeqNo
	}
}

func (r *registrant) request(ctx context.Context, expires int) (*sip.Request, place, error) {
	t := r.trunk
	target := sip.Uri{Scheme: "sip", Host: t.Address, Port: t.Port}
	transport := "udp"
	if t.Transport != "" && t.Transport != "udp" {
		transport = t.Transport
		target.UriParams.Add("transport", transport)
	}
	dest, err := r.s.resolve(ctx, r.s.nextHop(t, target), r.s.proxied(t))
	if err != nil {
		return nil, place{}, err
	}
	where, err := r.s.placeFor(ctx, transport, dest)
	if err != nil {
		return nil, where, err
	}
	r.s.trustPeer(dest)
	r.seq++
	me := sip.Uri{Scheme: "sip", User: escapeUser(t.Username), Host: t.Address}
	req := sip.NewRequest(sip.REGISTER, target)
	req.AppendHeader(where.via())
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
	req.AppendHeader(where.contact(t.Number)) // so that a call to our Contact names the number
	req.AppendHeader(sip.NewHeader("Expires", fmt.Sprint(expires)))
	req.AppendHeader(allowHeader())
	req.SetBody(nil)
	where.from(req)
	r.s.sendTo(req, t, target, dest)
	return req, where, nil
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
