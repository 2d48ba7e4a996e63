package audio

import "math"

// Clip brings a sum of samples back into the range of one.
func Clip(v int32) int16 { return int16(max(math.MinInt16, min(math.MaxInt16, v))) }

// Mix adds src to dst, saturating. The shorter one sets the length.
func Mix(dst, src []int16) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for i, s := range src {
		dst[i] = Clip(int32(dst[i]) + int32(s))
	}
}

// Gain is a linear factor in steps of 1/4096.
type Gain int32

// NewGain converts decibels; -120 dB and less is silence, the loudest is +48 dB.
func NewGain(db float64) Gain {
	if db <= -120 {
		return 0
	}
	return Gain(math.Round(4096 * math.Pow(10, min(db, 48)/20)))
}

// Apply scales pcm in place, saturating.
func (g Gain) Apply(pcm []int16) {
	for i, s := range pcm {
		pcm[i] = Clip(int32((int64(s)*int64(g) + 2048) >> 12))
	}
}

// Level is the RMS of pcm in dB below a full-scale square wave (dBFS), at least -100.
func Level(pcm []int16) float64 {
	if len(pcm) == 0 {
		return -100
	}
	return max(-100, 10*math.Log10(Energy(pcm)/float64(len(pcm))/(32768*32768)+1e-12))
}

// Energy is the sum of squares of pcm.
func Energy(pcm []int16) float64 {
	var sum int64
	for _, s := range pcm {
		sum += int64(s) * int64(s)
	}
	return float64(sum)
}
