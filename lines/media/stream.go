package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
)

const (
	eventRoom   = 128 // events a slow reader may leave unread before the oldest are dropped
	digitRoom   = 256
	pressRoom   = 32
	maxFrame    = 6 * 960 // samples of 120 ms at 48 kHz, the longest packet
	reportEvery = 5 * time.Second
)

// Stream is the live audio of one leg. It implements lines.Media.
type Stream struct {
	rate   int
	pacer  *pacer
	port   *Port // nil for a transport
	events chan lines.Event
	over   chan struct{} // closed when the pacer has let go of the stream
	once   sync.Once

	wanted    atomic.Pointer[Config]
	threshold atomic.Uint32 // bits of a float32
	digits    chan byte
	presses   chan byte                      // of the far end, told by signalling
	taken     atomic.Pointer[recorder]       // by Record, for the pacer to begin
	hurried   atomic.Bool                    // something was queued before
	bridge    atomic.Pointer[playout]        // what the far end hears of a bridged leg
	peer      atomic.Pointer[playout]        // where what it says goes
	under     atomic.Pointer[under]          // what is heard under our speech
	cleaner   atomic.Pointer[audio.Denoiser] // of what the detector hears; nil = none
	hearing   hearing
	speech    speech
	count     counters

	// From here on everything belongs to the pacer.
	cfg     *Config
	slot    int
	first   int64 // pacer frame of the first turn
	socket  socket
	rtcp    socket // nil with RTCPMux and for a transport
	line    codec
	cipher  *cipher // nil = in the clear
	in      receiver
	out     sender
	echo    *audio.Echo // nil = none is expected
	ear     ear
	record  *recorder
	pending [16]lines.Event
	waiting int  // events in pending
	broken  bool // a panic ended it
}

// counters are written by the pacer and read by Stats.
type counters struct {
	received, lost, late, dry, sent, discarded, refused, dropped atomic.Int64
	jitter, roundTrip                                            atomic.Int64 // nanoseconds
}

func newStream(c Config, d func(rate int) audio.Detector) (*Stream, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	rate := c.Codec.Rate()
	s := &Stream{
		rate:   rate,
		events: make(chan lines.Event, eventRoom),
		over:   make(chan struct{}),
		digits: make(chan byte, digitRoom), presses: make(chan byte, pressRoom),
	}
	s.SetThreshold(defaultThreshold)
	s.wanted.Store(&c)
	s.hearing.init(rate / 8000 * 32768) // 4 s
	s.speech.init(rate)
	if d != nil && !c.NoDetection {
		s.ear.init(d(rate), rate)
	}
	if c.Echo {
		s.echo = new(audio.Echo)
		s.echo.Init(rate)
	}
	s.in.conceal.Init(rate)
	s.in.tones = audio.NewKeys(rate)
	s.out.header.SSRC = rand.Uint32()
	s.out.header.Sequence = uint16(rand.Uint32())
	s.out.header.Timestamp = rand.Uint32()
	return s, s.configure(&c)
}

