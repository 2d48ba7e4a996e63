package sip

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
	"parley/safe"
)

// onInvite is an INVITE outside of any dialog: prove whose it is, ask where it goes, and make it a leg.
func (s *Server) onInvite(req *sip.Request, tx sip.ServerTransaction) {
	leave, fresh := s.enter(req)
	if !fresh {
		s.refuse(req, tx, 482)
		return
	}
	defer leave()
	if code, headers := s.understands(req); code != 0 {
		s.refuse(req, tx, code, headers...)
		return
	}
	until := time.Now().Add(s.routing)
	ctx, cancel := context.WithDeadline(s.ctx, until)
	defer cancel()
	in, code, headers := s.admit(ctx, req)
	if code == 0 && s.draining.Load() {
		code, headers = 503, []sip.Header{retryAfter(5)}
	}
	if code != 0 {
		s.refuse(req, tx, code, headers...)
		return
	}
	_ = tx.Respond(newResponse(req, 100, ""))
	tx.OnCancel(func(*sip.Request) { cancel() })
	if s.cfg.Route != nil {
		d := s.cfg.Route(ctx, in)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			s.decline(req, tx, 503, retryAfter(5))
			return
		}
		if d.Code != 0 {
			s.decline(req, tx, d.Code)
			return
		}
	}
	l, err := s.inboundLeg(ctx, req, tx, in)
	if err != nil {
		if code = refusal(err); l != nil {
			s.log.Error("sip leg", "error", err)
			code = 503
		}
		s.decline(req, tx, code)
		return
	}
	if l.welcome, code = l.agree(req); code != 0 {
		l.audio.close()
		s.decline(req, tx, code, l.welcome...)
		return
	}
	s.serve(ctx, l, tx, until)
}

// enter notes an INVITE in work. It reports false for one that came twice over different paths (RFC 3261 §8.2.2.2).
func (s *Server) enter(req *sip.Request) (leave func(), fresh bool) {
	tag, _ := req.From().Params.Get("tag")
	key := req.CallID().Value() + " " + tag + " " + req.CSeq().Value()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.invites[key]; twice {
		return nil, false
	}
	s.invites[key] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.invites, key)
	}, true
}

// understands refuses an INVITE whose body or Contact is of no use.
func (s *Server) understands(req *sip.Request) (code int, headers []sip.Header) {
	if len(req.Body()) > 0 {
		if _, ok := sdpBody(req); !ok || req.GetHeader("Content-Encoding") != nil {
			return 415, []sip.Header{sip.NewHeader("Accept", "application/sdp")}
		}
	}
	if req.Contact() == nil || req.Contact().Address.Wildcard || req.Contact().Address.Host == "" {
		return 400, nil
	}
	return 0, nil
}

// admit proves whose trunk is called. Strangers learn nothing: an unknown number is challenged as a known one is.
func (s *Server) admit(ctx context.Context, req *sip.Request) (in Inbound, code int, headers []sip.Header) {
	in = Inbound{Called: called(req), Source: source(req), CallID: req.CallID().Value()}
	if s.cfg.Open || s.cfg.Carrier != nil && s.cfg.Carrier(in.Source) {
		in.From = caller(req, "")
		return in, 0, nil
	}
	list, err := s.candidates(ctx, req)
	if err != nil {
		s.log.Error("sip trunks", "error", err)
		return in, 503, []sip.Header{retryAfter(5)}
	}
	trunk, ours := s.registeredAt(list, in.Source.Addr())
	code, stale := 0, false
	if !ours {
		trunk, code, stale = s.prove(req, list, in.Source.Addr())
	}
	switch code {
	case 0:
		s.budget.trust(in.Source.Addr())
		in.Trunk, in.Called, in.From = trunk, trunk.Number, caller(req, trunk.Country)
		return in, 0, nil
	case 401:
		return in, 401, []sip.Header{sip.NewHeader("WWW-Authenticate", s.auth.challenge(time.Now(), in.Source.Addr(), in.CallID, stale))}
	}
	s.budget.take(in.Source.Addr(), wrongPassword)
	return in, code, nil
}

// candidates are the trunks an INVITE may be for: by its request URI, else (a registrar that calls our Contact) by To.
func (s *Server) candidates(ctx context.Context, req *sip.Request) ([]Trunk, error) {
	if s.cfg.Trunks == nil {
		return nil, nil
	}
	for _, user := range []string{called(req), userPart(req.To().Address.User)} {
		if user == "" {
			continue
		}
		all, err := s.cfg.Trunks.Called(ctx, user)
		if err != nil {
			return nil, err
		}
		var list []Trunk
		for _, t := range all {
			if t.Accepts(user) {
				list = append(list, t)
			}
		}
		if len(list) > 0 {
			return certain(list, user), nil
		}
	}
	return nil, nil
}

