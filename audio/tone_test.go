package audio

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestFindSignal(t *testing.T) {
	pcm := make([]int16, 1600)
	GenSignal(pcm, 8000, 0, Tone{440, 0.3}, Tone{1000, 0.1})
	for i, want := range []float64{0.3, 0.1, 0} {
		hz := []float64{440, 1000, 2500}[i]
		if got := FindSignal(pcm, 8000, hz)[0]; math.Abs(got.Level-want) > 0.01 {
			t.Errorf("%v Hz at %.3f, want %.3f", hz, got.Level, want)
		}
	}
}

func TestGenSignalJoins(t *testing.T) {
	whole, parts := make([]int16, 320), make([]int16, 320)
	GenSignal(whole, 8000, 0, Tone{440, 0.5})
	GenSignal(parts[:100], 8000, 0, Tone{440, 0.5})
	GenSignal(parts[100:], 8000, 100, Tone{440, 0.5})
	for i := range whole {
		if whole[i] != parts[i] {
			t.Fatalf("sample %d: %d and %d", i, whole[i], parts[i])
		}
	}
}

func TestDTMF(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []int{8000, 16000} {
		for i := range len(dtmfKeys) {
			pair, ok := DTMF(dtmfKeys[i], 0.1)
			if !ok {
				t.Fatalf("no tones for %c", dtmfKeys[i])
			}
			pcm := make([]int16, rate/25)
			GenSignal(pcm, rate, 0, pair[:]...)
			for k := range pcm {
				pcm[k] += int16(noise.IntN(200) - 100)
			}
			if got := FindDTMF(pcm, rate); got != dtmfKeys[i] {
				t.Errorf("%c at %d Hz found as %q", dtmfKeys[i], rate, got)
			}
		}
	}
	if _, ok := DTMF('E', 1); ok {
		t.Error("E is no key")
	}
	silent, one := make([]int16, 320), make([]int16, 320)
	GenSignal(one, 8000, 0, Tone{697, 0.3})
	if FindDTMF(silent, 8000) != 0 || FindDTMF(one, 8000) != 0 {
		t.Error("a key found in silence or in a single tone")
	}
}

func TestMixAndGain(t *testing.T) {
	pcm := []int16{30000, -30000, 100}
	Mix(pcm, []int16{10000, -10000, 23, 5})
	if pcm[0] != 32767 || pcm[1] != -32768 || pcm[2] != 123 {
		t.Errorf("mixed %v", pcm)
	}
	NewGain(-6.0206).Apply(pcm)
	if pcm[0] != 16384 || pcm[1] != -16384 || pcm[2] != 62 {
		t.Errorf("halved %v", pcm)
	}
	if square := []int16{16384, -16384}; math.Abs(Level(square)+6.02) > 0.01 {
		t.Errorf("level %v", Level(square))
	}
	if Level(nil) != -100 || Level(make([]int16, 5)) != -100 {
		t.Error("silence is -100 dBFS")
	}
}

func TestFrameDur(t *testing.T) {
	if d := (Frame{Rate: 8000, PCM: make([]int16, 160)}).Dur(); d != FrameDur {
		t.Errorf("160 samples at 8 kHz last %v", d)
	}
	if d := (Frame{}).Dur(); d != time.Duration(0) {
		t.Errorf("an empty frame lasts %v", d)
	}
}
