package media

import (
	"errors"
	"sync"

	"parley/audio"
	"parley/lines"
)

// Playout delay of a bridged leg in frames of 20 ms: 40 ms at first, more after gaps, never over 200 ms.
const (
	minDelay   = 2
	maxDelay   = 10
	calmFrames = 500 // 10 s without a gap bring the delay down by one frame
)

// playout carries what one leg says to the other: written by one pacer, read by another. It holds a little back so that
// packets that come unevenly go out evenly.
type playout struct {
	to       *Stream // the reader
	resample *audio.Resampler
	ring     hearing
	frame    int // samples of 20 ms at the reader's rate

	// The reader's.
	buf     []int16
	playing bool
	delay   int
	calm    int
}

func newPlayout(from int, to *Stream) *playout {
	rate := to.rate
	frame := rate / 50
	p := &playout{to: to, resample: audio.NewResampler(from, rate), frame: frame, delay: minDelay, buf: make([]int16, frame)}
	p.ring.init(rate / 8000 * 4096)
	return p
}

// put takes what the far end said. Its pacer only.
func (p *playout) put(pcm []int16) { p.ring.put(p.resample.Process(pcm)) }

// press passes a key on, where there is a way; one too many is lost.
func (p *playout) press(key byte) {
	if !p.to.wanted.Load().sendsKeys() {
		return
	}
	select {
	case p.to.digits <- key:
	default:
	}
}

// mix adds one frame to what is sent and returns how many samples that were.
func (p *playout) mix(frame []int16) int {
	waiting := int(p.ring.written.Load()-p.ring.read.Load()) / p.frame
	if !p.playing {
		if waiting < p.delay {
			return 0
		}
		p.playing, p.calm = true, 0
	}
	switch {
	case waiting == 0: // a gap: hold more back from now on
		p.playing = false
		p.delay = min(p.delay+1, maxDelay)
		return 0
	case waiting > p.delay+3: // the other side was faster
		p.ring.take(p.buf)
	}
	if p.calm++; p.calm == calmFrames {
		p.calm, p.delay = 0, max(p.delay-1, minDelay)
	}
	n := p.ring.take(p.buf)
	audio.Mix(frame, p.buf[:n])
	return n
}

// Bridged are two streams whose far ends hear each other.
type Bridged struct {
	a, b       *Stream
	aToB, bToA *playout
	once       sync.Once
}

// Join implements lines.Media.
func (s *Stream) Join(other lines.Media) (part func(), err error) {
	to, ok := other.(*Stream)
	if !ok || to == s {
		return nil, errors.New("media: only two streams can be joined")
	}
	return Bridge(s, to).Close, nil
}

// Bridge lets the far ends of a and b hear each other, resampled when their rates differ, and passes keys on. Speech queued
// with Play is mixed in, Hear and recording of both go on; nobody detects speech. A stream is in one bridge at a time: a new
// one takes it over.
func Bridge(a, b *Stream) *Bridged {
	x := &Bridged{a: a, b: b, aToB: newPlayout(a.rate, b), bToA: newPlayout(b.rate, a)}
	b.bridge.Store(x.aToB)
	a.bridge.Store(x.bToA)
	a.peer.Store(x.aToB)
	b.peer.Store(x.bToA)
	return x
}

// Close separates them. The streams stay open. Calling it again is harmless.
func (x *Bridged) Close() {
	x.once.Do(func() {
		x.a.peer.CompareAndSwap(x.aToB, nil)
		x.b.peer.CompareAndSwap(x.bToA, nil)
		x.a.bridge.CompareAndSwap(x.bToA, nil)
		x.b.bridge.CompareAndSwap(x.aToB, nil)
	})
}
