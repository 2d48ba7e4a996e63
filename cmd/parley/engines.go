package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"parley/agent"
	"parley/app"
	"parley/assets"
	"parley/audio"
	"parley/audio/opus"
	"parley/catalog"
	"parley/config"
	"parley/providers/builtin"
	"parley/providers/builtin/responder"
	"parley/providers/openai"
	"parley/switchboard"
	"parley/voice"
)

// engines are what this process can think, speak and hear with: those inside the binary, and one OpenAI-compatible
// server when it is configured.
type engines struct {
	builtin *builtin.Engines
	remote  *openai.Client // nil = not configured
	opus    *opus.Library
	cfg     config.OpenAI
}

// Models of the vendor itself, for an installation that gave nothing but a key.
const (
	vendorChat          = "gpt-4o-mini"
	vendorTranscription = "gpt-4o-mini-transcribe"
	vendorSpeech        = "gpt-4o-mini-tts"
)

func openEngines(ctx context.Context, cfg *config.Config) (*engines, error) {
	e := &engines{builtin: builtin.Open(cfg.DataPath("engines")), cfg: cfg.OpenAI,
		opus: opus.New(func() ([]byte, error) { return assets.Read(opusModule) })}
	if e.cfg.APIKey == "" && e.cfg.BaseURL == "" {
		return e, nil
	}
	if e.cfg.BaseURL == "" {
		e.cfg.Model, e.cfg.STTModel, e.cfg.TTSModel = or(e.cfg.Model, vendorChat), or(e.cfg.STTModel, vendorTranscription), or(e.cfg.TTSModel, vendorSpeech)
	}
	none := func() bool {
		return e.cfg.Model == "" && e.cfg.STTModel == "" && e.cfg.TTSModel == "" && e.cfg.EmbeddingModel == ""
	}
	if none() {
		e.cfg.Model = openai.FirstModel(ctx, e.cfg.BaseURL, e.cfg.APIKey)
	}
	if none() {
		return nil, misuse{fmt.Errorf("openai.base_url: it does not tell its models; name at least one of openai.model, openai.stt_model, openai.tts_model, openai.embedding_model")}
	}
	e.remote = openai.New(openai.Config{BaseURL: e.cfg.BaseURL, Key: e.cfg.APIKey})
	return e, nil
}

// models are those in use at the remote server.
func (e *engines) models() []string {
	return slices.DeleteFunc([]string{e.cfg.Model, e.cfg.STTModel, e.cfg.TTSModel, e.cfg.EmbeddingModel}, func(m string) bool { return m == "" })
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func (e *engines) Close() error {
	if e.remote != nil {
		e.remote.Close()
	}
	return errors.Join(e.opus.Close(context.Background()), e.builtin.Close())
}

// forApp is what the rooms are told of the engines.
func (e *engines) forApp() app.Engines {
	offer := catalog.BuiltIn()
	if e.remote != nil {
		offer = offer.OpenAI(e.cfg.Model, e.cfg.TTSModel, e.cfg.STTModel, nil)
	}
	out := app.Engines{Offer: offer, Chat: e.chat, Preview: e.preview, Talk: e.talk(), Sound: e.sound}
	if e.remote != nil && e.cfg.EmbeddingModel != "" {
		out.Embed = e.remote.Embedder(e.cfg.EmbeddingModel)
	}
	return out
}

// talk are the engines of calls.
func (e *engines) talk() switchboard.Engines {
	out := switchboard.Engines{Default: "builtin",
		Transcribers: map[string]voice.OpenTranscriber{"builtin": e.builtin.Transcriber},
		Synthesizers: map[string]voice.Synthesizer{"builtin": e.builtin},
		Models:       map[string]func(string) agent.Model{"builtin": func(string) agent.Model { return responder.Model{} }},
		Warm:         map[string]func(context.Context, voice.Transcription) error{"builtin": e.builtin.Warm},
		Most:         map[string]int{"builtin": e.builtin.Capacity()}}
	if staged != nil {
		out.Transcribers["builtin"], out.Warm, out.Most = staged.transcriber, nil, nil
	}
	if e.remote == nil {
		return out
	}
	if e.cfg.STTModel != "" {
		out.Transcribers["openai"] = e.remote.Transcriber(e.cfg.STTModel)
	}
	if e.cfg.TTSModel != "" {
		out.Synthesizers["openai"] = e.remote.Synthesizer(e.cfg.TTSModel)
	}
	if e.cfg.Model != "" {
		out.Models["openai"] = func(model string) agent.Model { return e.remote.Model(model) }
	}
	return out
}

// phones are what simulated phones speak and hear with.
func (e *engines) phones() (voice.Synthesizer, voice.OpenTranscriber) {
	if staged != nil {
		return staged.phones(e.builtin), nil
	}
	return e.builtin, e.builtin.Transcriber
}

// stage is what tests of whole calls put in the place of the built-in transcriber, whose words come late on a busy machine.
type stage struct {
	transcriber voice.OpenTranscriber
	phones      func(own voice.Synthesizer) voice.Synthesizer
}

var staged *stage

// chat is the text model behind an entry of the catalog.
func (e *engines) chat(m catalog.Model) (agent.Engine, error) {
	out := agent.Engine{Provider: m.Provider, Name: m.Code}
	switch {
	case m.Provider == "builtin":
		out.Model = responder.Model{}
	case m.Provider == "openai" && e.remote != nil:
		out.Model = e.remote.Model(m.Code)
	default:
		return out, fmt.Errorf("the model %s of %s is not configured any more", m.Code, m.Provider)
	}
	return out, nil
}

// speaker is the synthesizer behind a voice's provider.
func (e *engines) speaker(provider string) (voice.Synthesizer, error) {
	switch {
	case provider == "builtin":
		return e.builtin, nil
	case provider == "openai" && e.remote != nil:
		return e.remote.Synthesizer(e.cfg.TTSModel), nil
	}
	return nil, fmt.Errorf("the speech engine %s is not configured any more", provider)
}

// preview speaks a voice's sample as a WAV file.
func (e *engines) preview(ctx context.Context, v catalog.Voice) ([]byte, error) {
	s, err := e.speaker(v.Provider)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var w *audio.WAVWriter
	language := "en"
	if l, ok := catalog.LanguageByID(v.LanguageID); ok {
		language = l.ISO2
	}
	for frame, err := range s.Speak(ctx, voice.Speech{Text: "Hello, this is how I sound. How can I help you today?", Voice: v.Code,
		Language: language, Speed: 1, Stability: 0.7, Similarity: 0.5}) {
		if err != nil {
			return nil, err
		}
		if w == nil {
			if w, err = audio.NewWAVWriter(&out, frame.Rate, 1); err != nil {
				return nil, err
			}
		}
		if err := w.WriteSamples(frame.PCM); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// offers are the servers on this machine that could be used, one line each with the settings that do.
func offers(ctx context.Context) (lines []string) {
	for _, s := range openai.Discover(ctx, openai.Usual(os.Getenv("OLLAMA_HOST"))) {
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
