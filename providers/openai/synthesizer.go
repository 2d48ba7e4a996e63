package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"parley/audio"
	"parley/providers/rest"
	"parley/voice"
)

// Synthesizer is a speech model of a server.
type Synthesizer struct {
	client *Client
	model  string
}

// Synthesizer names a speech model.
func (c *Client) Synthesizer(model string) *Synthesizer { return &Synthesizer{c, model} }

// pcmRate is the rate of the raw samples of /audio/speech.
const pcmRate = 24000

type speechRequest struct {
	Model        string  `json:"model"`
	Input        string  `json:"input"`
	Voice        string  `json:"voice"`
	Format       string  `json:"response_format"`
	Speed        float64 `json:"speed,omitempty"`
	Instructions string  `json:"instructions,omitempty"`
}

// Speak implements voice.Synthesizer: audio is yielded while it arrives, and nothing for a text without a
// word, which servers refuse. Its errors are faults.
func (v *Synthesizer) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	return rest.Told("speech service", func(emit func(audio.Frame) error) error {
		if strings.TrimSpace(s.Text) == "" {
			return nil
		}
		body, err := json.Marshal(speechRequest{v.model, s.Text, s.Voice, "pcm", s.Speed, manner(s)})
		if err != nil {
			return err
		}
		a, err := v.client.post(ctx, "/audio/speech", "application/json", body)
		if err != nil {
			return err
		}
		defer a.Close()
		return readSpeech(a, emit)
	})
}

// manner says in words what this API has no numbers for.
func manner(s voice.Speech) string {
	tone := "Speak in a flat, neutral tone."
	if s.Emotion {
		tone = "Speak with feeling that fits the words."
	}
	return fmt.Sprintf("%s Steadiness of tone: %.2f of 1. Closeness to your own voice: %.2f of 1.", tone, s.Stability, s.Similarity)
}

// readSpeech reads raw samples, or a WAV file, which some servers send whatever they are asked for.
func readSpeech(src io.Reader, emit func(audio.Frame) error) error {
	var head [4]byte
	n, err := io.ReadFull(src, head[:])
	if err == io.EOF {
		return io.ErrUnexpectedEOF // not a single sample
	}
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	all := io.MultiReader(bytes.NewReader(head[:n]), src)
	if string(head[:n]) != "RIFF" {
		for f, err := range rest.Samples(all, pcmRate) {
			if err != nil {
				return err
			}
			if err := emit(f); err != nil {
				return err
			}
		}
		return nil
	}
	w, err := audio.NewWAVReader(all)
	if err != nil {
		return err
	}
	buf := make([]int16, w.Rate/50*w.Channels)
	for {
		n, err := w.Read(buf)
		if n > 0 {
			if err := emit(audio.Frame{Rate: w.Rate, PCM: mono(buf[:n], w.Channels)}); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func mono(pcm []int16, channels int) []int16 {
	if channels == 1 {
		return pcm
	}
	for i := range len(pcm) / channels {
		pcm[i] = pcm[i*channels]
	}
	return pcm[:len(pcm)/channels]
}
