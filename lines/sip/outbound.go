package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
	"parley/safe"
)

var _ lines.Dialer = (*Server)(nil)

// Dial places a call. It returns an answered *Leg or a *lines.DialError.
func (s *Server) Dial(ctx context.Context, d lines.Destination, progress func(code int)) (lines.Leg, error) {
	if s.draining.Load() {
		return nil, &lines.DialError{Code: 503, Err: errors.New("shutting down")}
	}
	i, err := s.prepare(ctx, d)
	if err != nil {
		return nil, &lines.DialError{Err: err}
	}
	leg, err := i.run(ctx, progress)
	if err != nil {
		i.leg.audio.close()
		if d, ok := errors.AsType[*lines.DialError](err); ok {
			d.Trace = i.leg.Trace()
		}
		return nil, err
	}
	return leg, nil
}

// line is the trunk a destination leaves through.
func (s *Server) line(ctx context.Context, d lines.Destination) (Trunk, error) {
	switch {
	case d.TrunkID != 0 && s.cfg.Trunks != nil:
		return s.cfg.Trunks.Trunk(ctx, d.TrunkID)
	case d.TrunkID == 0 && s.cfg.Default != nil:
		return *s.cfg.Default, nil
	case d.TrunkID == 0 && isURI(d.To):
		return Trunk{}, nil
	}
	return Trunk{}, fmt.Errorf("no line %d", d.TrunkID)
}

// run sends the INVITE, again after a challenge or a too small session interval, until there is an end.
func (i *invitation) run(ctx context.Context, progress func(code int)) (*Leg, error) {
	ring := i.d.RingFor
	if ring <= 0 {
		ring = time.Minute
	}
	ringing, stop := context.WithTimeoutCause(ctx, ring, errRang)
	defer stop()
	req := i.request()
	challenged := false
	for {
		res, err := i.attempt(ringing, req, progress)
		if err != nil {
			return nil, err
		}
		switch code := res.StatusCode; {
		case res.IsSuccess():
			return i.answered(req, res)
		case (code == 401 || code == 407) && i.proof && !challenged && i.trunk.Username != "":
			challenged = true
			again := req.Clone()
			if !answerChallenge(again, res, i.trunk.Username, i.trunk.Password) {
				return nil, refused(res)
			}
			req = again
		case code == 422 && res.GetHeader("Min-SE") != nil && atoi(res.GetHeader("Min-SE").Value()) > i.session:
			i.session = atoi(res.GetHeader("Min-SE").Value())
			req = i.request()
		case i.follows(ctx, res):
			req, challenged = i.request(), false
		default:
			return nil, refused(res)
		}
		next(req, i.leg.place)
		i.seq = req.CSeq().SeqNo
	}
}

// mostMoves is how often a call is followed to where it was redirected.
const mostMoves = 3

// follows turns to where a redirection points (RFC 3261 §8.1.3.4), if that is another user of the same far end whom
// Config.Forward lets us call: elsewhere, and where it costs what nobody allowed, a call is not led.
func (i *invitation) follows(ctx context.Context, res *sip.Response) bool {
	to := res.Contact()
	if code := res.StatusCode; code < 300 || code > 302 || to == nil || i.moves == mostMoves || i.s.cfg.Forward == nil {
		return false
	}
	user := userPart(to.Address.User)
	if to.Address.Host != i.target.Host || user == "" || user == userPart(i.target.User) {
		return false
	}
	number := e164(user, i.trunk.Country)
	inside := len(user) < 6 && strings.Trim(user, "0123456789") == "" // a telephone behind the same far end
	if !inside && (number == "" || !i.s.cfg.Forward(number)) {
		return false
	}
	i.moves++
	i.target.User = to.Address.User
	return true
}

var errRang = errors.New("nobody answered in time")

func refused(res *sip.Response) error {
	return &lines.DialError{Code: res.StatusCode, Err: errors.New(res.Reason)}
}

