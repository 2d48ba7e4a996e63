package sounds

import "math"

// The music on hold: sixteen bars of our own, an electric piano over four chords and their answer.
const (
	beat       = 60.0 / 84 // seconds
	beatsOfBar = 4
	bars       = 16
)

// chords by the notes of the piano, in semitones above the A below middle C; the first is the bass.
var chords = [8][5]int{
	{-16, 3, 7, 10, 14}, // C  E  G  B
	{-12, 0, 3, 7, 10},  // A minor 7
	{-16, 5, 8, 12, 15}, // F  over its fifth
	{-14, 2, 5, 10, 14}, // G
	{-17, 2, 7, 10, 14}, // E minor 7
	{-12, 0, 3, 7, 12},  // A minor
	{-19, 5, 8, 12, 15}, // D minor 7
	{-14, 2, 5, 8, 14},  // G7
}

// tune is the melody of the second half: semitones, and beats; -99 rests.
var tune = [][2]float64{
	{19, 1.5}, {17, 0.5}, {15, 2}, {15, 1}, {14, 1}, {12, 2}, {20, 1.5}, {19, 0.5}, {17, 2}, {17, 1}, {15, 1}, {14, 2},
	{22, 1.5}, {19, 0.5}, {19, 2}, {19, 1}, {17, 1}, {15, 2}, {17, 1.5}, {15, 0.5}, {12, 2}, {14, 1}, {-99, 1}, {14, 2},
}

// pattern is the order in which the notes of a chord are broken into eighths.
var pattern = [8]int{1, 3, 2, 4, 3, 2, 4, 3}

func holdMusic(t *tape) {
	for bar := range bars {
		c, start := chords[bar%len(chords)], float64(bar*beatsOfBar)*beat
		for _, at := range []float64{0, 2.5} {
			t.put(start+at*beat, 0.9, t.piano(c[0], 1.4, 0.6))
		}
		for _, note := range c[1:4] {
			t.put(start, 0.28, t.piano(note, 2.6, 1))
		}
		for k, i := range pattern {
			t.put(start+float64(k)*beat/2, 0.3+0.08*float64((k+1)%2), t.piano(c[i], 0.9, 1.2))
		}
	}
	at := float64(bars/2*beatsOfBar) * beat
	for _, n := range tune {
		if n[0] > -99 {
			t.put(at, 0.55, t.piano(int(n[0]), 0.8+0.4*n[1], 1.5))
		}
		at += n[1] * beat
	}
}

// piano is one note: a sine bent by another one, which leaves it as it fades.
func (t *tape) piano(note int, seconds, bright float64) []float64 {
	hz := 220 * math.Pow(2, float64(note)/12)
	out := make([]float64, int(seconds*t.rate))
	for i := range out {
		at := float64(i) / t.rate
		bend := bright * math.Exp(-3.5*at) * math.Sin(2*math.Pi*hz*at)
		out[i] = math.Sin(2*math.Pi*hz*at + bend)
	}
	out = t.decay(out, 0.004, seconds/2.6)
	for i := range min(len(out), int(0.03*t.rate)) { // no click at its end
		out[len(out)-1-i] *= float64(i) / (0.03 * t.rate)
	}
	return out
}
