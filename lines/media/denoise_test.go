package media

import (
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
)

// attentive is a detector that remembers how loud it is.
type attentive struct {
	script
	heard []int16
}

func (a *attentive) Speech(pcm []int16) float32 {
	a.heard = append(a.heard, pcm...)
	return 0
}

// The detector is given sound without its noise; who listens and the recording get it as it came. Moments stay where they were.
func TestDenoisedForTheDetector(t *testing.T) {
	for _, on := range []bool{false, true} {
		d := &attentive{}
		k := newDesk(t, Config{}, func(int) audio.Detector { return d })
		k.Denoise(on)
		k.say(murmur(1, 3, -30))
		heard := k.hear()
		if l := audio.Level(heard); l < -31 || l > -28 {
			t.Errorf("noise suppression %t: %.1f dB are heard, want -30", on, l)
		}
		if gone := audio.Level(heard) - audio.Level(d.heard[8000:]); on != (gone > 9) {
			t.Errorf("noise suppression %t: the detector is given %.1f dB less", on, gone)
		}
	}
	k := newDesk(t, Config{}, func(int) audio.Detector { return gullible{} })
	k.Denoise(true)
	begin := k.now
	k.say(make([]int16, 8000))
	k.say(murmur(1, 1, -15))
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind == lines.SpeechStart {
			if at := e.At.Sub(begin); (at - time.Second).Abs() > 60*time.Millisecond {
				t.Errorf("speech begins at %v, want 1 s", at)
			}
			return
		}
	}
	t.Error("no speech")
}
