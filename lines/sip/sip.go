// Package sip is the telephone line: SIP signalling (RFC 3261) on sipgo, audio on lines/media.
//
// A Server listens, gives inbound calls of its trunks to Config.OnCall, places outbound ones (it is a
// lines.Dialer) and keeps trunks registered. Each call is a Leg: one goroutine that owns the dialog.
package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"parley/ids"
	"parley/lines"
	"parley/lines/media"
	"parley/safe"
)

// Config is what a Server needs to know.
type Config struct {
	Listen   []string   // udp://, tcp:// or tls://HOST:PORT; the first udp one is where UDP requests leave from
	PublicIP netip.Addr // our address in SDP, Via and Contact; unset = the local address
	Proxy    string     // host[:port] that requests of trunks with Proxy leave through
	Media    *media.Plane
	Opus     func() (media.Encoder, media.Decoder, error) // nil = no Opus on telephone lines

	// Reach reports whether an address that customers or far ends chose may be called; nil = every address. The addresses
	// of Default and Proxy always may.
	Reach func(netip.Addr) bool

	Trunks  Trunks // nil = none
	Default *Trunk // line of calls that name no trunk; nil = none
	Open    bool   // accept inbound calls of anybody, without a trunk (benches and the simulator, on loopback)

	// Carrier reports an address of the installation's own carrier: its calls need no trunk and no password. nil = none.
	Carrier func(source netip.AddrPort) bool

	// Forward reports whether a call may be led on to an E.164 number that its far end redirects to; nil = never.
	Forward func(number string) bool

	// Route decides on an inbound call whose trunk is proven, before anything but 100 was sent.
	// ctx ends when the caller gives up or 3 s after the INVITE came, which is then answered 503. nil = accept all.
	Route func(ctx context.Context, in Inbound) Decision
	// OnCall gets each accepted inbound leg, still unanswered, on a goroutine of its own. It must ring, answer or reject it
	// within 3 s of the INVITE; then the leg is refused with 503.
	OnCall func(leg lines.Leg)

	// TLS is for connections to trunks; nil = the system's certificates. The server name is always that of the trunk.
	TLS *tls.Config
	// Certificate is ours, for tls:// in Listen; asked for at each connection.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

	// SessionExpires is the session interval we ask for (RFC 4028); 0 = 30 min, negative = none.
	SessionExpires time.Duration

	Log *slog.Logger // nil = slog.Default()
}

// Inbound is an inbound call before it is accepted.
type Inbound struct {
	Trunk  Trunk  // whose number is called; the zero Trunk when Config.Open let it in
	Called string // the trunk's number, or the user part called
	From   string // E.164 number or extension of the caller; "anonymous" when withheld
	Source netip.AddrPort
	CallID string
}

// Decision is the answer to an Inbound: 0 accepts, anything else is the SIP status to refuse with.
type Decision struct{ Code int }

// Server is a SIP user agent: listener, dialer and registrations.
type Server struct {
	cfg     Config
	log     *slog.Logger
	parser  *sip.Parser
	ua      *sipgo.UserAgent
	server  *sipgo.Server
	client  *sipgo.Client
	sockets []socket
	opened  map[string]*opened // connections of ours on their way to sipgo: tcp, tls
	budget  *budget
	auth    *challenger

	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	wg       safe.Group // everything that sends
	readers  safe.Group
	halted   chan struct{} // closed when sipgo has stopped
	closed   bool          // under mu: nothing may be spawned any more
	draining atomic.Bool

	unregister   context.CancelFunc // ends the registrations
	unregistered chan struct{}      // closed when they have ended

	mu       sync.Mutex
	legs     map[dialogID]*Leg
	flows    map[flowID]*flow
	homes    map[ids.Number][]netip.Addr // where trunks are registered, by their id
	own      map[netip.Addr]struct{}     // addresses of Default and Proxy
	invites  map[string]struct{}         // inbound INVITEs in work, to recognise merged requests
	placed   map[dialogID]placed         // recent outbound INVITEs, to acknowledge repeated answers; without the remote tag
	minSE    int                         // smallest session interval in seconds we accept
	t1       time.Duration
	backoff  time.Duration // first pause after a failed registration
	deadAir  time.Duration // media.Config.Timeout
	window   int           // addresses one reader of sipgo may see
	watching time.Duration // how often registrations are compared with Config.Trunks
	routing  time.Duration // how long it may take to find out who takes an INVITE; then it is 503
}

// dialogID names a dialog (RFC 3261 §12).
type dialogID struct{ callID, local, remote string }

// Start opens the sockets and serves them until Close.
func Start(cfg Config) (*Server, error) { return start(cfg) }

