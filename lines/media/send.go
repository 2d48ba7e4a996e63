package media

import (
	"net/netip"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
	"parley/safe"
)

// sender is our half of a stream.
type sender struct {
	header   rtp.Header // of the next packet
	begun    bool       // a packet was sent since we may
	skipped  int64      // frames left out by the pacer that the header accounts for
	press    rtp.Press
	pressing bool
	spoken   bool  // something queued was sent
	talking  bool  // and goes on
	position int64 // of the next queued sample
	cleared  int64 // as of the last frame that had speech
	packets  uint32
	octets   uint32
	reported uint32 // packets at the last report
	nextRTCP time.Time
}

// send makes and sends this turn's packet: a key's, or sound.
func (s *Stream) send(p *pacer, now time.Time) {
	o, frame := &s.out, p.pcm[:s.rate/50]
	o.keepTime(p.skipped.Load(), s.step())
	defer func() { o.header.Timestamp += s.step() }()
	if !s.cfg.Direction.sends() {
		o.begun = false
		s.tapOurs(p, silence[:len(frame)])
		s.expectEcho(silence[:len(frame)])
		return
	}
	if !o.pressing && len(s.digits) > 0 {
		o.press, o.pressing = rtp.NewPress(<-s.digits, o.header.Timestamp)
	}
	var h rtp.Header
	n, size := 0, 0
	if o.pressing {
		n, h, size = s.press(p, frame)
	} else {
		n = s.speak(frame, now)
	}
	clear(frame[n:])
	if u := s.under.Load(); u != nil && size == 0 {
		u.mix(frame, n > 0)
	}
	if b := s.bridge.Load(); b != nil && size == 0 {
		b.mix(frame)
	}
	s.tapOurs(p, frame)
	s.expectEcho(frame)
	if size == 0 {
		o.header.PayloadType, o.header.Marker = s.cfg.PayloadType, !o.begun
		h, size = o.header, s.line.encode(p.packet[rtp.HeaderLen:], frame)
	}
	if size > 0 {
		h.Put(p.packet[:])
		o.header.Sequence++
		o.begun = true
		if packet := s.cipher.seal(p.packet[:rtp.HeaderLen+size]); packet != nil && s.socket.send(packet) == nil {
			o.packets++
			o.octets += uint32(size)
			s.count.sent.Add(1)
		}
	}
}

// keepTime moves the timestamp on by what a stall left out: a telephone that plays by timestamps would be late for good.
func (o *sender) keepTime(skipped int64, step uint32) {
	o.header.Timestamp += uint32(skipped-o.skipped) * step
	o.skipped = skipped
}

// expectEcho tells what may come back soon.
func (s *Stream) expectEcho(frame []int16) {
	if s.echo != nil {
		s.echo.Sent(frame)
	}
}

// step is the number of RTP timestamp units in 20 ms.
func (s *Stream) step() uint32 { return uint32(s.cfg.Codec.Clock() / 50) }

// speak takes queued speech and tells of its beginning and end.
func (s *Stream) speak(frame []int16, now time.Time) int {
	t := s.speech.take(frame)
	o := &s.out
	if t.n == 0 {
		o.talking = false
		return 0
	}
	if !o.talking || t.cleared != o.cleared {
		if o.talking, o.cleared = true, t.cleared; !o.spoken {
			o.spoken = true
			s.post(lines.Event{Kind: lines.FirstOut, At: now})
		}
		s.post(lines.Event{Kind: lines.PlayStart, At: now, Pos: t.from})
	}
	o.position = t.from + int64(t.n)
	if t.last {
		o.talking = false
		s.post(lines.Event{Kind: lines.Drained, At: now, Pos: o.position})
	}
	return t.n
}

// press goes on with a key: samples of its tone, or the header and the size of its packet. In the gap behind it, and when
// signalling sends it, there are neither.
func (s *Stream) press(p *pacer, frame []int16) (n int, h rtp.Header, size int) {
	step := uint32(s.cfg.DTMFClock / 50)
	e, timestamp, marker, send, over := s.out.press.Step(step)
	s.out.pressing = !over
	switch {
	case !send:
	case s.cfg.Keys == KeysSignalled:
		if tell, key := s.cfg.OnKey, e.Key(); marker && tell != nil {
			safe.Go("key", func() { tell(key) })
		}
	case s.cfg.Keys == KeyTones:
		if pair, ok := audio.DTMF(e.Key(), toneLevel); ok && !e.End {
			audio.GenSignal(frame, s.rate, int64(uint32(e.Duration)/step)*int64(len(frame)), pair[:]...)
			n = len(frame)
		}
	case s.cfg.DTMFPayload != 0:
		e.Put(p.packet[rtp.HeaderLen:])
		h = s.out.header
		h.PayloadType, h.Timestamp, h.Marker = s.cfg.DTMFPayload, timestamp, marker
		size = rtp.EventLen
	}
	return n, h, size
}

// toneLevel is the amplitude of each of a key's two tones: together -7 dBFS at most.
const toneLevel = 0.22

// report sends RTCP when it is due, or the BYE.
func (s *Stream) report(p *pacer, now time.Time, bye bool) {
	if _, foreign := s.socket.(*transportSocket); foreign || !bye && now.Before(s.out.nextRTCP) {
		return
	}
	s.out.nextRTCP = now.Add(reportEvery/2 + time.Duration(p.random(uint32(reportEvery/time.Millisecond)))*time.Millisecond)
	state := rtp.Sending{SSRC: s.out.header.SSRC, Timestamp: s.out.header.Timestamp}
	if s.out.packets != s.out.reported {
		state.Packets, state.Octets = s.out.packets, s.out.octets
		s.out.reported = s.out.packets
	}
	packet := rtp.AppendReport(p.packet[:0], state, &s.in.reception, p.cname, now, bye)
	if packet = s.cipher.sealReport(packet); packet == nil {
		return
	}
	s.count.jitter.Store(int64(s.in.reception.Jitter(s.cfg.Codec.Clock())))
	if s.cfg.RTCPMux {
		_ = s.socket.send(packet)
	} else if s.rtcp != nil {
		_ = s.rtcp.send(packet)
	}
}

// hearRTCP reads the RTCP socket.
func (s *Stream) hearRTCP(p *pacer, now time.Time) {
	if s.rtcp == nil {
		return
	}
	for range 4 {
		n, from, at, ok := s.rtcp.recv(p.packet[:], now)
		if !ok {
			return
		}
		s.hearReport(p.packet[:n], from, at)
	}
}

func (s *Stream) hearReport(b []byte, from netip.AddrPort, at time.Time) {
	if !s.in.latched || from.Addr() != s.in.peer.Addr() {
		return
	}
	b, ok := s.cipher.openReport(b)
	if !ok {
		return
	}
	f, ok := s.in.reception.HearReport(b, s.out.header.SSRC, at)
	if !ok {
		return
	}
	s.in.alive = at
	if f.RoundTrip > 0 {
		s.count.roundTrip.Store(int64(f.RoundTrip))
	}
}
