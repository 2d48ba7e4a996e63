package sip

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/google/uuid"

	"parley/lines"
	"parley/safe"
)

// state of a leg.
type state int

const (
	ringing   state = iota // inbound, not answered
	answered               // inbound, 200 sent, not yet acknowledged
	talking                // acknowledged
	hangingUp              // over for us, but the far end's ACK is awaited before BYE may be sent
	over
)

// ErrOver is returned by calls on a leg that is over or in the wrong state.
var ErrOver = errors.New("the leg is over, or not in a state for this")

// Leg is one call. Everything below mail belongs to the goroutine of run; others post to it.
type Leg struct {
	s     *Server
	info  lines.Info
	trunk Trunk
	trace trace
	done  chan struct{} // over for the program; end is set
	end   lines.End
	told  chan struct{} // the far end knows
	gone  chan struct{} // run has returned
	mail  chan func()

	state  state
	id     dialogID
	place  place
	local  sip.FromHeader // our address, with our tag
	remote sip.ToHeader   // theirs, with their tag
	target sip.Uri        // their Contact
	routes []sip.RouteHeader
	dest   string // where requests go when that is not the Contact or the first route; "" = there
	user   string // user part of our Contact
	lseq   uint32
	rseq   uint32

	invite   *sip.Request // inbound: the INVITE to answer
	tx       sip.ServerTransaction
	alerted  bool // 180 was sent: whoever takes the call knows what to do with it
	audio    *sound
	session  session
	repeat   *repeater // our unacknowledged 200
	late     []func()  // what waits for the ACK of our 200
	asking   bool      // a re-INVITE or UPDATE of ours is under way
	referred chan int  // told the status of the call that REFER asked for; nil = none was asked for
	updates  bool      // the far end understands UPDATE
	timers   map[*time.Timer]struct{}
	timerMu  sync.Mutex
	byeSent  bool
	tell     func() // closes told
	unused   func() // the connection is not needed any more

	welcome      []sip.Header  // session timer headers of our 200
	live         chan struct{} // closed when the stream runs
	liveOnce     func()        // closes live
	answeredOnce func()        // lets the transaction of the inbound INVITE go
}

var (
	_ lines.Leg    = (*Leg)(nil)
	_ lines.Tracer = (*Leg)(nil)
)

func (s *Server) newLeg() *Leg {
	l := &Leg{s: s, info: lines.Info{ID: uuid.NewString(), Kind: "sip"}, done: make(chan struct{}), told: make(chan struct{}),
		gone: make(chan struct{}), live: make(chan struct{}), mail: make(chan func()), timers: map[*time.Timer]struct{}{}}
	l.tell = sync.OnceFunc(func() { close(l.told) })
	l.liveOnce = sync.OnceFunc(func() { close(l.live) })
	return l
}

// start registers the leg and runs it.
func (l *Leg) start() {
	l.s.mu.Lock()
	l.s.legs[l.id] = l
	l.s.mu.Unlock()
	l.unused = l.place.flow.use()
	l.audio.onTimeout = l.soundLost
	if !l.s.spawn(l.run) {
		l.leave()
	}
}

// soundLost ends the leg because no audio comes any more.
func (l *Leg) soundLost(err error) { l.post(func() { l.hangup(lines.End{Err: err}) }) }

func (l *Leg) run() {
	defer l.leave()
	for l.state != over {
		select {
		case f := <-l.mail:
			if !safe.Run("sip leg", f) {
				safe.Run("sip leg", l.fail)
				l.state = over
			}
		case <-l.s.ctx.Done():
			l.hangup(lines.End{Err: context.Canceled})
			l.state = over
		}
	}
}

// fail ends a leg that cannot go on: the far end is told, other calls notice nothing.
func (l *Leg) fail() {
	switch l.state {
	case ringing:
		_ = l.reject(500)
	case over:
	default:
		l.finish(lines.End{Err: errors.New("internal error")})
		l.bye()
	}
}

// leave is the end of the goroutine.
func (l *Leg) leave() {
	l.s.mu.Lock()
	delete(l.s.legs, l.id)
	l.s.mu.Unlock()
	l.unused()
	l.timerMu.Lock()
	for t := range l.timers {
		t.Stop()
	}
	l.timers = nil
	l.timerMu.Unlock()
	if !l.byeSent {
		l.tell()
	}
	close(l.gone)
}

