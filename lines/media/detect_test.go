package media

import (
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
)

// script is a detector that reads its answer off the samples.
type script struct{}

func (script) Window() int { return 256 }
func (script) Reset()      {}
func (script) Speech(pcm []int16) float32 {
	peak := int16(0)
	for _, s := range pcm[64:192] {
		peak = max(peak, s)
	}
	return float32(peak) / 1000
}

func TestTurnsOfSpeech(t *testing.T) {
	k := newDesk(t, Config{}, func(int) audio.Detector { return script{} })
	begin := k.now
	say := func(level int16, ms int) { // a square wave, whose peaks the detector reads
		pcm := flat(level, 8*ms)
		for i := 0; i < len(pcm); i += 3 {
			pcm[i] = -pcm[i] / 2
		}
		k.say(pcm)
	}
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

// lingering is a detector that goes on saying speech behind the sound, ever less sure.
type lingering struct {
	script
	p float32
}

func (l *lingering) Speech(pcm []int16) float32 {
	if p := l.script.Speech(pcm); p > 0.5 {
		l.p = 1.05
	}
	l.p -= 0.035
	return l.p
}

func TestSoundFadesBeforeSpeechEnds(t *testing.T) {
	k := newDesk(t, Config{}, func(int) audio.Detector { return &lingering{} })
	begin := k.now
	k.say(flat(0, 4*1280))
	k.say(flat(900, 2*1280))
	k.say(flat(0, 640)) // a closure: the detector stays sure
	k.say(flat(900, 1280))
	k.say(flat(0, 2*1280)) // a pause
	k.say(flat(900, 1280))
	k.say(flat(0, 8*1280))
	type told struct {
		kind lines.EventKind
		at   time.Duration
	}
	var got []told
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind != lines.FirstIn {
			got = append(got, told{e.Kind, e.At.Sub(begin)})
		}
	}
	const ms = time.Millisecond
	want := []told{{lines.SpeechStart, 660 * ms}, {lines.SpeechFaded, 1220 * ms}, {lines.SpeechBack, 1570 * ms},
		{lines.SpeechFaded, 1700 * ms}, {lines.SpeechEnd, 1700 * ms}}
	for i, w := range want {
		if len(got) != len(want) || got[i].kind != w.kind || (got[i].at-w.at).Abs() > 36*ms {
			t.Fatalf("told %v, want %v", got, want)
		}
	}
}

// counter says how often it was asked.
type counter struct {
	script
	asked, resets int
}

func (c *counter) Speech(pcm []int16) float32 { c.asked++; return c.script.Speech(pcm) }
func (c *counter) Reset()                     { c.resets++ }

func TestDetectorRestsInSilence(t *testing.T) {
	d := &counter{}
	k := newDesk(t, Config{}, func(int) audio.Detector { return d })
	k.say(flat(0, 19*1280))
	k.want("asked in 3 s of silence", d.asked, quietWindows)
	k.want("resets", d.resets, 1)
	k.say(flat(900, 2560))
	k.say(flat(0, 8000))
	k.want("events", k.kinds(), []lines.EventKind{lines.FirstIn, lines.SpeechStart, lines.SpeechFaded, lines.SpeechEnd})
	k.want("asked again", d.asked, quietWindows+10+quietWindows)
}

func TestSpeechEndsWhenPacketsStop(t *testing.T) {
	k := newDesk(t, Config{}, func(int) audio.Detector { return script{} })
	k.say(flat(900, 8000))
	k.step(int((longestGap + 400*time.Millisecond) / audio.FrameDur))
	k.want("events", k.kinds(), []lines.EventKind{lines.FirstIn, lines.SpeechStart, lines.Gap, lines.GapOver, lines.SpeechFaded, lines.SpeechEnd})
}

// Lost and late packets are no silence; those that a far end saves are.
func TestGapOfPackets(t *testing.T) {
	gap := func(k *desk, lost bool) []lines.EventKind {
		k.say(flat(900, 8000))
		const n = 50 // 1 s
		k.step(n)
		if k.ts += n * 160; lost {
			k.seq += n
		}
		k.say(flat(900, 8000))
		return k.kinds()
	}
	k := newDesk(t, Config{}, func(int) audio.Detector { return script{} })
	want := []lines.EventKind{lines.FirstIn, lines.SpeechStart, lines.Gap, lines.GapOver}
	k.want("packets lost", gap(k, true), want)
	k.want("once more", gap(k, true), []lines.EventKind{lines.Gap, lines.GapOver})

	k = newDesk(t, Config{}, func(int) audio.Detector { return script{} })
	k.want("packets saved, before that is known", gap(k, false), want)
	k.want("packets saved", gap(k, false), []lines.EventKind{lines.SpeechFaded, lines.SpeechEnd, lines.SpeechStart})

	k = newDesk(t, Config{}, func(int) audio.Detector { return script{} })
	k.say(flat(900, 8000))
	h := k.next()
	h.PayloadType = comfortNoise
	k.packet(h, []byte{70}, phone)
	k.step(50)
	k.want("comfort noise", k.kinds(), []lines.EventKind{lines.FirstIn, lines.SpeechStart, lines.SpeechFaded, lines.SpeechEnd})
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
