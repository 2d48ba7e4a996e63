package media

import (
	"net/netip"
	"slices"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
	"parley/safe"
)

const (
	comfortNoise = 13                      // payload type of RFC 3389
	takeover     = 200 * time.Millisecond  // a second SSRC of the same peer is heard after that much silence of the first
	yieldFor     = 2 * time.Second         // a source other than the signalled one is shut in no sooner
	nuisance     = 100                     // packets refused since the latch that have the socket shut to all but the peer
	stallAfter   = 40 * time.Millisecond   // a packet held back for a missing one waits no longer
	gapAfter     = 100 * time.Millisecond  // without packets is a gap
	longestGap   = 1200 * time.Millisecond // silence stands in for a far end that sends nothing for longer
	fillLost     = 5                       // frames concealed in one go; the silence above stands for the rest
	perTurn      = 16                      // packets read per turn
	probeEvery   = 8                       // turns
)

// receiver is the far end's half of a stream.
type receiver struct {
	latched   bool
	fixed     bool      // to peer, as long as the description stays
	since     time.Time // of the latch
	peer      netip.AddrPort
	belief    source // in peer
	refused   int    // packets of others since the latch
	warned    bool   // Refused was raised
	ssrc      uint32
	first     bool      // something was heard
	alive     time.Time // last packet
	sound     time.Time // last audio
	timedOut  bool
	usual     int // packets per turn; 0 = look for all
	order     rtp.Order
	keys      rtp.Keys
	press     press // the last key
	tones     *audio.Keys
	reception rtp.Reception
	strict    strict
	conceal   audio.Concealer
	place     place
	gap       bool // Gap was raised
	saves     bool // the far end sends no packets while it is silent
	last      rtp.Header
}

func (r *receiver) unlatch() {
	r.latched, r.belief, r.saves = false, refused, false
	r.order.Reset()
}

// receive drains the socket and makes up what is missing.
func (s *Stream) receive(p *pacer, now time.Time) {
	in := &s.in
	for len(s.presses) > 0 {
		s.pressed(<-s.presses, bySignal, now)
	}
	s.drain(p, now)
	if in.order.Waiting() && now.Sub(in.alive) > stallAfter {
		s.popHeld(p, now, true)
	}
	if in.first && now.Sub(in.sound) > gapAfter {
		s.miss(now)
	}
	s.checkAlive(now)
}

// miss takes note of sound that does not come. Packets that are lost or late say nothing of the caller, so nothing is heard for
// a while; then, and of a far end that saves packets or sends keys, silence.
func (s *Stream) miss(now time.Time) {
	in := &s.in
	if none := now.Sub(in.alive) > gapAfter || in.gap; none && !in.saves && now.Sub(in.sound) < longestGap {
		if !in.gap {
			in.gap = true
			s.post(lines.Event{Kind: lines.Gap, At: in.sound, Pos: s.out.position})
		}
		return
	}
	s.endGap(now)
	quiet := silence[:s.rate/50]
	s.hearing.put(quiet)
	if s.peer.Load() == nil {
		s.ear.feed(quiet, now)
	}
}

func (s *Stream) endGap(now time.Time) {
	if s.in.gap {
		s.in.gap = false
		s.post(lines.Event{Kind: lines.GapOver, At: now, Pos: s.out.position})
	}
}

// resume ends a gap with its first packet. One that follows the last in number but not in time shows that nothing was lost: the
// far end saves the packets of silence (RFC 3551 §4.1).
func (s *Stream) resume(h rtp.Header, at time.Time) {
	in := &s.in
	gap := at.Sub(in.sound)
	jumped := time.Duration(h.Timestamp-in.last.Timestamp) * time.Second / time.Duration(s.cfg.Codec.Clock())
	if gap > gapAfter && h.Sequence == in.last.Sequence+1 && jumped > gap/2 {
		in.saves = true
	}
	s.endGap(at)
	in.last, in.sound = h, at
}

// drain reads the packets that are there. A system call that finds nothing costs as much as one that does, so most turns
// read only as many as the last full look found: usually one.
func (s *Stream) drain(p *pacer, now time.Time) {
	in := &s.in
	full := in.usual == 0 || (p.frame-s.first)%probeEvery == 0
	limit := in.usual
	if full {
		limit = perTurn
	}
	for got := range limit {
		n, from, at, ok := s.socket.recv(p.packet[:], now)
		if !ok {
			if in.usual = got; !full {
				in.usual = 0 // fewer than usual: look again next time
			}
			return
		}
		s.packet(p, p.packet[:n], from, at)
	}
}

// pressWay is how a key of the far end came.
type pressWay uint8

const (
	byEvent pressWay = iota
	bySignal
	byTone
)

// press is a key that was heard.
type press struct {
	key byte
	way pressWay
	at  time.Time
}

// sameKey is within how long a key that comes another way too is the same press.
const sameKey = 500 * time.Millisecond

