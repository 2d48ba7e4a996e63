package sounds_test

import (
	"math"
	"slices"
	"testing"

	"parley/audio"
	"parley/audio/sounds"
)

var ambient = []string{"office", "city", "forest", "crowded_room", "cafe", "nature"}

func rms(pcm []int16) float64 { return math.Sqrt(audio.Energy(pcm) / float64(len(pcm))) }

// Every ambient sound is as loud as every other, at any time and at both rates: a listener sets one volume.
func TestAmbientLevels(t *testing.T) {
	for _, name := range ambient {
		for _, rate := range []int{8000, 16000} {
			pcm := sounds.Loop(name, rate)
			if got := rms(pcm); math.Abs(20*math.Log10(got/750)) > 0.2 {
				t.Errorf("%s at %d Hz: level %.0f", name, rate, got)
			}
			for second := range slices.Chunk(pcm, rate) {
				if db := 20 * math.Log10(rms(second)/750); len(second) == rate && math.Abs(db) > 4 {
					t.Errorf("%s at %d Hz: a second of %+.1f dB", name, rate, db)
				}
			}
		}
	}
}

// No two of them are alike, and none is plain noise: each has its own shape over frequency and time.
func TestAmbientSoundsDiffer(t *testing.T) {
	shape := func(name string) (out []float64) {
		pcm := sounds.Loop(name, 8000)
		for _, hz := range []float64{120, 250, 500, 1000, 2000, 3000} {
			sum := 0.0
			for block := range slices.Chunk(pcm, 400) {
				for _, f := range audio.FindSignal(block, 8000, hz) {
					sum += f.Level * f.Level
				}
			}
			out = append(out, 10*math.Log10(sum))
		}
		return out
	}
	for i, a := range ambient {
		for _, b := range ambient[i+1:] {
			far := 0.0
			for k, v := range shape(a) {
				far = max(far, math.Abs(v-shape(b)[k]))
			}
			if far < 3 {
				t.Errorf("%s and %s are within %.1f dB everywhere", a, b, far)
			}
		}
	}
}

// A loop goes on where it ends: the step from its last sample to its first is one as between any two.
func TestLoopsHaveNoSeam(t *testing.T) {
	for _, name := range append([]string{sounds.HoldMusic, sounds.Ringback, sounds.ComfortNoise}, ambient...) {
		pcm := sounds.Loop(name, 8000)
		most := 0.0
		for i := 1; i < len(pcm); i++ {
			most = max(most, math.Abs(float64(pcm[i])-float64(pcm[i-1])))
		}
		if step := math.Abs(float64(pcm[0]) - float64(pcm[len(pcm)-1])); step > most/2 {
			t.Errorf("%s: a step of %.0f at the seam, %.0f anywhere else", name, step, most)
		}
	}
}

// Ringing is 425 Hz, a second on and four off; music is about as loud as speech, and has no silence in it.
//
// Contract: 4.4
func TestRingbackAndMusic(t *testing.T) {
	ring := sounds.Loop(sounds.Ringback, 8000)
	if tone := audio.FindSignal(ring[800:7200], 8000, 425)[0]; len(ring) != 5*8000 || tone.Level < 0.08 {
		t.Errorf("%d samples, 425 Hz at %.2f", len(ring), tone.Level)
	}
	if rest := rms(ring[8100:]); rest > 1 {
		t.Errorf("level %.0f between two rings", rest)
	}
	music := sounds.Loop(sounds.HoldMusic, 8000)
	for half := range slices.Chunk(music, 4000) {
		if rms(half) < 500 && len(half) == 4000 {
			t.Errorf("a half second of level %.0f", rms(half))
		}
	}
	if got := rms(music); got < 2000 || got > 3000 {
		t.Errorf("level %.0f", got)
	}
}

// A loop is made once and always the same; a name that is none has none.
func TestLoopIsShared(t *testing.T) {
	a, b := sounds.Loop("office", 8000), sounds.Loop("office", 8000)
	if &a[0] != &b[0] || sounds.Loop("off", 8000) != nil || sounds.Known("off") || !sounds.Known("cafe") {
		t.Error("made twice, or there is a loop of nothing")
	}
}

func BenchmarkMake(b *testing.B) {
	for _, name := range append([]string{sounds.HoldMusic}, ambient...) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				sounds.Render(name, 8000)
			}
		})
	}
}
