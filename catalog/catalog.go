// Package catalog knows what assistants can be made of: languages, voices, speech and recognition engines, models.
// It lists what the installation really has; cmd/parley says so at start.
package catalog

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"parley/db"
)

// Mode is how an assistant's conversation is produced.
type Mode string

const (
	Pipeline   Mode = "pipeline"   // transcriber, language model, synthesizer
	Multimodal Mode = "multimodal" // one realtime speech session
	Dualplex   Mode = "dualplex"   // realtime session producing text, and a synthesizer
)

// LLM is the type of the text models in the lists of models; the other two types are the realtime modes.
const LLM = "llm"

// Voice is a voice on offer.
type Voice struct {
	ID            int64
	Name          string
	Gender        string // "female", "male" or empty
	Accent        string // empty = none to speak of
	LanguageID    int64  // its first language
	Languages     []string
	Modes         []Mode
	SynthesizerID int64  // 0 for the voices of realtime engines
	Provider      string // code of the engine that speaks it
	Code          string // the engine's own name of it
}

// Fits reports whether the voice can be used in a mode.
func (v Voice) Fits(m Mode) bool { return slices.Contains(v.Modes, m) }

// Provider is a speech or recognition engine.
type Provider struct {
	ID        int64
	Name      string
	Code      string
	Languages []string // ISO 639-1; nil = all of the list
	healthy   func() bool
}

// Healthy reports what the engine's last check said.
func (p Provider) Healthy() bool { return p.healthy == nil || p.healthy() }

// Model is a language model or realtime engine.
type Model struct {
	ID          int64
	Name        string
	Types       []string // "llm", or "multimodal" and/or "dualplex"
	Provider    string   // code of the vendor
	Code        string   // the vendor's name of it
	Temperature bool     // it has such a setting
	Languages   []string // ISO 639-1; nil = all of the list
	healthy     func() bool
}

// Is reports whether the model stands in the list of a type.
func (m Model) Is(typ string) bool { return slices.Contains(m.Types, typ) }

// Healthy reports what the engine's last check said.
func (m Model) Healthy() bool { return m.healthy == nil || m.healthy() }

// Catalog is everything on offer now.
type Catalog struct {
	db  *db.DB
	now atomic.Pointer[list]
}

// list is an offer with its numbers. It does not change, except for health.
type list struct {
	voices       []Voice
	synthesizers []Provider
	transcribers []Provider
	models       []Model
	defaults     map[string]int64 // model type → id
}

// Open numbers the offer and keeps the numbers: an engine that comes back after a pause has its old ids.
func Open(ctx context.Context, d *db.DB, o Offer) (*Catalog, error) {
	c := &Catalog{db: d}
	return c, c.Renew(ctx, o)
}

// Renew puts another offer in the place of the last one. After an error the last one stands.
func (c *Catalog) Renew(ctx context.Context, o Offer) error {
	var l *list
	err := c.db.Do(ctx, func(tx *db.Tx) (err error) {
		l, err = number(numbering{tx, ctx}, o)
		return err
	})
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	l.sort()
	if err := l.choose(o.Defaults); err != nil {
		return err
	}
	c.now.Store(l)
	return nil
}

// number gives everything on offer its number.
func number(n numbering, o Offer) (*list, error) {
	l := &list{defaults: map[string]int64{}}
	for _, s := range o.Synthesizers {
		if err := l.addSynthesizer(n, s); err != nil {
			return nil, err
		}
	}
	for _, h := range o.Transcribers {
		id, err := n.id("transcriber", h.Code)
		if err != nil {
			return nil, err
		}
		l.transcribers = append(l.transcribers, Provider{id, h.Name, h.Code, h.Languages, h.Healthy})
	}
	for _, m := range o.Models {
		if err := l.addModel(n, m); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// addSynthesizer takes a synthesizer and its voices. They serve pipeline and dualplex.
func (l *list) addSynthesizer(n numbering, s NewSynthesizer) error {
	id, err := n.id("synthesizer", s.Code)
	if err != nil {
		return err
	}
	l.synthesizers = append(l.synthesizers, Provider{id, s.Name, s.Code, s.Languages, s.Healthy})
	return l.addVoices(n, s.Voices, Voice{Provider: s.Code, SynthesizerID: id, Languages: s.Languages, Modes: []Mode{Pipeline, Dualplex}})
}

// addModel takes a model and, of one that speaks by itself, the voices.
func (l *list) addModel(n numbering, m NewModel) error {
	id, err := n.id("model", m.Provider+"/"+m.Code)
	if err != nil {
		return err
	}
	l.models = append(l.models, Model{id, m.Name, m.Types, m.Provider, m.Code, m.Temperature, m.Languages, m.Healthy})
	return l.addVoices(n, m.Voices, Voice{Provider: m.Code, Languages: m.Languages, Modes: []Mode{Multimodal}})
}

func (l *list) addVoices(n numbering, voices []NewVoice, like Voice) error {
	for _, v := range voices {
		id, err := n.id("voice", like.Provider+"/"+v.Code)
		if err != nil {
			return err
		}
		out := like
		out.ID, out.Name, out.Gender, out.Accent, out.Code, out.LanguageID = id, v.Name, v.Gender, v.Accent, v.Code, 1
		if len(v.Languages) > 0 {
			out.Languages = v.Languages
		}
		if len(out.Languages) > 0 {
			out.LanguageID = LanguageOf(out.Languages[0]).ID
		}
		l.voices = append(l.voices, out)
	}
	return nil
}

func (l *list) sort() {
	byProvider := func(a, b Provider) int { return int(a.ID - b.ID) }
	slices.SortFunc(l.synthesizers, byProvider)
	slices.SortFunc(l.transcribers, byProvider)
	slices.SortFunc(l.voices, func(a, b Voice) int { return int(a.ID - b.ID) })
	slices.SortFunc(l.models, func(a, b Model) int { return int(a.ID - b.ID) })
}

// choose finds the default models. Names are a model's code, or provider/code.
func (l *list) choose(want Defaults) error {
	for _, w := range []struct{ key, typ, name string }{
		{LLM, LLM, want.LLM}, {string(Multimodal), string(Multimodal), want.Multimodal},
		{string(Dualplex), string(Dualplex), want.Dualplex}, {"chat", LLM, want.Chat},
	} {
		for _, m := range l.models {
			if m.Is(w.typ) && (w.name == "" || w.name == m.Code || w.name == m.Provider+"/"+m.Code) {
				l.defaults[w.key] = m.ID
				break
			}
		}
		if w.name != "" && l.defaults[w.key] == 0 {
			return fmt.Errorf("models.default_%s: there is no model %q", w.key, w.name)
		}
	}
	return nil
}
