package pickup_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"parley/audio"
	"parley/voice/pickup"
)

const rate = 8000

// tone is a sine of level dB full scale, in noise so many dB below it (0 = none).
func tone(hz float64, d time.Duration, level, below float64) []int16 {
	pcm := make([]int16, int(d.Seconds()*rate))
	peak := math.Pow(10, level/20)
	audio.GenSignal(pcm, rate, 0, audio.Tone{Hz: hz, Level: peak})
	if below > 0 {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range pcm {
			pcm[i] = audio.Clip(int32(pcm[i]) + int32(r.NormFloat64()*peak*32767/math.Sqrt2*math.Pow(10, -below/20)))
		}
	}
	return pcm
}

func silence(d time.Duration) []int16 { return make([]int16, int(d.Seconds()*rate)) }

// last is the last tone found when audio is fed in packets, followed by silence.
func last(pcm []int16) (found pickup.Tone, n int) {
	t := pickup.NewTones(rate)
	pcm = append(append(silence(300*time.Millisecond), pcm...), silence(300*time.Millisecond)...)
	for ; len(pcm) >= 160; pcm = pcm[160:] {
		for _, one := range t.Feed(pcm[:160]) {
			found, n = one, n+1
		}
	}
	return found, n
}

// Single tones of every pitch, level and length are measured, in noise too.
func TestTones(t *testing.T) {
	for _, hz := range []float64{400, 440, 613, 850, 1000, 1100, 1337, 1400, 2000, 2100} {
		for _, d := range []time.Duration{160, 250, 500, 1000} {
			for _, below := range []float64{0, 12} {
				length := d * time.Millisecond
				got, n := last(tone(hz, length, -20, below))
				if n == 0 || !got.Over || math.Abs(got.Hz-hz) > 8 || (got.Length-length).Abs() > 45*time.Millisecond {
					t.Errorf("%v Hz for %v in noise %v dB below: %d, %+v", hz, length, below, n, got)
				}
			}
		}
	}
}

// Two tones at once, a tone that slides, noise, and clicks are no tones.
func TestNoTones(t *testing.T) {
	both := silence(time.Second)
	audio.GenSignal(both, rate, 0, audio.Tone{Hz: 697, Level: 0.2}, audio.Tone{Hz: 1336, Level: 0.2})
	ring := silence(2 * time.Second)
	audio.GenSignal(ring, rate, 0, audio.Tone{Hz: 440, Level: 0.1}, audio.Tone{Hz: 480, Level: 0.1})
	slide := silence(time.Second)
	for i := range slide {
		x := float64(i) / rate
		slide[i] = int16(8000 * math.Sin(2*math.Pi*(500*x+400*x*x)))
	}
	hiss := silence(3 * time.Second)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range hiss {
		hiss[i] = int16(r.NormFloat64() * 2000)
	}
	for name, pcm := range map[string][]int16{"a key": both, "a ringing tone": ring, "a siren": slide, "noise": hiss, "a click": tone(1000, 60*time.Millisecond, -10, 0)} {
		if got, n := last(pcm); n > 0 {
			t.Errorf("%s: %d, %+v", name, n, got)
		}
	}
}

// BenchmarkTones is the cost of a second of sound.
func BenchmarkTones(b *testing.B) {
	pcm := tone(1000, time.Second, -20, 5)
	t := pickup.NewTones(rate)
	for b.Loop() {
		for i := 0; i < len(pcm); i += 160 {
			t.Feed(pcm[i : i+160])
		}
	}
}
