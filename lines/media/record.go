package media

import (
	"encoding/binary"
	"io"
	"sync/atomic"
	"time"

	"parley/audio/rtp"
	"parley/safe"
)

const (
	far  = 0 // channels of a recording
	ours = 1

	blockLen    = 320 // samples: 20 ms at 16 kHz
	blockRoom   = 256 // blocks the disk may be behind
	writeEvery  = 100 * time.Millisecond
	settleAfter = 400 * time.Millisecond // later than that nothing is put in its place any more
)

// recorder writes both directions of a stream. The pacer puts blocks with their place in time into a ring; a goroutine
// lays them out and writes them, late enough that reordered and jittery packets have found their place.
type recorder struct {
	begin   int64 // stream clock of the first sample; pacer only
	blocks  [blockRoom]block
	written atomic.Uint32
	read    atomic.Uint32
	stop    chan struct{}

	// The goroutine's.
	w      io.WriteCloser
	rate   int
	page   []int16 // interleaved; page[0] is at base
	base   int64
	newest int64 // end of what we sent
	failed bool
	bytes  []byte
}

type block struct {
	channel int
	at      int64
	n       int
	pcm     [blockLen]int16
}

func newRecorder(w io.WriteCloser, rate int, wg *safe.Group) *recorder {
	r := &recorder{w: w, rate: rate, stop: make(chan struct{}), page: make([]int16, 2*2*rate)}
	wg.Go("recording", func() {
		defer w.Close() // whoever waits for the end of the recording does not wait for ever
		r.run()
	})
	return r
}

// tap takes samples that belong at a place in time, counted from the beginning of the recording. Pacer only. A disk that
// is 2 s behind loses them; what follows stays in place.
func (r *recorder) tap(channel int, at int64, pcm []int16) {
	for len(pcm) > 0 {
		w := r.written.Load()
		if w-r.read.Load() == blockRoom {
			return
		}
		b := &r.blocks[w%blockRoom]
		b.channel, b.at = channel, at
		b.n = copy(b.pcm[:], pcm)
		r.written.Store(w + 1)
		at += int64(b.n)
		pcm = pcm[b.n:]
	}
}

// end completes the recording in the background. Once, by whoever owns the recorder.
func (r *recorder) end() { close(r.stop) }

func (r *recorder) run() {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.drain()
			r.flush(r.newest - int64(settleAfter.Seconds()*float64(r.rate)))
		case <-r.stop:
			r.drain()
			r.flush(r.newest)
			return
		}
	}
}

func (r *recorder) drain() {
	for n := r.read.Load(); n != r.written.Load(); n++ {
		b := &r.blocks[n%blockRoom]
		r.lay(b.channel, b.at, b.pcm[:b.n])
		r.read.Store(n + 1)
	}
}

// lay puts samples in their place on the page.
func (r *recorder) lay(channel int, at int64, pcm []int16) {
	end, room := at+int64(len(pcm)), int64(len(r.page)/2)
	if channel == ours {
		r.newest = max(r.newest, end)
	} else if end > r.newest+room/2 {
		return // no clock runs that far ahead
	}
	if end > r.base+room {
		r.flush(end - room/2)
	}
	for i, s := range pcm {
		if k := at + int64(i) - r.base; k >= 0 {
			r.page[2*k+int64(channel)] = s
		}
	}
}

// flush writes everything before a place in time.
func (r *recorder) flush(until int64) {
	room := int64(len(r.page) / 2)
	for until > r.base {
		n := min(until-r.base, room)
		r.bytes = r.bytes[:0]
		for _, s := range r.page[:2*n] {
			r.bytes = binary.LittleEndian.AppendUint16(r.bytes, uint16(s))
		}
		if !r.failed {
			_, err := r.w.Write(r.bytes)
			r.failed = err != nil
		}
		copy(r.page, r.page[2*n:])
		clear(r.page[2*(room-n):])
		r.base += n
	}
}

// place maps RTP timestamps to the stream's clock: by the first packet, corrected when it proves wrong.
type place struct {
	known     bool
	timestamp uint32
	at        int64
	lowest    int64 // smallest delay against the mapping in the last packets
	packets   int
}

const driftPackets = 500

// of is the place of a packet that would be at arrived if there were no jitter. units is the timestamp rate.
func (p *place) of(timestamp uint32, arrived int64, rate, units int) int64 {
	p.at += int64(int32(timestamp-p.timestamp)) * int64(rate) / int64(units)
	p.timestamp = timestamp
	delay := arrived - p.at
	if !p.known || delay < int64(-rate/10) || delay > int64(rate/2) {
		p.known, p.at, p.packets = true, arrived, 0
		return p.at
	}
	if p.packets == 0 || delay < p.lowest {
		p.lowest = delay
	}
	if p.packets++; p.packets == driftPackets {
		if p.packets = 0; p.lowest > int64(rate/25) {
			p.at += p.lowest // the far end's clock is slow
		}
	}
	return p.at
}

// tapOurs records what we send; it also begins a recording that was asked for.
func (s *Stream) tapOurs(p *pacer, pcm []int16) {
	if r := s.taken.Load(); r != nil && s.taken.CompareAndSwap(r, nil) {
		if s.record != nil {
			s.record.end()
		}
		s.record = r
		r.begin = s.clock(p)
	}
	if s.record != nil {
		s.record.tap(ours, s.clock(p)-s.record.begin, pcm)
	}
}

// tapFar records what the far end sent.
func (s *Stream) tapFar(p *pacer, h rtp.Header, pcm []int16) {
	if s.record == nil {
		return
	}
	arrived := s.clock(p) + int64(s.rate/50) - int64(len(pcm))
	at := s.in.place.of(h.Timestamp, arrived, s.rate, s.cfg.Codec.Clock())
	s.record.tap(far, at-s.record.begin, pcm)
}

// clock is the position of this turn in samples since the stream began.
func (s *Stream) clock(p *pacer) int64 { return (p.frame - s.first) * int64(s.rate/50) }
