package media

import (
	"math"
	"testing"

	"parley/audio"
)

// A loop is heard while nothing is said, half as loud under speech, and comes back behind it; without one silence is silence.
//
// Contract: 4.2
func TestLoopUnderSpeech(t *testing.T) {
	k := newDesk(t, Config{}, nil)
	loop := make([]int16, 8000)
	audio.GenSignal(loop, 8000, 0, audio.Tone{Hz: 500, Level: 0.1})
	var sent []int16
	level := func(from, to int, want float64) {
		t.Helper()
		sent = append(sent, k.sent()...)
		if got := audio.FindSignal(sent[from*160:to*160], 8000, 500)[0].Level; math.Abs(got-want) > 0.1*want+0.0005 {
			t.Errorf("heard at %.4f, want %.4f", got, want)
		}
	}
	k.step(10)
	level(0, 10, 0)
	k.Under(loop, 0.5)
	k.step(80)
	level(10, 90, 0.05)
	speech := make([]int16, 30*160)
	audio.GenSignal(speech, 8000, 0, audio.Tone{Hz: 1500, Level: 0.4})
	k.play(speech)
	k.step(30)
	level(96, 120, 0.025)
	if said := audio.FindSignal(sent[96*160:], 8000, 1500)[0].Level; said < 0.38 {
		t.Errorf("speech at %.3f", said)
	}
	k.want("played", k.Played(), int64(len(speech)))
	k.step(60)
	level(150, 180, 0.05)
	k.Under(nil, 0)
	k.step(10)
	level(180, 190, 0)
}

func BenchmarkUnder(b *testing.B) {
	loop, frame := make([]int16, 8000), make([]int16, 160)
	audio.GenSignal(loop, 8000, 0, audio.Tone{Hz: 500, Level: 0.1})
	u := &under{pcm: loop, full: 1 << 15, lowered: 1 << 14}
	for b.Loop() {
		clear(frame)
		u.mix(frame, false)
	}
}
