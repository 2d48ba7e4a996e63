package media

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
)

// gullible is a detector that takes every sound for speech.
type gullible struct{ script }

func (gullible) Speech(pcm []int16) float32 {
	if audio.Level(pcm) > -60 {
		return 0.95
	}
	return 0.01
}

// murmur is noise with the unrest of a voice, db below full scale.
func murmur(seed uint64, seconds float64, db float64) []int16 {
	random := rand.New(rand.NewPCG(seed, 9))
	pcm := make([]int16, int(seconds*8000)/160*160)
	for i := range pcm {
		loud := 1 + 0.3*math.Sin(2*math.Pi*float64(i)/1900)
		pcm[i] = audio.Clip(int32(32768 * math.Pow(10, db/20) * loud * random.NormFloat64()))
	}
	return pcm
}

// Sound that never ends does not keep a caller's turn from ending, if it is 10 dB less loud than the caller.
func TestOthersTalkBehindTheCaller(t *testing.T) {
	for _, db := range []float64{-15, -10} {
		k := newDesk(t, Config{}, func(int) audio.Detector { return gullible{} })
		begin := k.now
		scene := murmur(1, 12, -15+db)
		audio.Mix(scene[3*8000:], murmur(2, 2, -15))
		k.say(scene)
		var ends []time.Duration
		for len(k.events) > 0 {
			if e := <-k.events; e.Kind == lines.SpeechEnd {
				ends = append(ends, e.At.Sub(begin))
			}
		}
		if len(ends) != 1 || (ends[0]-5*time.Second).Abs() > 200*time.Millisecond {
			t.Errorf("%v dB: speech ended at %v, want once at 5 s", db, ends)
		}
	}
}

// Who speaks after silence is heard, however much louder somebody was before.
func TestQuietSpeakerAfterALoudOne(t *testing.T) {
	k := newDesk(t, Config{}, func(int) audio.Detector { return gullible{} })
	k.say(murmur(1, 1, -12))
	k.say(make([]int16, 16000))
	k.kinds()
	begin := k.now
	k.say(murmur(2, 2, -34))
	k.say(make([]int16, 8000))
	var at []time.Duration
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind == lines.SpeechStart || e.Kind == lines.SpeechEnd {
			at = append(at, e.At.Sub(begin))
		}
	}
	if len(at) != 2 || at[0] > 100*time.Millisecond || (at[1]-2*time.Second).Abs() > 100*time.Millisecond {
		t.Errorf("heard from, to %v, want 0 to 2 s", at)
	}
}
