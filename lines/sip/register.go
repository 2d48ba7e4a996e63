package sip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
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
		if t, ok := wanted[id]; ok && reflect.DeepEqual(t, r.trunk) {
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
	s      *Server
	trunk  Trunk
	callID sip.CallIDHeader
	tag    string
	seq    uint32
	expiry int // seconds asked for
	state  Registration
	stop   context.CancelFunc
	done   chan struct{}
}

// registrant starts one, after its predecessor has left.
func (s *Server) registrant(ctx context.Context, t Trunk, predecessor <-chan struct{}) *registrant {
	ctx, stop := context.WithCancel(ctx)
	r := &registrant{s: s, trunk: t, callID: sip.CallIDHeader(uuid.NewString()), tag: dialogTag(), expiry: registerFor,
		stop: stop, done: make(chan struct{})}
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
	for {
		wait, state, err := r.register(ctx, r.expiry)
		if ctx.Err() != nil {
			break
		}
		if r.report(state); state != Registered {
			r.s.log.Warn("sip registration failed", "trunk", r.trunk.ID, "error", err)
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, maxBackoff)
		} else {
			pause = r.s.backoff
		}
		select {
		case <-time.After(wait):
			continue
		case <-ctx.Done():
		}
		break
	}
	if r.state == Registered {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), byeBye)
		defer stop()
		_, _, _ = r.register(ctx, 0)
		r.report(Unregistered)
	}
}

// report records a changed state.
func (r *registrant) report(state Registration) {
	if r.state == state {
		return
	}
	r.state = state
	ctx, stop := context.WithTimeout(context.Background(), byeBye)
	defer stop()
	if err := r.s.cfg.Trunks.Registered(ctx, r.trunk.ID, state); err != nil {
		r.s.log.Error("sip registration state", "trunk", r.trunk.ID, "error", err)
	}
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
			return 0, Unregistered, fmt.Errorf("%d %s", code, res.Reason)
		default:
			return 0, Failed, fmt.Errorf("%d %s", code, res.Reason)
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
