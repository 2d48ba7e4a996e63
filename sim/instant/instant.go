// Package instant holds engines that take no time: a transcriber, a model and a voice for measuring what a conversation
// costs besides recognition, thought and speech.
package instant

import (
	"context"
	"io"
	"iter"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/catalog"
	"parley/providers"
	"parley/providers/composed"
	"parley/voice"
)

// Provider is the code these engines go by.
const Provider = "instant"

// Greeting is the sentence spoken for Engines.Greeting; every other one lasts Engines.Answer.
const Greeting = "This is the greeting."

const (
	answer = "This is the answer."
	heard  = "This is what was said."
)

// Engines say everything as a tone of 440 Hz.
type Engines struct {
	Greeting time.Duration
	Answer   time.Duration
}

// Vendor is these engines.
func (e Engines) Vendor() providers.Vendor {
	return providers.Vendor{Code: Provider, About: "tones", Offer: offer(), Transcriber: e.Transcriber, Synthesizer: e,
		Model:    func(string) agent.Model { return e },
		Realtime: composed.Parts{Transcriber: e.Transcriber, Model: e, Synthesizer: e}.Open}
}

func offer() catalog.Offer {
	return catalog.Offer{
		Synthesizers: []catalog.NewSynthesizer{{Code: Provider, Name: "Tone", Voices: []catalog.NewVoice{{Code: "tone", Name: "440 Hz"}}}},
		Transcribers: []catalog.NewTranscriber{{Code: Provider, Name: "Fixed words"}},
		Models: []catalog.NewModel{{Provider: Provider, Code: "fixed-sentence", Name: "Fixed sentence", Types: []string{catalog.LLM}},
			{Provider: Provider, Code: "instant-realtime", Name: "All of it in one", Voices: []catalog.NewVoice{{Code: "tone", Name: "440 Hz"}},
				Types: []string{string(catalog.Multimodal), string(catalog.Dualplex)}}},
	}
}

// Reply implements agent.Model: one sentence, and an evaluation without values.
func (Engines) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	text := answer
	if r.Purpose == agent.PurposeEvaluation {
		text = "{}"
	}
	return func(yield func(agent.Chunk, error) bool) { yield(agent.Chunk{Text: text}, nil) }
}

const (
	rate  = 8000
	piece = rate / 10
)

// tone is a second of 440 Hz; it can be repeated without a click.
var tone = func() []int16 {
	pcm := make([]int16, rate)
	audio.GenSignal(pcm, rate, 0, audio.Tone{Hz: 440, Level: 0.3})
	return pcm
}()

// Speak implements voice.Synthesizer.
func (e Engines) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	left := samples(e.Answer)
	if s.Text == Greeting {
		left = samples(e.Greeting)
	}
	return func(yield func(audio.Frame, error) bool) {
		for at := 0; left > 0 && ctx.Err() == nil; at = (at + piece) % rate {
			n := min(piece, left)
			if !yield(audio.Frame{Rate: rate, PCM: tone[at : at+n : at+n]}, nil) {
				return
			}
			left -= n
		}
	}
}

func samples(d time.Duration) int { return int(d * rate / time.Second) }

// Transcriber opens a transcriber that knows the words as soon as the turn ends. It implements voice.OpenTranscriber.
func (Engines) Transcriber(context.Context, voice.Transcription) (voice.Transcriber, error) {
	return &transcriber{turns: make(chan struct{}, 16), closed: make(chan struct{})}, nil
}

type transcriber struct {
	turns  chan struct{}
	closed chan struct{}
}

// Write implements voice.Transcriber.
func (e *transcriber) Write([]int16) error { return nil }

// EndTurn implements voice.Transcriber.
func (e *transcriber) EndTurn() error {
	select {
	case e.turns <- struct{}{}:
	default: // nobody asks for them any more
	}
	return nil
}

// Recv implements voice.Transcriber.
func (e *transcriber) Recv() (voice.Transcript, error) {
	select {
	case <-e.turns:
		return voice.Transcript{Text: heard, Final: true}, nil
	case <-e.closed:
		return voice.Transcript{}, io.EOF
	}
}

// Close implements voice.Transcriber.
func (e *transcriber) Close() error { close(e.closed); return nil }

var (
	_ agent.Model           = Engines{}
	_ voice.Synthesizer     = Engines{}
	_ voice.OpenTranscriber = Engines{}.Transcriber
)
