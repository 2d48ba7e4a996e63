package audio

import "math"

// Tone is a sine wave.
type Tone struct {
	Hz    float64
	Level float64 // peak amplitude, 0-1 of full scale
}

// GenSignal fills dst with the sum of tones at the given rate. at is the position of dst[0] in samples, so that runs of
// calls join without a step.
func GenSignal(dst []int16, rate int, at int64, tones ...Tone) {
	for i := range dst {
		var v float64
		for _, t := range tones {
			v += t.Level * math.Sin(2*math.Pi*t.Hz*float64(at+int64(i))/float64(rate))
		}
		dst[i] = Clip(int32(math.Round(v * 32767)))
	}
}

// FindSignal measures each of the frequencies in pcm. The answer has the same order; the level of an absent tone is near
// 0. Frequencies closer than 4·rate/len(pcm) cannot be told apart.
func FindSignal(pcm []int16, rate int, hz ...float64) []Tone {
	found := make([]Tone, len(hz))
	for i, f := range hz {
		found[i] = Tone{f, goertzel(pcm, rate, f)}
	}
	return found
}

// goertzel measures the peak amplitude (0-1) of one frequency, with a Hann window against leakage.
func goertzel(pcm []int16, rate int, hz float64) float64 {
	n := len(pcm)
	if n == 0 {
		return 0
	}
	coefficient := 2 * math.Cos(2*math.Pi*hz/float64(rate))
	step := 2 * math.Pi / float64(n)
	c, s := math.Cos(step), math.Sin(step)
	wc, ws := math.Cos(step/2), math.Sin(step/2) // rotating window phase
	var s1, s2 float64
	for _, v := range pcm {
		s0 := float64(v)*(0.5-0.5*wc) + coefficient*s1 - s2
		s2, s1 = s1, s0
		wc, ws = wc*c-ws*s, ws*c+wc*s
	}
	power := s1*s1 + s2*s2 - coefficient*s1*s2
	return math.Sqrt(max(0, power)) * 4 / float64(n) / 32767
}

// dtmfRows and dtmfColumns are the frequencies of ITU-T Q.23.
var (
	dtmfRows    = [4]float64{697, 770, 852, 941}
	dtmfColumns = [4]float64{1209, 1336, 1477, 1633}
)

const dtmfKeys = "123A456B789C*0#D"

// DTMF is the pair of tones of a key: 0-9 * # A-D. ok is false for anything else.
func DTMF(key byte, level float64) (pair [2]Tone, ok bool) {
	for i := range len(dtmfKeys) {
		if dtmfKeys[i] == key {
			return [2]Tone{{dtmfRows[i/4], level}, {dtmfColumns[i%4], level}}, true
		}
	}
	return pair, false
}

// FindDTMF names the key whose tones are in pcm (30 ms or more), or 0.
func FindDTMF(pcm []int16, rate int) byte {
	row, rowLevel, rowNext := loudest(pcm, rate, dtmfRows)
	column, columnLevel, columnNext := loudest(pcm, rate, dtmfColumns)
	total := math.Sqrt(Energy(pcm)/float64(max(1, len(pcm)))) / 32767 * math.Sqrt2
	switch {
	case rowLevel < 0.005 || columnLevel < 0.005: // quieter than -46 dBFS
		return 0
	case rowLevel > 6*columnLevel || columnLevel > 6*rowLevel: // twist over 16 dB
		return 0
	case rowNext > rowLevel/3 || columnNext > columnLevel/3: // a second tone in the group
		return 0
	case math.Hypot(rowLevel, columnLevel) < 0.8*total: // speech
		return 0
	}
	return dtmfKeys[row*4+column]
}

func loudest(pcm []int16, rate int, group [4]float64) (best int, level, next float64) {
	for i, f := range group {
		switch v := goertzel(pcm, rate, f); {
		case v > level:
			best, level, next = i, v, level
		case v > next:
			next = v
		}
	}
	return best, level, next
}
