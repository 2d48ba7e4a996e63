package media

import (
	"testing"

	"parley/assets"
	"parley/audio"
	"parley/audio/silero"
)

// The pacer's work for a second of a call: one whose caller hears an assistant, and one whose caller talks to somebody else on
// a leg of another rate or of the same one. A bridged call has two legs. Sockets are in memory: the system's share, which is most
// of it and the same for every leg, is not in it.
func BenchmarkBridge(b *testing.B) {
	t := &testing.T{}
	tone := make([]int16, 160)
	audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 500, Level: 0.3})
	second := func(b *testing.B, play bool, legs ...*desk) {
		b.ReportAllocs()
		for b.Loop() {
			for range 50 {
				for _, k := range legs {
					k.packet(k.next(), mu(tone), phone)
					if play {
						k.play(tone)
					}
					k.step(1)
					k.hearing.read.Store(k.hearing.written.Load())
					k.wire.out = k.wire.out[:0]
				}
			}
		}
	}
	weights, err := assets.Read("silero_vad.onnx")
	if err != nil {
		b.Skip(err)
	}
	model, err := silero.Load(weights)
	if err != nil {
		b.Fatal(err)
	}
	detector := func(rate int) audio.Detector { return model.Detector(rate) }
	b.Run("played", func(b *testing.B) { second(b, true, newDesk(t, Config{}, detector)) })
	b.Run("bridged", func(b *testing.B) {
		x, y := newDesk(t, Config{}, detector), newDesk(t, Config{}, detector)
		defer Bridge(x.Stream, y.Stream).Close()
		second(b, false, x, y)
	})
}

// What a bridge adds to the way from one telephone to the other: the playout buffer and the wait for the next frame.
func TestBridgeDelay(t *testing.T) {
	a, b := newDesk(t, Config{}, nil), newDesk(t, Config{}, nil)
	defer Bridge(a.Stream, b.Stream).Close()
	quiet, tone := make([]int16, 160), flat(8031, 160)
	sent := -1
	for i := range 100 {
		pcm := quiet
		if i >= 50 {
			pcm = tone
		}
		a.packet(a.next(), mu(pcm), phone)
		a.step(1)
		b.step(1)
		if audio.Level(b.sent()) > -40 && sent < 0 {
			sent = i
		}
	}
	if delay := (sent - 50) * 20; sent < 0 || delay > 60 {
		t.Errorf("%d ms", delay)
	}
}
