package switchboard

import (
	"parley/audio/sounds"
)

// ringback is what a caller hears while it rings at the other end.
func ringback(rate int) func([]int16) { return loop(sounds.Ringback, rate, 100) }

// holdMusic is heard while the caller holds, at a volume of 0 to 100, linear in amplitude.
func holdMusic(rate int, volume int64) func([]int16) { return loop(sounds.HoldMusic, rate, volume) }

// loop plays a sound over and over, at so many percent of its amplitude.
func loop(name string, rate int, percent int64) func([]int16) {
	all, at := sounds.Loop(name, rate), 0
	return func(pcm []int16) {
		for i := range pcm {
			pcm[i] = int16(int64(all[at]) * percent / 100)
			at = (at + 1) % len(all)
		}
	}
}
