package sim

import (
	"math"
	"sync"

	"parley/audio"
)

// noise is the sound of the place a phone is in.
type noise struct {
	mu    sync.Mutex
	kind  string
	level float64
	seed  uint32
	low   float64
	at    int64
}

func (n *noise) set(kind string, level float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kind, n.level, n.seed = kind, level, 1
}

func (n *noise) on() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.level > 0
}

// mix adds steady filtered noise, or the same swelling like voices in another room.
func (n *noise) mix(frame []int16, rate int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.level <= 0 {
		return
	}
	for i := range frame {
		n.seed = n.seed*1664525 + 1013904223
		n.low += 0.3 * (float64(int32(n.seed))/math.MaxInt32 - n.low)
		gain := n.level
		if n.kind == "babble" {
			t := float64(n.at) / float64(rate)
			gain *= 0.5 + 0.25*math.Sin(2*math.Pi*3.1*t) + 0.25*math.Sin(2*math.Pi*4.7*t+1)
		}
		n.at++
		frame[i] = audio.Clip(int32(frame[i]) + int32(n.low*gain*20000))
	}
}
