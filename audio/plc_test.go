package audio

import (
	"math"
	"testing"
)

// One lost frame in a steady tone must be filled so well that the tone goes on, and a long loss must end in silence.
func TestConceal(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		var c Concealer
		c.Init(rate)
		n := rate / 50
		frame, all := make([]int16, n), []int16{}
		for i := range 20 {
			GenSignal(frame, rate, int64(i*n), Tone{200, 0.3}, Tone{400, 0.1})
			if i == 10 {
				c.Conceal(frame)
			} else {
				c.Good(frame)
			}
			all = append(all, frame...)
		}
		hole := all[10*n : 11*n]
		if level := Level(hole); math.Abs(level-Level(all[9*n:10*n])) > 2 {
			t.Errorf("%d Hz: hole at %.1f dBFS, before it %.1f", rate, level, Level(all[9*n:10*n]))
		}
		want := make([]int16, n)
		GenSignal(want, rate, int64(10*n), Tone{200, 0.3}, Tone{400, 0.1})
		var wrong float64
		for i := range n / 2 {
			d := float64(hole[i]) - float64(want[i])
			wrong += d * d
		}
		if snr := 10 * math.Log10(Energy(want[:n/2])/wrong); snr < 15 {
			t.Errorf("%d Hz: concealment is %.1f dB above its error", rate, snr)
		}
		for range 4 {
			c.Conceal(frame)
		}
		if Level(frame) != -100 {
			t.Errorf("%d Hz: still %.1f dBFS after 80 ms", rate, Level(frame))
		}
	}
}

func TestConcealDoesNotAllocate(t *testing.T) {
	var c Concealer
	c.Init(8000)
	frame := make([]int16, 160)
	if n := testing.AllocsPerRun(100, func() { c.Good(frame); c.Conceal(frame) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStretch(t *testing.T) {
	const rate = 16000
	for _, speed := range []float64{0.7, 0.9, 1, 1.2, 1.5} {
		s := NewStretcher(rate, speed)
		in := make([]int16, 2*rate)
		GenSignal(in, rate, 0, Tone{180, 0.3}, Tone{720, 0.1})
		var out []int16
		for i := 0; i < len(in); i += 320 {
			out = append(out, s.Process(in[i:i+320])...)
		}
		out = append(out, s.Flush()...)
		if want := float64(len(in)) / speed; math.Abs(float64(len(out))-want) > rate/40 {
			t.Errorf("speed %v: %d samples, want %.0f", speed, len(out), want)
		}
		middle := out[rate/2 : rate]
		tones := FindSignal(middle, rate, 180, 720, 180*speed)
		if tones[0].Level < 0.25 || tones[1].Level < 0.07 || speed != 1 && tones[2].Level > 0.05 {
			t.Errorf("speed %v: pitch changed: %v", speed, tones)
		}
	}
}