// attempt sends one INVITE and waits for its final answer, however many provisional ones come first.
func (i *invitation) attempt(ctx context.Context, req *sip.Request, progress func(code int)) (*sip.Response, error) {
	i.leg.trace.add(req, true)
	tx, err := i.s.client.TransactionRequest(ctx, req, asIs)
	if err != nil {
		return nil, &lines.DialError{Err: err}
	}
	heard := false
	for {
		select {
		case res := <-tx.Responses():
			i.leg.trace.add(res, false)
			if !res.IsProvisional() {
				if res.IsSuccess() {
					tx.Terminate() // from now on repeated answers come to onStrayResponse
				} else {
					i.s.linger(tx)
				}
				return res, nil
			}
			heard = true
			i.early(res)
			if progress != nil {
				progress(res.StatusCode)
			}
		case <-tx.Done():
			return nil, &lines.DialError{Err: tx.Err()}
		case <-ctx.Done():
			i.s.spawn(func() { i.giveUp(req, tx, heard) })
			if context.Cause(ctx) == errRang {
				e := &lines.DialError{Code: 408, Timeout: true, Err: errRang}
				if !heard {
					e.Code = 0
				}
				return nil, e
			}
			return nil, &lines.DialError{Code: 487, Err: ctx.Err()}
		}
	}
}

// early lets whoever asked for it hear what the far end plays before it answers (RFC 3960). What cannot be heard waits for
// the answer.
func (i *invitation) early(res *sip.Response) {
	a := i.leg.audio
	body, ok := sdpBody(res)
	if !ok || i.d.Early == nil || a.stream != nil {
		return
	}
	if src, err := netip.ParseAddrPort(res.Source()); err == nil {
		a.from = src.Addr().Unmap()
	}
	if a.accept(body) == nil && a.apply() == nil {
		i.d.Early(a.stream)
	}
}

