// Package deepgram talks to Deepgram: Nova and Flux recognise, Aura speaks.
package deepgram

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"parley/catalog"
	"parley/providers"
	"parley/providers/rest"
	"parley/voice"
)

// Code names Nova and Aura everywhere, FluxCode the recogniser that ends turns itself.
const (
	Code     = "deepgram"
	FluxCode = "deepgram-flux"
)

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	APIKey     string   `key:"api_key" secret:"true" also:"DEEPGRAM_API_KEY"`
	BaseURL    string   `key:"base_url" check:"url" doc:"empty = the vendor's own"`
	Models     []string `key:"models" doc:"of recognition; the first that knows a call's languages hears it"`
	FluxModels []string `key:"flux_models" doc:"of recognition that ends turns itself; empty = none"`
	Voices     []string `key:"voices" doc:"of speech, as the vendor names them"`
}

var defaults = Settings{Models: []string{"nova-3"}, FluxModels: []string{"flux-general-en"}, Voices: voices}

// Vendor is Deepgram.
func Vendor() providers.Maker { return providers.Make(Code, "Deepgram", "stt tts", defaults, open) }

func open(_ context.Context, s Settings, _ providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" {
		return nil, nil
	}
	c := New(s.BaseURL, s.APIKey)
	at := cmp.Or(s.BaseURL, "Deepgram")
	v := providers.Vendor{Code: Code, About: at + " for " + strings.Join(s.Models, ", "),
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/v1/auth/token") },
		Close: func() error { c.rest.Close(); return nil }}
	if len(s.Models) > 0 {
		v.Transcriber = c.Nova(s.Models...)
		v.Offer.Transcribers = []catalog.NewTranscriber{{Code: Code, Name: "Deepgram Nova", Languages: languages(s.Models)}}
	}
	if len(s.Voices) > 0 {
		v.Synthesizer = c.Synthesizer()
		v.Offer.Synthesizers = []catalog.NewSynthesizer{{Code: Code, Name: "Deepgram Aura", Voices: offer(s.Voices)}}
	}
	out := []providers.Vendor{v}
	if len(s.FluxModels) > 0 {
		out = append(out, providers.Vendor{Code: FluxCode, About: at + " for " + strings.Join(s.FluxModels, ", "),
			Transcriber: c.Flux(s.FluxModels...), Check: v.Check,
			Offer: catalog.Offer{Transcribers: []catalog.NewTranscriber{
				{Code: FluxCode, Name: "Deepgram Flux", Languages: languages(s.FluxModels)}}}})
	}
	return out, nil
}

// Client is one account. It is safe for concurrent use.
type Client struct{ rest *rest.Client }

// New makes a client; base may be empty, and may carry a version segment. Nothing is sent yet.
func New(base, key string) *Client {
	base = rest.Plain(cmp.Or(base, "https://api.deepgram.com"), "/v1", "/v2")
	c := &Client{rest.New(base, rest.Header("Authorization", "Token "+key))}
	c.rest.Patience = rest.Live
	return c
}

// known are the languages of models by the beginning of their name. A model that is not among them is asked for any.
var known = []struct {
	model string
	all   []string // ISO 639-1
	mixed []string // those that it hears in one call
}{
	{"nova-3", []string{"en", "es", "fr", "de", "it", "pt", "nl", "hi", "ja", "ru", "da", "sv", "no", "fi", "pl", "cs", "sk", "hu", "ro",
		"bg", "el", "tr", "uk", "et", "lv", "lt", "ca", "ms", "id", "ko", "vi", "ar", "hr", "sr", "sl", "he", "fa", "bn", "ta", "te", "tl",
		"th", "zh"}, mixed},
	{"nova-2", []string{"en", "es", "fr", "de", "it", "pt", "nl", "hi", "ja", "ru", "da", "sv", "no", "fi", "pl", "cs", "sk", "hu", "ro",
		"bg", "el", "tr", "uk", "et", "lv", "lt", "ca", "ms", "id", "ko", "vi", "th", "zh"}, []string{"en", "es"}},
	{"flux-general-multi", mixed, mixed},
	{"flux-general-en", []string{"en"}, nil},
}

var mixed = []string{"en", "es", "fr", "de", "hi", "ru", "pt", "ja", "it", "nl"}

// languages are those that one of the models knows; nil = any.
func languages(models []string) (out []string) {
	for _, m := range models {
		all, _ := of(m)
		if all == nil {
			return nil
		}
		out = append(out, all...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func of(model string) (all, mixed []string) {
	for _, k := range known {
		if strings.HasPrefix(model, k.model) {
			return k.all, k.mixed
		}
	}
	return nil, nil
}

// choose finds the first model that knows the primary language, better all, and what of them it is asked for.
func choose(models []string, l voice.Transcription) (model string, together bool, ok bool) {
	for _, m := range models {
		_, mixed := of(m)
		if len(l.Languages) > 1 && !slices.ContainsFunc(l.Languages, func(x string) bool { return !slices.Contains(mixed, x) }) {
			return m, true, true
		}
	}
	for _, m := range models {
		if all, _ := of(m); all == nil || len(l.Languages) == 0 || slices.Contains(all, l.Languages[0]) {
			return m, false, true
		}
	}
	return "", false, false
}