// start lets tests shorten the times.
func start(cfg Config, tune ...func(*Server)) (*Server, error) {
	s := &Server{cfg: cfg, log: cfg.Log, budget: newBudget(), auth: newChallenger(),
		legs: map[dialogID]*Leg{}, own: map[netip.Addr]struct{}{}, invites: map[string]struct{}{}, placed: map[dialogID]placed{},
		flows: map[flowID]*flow{}, homes: map[ids.Number][]netip.Addr{}, opened: map[string]*opened{},
		minSE: 90, window: addressWindow, t1: sip.T1, backoff: 2 * time.Second, watching: 2 * time.Second,
		routing: 3 * time.Second}
	if s.log == nil {
		s.log = slog.Default()
	}
	if cfg.SessionExpires == 0 {
		s.cfg.SessionExpires = 30 * time.Minute
	}
	for _, f := range tune {
		f(s)
	}
	s.halted = make(chan struct{})
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.build(); err != nil {
		return nil, err
	}
	for _, l := range cfg.Listen {
		sock, err := open(l)
		if err == nil && sock.network == "tls" && cfg.Certificate == nil {
			err = errors.Join(fmt.Errorf("sip.listen %q: no certificate", l), sock.tcp.Close())
		}
		if err != nil {
			s.closeSockets()
			return nil, err
		}
		s.sockets = append(s.sockets, sock)
	}
	for network, serve := range map[string]func(net.Listener) error{"tcp": s.server.ServeTCP, "tls": s.server.ServeTLS} {
		own := &opened{conns: make(chan net.Conn), done: s.ctx.Done()}
		s.opened[network] = own
		s.readers.Go("sip connections", func() { _ = serve(own) })
	}
	for _, sock := range s.sockets {
		if sock.udp != nil {
			ready := make(chan struct{})
			s.readers.Go("sip reader", func() { s.serveUDP(sock, func() { close(ready) }) })
			<-ready
			continue
		}
		l := &guardedListener{Listener: sock.tcp, s: s, conns: map[netip.Addr]int{}}
		if sock.network == "tls" {
			l.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cfg.Certificate}
			s.readers.Go("sip listener", func() { _ = s.server.ServeTLS(l) })
			continue
		}
		s.readers.Go("sip listener", func() { _ = s.server.ServeTCP(l) })
	}
	var registering context.Context
	registering, s.unregister = context.WithCancel(s.ctx)
	s.unregistered = make(chan struct{})
	s.wg.Go("sip registrations", func() {
		defer close(s.unregistered)
		safe.Loop(registering, "sip registrations", s.keepRegistered)
	})
	return s, nil
}

// quiet is sipgo's log: it would write whole messages.
var quiet = slog.New(slog.DiscardHandler)

var setUpSipgo = sync.OnceFunc(func() {
	sip.SetDefaultLogger(quiet)
	sip.UDPMTUSize = 8192 // a trunk's transport is its owner's choice: a long INVITE is sent in fragments, not refused
})

func (s *Server) build() error {
	setUpSipgo()
	s.parser = newParser()
	var err error
	s.ua, err = sipgo.NewUA(sipgo.WithUserAgent("-"), sipgo.WithUserAgentParser(s.parser), sipgo.WithUserAgenTLSConfig(s.cfg.TLS),
		sipgo.WithUserAgentTransportLayerOptions(sip.WithTransportLayerLogger(quiet), sip.WithTransportLayerTransports(sip.TransportsConfig{
			TCP: &sip.TransportTCP{DialerCreate: s.dialer}, TLS: &sip.TransportTLS{TransportTCP: &sip.TransportTCP{DialerCreate: s.dialer}}})),
		sipgo.WithUserAgentTransactionLayerOptions(sip.WithTransactionLayerLogger(quiet),
			sip.WithTransactionLayerUnhandledResponseHandler(s.onStrayResponse)))
	if err != nil {
		return err
	}
	if s.server, err = sipgo.NewServer(s.ua, sipgo.WithServerLogger(quiet)); err != nil {
		return err
	}
	if s.client, err = sipgo.NewClient(s.ua, sipgo.WithClientLogger(quiet)); err != nil {
		return err
	}
	for _, m := range []sip.RequestMethod{sip.INVITE, sip.ACK, sip.BYE, sip.CANCEL, sip.OPTIONS, sip.UPDATE, sip.INFO, sip.NOTIFY} {
		s.server.OnRequest(m, s.handle)
	}
	s.server.OnNoRoute(s.handle)
	return nil
}

// Addrs are the addresses listened on, in the order of Config.Listen: udp://127.0.0.1:5060.
func (s *Server) Addrs() []string {
	var list []string
	for _, k := range s.sockets {
		list = append(list, k.network+"://"+k.local.String())
	}
	return list
}

// Legs is the number of calls now.
func (s *Server) Legs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.legs)
}

// Drain refuses new inbound calls with 503; running ones go on.
func (s *Server) Drain() { s.draining.Store(true) }

// settle is how long Close lets sipgo finish what it has read: its goroutines cannot be waited for.
const settle = 20 * time.Millisecond