// linger keeps a refused INVITE transaction for repeated refusals, which sipgo acknowledges.
func (s *Server) linger(tx sip.ClientTransaction) {
	s.spawn(func() {
		defer tx.Terminate()
		for {
			select {
			case <-tx.Responses():
			case <-tx.Done():
				return
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// giveUp cancels an INVITE (RFC 3261 §9.1: not before a provisional answer) and hangs up a call that was answered meanwhile.
func (i *invitation) giveUp(req *sip.Request, tx sip.ClientTransaction, heard bool) {
	defer tx.Terminate()
	if heard {
		i.cancel(req)
	}
	for {
		select {
		case res := <-tx.Responses():
			i.leg.trace.add(res, false)
			switch {
			case res.IsSuccess():
				tx.Terminate()
				i.s.ackAndBye(req, res, i.leg.place, &i.leg.trace)
				return
			case res.IsProvisional() && !heard:
				heard = true
				i.cancel(req)
			}
		case <-tx.Done():
			return
		case <-time.After(64 * i.s.t1): // RFC 3261 §9.1: then it is dead
			return
		case <-i.s.ctx.Done():
			return
		}
	}
}

func (i *invitation) cancel(invite *sip.Request) {
	c := sip.NewRequest(sip.CANCEL, *invite.Recipient.Clone())
	c.AppendHeader(invite.Via().Clone())
	for _, name := range []string{"Route", "Max-Forwards", "From", "To", "Call-ID"} {
		sip.CopyHeaders(name, invite, c)
	}
	c.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	c.SetBody(nil)
	c.SetDestination(invite.Destination())
	i.leg.place.from(c)
	i.s.spawn(func() { _, _ = i.s.roundTrip(i.s.ctx, c, &i.leg.trace) })
}

// answered makes the 200 into a running leg.
func (i *invitation) answered(req *sip.Request, res *sip.Response) (*Leg, error) {
	l := i.leg
	if src, err := netip.ParseAddrPort(res.Source()); err == nil {
		l.audio.from = src.Addr().Unmap()
	}
	l.allows(res)
	l.audio.onKey, l.audio.onTimeout = l.sendKey, l.soundLost
	body, ok := sdpBody(res)
	err := errNoAudio
	if ok {
		if err = l.audio.accept(body); err == nil {
			err = l.audio.apply()
		}
	}
	if err != nil {
		i.s.ackAndBye(req, res, l.place, &l.trace)
		return nil, &lines.DialError{Code: 488, Err: err}
	}
	l.join(req, res)
	l.agreed(res)
	ack := l.request(sip.ACK)
	for _, name := range []string{"Authorization", "Proxy-Authorization"} { // RFC 3261 §22.3
		sip.CopyHeaders(name, req, ack)
	}
	l.liveOnce()
	l.start()
	l.post(func() {
		l.sendAck(ack)
		l.armSession()
	})
	return l, nil
}

// join takes the dialog from the answer to our INVITE.
func (l *Leg) join(req *sip.Request, res *sip.Response) {
	tag, _ := res.To().Params.Get("tag")
	l.id.remote = tag
	l.remote = sip.ToHeader{DisplayName: res.To().DisplayName, Address: *res.To().Address.Clone(), Params: res.To().Params.Clone()}
	l.lseq = req.CSeq().SeqNo
	l.target = *req.Recipient.Clone()
	l.aim(res.Contact())
	records := res.GetHeaders("Record-Route")
	for k := len(records) - 1; k >= 0; k-- {
		if rr, ok := records[k].(*sip.RecordRouteHeader); ok {
			l.routes = append(l.routes, sip.RouteHeader{Address: *rr.Address.Clone()})
		}
	}
	src, err := netip.ParseAddrPort(res.Source())
	switch {
	case err != nil:
	case l.place.transport == "UDP":
		l.reachBack(l.s.ctx, netip.AddrPortFrom(src.Addr().Unmap(), src.Port()))
	default:
		l.dest = src.String() // the connection stays, and so does its certificate
	}
}

// placed is what is needed to acknowledge a repeated 200 to an INVITE of ours.
type placed struct {
	tag string // of the far end we talk to
	ack *sip.Request
}

// sendAck acknowledges a 200 and remembers how, as long as the 200 may be repeated.
func (l *Leg) sendAck(ack *sip.Request) {
	l.trace.add(ack, true)
	_ = l.s.client.WriteRequest(ack, asIs)
	l.s.remember(l.id, ack)
}

func (s *Server) remember(id dialogID, ack *sip.Request) {
	key := dialogID{id.callID, id.local, ack.CSeq().Value()}
	s.mu.Lock()
	s.placed[key] = placed{id.remote, ack}
	s.mu.Unlock()
	time.AfterFunc(64*s.t1, func() {
		s.mu.Lock()
		delete(s.placed, key)
		s.mu.Unlock()
	})
}

// onStrayResponse gets answers no transaction waits for: repeated 200s, and those of further phones a proxy rang (RFC 3261 §13.2.2.4).
func (s *Server) onStrayResponse(res *sip.Response) {
	safe.Run("sip response", func() { s.strayResponse(res) })
}

func (s *Server) strayResponse(res *sip.Response) {
	if s.ctx.Err() != nil || !res.IsSuccess() || res.CSeq() == nil || res.CSeq().MethodName != sip.INVITE || res.CallID() == nil ||
		res.From() == nil || res.To() == nil {
		return
	}
	from, _ := res.From().Params.Get("tag")
	tag, _ := res.To().Params.Get("tag")
	seq := (&sip.CSeqHeader{SeqNo: res.CSeq().SeqNo, MethodName: sip.ACK}).Value()
	s.mu.Lock()
	p, ok := s.placed[dialogID{res.CallID().Value(), from, seq}]
	s.mu.Unlock()
	switch {
	case !ok:
	case p.tag == tag:
		_ = s.client.WriteRequest(p.ack.Clone(), asIs)
	default:
		host := netip.Addr{}
		if v := p.ack.Via(); v != nil {
			host, _ = netip.ParseAddr(v.Host)
		}
		where := place{transport: p.ack.Transport(), host: host, port: p.ack.Via().Port}
		if ip, ok := netip.AddrFromSlice(p.ack.Laddr.IP); ok {
			where.local = netip.AddrPortFrom(ip, uint16(p.ack.Laddr.Port))
		}
		s.ackAndBye(p.ack, res, where, &trace{})
	}
}

// ackAndBye ends a call that was answered but is not wanted.
func (s *Server) ackAndBye(invite *sip.Request, res *sip.Response, where place, t *trace) {
	l := &Leg{s: s, place: where, local: *res.From()}
	l.id.callID = res.CallID().Value()
	l.id.local, _ = res.From().Params.Get("tag")
	l.join(invite, res)
	ack := l.request(sip.ACK)
	t.add(ack, true)
	_ = s.client.WriteRequest(ack, asIs)
	s.remember(l.id, ack)
	bye := l.request(sip.BYE)
	s.spawn(func() { _, _ = s.roundTrip(s.ctx, bye, t) })
}
