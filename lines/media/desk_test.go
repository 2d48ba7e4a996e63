package media

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
)

// wire is a socket in memory: the test puts packets in and takes what was sent.
type wire struct {
	in   []letter
	out  [][]byte
	peer netip.AddrPort
	only bool
}

type letter struct {
	b    []byte
	from netip.AddrPort
}

func (w *wire) recv(buf []byte, now time.Time) (int, netip.AddrPort, time.Time, bool) {
	if len(w.in) == 0 {
		return 0, netip.AddrPort{}, now, false
	}
	l := w.in[0]
	w.in = w.in[1:]
	return copy(buf, l.b), l.from, now, true
}

func (w *wire) send(b []byte) error {
	w.out = append(w.out, slices.Clone(b))
	return nil
}

func (w *wire) setPeer(peer netip.AddrPort, only bool) { w.peer, w.only = peer, only }
func (w *wire) close()                                 {}

var (
	phone    = netip.MustParseAddrPort("192.0.2.7:4000")
	stranger = netip.MustParseAddrPort("198.51.100.9:4000")
)

// desk is one stream on a pacer whose time the test moves.
type desk struct {
	t *testing.T
	*Stream
	p    *pacer
	wire *wire
	rtcp *wire
	now  time.Time
	seq  uint16
	ts   uint32
}

func newDesk(t *testing.T, c Config, d func(int) audio.Detector) *desk {
	t.Helper()
	if !c.Remote.IsValid() {
		c.Remote = phone
	}
	s, err := newStream(c, d)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	k := &desk{t: t, Stream: s, p: &pacer{plane: &Plane{}, epoch: now, seed: 1, cname: "desk"}, wire: &wire{}, rtcp: &wire{}, now: now, seq: 100}
	s.pacer, s.socket, s.rtcp = k.p, k.wire, k.rtcp
	s.unlatch()
	k.p.add(s, now)
	return k
}

// step gives the stream n turns.
func (k *desk) step(n int) {
	for range n {
		k.now = k.now.Add(audio.FrameDur)
		k.p.frame++
		k.p.turn([]*Stream{k.Stream}, k.now)
	}
}

// packet puts a packet of the far end on the wire.
func (k *desk) packet(h rtp.Header, payload []byte, from netip.AddrPort) {
	b := make([]byte, rtp.HeaderLen, rtp.HeaderLen+len(payload))
	h.Put(b)
	k.wire.in = append(k.wire.in, letter{append(b, payload...), from})
}

// say lets the far end send the samples in PCMU frames of 20 ms, one per turn.
func (k *desk) say(pcm []int16) {
	for len(pcm) >= 160 {
		k.packet(k.next(), mu(pcm[:160]), phone)
		pcm = pcm[160:]
		k.step(1)
	}
}

// next is the header of the far end's next packet.
func (k *desk) next() rtp.Header {
	k.seq++
	k.ts += 160
	return rtp.Header{Sequence: k.seq, Timestamp: k.ts, SSRC: 7}
}

func mu(pcm []int16) []byte {
	b := make([]byte, len(pcm))
	audio.EncodeMuLaw(b, pcm)
	return b
}

// hear takes everything that waits to be heard.
func (k *desk) hear() []int16 {
	buf := make([]int16, 65536)
	return buf[:k.hearing.take(buf)]
}

// sent decodes what was sent since the last call; telephone events count as silence.
func (k *desk) sent() (pcm []int16) {
	for _, b := range k.wire.out {
		h, payload, _ := rtp.Parse(b)
		frame := make([]int16, 160)
		if h.PayloadType == 0 {
			audio.DecodeMuLaw(frame, payload)
		}
		pcm = append(pcm, frame...)
	}
	k.wire.out = nil
	return pcm
}

// kinds takes the events that are there.
func (k *desk) kinds() (got []lines.EventKind) {
	for len(k.events) > 0 {
		got = append(got, (<-k.events).Kind)
	}
	return got
}

func flat(level int16, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = level
	}
	return pcm
}

func (k *desk) play(pcm []int16) int64 {
	k.t.Helper()
	start, err := k.Play(k.t.Context(), pcm)
	if err != nil {
		k.t.Fatal(err)
	}
	return start
}

func (k *desk) want(what string, got, want any) {
	k.t.Helper()
	if !equal(got, want) {
		k.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func equal(a, b any) bool {
	if x, ok := a.([]lines.EventKind); ok {
		y, _ := b.([]lines.EventKind)
		return slices.Equal(x, y)
	}
	return a == b
}