// Close ends all calls, tells their far ends as long as ctx allows and at most 2 s, and stops listening.
func (s *Server) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, byeBye)
	defer cancel()
	s.Drain()
	s.unregister()
	var wg safe.Group
	for _, l := range s.allLegs() {
		wg.Go("sip hang-up", func() { _ = l.Hangup(ctx) })
	}
	wg.Wait()
	<-s.unregistered
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	for _, k := range s.sockets {
		k.quiet()
	}
	s.wg.Wait()
	time.Sleep(settle)
	err := s.ua.Close() // before the sockets: sipgo would open others for what is still under way
	close(s.halted)
	s.closeSockets()
	s.readers.Wait()
	return err
}

// spawn runs f on a goroutine that Close waits for. After Close it reports false.
func (s *Server) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Go("sip", f)
	}
	return !s.closed
}

func (s *Server) closeSockets() {
	for _, k := range s.sockets {
		k.close()
	}
}

func (s *Server) allLegs() []*Leg {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Leg, 0, len(s.legs))
	for _, l := range s.legs {
		list = append(list, l)
	}
	return list
}

func (s *Server) leg(id dialogID) *Leg {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.legs[id]
}

// handle is behind every request: the gate first, then the method. A panic costs one transaction.
func (s *Server) handle(req *sip.Request, tx sip.ServerTransaction) {
	if !safe.Run("sip request", func() { s.serveRequest(req, tx) }) {
		tx.Terminate()
	}
}

func (s *Server) serveRequest(req *sip.Request, tx sip.ServerTransaction) {
	if v := inspect(req); v.drop {
		return
	} else if v.code != 0 {
		s.refuse(req, tx, v.code)
		return
	}
	if list := unsupported(req); list != nil {
		s.refuse(req, tx, 420, sip.NewHeader("Unsupported", strings.Join(list, ", ")))
		return
	}
	if tag, ok := req.To().Params.Get("tag"); ok && tag != "" {
		s.inDialog(req, tx, tag)
		return
	}
	switch req.Method {
	case sip.ACK:
	case sip.INVITE:
		s.onInvite(req, tx)
	case sip.OPTIONS:
		s.refuse(req, tx, 200, sip.NewHeader("Accept", "application/sdp"), allowHeader(), supportedHeader())
	case sip.CANCEL, sip.BYE, sip.UPDATE, sip.INFO, sip.NOTIFY:
		s.refuse(req, tx, 481)
	default:
		s.refuse(req, tx, 405)
	}
}

// inDialog gives a request to the leg it belongs to and stays until its transaction is done with.
func (s *Server) inDialog(req *sip.Request, tx sip.ServerTransaction, tag string) {
	from, _ := req.From().Params.Get("tag")
	l := s.leg(dialogID{req.CallID().Value(), tag, from})
	if l == nil {
		if !req.IsAck() {
			s.refuse(req, tx, 481)
		}
		return
	}
	finished := make(chan struct{})
	if !l.post(func() { l.onRequest(req, tx, sync.OnceFunc(func() { close(finished) })) }) {
		if !req.IsAck() {
			s.refuse(req, tx, 481)
		}
		return
	}
	if !req.IsInvite() {
		select {
		case <-finished:
		case <-l.gone:
		}
		return
	}
	for { // until the final answer is acknowledged, so that it can be repeated
		select {
		case <-finished:
			return
		case ack := <-tx.Acks():
			l.post(func() { l.onAck(ack) })
		case <-tx.Done():
			return
		case <-l.gone:
			return
		}
	}
}

// refuse answers outside of any dialog and keeps no state.
func (s *Server) refuse(req *sip.Request, tx sip.ServerTransaction, code int, headers ...sip.Header) {
	if req.IsAck() {
		return
	}
	res := newResponse(req, code, s.auth.tag(req))
	if code == 405 {
		res.AppendHeader(allowHeader())
	}
	for _, h := range headers {
		res.AppendHeader(h)
	}
	_ = tx.Respond(res)
	if req.IsInvite() {
		tx.Terminate() // a refusal is not repeated: an invented source would have us flood its victim
	}
}

// newResponse is an answer to req with our tag.
func newResponse(req *sip.Request, code int, tag string) *sip.Response {
	res := sip.NewResponseFromRequest(req, code, phrase(code), nil)
	res.SipVersion = "SIP/2.0" // whatever the request said
	if code > 100 && tag != "" {
		if _, ok := req.To().Params.Get("tag"); !ok {
			res.To().Params.Add("tag", tag)
		}
	}
	return res
}

const allow = "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, NOTIFY"

func allowHeader() sip.Header { return sip.NewHeader("Allow", allow) }

func supportedHeader() sip.Header { return sip.NewHeader("Supported", "timer") }

// codecs are the names of what the media plane can carry here, in the order of api.md 10.7.
func (s *Server) codecs() []string {
	list := []string{"pcmu", "pcma", "g722"}
	if s.cfg.Opus != nil {
		list = append(list, "opus")
	}
	return list
}