// certain are the trunks that a call may really be for. A user part such as 030123456 may mean numbers of several accounts,
// in different countries; then the number itself decides, or else the password does, but never an address that one account lists.
func certain(list []Trunk, user string) []Trunk {
	if oneOwner(list) {
		return list
	}
	exact := slices.DeleteFunc(slices.Clone(list), func(t Trunk) bool { return t.Number != user || !strings.HasPrefix(user, "+") })
	if len(exact) > 0 && oneOwner(exact) {
		return exact
	}
	return slices.DeleteFunc(list, func(t Trunk) bool { return t.Auth == "ip" })
}

func oneOwner(list []Trunk) bool {
	return !slices.ContainsFunc(list, func(t Trunk) bool { return t.Account != list[0].Account })
}

// prove finds the trunk whose authorisation the request fulfils (api.md 10.7).
func (s *Server) prove(req *sip.Request, list []Trunk, from netip.Addr) (t Trunk, code int, stale bool) {
	byPassword := len(list) == 0
	for _, t := range list {
		if t.Auth == "ip" && t.allows(from) {
			return t, 0, false
		}
		byPassword = byPassword || t.Auth != "ip"
	}
	if !byPassword {
		return Trunk{}, 403, false
	}
	cred, ok := credentials(req)
	if !ok {
		return Trunk{}, 401, false
	}
	if !wellFormed(cred, req) {
		return Trunk{}, 400, false
	}
	now := time.Now()
	if !s.auth.fresh(cred.Nonce, now, from, req.CallID().Value()) {
		return Trunk{}, 401, true
	}
	for _, t := range list {
		if t.Auth == "ip" || !proves(cred, string(req.Method), t.Username, t.Password) {
			continue
		}
		if !s.auth.spend(cred, now) {
			return Trunk{}, 401, true
		}
		return t, 0, false
	}
	return Trunk{}, 403, false
}

