package catalog

import (
	"slices"
	"strings"
)

// Offer is what one installation has configured.
type Offer struct {
	Synthesizers []NewSynthesizer
	Transcribers []NewTranscriber
	Models       []NewModel
	Defaults     Defaults
}

// NewSynthesizer is a synthesizer with its voices.
type NewSynthesizer struct {
	Code, Name string
	Languages  []string // ISO 639-1; nil = all of the list
	Voices     []NewVoice
	Healthy    func() bool // nil = always
}

// NewVoice is a voice of a synthesizer or realtime engine.
type NewVoice struct {
	Code, Name     string
	Gender, Accent string
	Languages      []string // nil = those of its engine
}

// NewTranscriber is a transcriber.
type NewTranscriber struct {
	Code, Name string
	Languages  []string // ISO 639-1; nil = all of the list
	Healthy    func() bool
}

// NewModel is a language model or realtime engine.
type NewModel struct {
	Provider    string // code of the vendor
	Code, Name  string
	Types       []string // "llm", or "multimodal" and/or "dualplex"
	Temperature bool
	Languages   []string   // ISO 639-1; nil = all of the list
	Voices      []NewVoice // of a multimodal engine
	Healthy     func() bool
}

// Defaults name the models used where none is chosen, by code or provider/code; empty = the first of its type.
type Defaults struct {
	LLM, Multimodal, Dualplex, Chat string
}

// With adds a language as vendors name it ("en", "en-US") where it is one of the list.
func With(languages []string, name string) []string {
	name, _, _ = strings.Cut(strings.ToLower(name), "-")
	if LanguageOf(name).ID == 0 || slices.Contains(languages, name) {
		return languages
	}
	return append(languages, name)
}
