package pickup

import (
	"math"
	"time"

	"parley/audio"
)

// Tone is a single steady tone on the line: the beep of a machine, a fax, a part of an announcement's signal.
type Tone struct {
	Hz     float64
	Length time.Duration // so far
	Over   bool
}

const (
	hop      = 20 * time.Millisecond // tones are looked for that often,
	windowed = 2                     // in so many hops at once

	lowest, highest = 350.0, 2250.0 // Hz
	spacing         = 40.0          // Hz between the filters of the bank; the main lobe of one is 100 Hz wide
	steady          = 14.0          // Hz a tone may wander
	purity          = 0.75          // share of a tone in everything that is heard: 5 dB above noise
	faintest        = 100 * 100     // mean square: -50 dBFS
	lapses          = 2             // hops a tone may be missing, as at the phase reversals of a fax

	shortest = 120 * time.Millisecond
	// announced is the length at which a tone that goes on is reported.
	announced = 700 * time.Millisecond
)

// bank are the filters that find a tone whose frequency is not known.
var bank = func() (hz []float64) {
	for f := lowest; f <= highest; f += spacing {
		hz = append(hz, f)
	}
	return hz
}()

// Tones finds single tones in the audio of one line with a bank of Goertzel filters.
type Tones struct {
	rate int
	size int // samples of a hop
	heap []int16

	hz     float64 // of the tone in progress
	hops   int     // it lasted; 0 = none
	missed int     // hops in a row without it
	told   bool
}

// NewTones listens at rate Hz.
func NewTones(rate int) *Tones {
	return &Tones{rate: rate, size: rate * int(hop/time.Millisecond) / 1000}
}

// Feed takes audio in order and reports each tone of at least 120 ms: when it is over, and once before when it lasts 0.7 s.
func (t *Tones) Feed(pcm []int16) (found []Tone) {
	t.heap = append(t.heap, pcm...)
	for len(t.heap) >= windowed*t.size {
		if tone, ok := t.step(t.heap[:windowed*t.size]); ok {
			found = append(found, tone)
		}
		t.heap = t.heap[:copy(t.heap, t.heap[t.size:])]
	}
	return found
}

// step looks at one window.
func (t *Tones) step(pcm []int16) (Tone, bool) {
	hz, ok := single(pcm, t.rate)
	if t.hops > 0 && (!ok || math.Abs(hz-t.hz) > steady) {
		if t.missed++; !ok && t.missed <= lapses {
			return Tone{}, false
		}
		over := Tone{t.hz, t.length(), true}
		t.hops, t.missed, t.told = 0, 0, false
		if ok {
			t.hops, t.hz = 1, hz
		}
		return over, over.Length >= shortest
	}
	if !ok {
		return Tone{}, false
	}
	t.hops += 1 + t.missed
	t.missed = 0
	t.hz += (hz - t.hz) / float64(t.hops)
	if !t.told && t.length() >= announced {
		t.told = true
		return Tone{t.hz, t.length(), false}, true
	}
	return Tone{}, false
}

func (t *Tones) length() time.Duration { return time.Duration(t.hops+windowed-1) * hop }

// single measures the frequency of a window that holds one tone and little else.
func single(pcm []int16, rate int) (hz float64, ok bool) {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	power := sum / float64(len(pcm))
	if power < faintest {
		return 0, false
	}
	best := strongest(audio.FindSignal(pcm, rate, bank...))
	if 2*share(best, power) < purity { // between two filters a tone shows less
		return 0, false
	}
	for step := spacing / 4; step > 2; step /= 2 {
		best = strongest(audio.FindSignal(pcm, rate, best.Hz-2*step, best.Hz-step, best.Hz, best.Hz+step, best.Hz+2*step))
	}
	return best.Hz, share(best, power) >= purity
}

func strongest(all []audio.Tone) audio.Tone {
	best := all[0]
	for _, t := range all[1:] {
		if t.Level > best.Level {
			best = t
		}
	}
	return best
}

// share is how much of the power a tone has.
func share(t audio.Tone, power float64) float64 {
	peak := t.Level * math.MaxInt16
	return peak * peak / 2 / power
}
