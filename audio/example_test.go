package audio_test

import (
	"fmt"

	"parley/audio"
)

func ExampleResampler() {
	phone := make([]int16, 8000)
	audio.GenSignal(phone, 8000, 0, audio.Tone{Hz: 440, Level: 0.5})
	r := audio.NewResampler(8000, 24000)
	var wide []int16
	for i := 0; i < len(phone); i += 160 { // frame by frame
		wide = append(wide, r.Process(phone[i:i+160])...)
	}
	wide = append(wide, r.Flush()...)
	fmt.Printf("%d samples, 440 Hz at %.2f\n", len(wide), audio.FindSignal(wide, 24000, 440)[0].Level)
	// Output: 24000 samples, 440 Hz at 0.50
}

func ExampleDTMF() {
	pair, _ := audio.DTMF('5', 0.2)
	pcm := make([]int16, 800)
	audio.GenSignal(pcm, 8000, 0, pair[:]...)
	fmt.Printf("%.0f Hz and %.0f Hz: %c\n", pair[0].Hz, pair[1].Hz, audio.FindDTMF(pcm, 8000))
	// Output: 770 Hz and 1336 Hz: 5
}