// registeredAt finds the trunk that is registered at an address: what comes from there was routed by its registrar, which asks
// nobody for a password. A user part that may mean numbers of several accounts is none.
func (s *Server) registeredAt(list []Trunk, from netip.Addr) (Trunk, bool) {
	if len(list) == 0 || !oneOwner(list) {
		return Trunk{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range list {
		if t.Register && slices.Contains(s.homes[t.ID], from) {
			return t, true
		}
	}
	return Trunk{}, false
}

// called is the user part of the request URI.
func called(req *sip.Request) string {
	if req.Recipient.Scheme == "tel" {
		return userPart(req.Recipient.Raw())
	}
	return userPart(req.Recipient.User)
}

// caller is who calls, as an E.164 number when it is one, else as an extension; "anonymous" when withheld.
func caller(req *sip.Request, country string) string {
	for _, h := range req.GetHeaders("Privacy") {
		if strings.Contains(h.Value(), "id") || strings.Contains(h.Value(), "user") {
			return "anonymous"
		}
	}
	from := req.From().Address
	user := userPart(from.User)
	if from.Scheme == "tel" {
		user = userPart(from.Raw())
	}
	if h := req.GetHeader("P-Asserted-Identity"); h != nil {
		var u sip.Uri
		if _, err := sip.ParseAddressValue(h.Value(), &u, nil); err == nil {
			if u.Scheme == "tel" {
				user = userPart(u.Raw())
			} else if u.User != "" {
				user = userPart(u.User)
			}
		}
	}
	switch {
	case user == "" || strings.EqualFold(user, "anonymous") || strings.EqualFold(user, "restricted") || strings.EqualFold(user, "unavailable"):
		return "anonymous"
	case len(onlyDigits(user)) < 6: // an extension behind the trunk
		return user
	}
	if number := e164(user, country); number != "" {
		return number
	}
	return user
}

// decline refuses an INVITE whose caller is known; the refusal is repeated until acknowledged.
func (s *Server) decline(req *sip.Request, tx sip.ServerTransaction, code int, headers ...sip.Header) {
	res := newResponse(req, code, s.auth.tag(req))
	for _, h := range headers {
		res.AppendHeader(h)
	}
	_ = tx.Respond(res)
	s.awaitAck(tx)
}

// awaitAck stays with a refused INVITE until its ACK, so that sipgo repeats the refusal.
func (s *Server) awaitAck(tx sip.ServerTransaction) {
	select {
	case <-tx.Acks():
	case <-tx.Done():
	case <-s.ctx.Done():
	}
}

// inboundLeg makes the leg of an INVITE. A leg together with an error means that we, not the offer, are to blame.
func (s *Server) inboundLeg(ctx context.Context, req *sip.Request, tx sip.ServerTransaction, in Inbound) (*Leg, error) {
	l := s.newLeg()
	p, err := s.placeFor(ctx, req.Transport(), in.Source.String())
	if err != nil {
		return l, err
	}
	if l.audio, err = s.newAudio(p.bind, p.host, in.Trunk); err != nil {
		return l, err
	}
	l.audio.from, l.audio.onKey = in.Source.Addr(), l.sendKey
	if body, ok := sdpBody(req); ok {
		if _, err := l.audio.answer(body); err != nil {
			l.audio.close()
			return nil, err
		}
	}
	tag, _ := req.From().Params.Get("tag")
	l.trunk, l.place, l.invite, l.tx = in.Trunk, p, req, tx
	l.id = dialogID{in.CallID, dialogTag(), tag}
	l.info.SignalID, l.info.From, l.info.To, l.info.TrunkID, l.info.RemoteAddr = in.CallID, in.From, in.Called, in.Trunk.ID, in.Source.String()
	l.local = req.To().AsFrom()
	l.local.Params.Add("tag", l.id.local)
	l.remote = req.From().AsTo()
	l.user = userPart(req.Recipient.User)
	l.rseq = req.CSeq().SeqNo
	l.lseq = uint32(time.Now().Unix()) & 0xffffff
	l.aim(req.Contact())
	for _, h := range req.GetHeaders("Record-Route") {
		if rr, ok := h.(*sip.RecordRouteHeader); ok {
			l.routes = append(l.routes, sip.RouteHeader{Address: *rr.Address.Clone()})
		}
	}
	if p.transport == "UDP" {
		l.reachBack(ctx, in.Source)
	} else {
		l.dest = in.Source.String() // the connection it came over
	}
	l.trace.add(req, false)
	return l, nil
}

// serve runs the leg and hands it over; it returns when the transaction of the INVITE is done with. Whoever takes the call
// has until then to ring, answer or refuse.
func (s *Server) serve(ctx context.Context, l *Leg, tx sip.ServerTransaction, until time.Time) {
	finished := make(chan struct{})
	l.answeredOnce = sync.OnceFunc(func() { close(finished) })
	l.start()
	cancelled := func(*sip.Request) { safe.Go("sip cancel", func() { l.post(l.abandoned) }) }
	if !tx.OnCancel(cancelled) || errors.Is(ctx.Err(), context.Canceled) {
		l.post(l.abandoned)
	}
	l.after(time.Until(until), func() {
		if l.state == ringing && !l.alerted {
			_ = l.reject(503, retryAfter(5))
		}
	})
	s.spawn(func() {
		if !safe.Run("sip call", func() { s.cfg.OnCall(l) }) {
			l.post(l.fail)
		}
	})
	for {
		select {
		case <-finished:
			return
		case ack := <-tx.Acks():
			l.post(func() { l.onAck(ack) })
		case <-tx.Done():
			l.post(l.abandoned)
			return
		case <-l.gone:
			s.awaitAck(tx)
			return
		}
	}
}

// abandoned: the caller sent CANCEL; sipgo has answered 487.
func (l *Leg) abandoned() {
	if l.state == ringing {
		l.finish(lines.End{Remote: true, Code: 487})
		l.state = over
	}
}

// accept answers the INVITE with 200.
func (l *Leg) accept() error {
	body, offered := l.audio.local, false
	if body == nil {
		body, offered = l.audio.offer(), true
	} else if err := l.audio.apply(); err != nil {
		_ = l.reject(500)
		return err
	}
	res := l.reply(l.invite, 200)
	for _, h := range l.welcome {
		res.AppendHeader(h)
	}
	setSDP(res, body)
	if err := l.respond(l.tx, res); err != nil { // the caller was faster with CANCEL, or the connection is gone
		l.finish(lines.End{Remote: true, Code: 487})
		l.state = over
		return err
	}
	l.state = answered
	if !offered {
		l.liveOnce()
	}
	l.armSession()
	l.repeatUntilAck(l.tx, res, offered, l.answeredOnce)
	return nil
}
