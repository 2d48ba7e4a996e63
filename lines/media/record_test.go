package media

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
)

type tape struct {
	bytes.Buffer
	closed int
}

func (t *tape) Close() error { t.closed++; return nil }

// channel is one side of the recording.
func (t *tape) channel(n int) (pcm []int16) {
	for b := t.Bytes(); len(b) >= 4; b = b[4:] {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(b[2*n:])))
	}
	return pcm
}

// onset is the first sample of the loud part.
func onset(pcm []int16) int {
	for i, s := range pcm {
		if s > 4000 {
			return i
		}
	}
	return -1
}

// Both sides become loud at the same moment. The far end's packets are late, reordered and one is lost; the recording must
// still have both onsets at one place, and be as long as the call.
func TestRecordingIsAligned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDesk(t, Config{}, nil)
		var w tape
		turn := func(n int) {
			for range n {
				time.Sleep(audio.FrameDur)
				k.step(1)
			}
		}
		k.packet(k.next(), mu(flat(0, 160)), phone)
		turn(1)
		k.Record(&w)
		quiet := mu(flat(0, 160))
		for range 49 { // 1 s of quiet from both
			k.packet(k.next(), quiet, phone)
			turn(1)
		}
		k.play(flat(8031, 8000))
		first, second, third := k.next(), k.next(), k.next()
		turn(3) // 60 ms late
		k.packet(second, mu(flat(8031, 160)), phone)
		k.packet(first, mu(flat(8031, 160)), phone)
		k.packet(third, mu(flat(8031, 160)), phone)
		for i := range 47 {
			if h := k.next(); i != 20 {
				k.packet(h, mu(flat(8031, 160)), phone)
			}
			turn(1)
		}
		k.finish(k.p, k.now)
		synctest.Wait()
		k.want("closed", w.closed, 1)
		left, right := w.channel(far), w.channel(ours)
		k.want("samples", len(right), 49*160+50*160)
		k.want("our onset", onset(right), 49*160)
		k.want("their onset", onset(left), 49*160)
		silent := 0
		for _, s := range left[49*160 : 49*160+50*160] {
			if s == 0 {
				silent++
			}
		}
		if silent > 200 {
			t.Errorf("%d silent samples in their speech", silent)
		}
	})
}

func TestRecordingAfterTheEndIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDesk(t, Config{}, nil)
		var early, second, late tape
		k.Record(&early)
		k.Record(&second)
		k.step(1)
		k.finish(k.p, k.now)
		k.Record(&late)
		synctest.Wait()
		for i, w := range []*tape{&early, &second, &late} {
			k.want("closed", w.closed, 1)
			if got, want := w.Len(), []int{0, 640, 0}[i]; got != want {
				t.Errorf("recording %d has %d bytes, want %d", i, got, want)
			}
		}
	})
}

func TestPlaceFollowsASlowClock(t *testing.T) {
	var p place
	ts := uint32(0xFFFFFF00)
	if at := p.of(ts, 1000, 8000, 8000); at != 1000 {
		t.Fatal(at)
	}
	worst := int64(0)
	for i := int64(1); i <= 20000; i++ {
		arrived := 1000 + i*160 + i/5 // 0.125 % slow
		at := p.of(ts+uint32(i*160), arrived, 8000, 8000)
		worst = max(worst, arrived-at, at-arrived)
	}
	if worst > 8000/25+200 {
		t.Errorf("up to %d samples out of place", worst)
	}
	if at := p.of(12345, 9_000_000, 8000, 8000); at != 9_000_000 {
		t.Errorf("after a jump: %d", at)
	}
}
