package app

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"parley/agent"
	"parley/audio"
	"parley/catalog"
	"parley/messaging"
	"parley/providers"
	"parley/switchboard"
	"parley/voice"
)

// hire takes the vendors that there are now into use: calls and chats that begin from now on find them.
func (h *App) hire(ctx context.Context) error {
	h.engines.Store(engines(h.vendors.Now()))
	if h.Catalog == nil {
		return nil // it is about to be opened
	}
	h.hook()
	return h.Catalog.Renew(ctx, h.offer())
}

// hook has the vendors that there are now answer their callbacks.
func (h *App) hook() {
	all := map[string]http.Handler{}
	for _, v := range h.vendors.Now() {
		if v.Hooks != nil {
			maps.Copy(all, v.Hooks(providers.Rooms{Messaging: h.Messaging, Payments: h.Payments}))
		}
	}
	h.hooks.Store(&all)
}

// offer is what all vendors have, with the installation's choices.
func (h *App) offer() catalog.Offer {
	o, m := h.vendors.Now().Offer(), h.on.Config.Models
	o.Defaults = catalog.Defaults{LLM: m.DefaultLLM, Multimodal: m.DefaultMultimodal, Dualplex: m.DefaultDualplex, Chat: m.DefaultChat}
	return o
}

// engines are those of calls, by the codes of their vendors.
func engines(vs providers.Vendors) *switchboard.Engines {
	out := &switchboard.Engines{Transcribers: map[string]voice.OpenTranscriber{}, Synthesizers: map[string]voice.Synthesizer{},
		Models: map[string]func(string) agent.Model{}, Warm: map[string]func(context.Context, voice.Transcription) error{},
		Realtime: map[string]voice.OpenRealtime{}, Most: map[string]int{},
		Default: vs.First(speaks).Code}
	for _, v := range vs {
		set(out.Transcribers, v.Code, v.Transcriber, v.Transcriber != nil)
		set(out.Synthesizers, v.Code, v.Synthesizer, v.Synthesizer != nil)
		set(out.Realtime, v.Code, v.Realtime, v.Realtime != nil)
		set(out.Models, v.Code, v.Model, v.Model != nil)
		set(out.Warm, v.Code, v.Warm, v.Warm != nil)
		set(out.Most, v.Code, v.Limit, v.Limit > 0)
	}
	return out
}

// speaks reports a vendor that can hold a conversation alone.
func speaks(v providers.Vendor) bool {
	return v.Transcriber != nil && v.Synthesizer != nil && v.Model != nil
}

func set[T any](m map[string]T, code string, role T, has bool) {
	if has {
		m[code] = role
	}
}

// model is the text model behind an entry of the catalog.
func (h *App) model(m catalog.Model) (agent.Engine, error) {
	v := h.vendors.Now().By(m.Provider)
	if v.Model == nil {
		return agent.Engine{}, fmt.Errorf("the model %s of %s is not configured any more", m.Code, m.Provider)
	}
	return agent.Engine{Model: v.Model(m.Code), Provider: m.Provider, Name: m.Code}, nil
}

// speaker is what speaks the voices of a provider, which is a vendor or a model that has voices of its own.
func (h *App) speaker(provider string) voice.Synthesizer {
	return h.vendors.Now().First(func(v providers.Vendor) bool {
		return v.Code == provider || slices.ContainsFunc(v.Offer.Models, func(m catalog.NewModel) bool { return m.Code == provider })
	}).Synthesizer
}

// preview speaks a voice's sample as a WAV file.
func (h *App) preview(ctx context.Context, v catalog.Voice) ([]byte, error) {
	s := h.speaker(v.Provider)
	if s == nil {
		return nil, fmt.Errorf("the speech engine %s is not configured any more", v.Provider)
	}
	language, ok := catalog.LanguageByID(v.LanguageID)
	if !ok {
		language = catalog.LanguageOf("en")
	}
	var pcm []int16
	rate := 0
	for frame, err := range s.Speak(ctx, voice.Speech{Text: "Hello, this is how I sound. How can I help you today?", Voice: v.Code,
		Language: language.ISO2, Speed: 1, Stability: 0.7, Similarity: 0.5}) {
		if err != nil {
			return nil, err
		}
		rate, pcm = frame.Rate, append(pcm, frame.PCM...)
	}
	var out bytes.Buffer
	err := audio.WriteWAV(&out, audio.Frame{Rate: rate, PCM: pcm})
	return out.Bytes(), err
}

// platforms are the carriers of messages by their codes, and the first that carries SMS.
func platforms(vs providers.Vendors) (map[string]messaging.Gateway, map[string]messaging.Joiner, messaging.Texter) {
	gateways, joiners := map[string]messaging.Gateway{}, map[string]messaging.Joiner{}
	for _, v := range vs {
		set(gateways, v.Code, v.Gateway, v.Gateway != nil)
		set(joiners, v.Code, v.Joiner, v.Joiner != nil)
	}
	return gateways, joiners, vs.First(func(v providers.Vendor) bool { return v.Texter != nil }).Texter
}
