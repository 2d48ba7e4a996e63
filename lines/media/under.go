package media

import "parley/audio"

// under is a loop under what we send. Its first three fields do not change, the rest is the pacer's.
type under struct {
	pcm           []int16
	full, lowered int32 // gain in steps of 1/65536, and while something queued is sent
	gain          int32
	at            int
}

// How the gain moves, in frames of 20 ms from nothing to full: down quickly before a word is lost, up again slowly.
const (
	duckFrames = 5
	riseFrames = 25
)

// Under implements lines.Media.
func (s *Stream) Under(pcm []int16, gain float64) {
	if len(pcm) == 0 || gain <= 0 {
		s.under.Store(nil)
		return
	}
	full := int32(min(gain, 1) * (1 << 16))
	s.under.Store(&under{pcm: pcm, full: full, lowered: full / 2})
}

// mix adds a frame of the loop to one that is to be sent. spoken says that something queued is in it.
func (u *under) mix(frame []int16, spoken bool) {
	want := u.full
	if spoken {
		want = u.lowered
	}
	next := max(u.gain-u.full/duckFrames, want)
	if want > u.gain {
		next = min(u.gain+u.full/riseFrames, want)
	}
	from, step := int64(u.gain), int64(next-u.gain)
	for i := range frame {
		gain := from + step*int64(i)/int64(len(frame))
		frame[i] = audio.Clip(int32(frame[i]) + int32(int64(u.pcm[u.at])*gain>>16))
		if u.at++; u.at == len(u.pcm) {
			u.at = 0
		}
	}
	u.gain = next
}
