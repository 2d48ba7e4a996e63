package sounds

import "math"

// vowels by their first three formants in Hz.
var vowels = [][3]float64{{730, 1090, 2440}, {270, 2290, 3010}, {300, 870, 2240}, {530, 1840, 2480}, {570, 840, 2410}, {440, 1020, 2240}}

// talk is people who talk without words, each phrase after phrase with pauses, heard through a wall at high Hz.
func (t *tape) talk(people int, gain, high float64) {
	for range people {
		pitch, near := t.between(90, 220), t.between(0.5, 1)
		at := t.between(0, 3)
		for end := at + t.seconds() - 0.5; at < end; at += t.between(0.15, 0.9) {
			phrase := through(t.phrase(pitch), lowpass(t.rate, high))
			if at+float64(len(phrase))/t.rate > end+0.5 {
				break
			}
			t.put(at, gain*near/max(1e-9, rmsOf(phrase)), phrase)
			at += float64(len(phrase)) / t.rate
		}
	}
}

// phrase is some syllables of a voice: pulses through the formants of changing vowels, the pitch falling to the end.
func (t *tape) phrase(pitch float64) (out []float64) {
	syllables := int(t.between(5, 14))
	phase := 0.0
	for k := range syllables {
		hz := pitch * (1.15 - 0.25*float64(k)/float64(syllables)) * t.between(0.94, 1.08)
		source := t.noise(t.between(0.13, 0.24))
		for i := range source { // breath, and the pulses of the glottis
			source[i] *= 0.05
			if phase += hz / t.rate; phase >= 1 {
				phase--
				source[i]++
			}
		}
		vowel := vowels[t.chance.IntN(len(vowels))]
		sum := make([]float64, len(source))
		for f, hz := range vowel {
			for i, v := range through(append([]float64(nil), source...), bandpass(t.rate, hz, 8)) {
				sum[i] += v / math.Pow(2, float64(f))
			}
		}
		out = append(out, rounded(sum)...)
		if t.chance.IntN(3) == 0 {
			out = append(out, through(bell(t.noise(0.06)), highpass(t.rate, 2200), lowpass(t.rate, 3600))...)
		}
	}
	return out
}

// rounded takes the edges off a syllable.
func rounded(in []float64) []float64 {
	edge := len(in) / 4
	for i := range edge {
		g := math.Sin(math.Pi / 2 * float64(i) / float64(edge))
		in[i] *= g
		in[len(in)-1-i] *= g
	}
	return in
}
