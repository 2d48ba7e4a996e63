package audio

import (
	"math/rand/v2"
	"testing"
)

// press is keys of on ms with gaps of off ms, at a level, over noise.
func press(keys string, rate, on, off int, level, twist, noise float64) []int16 {
	out := make([]int16, rate/5)
	for i := range len(keys) {
		pair, _ := DTMF(keys[i], level)
		pair[0].Level *= twist
		pcm := make([]int16, (on+off)*rate/1000)
		GenSignal(pcm[:on*rate/1000], rate, 0, pair[:]...)
		out = append(out, pcm...)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = Clip(int32(out[i]) + int32(chance.NormFloat64()*noise*32767))
	}
	return append(out, make([]int16, rate/5)...)
}

func keysIn(pcm []int16, rate, chunk int) string {
	var got []byte
	k := NewKeys(rate)
	for len(pcm) > 0 {
		n := min(chunk, len(pcm))
		k.Feed(pcm[:n], func(key byte) { got = append(got, key) })
		pcm = pcm[n:]
	}
	return string(got)
}

// Keys of all lengths, levels and lines are heard, each once.
//
// Contract: 4.4
func TestKeysInSound(t *testing.T) {
	const all = "0123456789*#ABCD5511"
	for name, c := range map[string]struct {
		rate, on, off       int
		level, twist, noise float64
	}{
		"as we send them":     {8000, 120, 80, 0.22, 1, 0},
		"short":               {8000, 70, 50, 0.22, 1, 0},
		"long":                {8000, 1000, 200, 0.22, 1, 0},
		"quiet":               {8000, 100, 60, 0.02, 1, 0},
		"loud":                {8000, 100, 60, 0.49, 1, 0},
		"a louder lower tone": {8000, 100, 60, 0.1, 2.2, 0},
		"a softer lower tone": {8000, 100, 60, 0.2, 0.6, 0},
		"with noise":          {8000, 100, 60, 0.1, 1, 0.012},
		"wide":                {16000, 100, 60, 0.2, 1, 0},
	} {
		pcm := press(all, c.rate, c.on, c.off, c.level, c.twist, c.noise)
		for _, chunk := range []int{1, 160, 7777} {
			if got := keysIn(pcm, c.rate, chunk); got != all {
				t.Errorf("%s, in pieces of %d: %q", name, chunk, got)
			}
		}
	}
	for _, hz := range []float64{440, 425, 697, 941, 1209, 2100} {
		pcm := make([]int16, 16000)
		GenSignal(pcm, 8000, 0, Tone{hz, 0.4})
		if got := keysIn(pcm, 8000, 160); got != "" {
			t.Errorf("%v Hz is taken for %q", hz, got)
		}
	}
	noise := press("", 8000, 1, 1, 0, 1, 0.2)
	for range 40 {
		noise = append(noise, press("", 8000, 1, 1, 0, 1, 0.2)...)
	}
	if got := keysIn(noise, 8000, 160); got != "" {
		t.Errorf("noise is taken for %q", got)
	}
}

func BenchmarkKeys(b *testing.B) {
	pcm := press("159D", 8000, 150, 100, 0.2, 1, 0.1)[:8000]
	k := NewKeys(8000)
	for b.Loop() { // a second of a call
		k.Feed(pcm, func(byte) {})
	}
}