// post runs f on the leg's goroutine. It reports false when there is none any more.
func (l *Leg) post(f func()) bool {
	select {
	case l.mail <- f:
		return true
	case <-l.gone:
		return false
	}
}

// do runs f on the leg's goroutine and waits for its result.
func (l *Leg) do(ctx context.Context, f func() error) error {
	res := make(chan error, 1)
	select {
	case l.mail <- func() { res <- f() }:
		select {
		case err := <-res:
			return err
		case <-l.gone: // it panicked, or was the last that ran
			select {
			case err := <-res:
				return err
			default:
				return ErrOver
			}
		}
	case <-l.gone:
		return ErrOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// after posts f in d, unless it is stopped or the leg is gone before.
func (l *Leg) after(d time.Duration, f func()) (stop func()) {
	l.timerMu.Lock()
	defer l.timerMu.Unlock()
	if l.timers == nil {
		return func() {}
	}
	var t *time.Timer
	forget := func() {
		l.timerMu.Lock()
		delete(l.timers, t)
		l.timerMu.Unlock()
	}
	t = time.AfterFunc(d, func() { forget(); l.post(f) })
	l.timers[t] = struct{}{}
	return func() { t.Stop(); forget() }
}

// Info says who is on the leg.
func (l *Leg) Info() lines.Info { return l.info }

// Media is the audio of the leg, once it is answered; nil before.
func (l *Leg) Media() lines.Media {
	if l.audio.stream == nil {
		return nil
	}
	return l.audio.stream
}

// Done is closed when the leg is over.
func (l *Leg) Done() <-chan struct{} { return l.done }

// End says how it ended.
func (l *Leg) End() lines.End { return l.end }

// Trace is the signalling so far, oldest first, without secrets.
func (l *Leg) Trace() []lines.Message { return l.trace.messages() }

// Ring sends 180.
func (l *Leg) Ring() error {
	return l.do(context.Background(), func() error {
		if l.state != ringing || l.invite == nil {
			return ErrOver
		}
		l.alerted = true
		return l.respond(l.tx, l.reply(l.invite, 180))
	})
}

// Answer sends 200 with our description and starts the audio. For an INVITE without an offer that is when its ACK came.
func (l *Leg) Answer(ctx context.Context) error {
	err := l.do(ctx, func() error {
		if l.state != ringing || l.invite == nil {
			return ErrOver
		}
		return l.accept()
	})
	if err != nil {
		return err
	}
	select {
	case <-l.live:
		return nil
	case <-l.done:
		return ErrOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reject refuses an unanswered inbound leg with a status from 400 to 699.
func (l *Leg) Reject(code int) error {
	return l.do(context.Background(), func() error {
		if l.state != ringing || l.invite == nil || code < 400 || code > 699 {
			return ErrOver
		}
		return l.reject(code)
	})
}

func (l *Leg) reject(code int, headers ...sip.Header) error {
	res := l.reply(l.invite, code)
	for _, h := range headers {
		res.AppendHeader(h)
	}
	err := l.respond(l.tx, res)
	l.finish(lines.End{Code: code})
	l.state = over
	return err
}

// Hangup ends the leg: BYE, or 480 for an inbound one that was never answered. It returns when the far end knows.
func (l *Leg) Hangup(ctx context.Context) error {
	l.post(func() { l.hangup(lines.End{}) })
	select {
	case <-l.told:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Leg) hangup(end lines.End) {
	switch l.state {
	case ringing:
		_ = l.reject(480)
	case answered: // RFC 3261 §15: no BYE before the ACK
		l.finish(end)
		l.state = hangingUp
	case talking:
		l.finish(end)
		l.bye()
	}
}

// finish makes the leg over for the program.
func (l *Leg) finish(end lines.End) {
	if l.ended(end) {
		l.audio.close()
	}
}

// ended says that the leg is over, before its audio is. It reports whether nobody had said so.
func (l *Leg) ended(end lines.End) bool {
	select {
	case <-l.done:
		return false
	default:
	}
	l.end = end
	close(l.done)
	return true
}

// bye tells the far end and ends the goroutine; the answer is awaited elsewhere.
func (l *Leg) bye() {
	l.state, l.byeSent = over, true
	req := l.request(sip.BYE)
	sent := l.s.spawn(func() {
		defer l.tell()
		_, _ = l.exchange(req)
	})
	if !sent {
		l.tell()
	}
}

// remoteBye is the far end hanging up. The line is free before it hears so: it may call again at once.
func (l *Leg) remoteBye(answer func()) {
	fresh := l.ended(lines.End{Remote: true})
	answer()
	if fresh {
		l.audio.close()
	}
	l.state = over
}

// reply is an answer to a request of the far end, with our tag and Contact.
func (l *Leg) reply(req *sip.Request, code int) *sip.Response {
	res := newResponse(req, code, l.id.local)
	if code > 100 && code < 300 && (req.Method == sip.INVITE || req.Method == sip.UPDATE) {
		res.AppendHeader(l.place.contact(l.user))
		res.AppendHeader(allowHeader())
		res.AppendHeader(supportedHeader())
	}
	return res
}

func (l *Leg) respond(tx sip.ServerTransaction, res *sip.Response) error {
	l.trace.add(res, true)
	return tx.Respond(res)
}

// request is a new request of ours inside the dialog (RFC 3261 §12.2.1.1).
func (l *Leg) request(method sip.RequestMethod) *sip.Request {
	if method != sip.ACK {
		l.lseq++
	}
	r := sip.NewRequest(method, *l.target.Clone())
	r.AppendHeader(l.place.via())
	for _, route := range l.routes {
		r.AppendHeader(route.Clone())
	}
	from := sip.FromHeader{DisplayName: l.local.DisplayName, Address: *l.local.Address.Clone(), Params: l.local.Params.Clone()}
	to := sip.ToHeader{DisplayName: l.remote.DisplayName, Address: *l.remote.Address.Clone(), Params: l.remote.Params.Clone()}
	callID := sip.CallIDHeader(l.id.callID)
	hops := sip.MaxForwardsHeader(70)
	r.AppendHeader(&hops)
	r.AppendHeader(&from)
	r.AppendHeader(&to)
	r.AppendHeader(&callID)
	r.AppendHeader(&sip.CSeqHeader{SeqNo: l.lseq, MethodName: method})
	if method != sip.BYE && method != sip.ACK {
		r.AppendHeader(l.place.contact(l.user))
		r.AppendHeader(allowHeader())
		r.AppendHeader(supportedHeader())
	}
	if l.dest != "" {
		r.SetDestination(l.dest)
	}
	l.place.from(r)
	r.SetBody(nil)
	return r
}

// exchange sends a request inside the dialog, with an answer to a challenge, and waits for the final answer. Not on the
// leg's goroutine: it opens the connection again when that was lost.
func (l *Leg) exchange(req *sip.Request) (*sip.Response, error) {
	p := l.place
	if p.flow != nil && p.flow.lost() {
		f, err := l.s.connect(l.s.ctx, p.flow.id)
		if err != nil {
			return nil, err
		}
		p.flow, p.local = f, f.addr()
		p.from(req)
	}
	res, err := l.s.roundTrip(l.s.ctx, req, &l.trace)
	if err != nil && p.transport != "UDP" && p.flow == nil && l.dest != "" { // the far end's connection is gone: to its Contact
		req.SetDestination("")
		next(req, p)
		res, err = l.s.roundTrip(l.s.ctx, req, &l.trace)
	}
	if err == nil && (res.StatusCode == 401 || res.StatusCode == 407) && answerChallenge(req, res, l.trunk.Username, l.trunk.Password) {
		l.post(func() { l.lseq++ })
		next(req, p)
		res, err = l.s.roundTrip(l.s.ctx, req, &l.trace)
	}
	return res, err
}

// next turns a request that was answered with a challenge into the next one.
func next(r *sip.Request, p place) {
	r.CSeq().SeqNo++
	r.RemoveHeader("Via")
	r.PrependHeader(p.via())
}

// roundTrip sends a request other than INVITE and waits for the final answer.
func (s *Server) roundTrip(ctx context.Context, req *sip.Request, t *trace) (*sip.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.add(req, true)
	tx, err := s.client.TransactionRequest(ctx, req, asIs)
	if err != nil {
		return nil, err
	}
	defer tx.Terminate()
	for {
		select {
		case res := <-tx.Responses():
			t.add(res, false)
			if !res.IsProvisional() {
				return res, nil
			}
		case <-tx.Done():
			return nil, tx.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// setSDP gives a message a session description as its body.
func setSDP(m sip.Message, body []byte) {
	m.AppendHeader(sip.NewHeader("Content-Type", "application/sdp"))
	m.SetBody(body)
}

// dialogTag makes our half of a dialog id.
func dialogTag() string { return sip.GenerateTagN(16) }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
