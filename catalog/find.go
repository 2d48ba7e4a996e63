package catalog

import "slices"

// serves reports whether a language is among those of an engine.
func serves(of []string, iso2 string) bool { return of == nil || slices.Contains(of, iso2) }

// Filter narrows the lists. The zero Filter takes everything.
type Filter struct {
	Mode       Mode  // empty = all
	LanguageID int64 // 0 = all; an unknown id matches nothing
}

func (f Filter) language(of []string) bool {
	if f.LanguageID == 0 {
		return true
	}
	l, ok := LanguageByID(f.LanguageID)
	return ok && serves(of, l.ISO2)
}

// Voices are the voices by id.
func (c *Catalog) Voices(f Filter) []Voice {
	return pick(c.now.Load().voices, func(v Voice) bool { return (f.Mode == "" || v.Fits(f.Mode)) && f.language(v.Languages) })
}

// Synthesizers are the speech engines by id.
func (c *Catalog) Synthesizers(f Filter) []Provider {
	return pick(c.now.Load().synthesizers, func(p Provider) bool { return f.language(p.Languages) })
}

// Transcribers are the recognition engines by id.
func (c *Catalog) Transcribers(f Filter) []Provider {
	return pick(c.now.Load().transcribers, func(p Provider) bool { return f.language(p.Languages) })
}

// Models are the models of a type by id.
func (c *Catalog) Models(typ string) []Model {
	return pick(c.now.Load().models, func(m Model) bool { return m.Is(typ) })
}

// Voice finds a voice on offer.
func (c *Catalog) Voice(id int64) (Voice, bool) {
	return find(c.now.Load().voices, func(v Voice) bool { return v.ID == id })
}

// Synthesizer finds a speech engine on offer.
func (c *Catalog) Synthesizer(id int64) (Provider, bool) {
	return find(c.now.Load().synthesizers, func(p Provider) bool { return p.ID == id })
}

// Transcriber finds a recognition engine on offer.
func (c *Catalog) Transcriber(id int64) (Provider, bool) {
	return find(c.now.Load().transcribers, func(p Provider) bool { return p.ID == id })
}

// Model finds a model on offer.
func (c *Catalog) Model(id int64) (Model, bool) {
	return find(c.now.Load().models, func(m Model) bool { return m.ID == id })
}

// DefaultModel is the model used where none is chosen: of "llm", "multimodal", "dualplex", or "chat" for chats of
// assistants without a text model. 0 when there is none.
func (c *Catalog) DefaultModel(use string) int64 { return c.now.Load().defaults[use] }

// DefaultVoice is the voice of a language and mode used where none is chosen: one of that language when there is one.
func (c *Catalog) DefaultVoice(languageID int64, m Mode) (Voice, bool) {
	for _, f := range []Filter{{m, languageID}, {Mode: m}} {
		if vs := c.Voices(f); len(vs) > 0 {
			return vs[0], true
		}
	}
	return Voice{}, false
}

// TranscriberFor is the transcriber of a language: the chosen one, or with 0 the language's default.
func (c *Catalog) TranscriberFor(languageID, chosen int64) (Provider, bool) {
	return find(c.Transcribers(Filter{LanguageID: languageID}), func(p Provider) bool { return chosen == 0 || p.ID == chosen })
}

// Supports reports whether some configured engine can hold a conversation of a mode in a language.
func (c *Catalog) Supports(languageID int64, m Mode) bool {
	f := Filter{LanguageID: languageID}
	speaks, hears := len(c.Synthesizers(f)) > 0, len(c.Transcribers(f)) > 0
	realtime := slices.ContainsFunc(c.now.Load().models, func(x Model) bool { return x.Is(string(m)) && f.language(x.Languages) })
	switch m {
	case Multimodal:
		return realtime
	case Dualplex:
		return realtime && speaks
	}
	return speaks && hears
}

func pick[T any](all []T, keep func(T) bool) []T {
	out := []T{}
	for _, x := range all {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func find[T any](all []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	var none T
	return none, false
}
