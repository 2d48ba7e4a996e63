package media

import (
	"testing"
	"testing/synctest"
	"time"
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
