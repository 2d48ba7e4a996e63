package sim

import (
	"math"

	"parley/audio"
)

// signal makes the sound of a machine at a rate in Hz.
type signal func(rate int) []int16

// beep is the tone after which a mailbox records.
func beep(rate int) []int16 {
	pcm := make([]int16, rate*7/10)
	audio.GenSignal(pcm, rate, 0, audio.Tone{Hz: 1000, Level: 0.4})
	return pcm
}

// faxAnswer is the answer tone of a fax (ITU-T V.25): 2100 Hz for 3.3 s, its phase reversed every 450 ms.
func faxAnswer(rate int) []int16 {
	pcm := make([]int16, rate*33/10)
	audio.GenSignal(pcm, rate, 0, audio.Tone{Hz: 2100, Level: 0.3})
	for i := range pcm {
		if i/(rate*45/100)%2 == 1 {
			pcm[i] = -pcm[i]
		}
	}
	return pcm
}

// faxFlags is a second of the flags a fax begins its frames with (ITU-T T.30 §5.3.2): 300 bit/s, 1850 Hz for 0 and 1650 Hz
// for 1 (V.21, upper channel).
func faxFlags(rate int) []int16 {
	const flag = 0b01111110
	pcm := make([]int16, rate)
	phase := 0.0
	for i := range pcm {
		hz := 1850.0
		if flag>>(i*300/rate%8)&1 == 1 {
			hz = 1650
		}
		phase += 2 * math.Pi * hz / float64(rate)
		pcm[i] = int16(0.3 * math.MaxInt16 * math.Sin(phase))
	}
	return pcm
}
