package audio

import (
	"math"
	"math/rand/v2"
	"testing"
)

// chatter is noise with the rhythm of speech: syllables of changing loudness, pauses between phrases.
func chatter(seed uint64, seconds int, db float64) []int16 {
	random := rand.New(rand.NewPCG(seed, 1))
	pcm := make([]int16, seconds*8000)
	amplitude := 32768 * math.Pow(10, db/20)
	for at := 0; at < len(pcm); {
		length, loud := 800+random.IntN(1200), amplitude*math.Pow(10, -random.Float64())
		if random.IntN(6) == 0 {
			loud = 0
		}
		for i := range min(length, len(pcm)-at) {
			pcm[at+i] = Clip(int32(loud * math.Sin(math.Pi*float64(i)/float64(length)) * random.NormFloat64()))
		}
		at += length
	}
	return pcm
}

// line sends ours and receives its echo and theirs; the packets of a line arrive late by jitter.
func line(e *Echo, ours, theirs []int16, delay int, db float64, jitter func(frame int) int) (heard []int16) {
	const frame = 160
	factor := math.Pow(10, db/20)
	came := 0
	for n := range len(ours) / frame {
		e.Sent(ours[n*frame : (n+1)*frame])
		for ; came <= n-jitter(n); came++ {
			pcm := make([]int16, frame)
			for i := range pcm {
				at := came*frame + i
				if from := at - delay*8; from >= 0 {
					pcm[i] = int16(factor * float64(ours[from]))
				}
				pcm[i] += theirs[at]
			}
			e.Clean(pcm)
			heard = append(heard, pcm...)
		}
	}
	return heard
}

func inTime(int) int { return 0 }

func TestEchoIsNotHeard(t *testing.T) {
	jumpy := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		delay  int
		db     float64
		jitter func(int) int
	}{{0, -20, inTime}, {150, -10, inTime}, {333, -10, inTime}, {500, -25, inTime}, {150, -20, func(int) int { return jumpy.IntN(3) }}} {
		var e Echo
		e.Init(8000)
		ours := chatter(1, 12, -12)
		heard := line(&e, ours, make([]int16, len(ours)), c.delay, c.db, c.jitter)
		if l := Level(heard); l > -60 {
			t.Errorf("%d ms, %v dB: %.0f dB of the echo are heard", c.delay, c.db, l)
		}
		if delay, level := e.Return(); math.Abs(float64(level)-c.db) > 6 || delay < c.delay-30 || delay > c.delay+60 {
			t.Errorf("%d ms, %v dB: taken for %d ms, %.0f dB", c.delay, c.db, delay, level)
		}
	}
}

func TestOthersAreHeardThroughTheEcho(t *testing.T) {
	for _, db := range []float64{-20, -10} {
		var e Echo
		e.Init(8000)
		ours, theirs := chatter(1, 12, -12), chatter(2, 12, -12)
		clear(theirs[:6*8000])
		heard := line(&e, ours, theirs, 150, db, inTime)
		if l := Level(heard[:6*8000]); l > -60 {
			t.Errorf("%v dB: %.0f dB of the echo are heard", db, l)
		}
		if lost := Level(theirs[6*8000:]) - Level(heard[6*8000:]); lost > 1.5 {
			t.Errorf("%v dB: %.1f dB of the other side are lost", db, lost)
		}
	}
}

// A line without echo is left as it is, but for the first second in which that is not known.
func TestNothingIsTakenWithoutEcho(t *testing.T) {
	var e Echo
	e.Init(8000)
	ours, theirs := chatter(1, 12, -12), chatter(2, 12, -12)
	clear(theirs[:2*8000])
	heard := line(&e, ours, theirs, 0, -200, inTime)
	same := 0
	for i, v := range heard {
		if v == theirs[i] {
			same++
		}
	}
	if same < len(heard)*95/100 {
		t.Errorf("%d of %d samples are what came", same, len(heard))
	}
}

// An echo that gets louder in the middle of a call, as when somebody turns the loudspeaker on, is soon known.
func TestEchoGetsLouder(t *testing.T) {
	var e Echo
	e.Init(8000)
	ours := chatter(1, 20, -12)
	none := make([]int16, len(ours))
	line(&e, ours, none, 150, -200, inTime)
	heard := line(&e, ours, none, 150, -25, inTime)
	if l := Level(heard[10*8000:]); l > -60 {
		t.Errorf("%.0f dB are heard after ten seconds", l)
	}
}

func BenchmarkEcho(b *testing.B) {
	var e Echo
	e.Init(8000)
	ours := chatter(1, 10, -12)
	frame := make([]int16, 160)
	for i := 0; b.Loop(); i++ {
		at := i % (len(ours)/160 - 1) * 160
		e.Sent(ours[at : at+160])
		copy(frame, ours[at:])
		e.Clean(frame)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)*50, "µs/call-s")
}
