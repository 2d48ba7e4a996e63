// Package elevenlabs talks to ElevenLabs: it speaks, and Scribe recognises.
package elevenlabs

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"parley/catalog"
	"parley/providers"
	"parley/providers/rest"
)

// Code names this vendor everywhere.
const Code = "elevenlabs"

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	APIKey   string `key:"api_key" secret:"true" also:"ELEVENLABS_API_KEY"`
	BaseURL  string `key:"base_url" check:"url" doc:"empty = the vendor's own"`
	Model    string `key:"model" doc:"speech model; empty = none"`
	STTModel string `key:"stt_model" doc:"realtime transcription model; empty = none"`
}

var defaults = Settings{Model: "eleven_flash_v2_5", STTModel: "scribe_v2_realtime"}

// Vendor is ElevenLabs.
func Vendor() providers.Maker { return providers.Make(Code, "ElevenLabs", "stt tts", defaults, open) }

func open(ctx context.Context, s Settings, on providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" {
		return nil, nil
	}
	c := New(s.BaseURL, s.APIKey)
	v := providers.Vendor{Code: Code, About: cmp.Or(s.BaseURL, "ElevenLabs") + " for " + strings.TrimSpace(s.Model+" "+s.STTModel),
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/v2/voices?page_size=1") },
		Close: func() error { c.rest.Close(); return nil }}
	if s.STTModel != "" {
		v.Transcriber = c.Transcriber(s.STTModel)
		v.Offer.Transcribers = []catalog.NewTranscriber{{Code: Code, Name: "ElevenLabs Scribe"}}
	}
	if s.Model != "" {
		v.Synthesizer, v.Voices = c.Synthesizer(s.Model), on.Voices(Code, c.Voices)
		voices, _ := v.Voices(ctx) // those that were kept, when the vendor is away
		v.Offer.Synthesizers = []catalog.NewSynthesizer{{Code: Code, Name: "ElevenLabs", Voices: voices}}
	}
	return []providers.Vendor{v}, nil
}

// Client is one account. It is safe for concurrent use.
type Client struct{ rest *rest.Client }

// New makes a client; base may be empty, and may carry a version segment. Nothing is sent yet.
func New(base, key string) *Client {
	base = rest.Plain(cmp.Or(base, "https://api.elevenlabs.io"), "/v1", "/v2")
	c := &Client{rest.New(base, rest.Header("xi-api-key", key))}
	c.rest.Patience = rest.Live
	return c
}

// mostPages bounds a list of voices that never ends.
const mostPages = 50

// Voices reads the account's voices.
func (c *Client) Voices(ctx context.Context) (out []catalog.NewVoice, err error) {
	next := ""
	for range mostPages {
		var page struct {
			Voices []struct {
				ID       string `json:"voice_id"`
				Name     string
				Labels   struct{ Gender, Accent, Language string }
				Verified []struct{ Language string } `json:"verified_languages"`
			}
			More bool   `json:"has_more"`
			Next string `json:"next_page_token"`
		}
		if err := c.rest.Get(ctx, "/v2/voices?page_size=100"+next, &page); err != nil {
			return nil, err
		}
		for _, v := range page.Voices {
			voice := catalog.NewVoice{Code: v.ID, Name: v.Name, Accent: v.Labels.Accent}
			if v.Labels.Gender == "female" || v.Labels.Gender == "male" {
				voice.Gender = v.Labels.Gender
			}
			for _, l := range append([]struct{ Language string }{{v.Labels.Language}}, v.Verified...) {
				voice.Languages = catalog.With(voice.Languages, l.Language)
			}
			out = append(out, voice)
		}
		if !page.More || page.Next == "" {
			return out, nil
		}
		next = "&next_page_token=" + url.QueryEscape(page.Next)
	}
	return out, nil
}
