package elevenlabs

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"parley/audio"
	"parley/safe"
	"parley/voice"
)

const speechRate = 16000

// Synthesizer speaks with a model.
func (c *Client) Synthesizer(model string) voice.Synthesizer { return synthesizer{c, model} }

type synthesizer struct {
	client *Client
	model  string
}

type manner struct {
	Stability  float64 `json:"stability"`
	Similarity float64 `json:"similarity_boost"`
	Style      float64 `json:"style"`
	Speed      float64 `json:"speed,omitempty"`
}

type request struct {
	Text     string `json:"text"`
	Model    string `json:"model_id"`
	Manner   manner `json:"voice_settings"`
	Language string `json:"language_code,omitempty"`
	Previous string `json:"previous_text,omitempty"`
}

// Speak implements voice.Synthesizer.
func (s synthesizer) Speak(ctx context.Context, how voice.Speech) iter.Seq2[audio.Frame, error] {
	return s.after(ctx, "", how)
}

// after speaks a text as what follows another one.
func (s synthesizer) after(ctx context.Context, previous string, how voice.Speech) iter.Seq2[audio.Frame, error] {
	if strings.TrimSpace(how.Text) == "" {
		return func(func(audio.Frame, error) bool) {}
	}
	in := request{how.Text, s.model, manner{how.Stability, how.Similarity, 0, how.Speed}, "", previous}
	if how.Emotion {
		in.Manner.Style = 0.3
	}
	if strings.Contains(s.model, "_v2_5") || strings.Contains(s.model, "_v3") { // other models refuse it
		in.Language = how.Language
	}
	path := fmt.Sprintf("/v1/text-to-speech/%s/stream?output_format=pcm_%d", url.PathEscape(how.Voice), speechRate)
	return s.client.rest.Speech(ctx, path, in, speechRate)
}

// Open implements voice.Speaker: the vendor is told what it spoke before, so that the tone goes on.
func (s synthesizer) Open(ctx context.Context, how voice.Speech) voice.Utterance {
	p := voice.NewPipe(ctx)
	safe.Go("utterance", func() {
		p.Finish(safe.Do("synthesizer", func() error { return s.each(p, how) }))
	})
	return p
}

func (s synthesizer) each(p *voice.Pipe, how voice.Speech) error {
	previous := ""
	for in := range p.Flushes() {
		how.Text = in.Text
		for f, err := range s.after(p.Context(), previous, how) {
			if err != nil {
				return err
			}
			if err := p.Put(voice.Sound{Frame: f, Piece: in.Piece}); err != nil {
				return err
			}
		}
		for piece := in.Piece; piece <= in.To; piece++ {
			if err := p.Put(voice.Sound{Piece: piece, Last: true}); err != nil {
				return err
			}
		}
		previous = in.Text
	}
	return nil
}
