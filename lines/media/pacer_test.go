package media

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/audio/rtp"
)

// A late pacer makes up for three frames; after a longer stall it skips whole frames and keeps the phase of its slots.
func TestStalls(t *testing.T) {
	for _, c := range []struct{ stall, behind, skipped int }{ // ms, ms, frames
		{0, 0, 0}, {19, 19, 0}, {60, 60, 0}, {61, 1, 3}, {105, 5, 5}, {1000, 0, 50},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &pacer{}
			deadline := time.Now()
			time.Sleep(time.Duration(c.stall) * time.Millisecond)
			next := p.wait(deadline)
			if behind := time.Since(next); behind != time.Duration(c.behind)*time.Millisecond {
				t.Errorf("stall of %d ms: %v behind", c.stall, behind)
			}
			if p.skipped.Load() != int64(c.skipped) || p.frame != int64(c.skipped) {
				t.Errorf("stall of %d ms: skipped %d frames, the clock moved by %d", c.stall, p.skipped.Load(), p.frame)
			}
			if late := time.Duration(p.late.Load()); late != time.Duration(c.stall)*time.Millisecond {
				t.Errorf("stall of %d ms: noted %v", c.stall, late)
			}
		})
	}
}

// stuck is a browser's connection that blocks once, and keeps when each packet came with which header.
type stuck struct {
	t     *testing.T
	block func()
	at    []time.Time
	sent  []rtp.Header
}

func (s *stuck) WriteRTP(packet []byte) error {
	h, _, ok := rtp.Parse(packet)
	if !ok {
		s.t.Errorf("no RTP: % x", packet)
	}
	s.at, s.sent = append(s.at, time.Now()), append(s.sent, h)
	if len(s.sent) == 10 {
		s.block()
	}
	return nil
}

// After a stall the timestamps have moved on with the clock, whether its frames were caught up with or left out.
func TestTimestampsKeepTheClock(t *testing.T) {
	for _, block := range []time.Duration{0, 45, 105, 333, 2000} {
		synctest.Test(t, func(t *testing.T) {
			p, err := New(Options{PortMin: 20000, PortMax: 20010, Pacers: 1})
			if err != nil {
				t.Fatal(err)
			}
			wire := &stuck{t: t, block: func() { time.Sleep(block * time.Millisecond) }}
			if _, err := p.OpenTransport(wire, Config{Timeout: -1}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			p.Close()
			first, last := wire.sent[0], len(wire.sent)-1
			for i, h := range wire.sent {
				said, took := time.Duration(h.Timestamp-first.Timestamp)*time.Second/8000, wire.at[i].Sub(wire.at[0])
				if late := took - said; late < 0 || late > max(block*time.Millisecond, 60*time.Millisecond) || i == last && late >= 20*time.Millisecond {
					t.Errorf("stall of %d ms: packet %d says %v after %v", block, i, said, took)
				}
				if h.Sequence != first.Sequence+uint16(i) || h.Marker != (i == 0) {
					t.Errorf("stall of %d ms: packet %d: %+v", block, i, h)
				}
			}
		})
	}
}

// Time goes on while we may not send: the first packet afterwards begins a new stretch of speech.
func TestTimestampsGoOnWhileOnHold(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	k.step(2)
	hold := *k.wanted.Load()
	hold.Direction = RecvOnly
	_ = k.Update(hold)
	k.step(100)
	hold.Direction = SendRecv
	_ = k.Update(hold)
	k.step(2)
	var sent []rtp.Header
	for _, b := range k.wire.out {
		h, _, _ := rtp.Parse(b)
		sent = append(sent, h)
	}
	k.want("packets", len(sent), 4)
	k.want("time behind the hold", sent[2].Timestamp-sent[1].Timestamp, uint32(101*160))
	k.want("sequence behind the hold", sent[2].Sequence-sent[1].Sequence, uint16(1))
	k.want("a new stretch of speech", sent[2].Marker && !sent[3].Marker, true)
}

func TestSlotsFillEvenly(t *testing.T) {
	p := &pacer{plane: &Plane{}}
	var all []*Stream
	for range 10 {
		s, err := newStream(Config{Direction: Inactive}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.pacer, s.socket = p, &wire{}
		p.add(s, time.Now())
		all = append(all, s)
	}
	for _, i := range []int{0, 5, 9, 2} {
		p.remove(all[i], time.Now())
		<-all[i].Done()
	}
	for i, slot := range p.slot {
		for _, s := range slot {
			if s.slot != i {
				t.Errorf("a stream of slot %d is in slot %d", s.slot, i)
			}
		}
		if n := len(slot); n < 1 || n > 3 {
			t.Errorf("slot %d has %d streams", i, n)
		}
	}
	p.at = 1 - min(all[1].slot, 1) // another slot than that of a stream which hurries
	p.hurry(all[1])
	if all[1].slot != p.at {
		t.Errorf("hurried to slot %d, not %d", all[1].slot, p.at)
	}
	p.hurry(all[0]) // is gone
	if n := len(p.slot[0]) + len(p.slot[1]) + len(p.slot[2]) + len(p.slot[3]); n != 6 {
		t.Errorf("%d streams, want 6", n)
	}
}
