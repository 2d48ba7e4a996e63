package media

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
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

// script is a detector that reads its answer off the samples.
type script struct{}

func (script) Window() int                { return 256 }
func (script) Speech(pcm []int16) float32 { return float32(pcm[128]) / 1000 }

func TestTurnsOfSpeech(t *testing.T) {
	k := newDesk(t, Config{}, func(int) Detector { return script{} })
	begin := k.now
	say := func(level int16, ms int) { k.say(flat(level, 8*ms)) }
	say(0, 640)
	say(900, 20) // a click
	say(0, 300)
	say(900, 640)
	say(0, 60) // a pause in the sentence
	say(400, 320)
	say(0, 640)
	var got []time.Duration
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind == lines.SpeechStart || e.Kind == lines.SpeechEnd {
			got = append(got, e.At.Sub(begin))
		}
	}
	// The packet of a sample arrives when its 20 ms are over.
	want := []time.Duration{960 * time.Millisecond, 1980 * time.Millisecond}
	if len(got) != 2 || (got[0]-want[0]).Abs() > 36*time.Millisecond || (got[1]-want[1]).Abs() > 36*time.Millisecond {
		t.Errorf("turns at %v, want %v", got, want)
	}
	k.SetThreshold(0.95)
	say(900, 640)
	k.want("above every sound", len(k.kinds()), 0)
}

func TestSpeechEndsWhenPacketsStop(t *testing.T) {
	k := newDesk(t, Config{}, func(int) Detector { return script{} })
	k.say(flat(900, 8000))
	k.step(20)
	k.want("events", k.kinds(), []lines.EventKind{lines.FirstIn, lines.SpeechStart, lines.SpeechEnd})
}

func TestEnergyDetector(t *testing.T) {
	d := NewEnergyDetector(8000)
	loud, quiet := make([]int16, 256), make([]int16, 256)
	audio.GenSignal(loud, 8000, 0, audio.Tone{Hz: 440, Level: 0.2})
	audio.GenSignal(quiet, 8000, 0, audio.Tone{Hz: 440, Level: 0.004})
	for i := range 50 {
		if d.Speech(quiet) != 0 {
			t.Fatalf("hum taken for speech in window %d", i)
		}
	}
	for i := range 50 {
		if d.Speech(loud) != 1 {
			t.Fatalf("loud window %d missed", i)
		}
	}
}

// sink always has one packet and takes everything.
type sink struct {
	wire
	b     []byte
	given bool
}

func (s *sink) recv(buf []byte, now time.Time) (int, netip.AddrPort, time.Time, bool) {
	if s.given = !s.given; !s.given {
		return 0, phone, now, false
	}
	return copy(buf, s.b), phone, now, true
}

func (s *sink) send([]byte) error { return nil }

func TestFrameDoesNotAllocate(t *testing.T) {
	for _, codec := range []Codec{PCMU, PCMA, G722} {
		k := newDesk(t, Config{Codec: codec, DTMFPayload: 101}, func(rate int) Detector { return NewEnergyDetector(rate) })
		k.play(make([]int16, 15*k.rate))
		h := rtp.Header{PayloadType: uint8(codec.PayloadType()), SSRC: 7}
		b := make([]byte, rtp.HeaderLen+160)
		k.socket = &sink{b: b}
		list := []*Stream{k.Stream}
		buf := make([]int16, 1000)
		one := func() {
			h.Sequence++
			h.Timestamp += 160
			h.Put(b)
			k.now = k.now.Add(audio.FrameDur)
			k.p.frame++
			k.p.turn(list, k.now)
			k.hearing.take(buf)
		}
		for range 400 {
			one() // buffers grow to their size, reports are sent
		}
		if n := testing.AllocsPerRun(300, one); n != 0 {
			t.Errorf("%v: %v allocations per frame", codec, n)
		}
	}
}

func TestBridge(t *testing.T) {
	a := newDesk(t, Config{}, nil)
	b := newDesk(t, Config{Codec: G722}, nil)
	x := Bridge(a.Stream, b.Stream)
	pcm := make([]int16, 160)
	var far codec
	far.init(&Config{Codec: G722}, 16000)
	var got []int16
	frame := make([]int16, 320)
	for i := range 60 {
		audio.GenSignal(pcm, 8000, int64(i*160), audio.Tone{Hz: 700, Level: 0.3})
		a.packet(a.next(), mu(pcm), phone)
		a.step(1)
		b.step(1)
		_, payload, _ := rtp.Parse(b.wire.out[i])
		got = append(got, far.decode(frame, payload)...)
	}
	if l := audio.FindSignal(got[8000:], 16000, 700)[0].Level; l < 0.28 || l > 0.32 {
		t.Errorf("700 Hz arrives at %.3f", l)
	}
	a.want("a itself is heard too", len(a.hear()), 60*160)
	x.Close()
	x.Close()
	b.wire.out = nil
	a.say(flat(8031, 160))
	b.step(20)
	for _, packet := range b.wire.out {
		_, payload, _ := rtp.Parse(packet)
		frame = far.decode(frame, payload)
	}
	if level := audio.Level(frame); level > -70 {
		t.Errorf("%.1f dBFS after the bridge was taken down", level)
	}
}

func TestPlayoutGrowsWithGaps(t *testing.T) {
	p := newPlayout(8000, 8000)
	frame, pcm := make([]int16, 160), flat(1000, 160)
	silent := 0
	for i := range 400 {
		if i%4 == 3 { // bursts of four frames every 80 ms
			for range 4 {
				p.put(pcm)
			}
		}
		clear(frame)
		if p.mix(frame) == 0 && i > 60 {
			silent++
		}
	}
	if silent > 0 {
		t.Errorf("%d gaps after 1.2 s", silent)
	}
	if p.delay > maxDelay {
		t.Errorf("delay of %d frames", p.delay)
	}
}
