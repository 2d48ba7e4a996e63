// Package cartesia talks to Cartesia, version 2026-08-14 of its API: Sonic speaks, Ink recognises and ends turns itself.
package cartesia

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/audio"
	"parley/catalog"
	"parley/providers"
	"parley/providers/rest"
	"parley/providers/socket"
	"parley/voice"
)

// Code names this vendor everywhere.
const Code = "cartesia"

const (
	version    = "2026-08-14"
	speechRate = 16000
	mostPages  = 50
)

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	APIKey   string `key:"api_key" secret:"true" also:"CARTESIA_API_KEY"`
	BaseURL  string `key:"base_url" check:"url" doc:"empty = the vendor's own"`
	Model    string `key:"model" doc:"speech model; empty = none"`
	STTModel string `key:"stt_model" doc:"transcription model; empty = none"`
}

var defaults = Settings{Model: "sonic-3.5", STTModel: "ink-2"}

// Vendor is Cartesia.
func Vendor() providers.Maker { return providers.Make(Code, "Cartesia", "stt tts", defaults, open) }

func open(ctx context.Context, s Settings, on providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" {
		return nil, nil
	}
	c := New(s.BaseURL, s.APIKey)
	v := providers.Vendor{Code: Code, About: cmp.Or(s.BaseURL, "Cartesia") + " for " + strings.TrimSpace(s.Model+" "+s.STTModel),
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/voices?limit=1") },
		Close: func() error { c.rest.Close(); return nil }}
	if s.STTModel != "" {
		v.Transcriber = c.Transcriber(s.STTModel)
		v.Offer.Transcribers = []catalog.NewTranscriber{{Code: Code, Name: "Cartesia Ink"}}
	}
	if s.Model != "" {
		v.Synthesizer, v.Voices = c.Synthesizer(s.Model), on.Voices(Code, c.Voices)
		voices, _ := v.Voices(ctx) // those that were kept, when the vendor is away
		v.Offer.Synthesizers = []catalog.NewSynthesizer{{Code: Code, Name: "Cartesia", Voices: voices}}
	}
	return []providers.Vendor{v}, nil
}

// Client is one account. It is safe for concurrent use.
type Client struct{ rest *rest.Client }

// New makes a client; base may be empty. Nothing is sent yet.
func New(base, key string) *Client {
	c := &Client{rest.New(cmp.Or(base, "https://api.cartesia.ai"), func(h http.Header) {
		h.Set("Authorization", "Bearer "+key)
		h.Set("Cartesia-Version", version)
	})}
	c.rest.Patience = rest.Live
	return c
}

// Voices reads the account's voices.
func (c *Client) Voices(ctx context.Context) (out []catalog.NewVoice, err error) {
	next := ""
	for range mostPages {
		var page struct {
			Data []struct{ ID, Name, Language, Gender string }
			More bool `json:"has_more"`
		}
		if err := c.rest.Get(ctx, "/voices?limit=100"+next, &page); err != nil {
			return nil, err
		}
		for _, v := range page.Data {
			out = append(out, catalog.NewVoice{Code: v.ID, Name: v.Name, Gender: genders[v.Gender], Languages: catalog.With(nil, v.Language)})
		}
		if !page.More || len(page.Data) == 0 {
			break
		}
		next = "&starting_after=" + url.QueryEscape(page.Data[len(page.Data)-1].ID)
	}
	return out, nil
}

var genders = map[string]string{"feminine": "female", "female": "female", "masculine": "male", "male": "male"}

// Synthesizer speaks with a model.
func (c *Client) Synthesizer(model string) voice.Synthesizer { return synthesizer{c, model} }

type synthesizer struct {
	client *Client
	model  string
}

// Speak implements voice.Synthesizer.
func (s synthesizer) Speak(ctx context.Context, how voice.Speech) iter.Seq2[audio.Frame, error] {
	if strings.TrimSpace(how.Text) == "" {
		return func(func(audio.Frame, error) bool) {}
	}
	manner := map[string]any{}
	if how.Speed > 0 {
		manner["speed"] = how.Speed
	}
	if how.Emotion {
		manner["emotion"] = "content"
	}
	return s.client.rest.Speech(ctx, "/tts/bytes", map[string]any{"model_id": s.model, "transcript": how.Text,
		"voice": map[string]string{"id": how.Voice}, "language": cmp.Or(how.Language, "en"), "generation_config": manner,
		"output_format": map[string]any{"container": "raw", "encoding": "pcm_s16le", "sample_rate": speechRate}}, speechRate)
}

// Transcriber opens transcribers that end turns themselves.
func (c *Client) Transcriber(model string) voice.OpenTranscriber {
	return func(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
		encoding := "pcm_s16le"
		if socket.MuLaw(l.Rate) {
			encoding = "pcm_mulaw"
		}
		path := fmt.Sprintf("/stt/turns/websocket?model=%s&encoding=%s&sample_rate=%d&cartesia_version=%s", url.QueryEscape(model), encoding, l.Rate, version)
		return socket.Transcribe(ctx, socket.Dialect{Client: c.rest, Path: path, Piece: 80 * time.Millisecond,
			Wait: 700 * time.Millisecond, Bye: []byte(`{"type":"close"}`), Read: read}, l)
	}
}

var signs = map[string]socket.Sign{"turn.update": socket.Partial, "turn.eager_end": socket.Likely, "turn.resume": socket.Resumed,
	"turn.end": socket.Over}

func read(m []byte) ([]socket.Heard, error) {
	var in struct {
		Type, Transcript, Title, Message string
		Status                           int    `json:"status_code"`
		Code                             string `json:"error_code"`
	}
	if err := json.Unmarshal(m, &in); err != nil {
		return nil, err
	}
	if in.Type == "error" {
		return nil, &rest.Refusal{Status: cmp.Or(in.Status, 502), Code: in.Code, Message: cmp.Or(in.Message, in.Title)}
	}
	sign, ok := signs[in.Type]
	if !ok {
		return nil, nil
	}
	return []socket.Heard{{Sign: sign, Text: in.Transcript}}, nil
}
