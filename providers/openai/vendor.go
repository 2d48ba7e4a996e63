package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/agent"
	"parley/catalog"
	"parley/providers"
)

// Code names this vendor everywhere.
const Code = "openai"

// Settings are the keys of this vendor; no key and no address = not configured.
type Settings struct {
	APIKey   string `key:"api_key" secret:"true" also:"OPENAI_API_KEY"`
	BaseURL  string `key:"base_url" check:"url" also:"OPENAI_BASE_URL"`
	Model    string `key:"model" doc:"chat model; empty = the first that the endpoint offers"`
	STTModel string `key:"stt_model" doc:"transcription model; empty = none"`
	TTSModel string `key:"tts_model" doc:"speech model; empty = none"`

	RealtimeModel string `key:"realtime_model" doc:"model of multimodal and dualplex assistants; empty = none"`
	RealtimeURL   string `key:"realtime_url" check:"socket" doc:"address of its socket; empty = base_url with /realtime"`

	EmbeddingModel string `key:"embedding_model" doc:"searches knowledgebases by meaning too; empty = by words alone"`
}

// Models of the vendor itself, for an installation that gave nothing but a key.
const (
	vendorChat          = "gpt-4o-mini"
	vendorTranscription = "gpt-4o-mini-transcribe"
	vendorSpeech        = "gpt-4o-mini-tts"
	vendorRealtime      = "gpt-realtime-2.1"
)

// Vendor is any endpoint that speaks this protocol.
func Vendor() providers.Maker {
	m := providers.Make(Code, "OpenAI and compatible servers", "llm stt tts realtime embedding", Settings{}, open)
	m.Found = found
	return m
}

func open(ctx context.Context, s Settings, _ providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" && s.BaseURL == "" {
		return nil, nil
	}
	if s.BaseURL == "" {
		s.Model, s.STTModel, s.TTSModel = cmp.Or(s.Model, vendorChat), cmp.Or(s.STTModel, vendorTranscription), cmp.Or(s.TTSModel, vendorSpeech)
		s.RealtimeModel = cmp.Or(s.RealtimeModel, vendorRealtime)
	}
	if len(s.models()) == 0 {
		s.Model = FirstModel(ctx, s.BaseURL, s.APIKey)
	}
	if len(s.models()) == 0 {
		return nil, errors.New("openai.base_url: it does not tell its models; " +
			"name at least one of openai.model, openai.stt_model, openai.tts_model, openai.realtime_model, openai.embedding_model")
	}
	c := New(Config{BaseURL: s.BaseURL, Key: s.APIKey})
	v := providers.Vendor{Code: Code, About: cmp.Or(s.BaseURL, "OpenAI") + " for " + strings.Join(s.models(), ", "), Offer: s.offer(),
		Check: c.Check,
		Close: func() error { c.Close(); return nil }}
	if s.STTModel != "" {
		v.Transcriber = c.Transcriber(s.STTModel)
	}
	if s.TTSModel != "" {
		v.Synthesizer = c.Synthesizer(s.TTSModel)
	}
	if s.Model != "" {
		v.Model = func(name string) agent.Model { return c.Model(name) }
	}
	if s.RealtimeModel != "" {
		v.Realtime = c.Realtime(cmp.Or(s.RealtimeURL, c.Base+"/realtime"), cmp.Or(s.STTModel, vendorTranscription))
	}
	if s.EmbeddingModel != "" {
		v.Embedder = c.Embedder(s.EmbeddingModel)
	}
	return []providers.Vendor{v}, nil
}

// models are those in use.
func (s Settings) models() []string {
	all := []string{s.Model, s.STTModel, s.TTSModel, s.RealtimeModel, s.EmbeddingModel}
	return slices.DeleteFunc(all, func(m string) bool { return m == "" })
}

// offer is a chat model, the voices of a speech model and a transcription model, as far as they are named.
func (s Settings) offer() (o catalog.Offer) {
	if s.Model != "" {
		o.Models = []catalog.NewModel{{Provider: Code, Code: s.Model, Name: s.Model, Types: []string{catalog.LLM}, Temperature: true}}
	}
	if s.RealtimeModel != "" {
		o.Models = append(o.Models, catalog.NewModel{Provider: Code, Code: s.RealtimeModel, Name: s.RealtimeModel, Voices: realtimeVoices(),
			Types: []string{string(catalog.Multimodal), string(catalog.Dualplex)}})
	}
	if s.TTSModel != "" {
		voices := []catalog.NewVoice{{Name: "Alloy"}, {Name: "Ash", Gender: "male"}, {Name: "Coral", Gender: "female"},
			{Name: "Echo", Gender: "male"},
			{Name: "Fable"}, {Name: "Nova", Gender: "female"}, {Name: "Onyx", Gender: "male"}, {Name: "Sage", Gender: "female"},
			{Name: "Shimmer", Gender: "female"}}
		for i, v := range voices {
			voices[i].Code = strings.ToLower(v.Name)
		}
		o.Synthesizers = []catalog.NewSynthesizer{{Code: Code, Name: "OpenAI-compatible speech", Voices: voices}}
	}
	if s.STTModel != "" {
		o.Transcribers = []catalog.NewTranscriber{{Code: Code, Name: "OpenAI-compatible recognition"}}
	}
	return o
}

// found are the servers on this machine that could be used.
func found(ctx context.Context) (lines []string) {
	for _, s := range Discover(ctx, Usual(os.Getenv("OLLAMA_HOST"))) {
		line := fmt.Sprintf("%s is running; to use it: PARLEY_OPENAI_BASE_URL=%s", s.Name, s.BaseURL)
		chat, stt, tts := s.Offer()
		for _, m := range [][2]string{{"MODEL", chat}, {"STT_MODEL", stt}, {"TTS_MODEL", tts}} {
			if m[1] != "" {
				line += " PARLEY_OPENAI_" + m[0] + "=" + m[1]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// realtimeVoices are those of the vendor's realtime models.
func realtimeVoices() (out []catalog.NewVoice) {
	for _, name := range []string{"Marin", "Cedar", "Alloy", "Ash", "Ballad", "Coral", "Echo", "Sage", "Shimmer", "Verse"} {
		out = append(out, catalog.NewVoice{Code: strings.ToLower(name), Name: name})
	}
	return out
}
