package sounds

import (
	"math"
	"math/rand/v2"
)

// tape is a loop in the making: what is put on it beyond its end goes on at its beginning.
type tape struct {
	rate   float64
	pcm    []float64
	chance *rand.Rand
}

func (t *tape) seconds() float64 { return float64(len(t.pcm)) / t.rate }

// between is a number by chance.
func (t *tape) between(a, b float64) float64 { return a + (b-a)*t.chance.Float64() }

// put mixes a sound in at a moment.
func (t *tape) put(at float64, gain float64, sound []float64) {
	from := int(at*t.rate) % len(t.pcm)
	for i, v := range sound {
		t.pcm[(from+i)%len(t.pcm)] += gain * v
	}
}

// lay mixes a sound in that is as long as the loop and has no seam.
func (t *tape) lay(gain float64, sound []float64) { t.put(0, gain/max(1e-9, rmsOf(sound)), sound) }

// noise is white noise of a number of seconds.
func (t *tape) noise(seconds float64) []float64 {
	out := make([]float64, int(seconds*t.rate))
	for i := range out {
		out[i] = t.chance.NormFloat64()
	}
	return out
}

// hiss is noise as long as the loop between two frequencies, falling by 3 dB an octave where it is pink, without a seam.
func (t *tape) hiss(low, high float64, pink bool) []float64 {
	out := make([]float64, len(t.pcm))
	for i := range out {
		out[i] = t.chance.NormFloat64()
	}
	if pink {
		out = t.pinken(out)
	}
	return t.around(out, highpass(t.rate, low), lowpass(t.rate, high), lowpass(t.rate, high))
}

// pinken sums low-passed copies of the noise: 3 dB an octave within half a decibel.
func (t *tape) pinken(in []float64) []float64 {
	sum := make([]float64, len(in))
	for f := 30.0; f < t.rate/2; f *= 4 {
		for i, v := range t.around(in, lowpass(t.rate, f)) {
			sum[i] += v / math.Sqrt(f)
		}
	}
	return sum
}

// around filters a loop; a first turn brings the filter into the state it has at the end.
func (t *tape) around(in []float64, filters ...filter) []float64 {
	out := append([]float64(nil), in...)
	for _, f := range filters {
		for range 2 {
			for i, v := range in {
				out[i] = f.step(v)
			}
		}
		in = append([]float64(nil), out...)
	}
	return out
}

// swell makes a loop louder and softer, between low and 1, in waves of about so many seconds.
func (t *tape) swell(in []float64, low, wave float64) []float64 {
	type sine struct{ turns, phase float64 }
	var sines []sine
	for k := range 4 {
		turns := math.Max(1, math.Round(t.seconds()/wave*(0.6+0.35*float64(k))))
		sines = append(sines, sine{turns, t.between(0, 2*math.Pi)})
	}
	for i := range in {
		at := 2 * math.Pi * float64(i) / float64(len(in))
		v := 0.0
		for _, s := range sines {
			v += math.Sin(s.turns*at + s.phase)
		}
		in[i] *= low + (1-low)*(0.5+v/8)
	}
	return in
}

// filter is a second-order section (R. Bristow-Johnson's formulas).
type filter struct{ b0, b1, b2, a1, a2, x1, x2, y1, y2 float64 }

func (f *filter) step(x float64) float64 {
	y := f.b0*x + f.b1*f.x1 + f.b2*f.x2 - f.a1*f.y1 - f.a2*f.y2
	f.x2, f.x1, f.y2, f.y1 = f.x1, x, f.y1, y
	return y
}

func section(rate, hz, q float64, shape func(cos, alpha float64) (b0, b1, b2 float64)) filter {
	w := 2 * math.Pi * min(hz, 0.45*rate) / rate
	alpha, cos := math.Sin(w)/(2*q), math.Cos(w)
	b0, b1, b2 := shape(cos, alpha)
	a0 := 1 + alpha
	return filter{b0: b0 / a0, b1: b1 / a0, b2: b2 / a0, a1: -2 * cos / a0, a2: (1 - alpha) / a0}
}

func lowpass(rate, hz float64) filter {
	return section(rate, hz, math.Sqrt2/2, func(c, _ float64) (float64, float64, float64) { return (1 - c) / 2, 1 - c, (1 - c) / 2 })
}

func highpass(rate, hz float64) filter {
	return section(rate, hz, math.Sqrt2/2, func(c, _ float64) (float64, float64, float64) { return (1 + c) / 2, -(1 + c), (1 + c) / 2 })
}

func bandpass(rate, hz, q float64) filter {
	return section(rate, hz, q, func(_, a float64) (float64, float64, float64) { return a, 0, -a })
}

// through filters a sound that begins and ends.
func through(in []float64, filters ...filter) []float64 {
	for _, f := range filters {
		for i, v := range in {
			in[i] = f.step(v)
		}
	}
	return in
}

// decay fades a sound out with a time constant, after a short rise.
func (t *tape) decay(in []float64, rise, fall float64) []float64 {
	for i := range in {
		at := float64(i) / t.rate
		in[i] *= (1 - math.Exp(-at/max(rise, 1e-4))) * math.Exp(-at/fall)
	}
	return in
}

// bell lets a sound come and go: a raised cosine over its length.
func bell(in []float64) []float64 {
	for i := range in {
		in[i] *= 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(in)))
	}
	return in
}

// glide is a sine whose frequency goes from one to another. What the rate cannot carry is silent.
func (t *tape) glide(from, to, seconds float64) []float64 {
	out := make([]float64, int(seconds*t.rate))
	phase := 0.0
	for i := range out {
		f := from + (to-from)*float64(i)/float64(len(out))
		phase += 2 * math.Pi * f / t.rate
		if f < 0.48*t.rate {
			out[i] = math.Sin(phase)
		}
	}
	return out
}
