// Package providertest holds what every provider of a role must do, as tests that each provider runs.
package providertest

import (
	"context"
	"errors"
	"testing"

	"parley/audio"
	"parley/voice"
)

// Synthesizer tests a synthesizer with an English sentence it can speak.
func Synthesizer(t *testing.T, s voice.Synthesizer, sentence voice.Speech) {
	t.Run("speaks", func(t *testing.T) {
		var heard, loud int
		rate := 0
		for f, err := range s.Speak(t.Context(), sentence) {
			if err != nil {
				t.Fatal(err)
			}
			if rate == 0 {
				rate = f.Rate
			}
			if f.Rate != rate || f.Rate != 8000 && f.Rate != 16000 && f.Rate != 24000 && f.Rate != 48000 {
				t.Fatalf("a frame at %d Hz after one at %d Hz", f.Rate, rate)
			}
			if len(f.PCM) == 0 {
				t.Error("an empty frame")
			}
			if f.Dur() > 100*audio.FrameDur {
				t.Errorf("a frame of %v: speech must come in pieces", f.Dur())
			}
			heard += len(f.PCM)
			for _, x := range f.PCM {
				if x > 1000 || x < -1000 {
					loud++
				}
			}
		}
		if min := rate * len(sentence.Text) / 40; heard < min {
			t.Errorf("%d samples at %d Hz for %d letters", heard, rate, len(sentence.Text))
		}
		if loud < heard/20 {
			t.Errorf("%d of %d samples are loud: that is no speech", loud, heard)
		}
	})
	t.Run("stops when nobody listens", func(t *testing.T) {
		for range s.Speak(t.Context(), sentence) {
			break
		}
	})
	t.Run("stops when cancelled", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var last error
		for _, err := range s.Speak(ctx, sentence) {
			stop()
			last = err
		}
		if last != nil && !errors.Is(last, context.Canceled) {
			t.Errorf("ended with %v", last)
		}
	})
	t.Run("refuses when cancelled before", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		n := 0
		for _, err := range s.Speak(ctx, sentence) {
			if n++; err == nil {
				t.Fatal("spoke")
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		if n != 1 {
			t.Errorf("yielded %d times", n)
		}
	})
	t.Run("nothing to say", func(t *testing.T) {
		empty := sentence
		empty.Text = "  "
		for f, err := range s.Speak(t.Context(), empty) {
			if err != nil || len(f.PCM) > 0 {
				t.Errorf("yielded %d samples and %v", len(f.PCM), err)
			}
		}
	})
}