// pressed tells of a key, unless it is one that came another way already: some far ends use two.
func (s *Stream) pressed(key byte, way pressWay, at time.Time) {
	last := s.in.press
	if s.in.press = (press{key, way, at}); last.key == key && last.way != way && at.Sub(last.at) < sameKey {
		s.in.press = last
		return
	}
	s.post(lines.Event{Kind: lines.Digit, Digit: key, At: at, Pos: s.out.position})
	if other := s.peer.Load(); other != nil {
		other.press(key)
	}
}

func (s *Stream) checkAlive(now time.Time) {
	in, c := &s.in, s.cfg
	if in.timedOut || c.Timeout < 0 || !c.Direction.receives() || now.Sub(in.alive) < c.Timeout {
		return
	}
	in.timedOut = true
	if c.OnTimeout != nil {
		safe.Go("media timeout", func() { c.OnTimeout(lines.ErrMediaTimeout) })
	}
}

// packet takes one packet off the wire.
func (s *Stream) packet(p *pacer, b []byte, from netip.AddrPort, at time.Time) {
	if s.cfg.RTCPMux && rtp.IsRTCP(b) {
		s.hearReport(b, from, at)
		return
	}
	in := &s.in
	h, payload, ok := rtp.Parse(b)
	if ok && s.cipher != nil && s.cfg.source(from) != refused { // only what the far end's key protects makes it known
		if b, ok = s.cipher.open(b); ok {
			h, payload, ok = rtp.Parse(b)
		}
	}
	if !ok || !s.ours(h, from, at) {
		s.count.discarded.Add(1)
		return
	}
	in.alive = at
	s.count.received.Add(1)
	clock := s.cfg.Codec.Clock()
	in.reception.Packet(h, uint32(at.Sub(p.epoch).Microseconds()*int64(clock)/1e6))
	if h.PayloadType == s.cfg.PayloadType {
		s.count.dry.Add(in.strict.packet(h, clock, at))
	}
	switch in.order.Push(h, payload) {
	case rtp.Now:
		s.deliver(p, h, payload, 0, at)
		s.popHeld(p, at, false)
	case rtp.Held:
		s.popHeld(p, at, false)
	case rtp.Late:
		s.count.late.Add(1)
	}
}

// ours tells whether a packet is from the far end we talk to. It latches to the first source that may be it, and to a
// better one whenever that speaks up.
func (s *Stream) ours(h rtp.Header, from netip.AddrPort, at time.Time) bool {
	in, c := &s.in, s.cfg
	known := h.PayloadType == c.PayloadType || h.PayloadType == c.DTMFPayload && c.DTMFPayload != 0
	belief := c.source(from)
	switch {
	case belief == refused:
		s.refuse(at)
		return false
	case belief > in.belief:
		if known {
			s.latch(h, from, belief, at)
		}
		return known
	case from != in.peer:
		return false
	case h.SSRC != in.ssrc:
		if !known || at.Sub(in.alive) < takeover {
			return false
		}
		in.ssrc = h.SSRC
		in.order.Reset()
	}
	return known || h.PayloadType == comfortNoise
}

// source tells how much there is to believe that packets from somewhere are the far end's.
type source uint8

// The better of two sources is the one that is heard.
const (
	refused   source = iota // anybody
	carrier                 // Config.Sources
	otherPort               // another port of the signalling peer, behind NAT
	peerPort                // the signalled port of the signalling peer
	otherFrom               // another port of the signalled address
	signalled               // the signalled address and port, or a transport's only source
)

func (c *Config) source(from netip.AddrPort) source {
	switch addr := from.Addr(); {
	case !from.IsValid() || from == c.Remote:
		return signalled
	case addr == c.Remote.Addr():
		return otherFrom
	case addr == c.Peer && from.Port() == c.Remote.Port():
		return peerPort
	case addr == c.Peer && (!c.Remote.IsValid() || hidden(c.Remote.Addr())):
		return otherPort
	case slices.ContainsFunc(c.Sources, func(p netip.Prefix) bool { return p.Contains(addr) }):
		return carrier
	}
	return refused
}

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598: carrier-grade NAT

