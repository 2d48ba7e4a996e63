package audio

import (
	"fmt"
	"math"
	"testing"
)

// sinad resamples one second of a sine wave in 20 ms frames and returns its gain and what is not that sine, in dB.
func sinad(from, to int, hz float64) (gain, ratio float64) {
	r := NewResampler(from, to)
	in := make([]int16, from/50)
	var out []int16
	for at := 0; at+len(in) <= 2*from; at += len(in) {
		GenSignal(in, from, int64(at), Tone{hz, 0.5})
		out = append(out, r.Process(in)...)
	}
	out = out[to/2 : to/2+to]
	var s, c, total float64
	for i, v := range out {
		w := 2 * math.Pi * hz * float64(i) / float64(to)
		s += float64(v) * math.Sin(w)
		c += float64(v) * math.Cos(w)
		total += float64(v) * float64(v)
	}
	amplitude := 2 * math.Hypot(s, c) / float64(to)
	signal := amplitude * amplitude / 2 * float64(to)
	return 20 * math.Log10(amplitude/(0.5*32767)), 10 * math.Log10(signal/math.Max(total-signal, 1e-9))
}

func TestResampleQuality(t *testing.T) {
	rates := []int{8000, 16000, 24000, 48000}
	for _, from := range append(rates, 22050, 44100) {
		for _, to := range rates {
			if from == to {
				continue
			}
			for _, hz := range []float64{300, 1000, math.Round(float64(min(from, to)) * 0.425)} {
				gain, ratio := sinad(from, to, hz)
				if math.Abs(gain) > 0.05 || ratio < 80 {
					t.Errorf("%d to %d at %.0f Hz: gain %.3f dB, SINAD %.1f dB", from, to, hz, gain, ratio)
				}
			}
		}
	}
}

func TestResampleRejectsAliases(t *testing.T) {
	for _, pair := range [][2]int{{16000, 8000}, {24000, 8000}, {48000, 16000}} {
		r := NewResampler(pair[0], pair[1])
		in := make([]int16, pair[0])
		GenSignal(in, pair[0], 0, Tone{float64(pair[1]) * 0.6, 0.5})
		out := r.Process(in)
		if level := Level(out[len(out)/4:]); level > -75 {
			t.Errorf("%v: alias at %.1f dBFS", pair, level)
		}
	}
}

func TestResampleAlignedAndComplete(t *testing.T) {
	for _, pair := range [][2]int{{8000, 16000}, {16000, 8000}, {22050, 8000}, {24000, 16000}, {8000, 8000}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			from, to := pair[0], pair[1]
			in := make([]int16, from)
			in[from/2] = 20000
			r := NewResampler(from, to)
			var out []int16
			for i := 0; i < len(in); i += 77 {
				out = append(out, r.Process(in[i:min(i+77, len(in))])...)
			}
			out = append(out, r.Flush()...)
			if abs(len(out)-to) > 1 {
				t.Errorf("1 s became %d samples at %d Hz", len(out), to)
			}
			peak := 0
			for i := range out {
				if out[i] > out[peak] {
					peak = i
				}
			}
			if abs(peak-to/2) > 1 {
				t.Errorf("impulse at %d came out at %d", from/2, peak*from/to)
			}
		})
	}
}

func TestResampleDoesNotAllocate(t *testing.T) {
	r, in := NewResampler(8000, 24000), make([]int16, 160)
	r.Process(in)
	r.Process(in)
	if n := testing.AllocsPerRun(100, func() { r.Process(in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkResample(b *testing.B) {
	for _, pair := range [][2]int{{8000, 16000}, {16000, 8000}, {24000, 8000}, {8000, 48000}} {
		b.Run(fmt.Sprintf("%d-%d", pair[0], pair[1]), func(b *testing.B) {
			r, in := NewResampler(pair[0], pair[1]), make([]int16, pair[0]/50)
			b.ReportAllocs()
			for b.Loop() {
				r.Process(in)
			}
		})
	}
}
