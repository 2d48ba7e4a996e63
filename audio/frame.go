// Package audio is sound without I/O: frames, codecs, resampling, tones, files.
package audio

import "time"

// FrameDur is the packet time of every line: 20 ms.
const FrameDur = 20 * time.Millisecond

// Frame is a run of mono 16-bit linear samples. A frame is borrowed: the receiver copies what it keeps.
type Frame struct {
	Rate int // samples per second: 8000, 16000, 24000 or 48000
	PCM  []int16
}

// Dur is the playing time of the frame.
func (f Frame) Dur() time.Duration {
	if f.Rate == 0 {
		return 0
	}
	return time.Duration(len(f.PCM)) * time.Second / time.Duration(f.Rate)
}