// hidden tells whether an address is one that only those behind the same router know, as phones behind NAT write theirs.
func hidden(a netip.Addr) bool {
	return a.IsUnspecified() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// refuse counts a packet of a stranger, tells of the first, and shuts the socket to strangers that do not stop.
func (s *Stream) refuse(at time.Time) {
	in := &s.in
	s.count.refused.Add(1)
	if !in.warned {
		in.warned = true
		s.post(lines.Event{Kind: lines.Refused, At: at, Pos: s.out.position})
	}
	sure := in.belief == signalled || in.belief != carrier && at.Sub(in.since) > yieldFor
	if in.refused++; in.refused >= nuisance && in.latched && !in.fixed && sure {
		in.fixed = true
		s.socket.setPeer(in.peer, true)
	}
}

func (s *Stream) latch(h rtp.Header, from netip.AddrPort, belief source, at time.Time) {
	in := &s.in
	in.latched, in.peer, in.belief, in.ssrc = true, from, belief, h.SSRC
	in.fixed, in.since, in.refused = false, at, 0
	in.order.Reset()
	if from.IsValid() && (belief != carrier || !s.cfg.Remote.IsValid() || hidden(s.cfg.Remote.Addr())) {
		s.socket.setPeer(from, false) // but a carrier's machine that only sends wants nothing from us
		if s.rtcp != nil && from != s.cfg.Remote {
			s.rtcp.setPeer(netip.AddrPortFrom(from.Addr(), from.Port()+1), false)
		}
	}
	if !in.first {
		in.first, in.sound = true, at
		s.post(lines.Event{Kind: lines.FirstIn, At: at, Pos: s.out.position})
	}
}

func (s *Stream) popHeld(p *pacer, at time.Time, force bool) {
	for {
		h, payload, lost, ok := s.in.order.Pop(force)
		if !ok {
			return
		}
		s.deliver(p, h, payload, lost, at)
	}
}

// deliver takes the next packet in order; lost ones are missing before it.
func (s *Stream) deliver(p *pacer, h rtp.Header, payload []byte, lost int, at time.Time) {
	s.count.lost.Add(int64(lost))
	switch h.PayloadType {
	case s.cfg.DTMFPayload:
		if s.cfg.DTMFPayload != 0 {
			if key := s.in.keys.Hear(h, payload); key != 0 {
				s.pressed(key, byEvent, at)
			}
			return
		}
	case comfortNoise:
		s.in.saves = true
		return
	}
	if h.PayloadType != s.cfg.PayloadType || len(payload) == 0 {
		return
	}
	s.resume(h, at)
	for range min(lost, fillLost) {
		s.hear(s.concealed(p), at)
	}
	pcm := s.line.decode(p.pcm[:], payload)
	if !s.line.conceals() {
		s.in.conceal.Good(pcm)
	}
	s.tapFar(p, h, pcm)
	s.hear(pcm, at)
}

// concealed is 20 ms in place of a lost packet.
func (s *Stream) concealed(p *pacer) []int16 {
	if s.line.conceals() {
		return s.line.decode(p.pcm[:], nil)
	}
	pcm := p.pcm[:s.rate/50]
	s.in.conceal.Conceal(pcm)
	return pcm
}

// hear passes samples on to the reader, the detector and the other leg of a bridge.
func (s *Stream) hear(pcm []int16, at time.Time) {
	if other := s.peer.Load(); other != nil {
		other.put(pcm)
		s.pass(pcm)
		return
	}
	if s.port != nil && !s.out.pressing { // a browser presses no keys, and our own may echo
		s.in.tones.Feed(pcm, func(key byte) { s.pressed(key, byTone, at) })
	}
	if s.echo != nil {
		s.echo.Clean(pcm)
	}
	s.pass(pcm)
	late := time.Duration(0)
	if d := s.cleaner.Load(); d != nil && s.ear.detector != nil {
		d.Process(pcm)
		late = time.Duration(d.Delay()) * time.Second / time.Duration(s.rate)
	}
	s.ear.feed(pcm, at.Add(-late))
}

// pass hands samples to the reader.
func (s *Stream) pass(pcm []int16) {
	if n := s.hearing.put(pcm); n < len(pcm) {
		s.count.discarded.Add(1)
	}
}

// strict is a telephone that plays by timestamps, strictBuffer behind the first packet, whatever comes: it tells what came
// too late to be played, or was never sent.
type strict struct {
	started bool
	last    rtp.Header    // of the latest packet
	due     time.Time     // when that is played
	each    time.Duration // sound in a packet, as far as known; 0 = not yet
}

const strictBuffer = 60 * time.Millisecond

// packet takes a packet and returns for how many periods of 20 ms the listener is silent for want of sound.
func (l *strict) packet(h rtp.Header, clock int, at time.Time) (dry int64) {
	step := time.Duration(int32(h.Timestamp-l.last.Timestamp)) * time.Second / time.Duration(clock)
	if l.started && step <= 0 && step > -time.Second {
		return 0 // out of order, or twice
	}
	due := l.due.Add(step)
	if late := at.Sub(due); !l.started || step < 0 || late < -time.Second {
		due = at.Add(strictBuffer)
	} else {
		dry = l.leftOut(h, step)
		if late > 0 {
			dry += max(1, int64(l.each/audio.FrameDur))
		}
	}
	l.started, l.last, l.due = true, h, due
	return dry
}

// leftOut is how many periods of 20 ms the timestamps of consecutive packets leave out; behind a pause (the marker) none.
func (l *strict) leftOut(h rtp.Header, step time.Duration) int64 {
	n := time.Duration(int16(h.Sequence - l.last.Sequence))
	if n <= 0 || h.Marker {
		return 0
	}
	if each := step / n; l.each == 0 || each < l.each {
		l.each = each
	}
	return int64((step - n*l.each) / audio.FrameDur)
}