func (c *Config) check() error {
	if c.Codec > Opus {
		return fmt.Errorf("media: unknown codec %d", c.Codec)
	}
	if c.Codec == Opus && (c.Encoder == nil || c.Decoder == nil) {
		return errors.New("media: Opus without an encoder and a decoder")
	}
	c.Remote, c.Peer = netip.AddrPortFrom(c.Remote.Addr().Unmap(), c.Remote.Port()), c.Peer.Unmap()
	if err := c.Crypto.check(); err != nil {
		return err
	}
	if c.PayloadType == 0 {
		c.PayloadType = c.Codec.PayloadType()
	}
	if c.DTMFClock == 0 {
		c.DTMFClock = c.Codec.Clock()
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	return nil
}

// Rate implements lines.Media. It is the rate of the first codec; a later codec of another rate is resampled.
func (s *Stream) Rate() int { return s.rate }

// Events implements lines.Media. A reader that falls 128 events behind loses the oldest.
func (s *Stream) Events() <-chan lines.Event { return s.events }

// Hear implements lines.Media. Audio of more than 4 s that nobody heard is dropped.
func (s *Stream) Hear(ctx context.Context, buf []int16) (int, error) {
	return s.hearing.hear(ctx, buf, s.over)
}

// Play implements lines.Media. After the end of the leg it returns io.EOF. A Clear makes a waiting Play give up what it
// has not queued.
func (s *Stream) Play(ctx context.Context, pcm []int16) (start int64, err error) {
	select {
	case <-s.over:
		return 0, io.EOF
	default:
	}
	q := &s.speech
	q.mu.Lock()
	defer q.mu.Unlock()
	start = q.written.Load() - q.cleared.Load()
	pcm = pcm[q.put(pcm):]
	if s.hurried.CompareAndSwap(false, true) {
		s.pacer.suggest(command{stream: s, hurry: true})
	}
	for clears := q.clears; len(pcm) > 0; pcm = pcm[q.put(pcm):] {
		if err := q.wait(ctx, s.over); err != nil || q.clears != clears {
			return start, err
		}
	}
	return start, nil
}

// Clear implements lines.Media.
func (s *Stream) Clear() (played int64) { return s.speech.clear() }

// Played implements lines.Media.
func (s *Stream) Played() int64 { return s.speech.played() }

// SendDigits implements lines.Media. It fails when the far end cannot take telephone events and they are the way, when a
// character is none of 0-9 * # A-D w, and when more than 256 are waiting. Speech waits while digits are sent.
func (s *Stream) SendDigits(digits string) error {
	if !s.wanted.Load().sendsKeys() {
		return errors.New("the far end takes no telephone events")
	}
	for i := range len(digits) {
		if _, ok := rtp.NewPress(digits[i], 0); !ok {
			return fmt.Errorf("%q is no key", digits[i])
		}
	}
	if len(digits) > digitRoom-len(s.digits) {
		return errors.New("too many digits")
	}
	for i := range len(digits) {
		select {
		case s.digits <- digits[i]:
		default:
			return errors.New("too many digits")
		}
	}
	return nil
}

func (c *Config) sendsKeys() bool { return c.Keys != KeyEvents || c.DTMFPayload != 0 }

// Press is a key of the far end that signalling told of (SIP INFO). One too many is lost.
func (s *Stream) Press(key byte) {
	select {
	case s.presses <- key:
	default:
	}
}

// Record implements lines.Media. A second call ends the first recording.
func (s *Stream) Record(w io.WriteCloser) {
	r := newRecorder(w, s.rate, &s.pacer.plane.background)
	if old := s.taken.Swap(r); old != nil {
		old.end()
	}
	select {
	case <-s.over:
		if s.taken.CompareAndSwap(r, nil) {
			r.end()
		}
	default:
	}
}

// Stats implements lines.Media.
func (s *Stream) Stats() lines.Stats {
	c := &s.count
	return lines.Stats{
		Received: c.received.Load(), Lost: c.lost.Load(), Late: c.late.Load(), Dry: c.dry.Load(), Sent: c.sent.Load(),
		Discarded: c.discarded.Load(), Refused: c.refused.Load(), Jitter: time.Duration(c.jitter.Load()),
	}
}

// RoundTrip is the round trip time of the far end's last report (RFC 3550 §6.4.1), 0 when it is not known.
func (s *Stream) RoundTrip() time.Duration { return time.Duration(s.count.roundTrip.Load()) }

// SetThreshold sets the probability, 0-1, at which a window counts as speech; 0.5 at first.
func (s *Stream) SetThreshold(p float32) { s.threshold.Store(math.Float32bits(p)) }

// Denoise implements lines.Denoiser.
func (s *Stream) Denoise(on bool) {
	if !on {
		s.cleaner.Store(nil)
	} else if s.cleaner.Load() == nil {
		s.cleaner.Store(audio.NewDenoiser(s.rate))
	}
}

func (s *Stream) speechThreshold() float32 { return math.Float32frombits(s.threshold.Load()) }

// Update changes what was negotiated (re-INVITE, UPDATE) from the next frame on. A direction that stops our sending
// raises HeldOn, its return HeldOff. Another remote address, codec or payload type is latched afresh. What stays the same
// must be repeated.
func (s *Stream) Update(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	s.wanted.Store(&c)
	return nil
}

// Receive takes one packet of a stream opened with OpenTransport; at is when it arrived. The packet is copied. One
// caller at a time. Packets the pacer cannot keep up with are dropped.
func (s *Stream) Receive(packet []byte, at time.Time) {
	t, ok := s.socket.(*transportSocket)
	if !ok || len(packet) > maxPacket {
		return
	}
	a := t.free()
	if a == nil {
		s.count.discarded.Add(1)
		return
	}
	a.size, a.at = copy(a.data[:], packet), at
	t.commit()
}

// Close ends the stream: a BYE is sent, the sockets are closed, Hear and Events end, a recording is completed in the
// background. It returns when the pacer has let go; calling it again is harmless.
func (s *Stream) Close() {
	s.once.Do(func() { s.pacer.tell(command{stream: s}) })
	<-s.over
}

// Done is closed when the stream is.
func (s *Stream) Done() <-chan struct{} { return s.over }

// configure applies a new setting. Pacer only, and at the start.
func (s *Stream) configure(c *Config) error {
	cipher, err := newCipher(c.Crypto, s.cipher)
	if err != nil {
		return err
	}
	old := s.cfg
	s.cfg, s.cipher = c, cipher
	if old == nil || old.Codec != c.Codec || old.Encoder != c.Encoder || old.Decoder != c.Decoder {
		s.line.init(c, s.rate)
	}
	if old == nil {
		return nil
	}
	if old.Remote != c.Remote || old.Peer != c.Peer || (old.Crypto == nil) != (c.Crypto == nil) ||
		old.Codec != c.Codec || old.PayloadType != c.PayloadType {
		s.unlatch()
	}
	return nil
}

func (s *Stream) unlatch() {
	s.in.unlatch()
	s.socket.setPeer(s.cfg.atPeer(s.cfg.Remote), false)
	if s.rtcp != nil {
		s.rtcp.setPeer(s.cfg.atPeer(s.cfg.rtcpRemote()), false)
	}
}

// atPeer is where packets go before the far end was heard: an address behind somebody's NAT is not one of our own network.
func (c *Config) atPeer(a netip.AddrPort) netip.AddrPort {
	if a.IsValid() && hidden(a.Addr()) && c.Peer.IsValid() && !hidden(c.Peer) {
		return netip.AddrPortFrom(c.Peer, a.Port())
	}
	return a
}

func (c *Config) rtcpRemote() netip.AddrPort {
	switch {
	case c.RTCPRemote.IsValid():
		return c.RTCPRemote
	case c.Remote.IsValid() && c.Remote.Port() < math.MaxUint16:
		return netip.AddrPortFrom(c.Remote.Addr(), c.Remote.Port()+1)
	}
	return netip.AddrPort{}
}

// reconfigure looks for an Update. Pacer only.
func (s *Stream) reconfigure(now time.Time) {
	c := s.wanted.Load()
	if c == s.cfg {
		return
	}
	wasHeld := !s.cfg.Direction.sends()
	if s.configure(c) != nil {
		s.fail()
		return
	}
	s.in.alive = now
	if held := !c.Direction.sends(); held != wasHeld {
		kind := lines.HeldOff
		if held {
			kind = lines.HeldOn
		}
		s.post(lines.Event{Kind: kind, At: now, Pos: s.out.position})
	}
}

// post keeps an event for the end of the slot.
func (s *Stream) post(e lines.Event) {
	if s.waiting == len(s.pending) {
		s.handEvents()
	}
	s.pending[s.waiting] = e
	s.waiting++
}

// handOver gives the other goroutines what happened in this slot.
func (s *Stream) handOver() {
	s.handEvents()
	s.hearing.wake()
	s.speech.wake()
}

func (s *Stream) handEvents() {
	for _, e := range s.pending[:s.waiting] {
		for sent := false; !sent; {
			select {
			case s.events <- e:
				sent = true
			default:
				select { // nobody reads: the oldest goes
				case <-s.events:
					s.count.dropped.Add(1)
				default:
				}
			}
		}
	}
	s.waiting = 0
}

// finish ends everything. Pacer only, once.
func (s *Stream) finish(p *pacer, now time.Time) {
	s.alone(func() { s.report(p, now, true) })
	s.socket.close()
	if s.rtcp != nil {
		s.rtcp.close()
	}
	if s.port != nil {
		s.port.plane.release(s.port.port)
	}
	s.handOver()
	close(s.events)
	close(s.over)
	if r := s.taken.Swap(nil); r != nil {
		r.end()
	}
	if s.record != nil {
		s.record.end()
	}
}

var _ lines.Media = (*Stream)(nil)

var silence [maxFrame]int16
