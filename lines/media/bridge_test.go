package media

import (
	"testing"

	"parley/audio"
	"parley/audio/rtp"
	"parley/lines"
)

func TestBridge(t *testing.T) {
	a := newDesk(t, Config{}, nil)
	b := newDesk(t, Config{Codec: G722}, nil)
	x := Bridge(a.Stream, b.Stream)
	pcm := make([]int16, 160)
	var far codec
	far.init(&Config{Codec: G722}, 16000)
	var got []int16
	frame := make([]int16, 320)
	for i := range 60 {
		audio.GenSignal(pcm, 8000, int64(i*160), audio.Tone{Hz: 700, Level: 0.3})
		a.packet(a.next(), mu(pcm), phone)
		a.step(1)
		b.step(1)
		_, payload, _ := rtp.Parse(b.wire.out[i])
		got = append(got, far.decode(frame, payload)...)
	}
	if l := audio.FindSignal(got[8000:], 16000, 700)[0].Level; l < 0.28 || l > 0.32 {
		t.Errorf("700 Hz arrives at %.3f", l)
	}
	a.want("a itself is heard too", len(a.hear()), 60*160)
	x.Close()
	x.Close()
	b.wire.out = nil
	a.say(flat(8031, 160))
	b.step(20)
	for _, packet := range b.wire.out {
		_, payload, _ := rtp.Parse(packet)
		frame = far.decode(frame, payload)
	}
	if level := audio.Level(frame); level > -70 {
		t.Errorf("%.1f dBFS after the bridge was taken down", level)
	}
}

func TestPlayoutGrowsWithGaps(t *testing.T) {
	p := newPlayout(8000, newDesk(t, Config{}, nil).Stream)
	frame, pcm := make([]int16, 160), flat(1000, 160)
	silent := 0
	for i := range 400 {
		if i%4 == 3 { // bursts of four frames every 80 ms
			for range 4 {
				p.put(pcm)
			}
		}
		clear(frame)
		if p.mix(frame) == 0 && i > 60 {
			silent++
		}
	}
	if silent > 0 {
		t.Errorf("%d gaps after 1.2 s", silent)
	}
	if p.delay > maxDelay {
		t.Errorf("delay of %d frames", p.delay)
	}
}

// Keys that come as sound are keys, once also where the far end tells of them in telephone events besides.
//
// Contract: 4.4
func TestKeysAsSound(t *testing.T) {
	k := newDesk(t, Config{DTMFPayload: 101}, nil)
	k.Stream.port = &Port{}
	defer func() { k.Stream.port = nil }()
	tone := func(key byte, told bool) {
		pair, _ := audio.DTMF(key, 0.2)
		pcm := make([]int16, 160)
		for i := range 12 {
			clear(pcm)
			if i < 6 {
				audio.GenSignal(pcm, 8000, int64(i*160), pair[:]...)
			}
			k.packet(k.next(), mu(pcm), phone)
			if told && i == 3 {
				k.Press(key)
			}
			k.step(1)
		}
	}
	tone('7', true)
	tone('8', false)
	var keys []byte
	for len(k.events) > 0 {
		if e := <-k.events; e.Kind == lines.Digit {
			keys = append(keys, e.Digit)
		}
	}
	k.want("keys", string(keys), "78")
}
