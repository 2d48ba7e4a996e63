package providers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
	"parley/catalog"
	"parley/providers"
	"parley/voice"

	"iter"
)

type mute struct{}

func (mute) Speak(context.Context, voice.Speech) iter.Seq2[audio.Frame, error] { return nil }

// A vendor's list of voices is read again every hour, and stays what it was while the vendor is away.
func TestVoicesAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, name, away := 0, "Ann", false
		read := func(context.Context) ([]catalog.NewVoice, error) {
			if reads++; away {
				return nil, errors.New("away")
			}
			return []catalog.NewVoice{{Code: "a", Name: name}}, nil
		}
		r := providers.Start(t.Context(), []providers.Maker{providers.Make("x", "X", "tts", struct{}{},
			func(context.Context, struct{}, providers.Ground) ([]providers.Vendor, error) {
				return []providers.Vendor{{Code: "x", Synthesizer: mute{}, Voices: read,
					Offer: catalog.Offer{Synthesizers: []catalog.NewSynthesizer{{Code: "x", Name: "X"}}}}}, nil
			})}, map[string]any{}, providers.Ground{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = r.Run(ctx) }()
		offered := func(want string, most int) {
			t.Helper()
			synctest.Wait()
			all := r.Now().Offer().Synthesizers[0].Voices
			if len(all) != 1 || all[0].Name != want || reads > most {
				t.Errorf("%+v after %d reads", all, reads)
			}
		}
		offered("Ann", 1)
		name = "Bea"
		time.Sleep(59 * time.Minute)
		offered("Ann", 1)
		time.Sleep(2 * time.Minute)
		offered("Bea", 2)
		away = true
		time.Sleep(2 * time.Hour)
		offered("Bea", 1000)
		away, name = false, "Cleo"
		time.Sleep(time.Minute)
		offered("Cleo", 1000)
		stop()
		<-done
	})
}
