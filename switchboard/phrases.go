package switchboard

import (
	"container/list"
	"context"
	"iter"
	"sync"

	"parley/audio"
	"parley/voice"
)

// phrases remembers the sound of sentences that are said again and again: greetings, and what the platform itself says.
type phrases struct {
	mu    sync.Mutex
	known map[phraseKey]*list.Element
	order *list.List // most recently used first
	size  int        // samples
}

type phraseKey struct {
	provider string
	speech   voice.Speech
}

type phrase struct {
	key phraseKey
	f   audio.Frame
}

const (
	phrasesMost = 16 << 20 // samples: 32 MB
	phraseMost  = 30       // seconds of one sentence
)

func newPhrases() *phrases { return &phrases{known: map[phraseKey]*list.Element{}, order: list.New()} }

// around is a synthesiser that takes known sentences from memory.
func (p *phrases) around(provider string, s voice.Synthesizer) voice.Synthesizer {
	return remembering{p, provider, s}
}

type remembering struct {
	phrases  *phrases
	provider string
	voice.Synthesizer
}

// Speak yields the sentence at once when it is known.
func (r remembering) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	if f, ok := r.phrases.get(phraseKey{r.provider, s}); ok {
		return func(yield func(audio.Frame, error) bool) { yield(f, nil) }
	}
	return r.Synthesizer.Speak(ctx, s)
}

// warm makes a sentence known.
func (p *phrases) warm(ctx context.Context, provider string, m voice.Synthesizer, s voice.Speech) {
	key := phraseKey{provider, s}
	if _, ok := p.get(key); ok {
		return
	}
	var all audio.Frame
	for f, err := range m.Speak(ctx, s) {
		if err != nil || all.Rate != 0 && f.Rate != all.Rate || len(all.PCM) > phraseMost*f.Rate {
			return
		}
		all.Rate, all.PCM = f.Rate, append(all.PCM, f.PCM...)
	}
	if ctx.Err() == nil && len(all.PCM) > 0 {
		p.put(key, all)
	}
}

func (p *phrases) get(k phraseKey) (audio.Frame, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.known[k]
	if !ok {
		return audio.Frame{}, false
	}
	p.order.MoveToFront(e)
	return e.Value.(phrase).f, true
}

func (p *phrases) put(k phraseKey, f audio.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.known[k]; ok {
		return
	}
	p.known[k] = p.order.PushFront(phrase{k, f})
	for p.size += len(f.PCM); p.size > phrasesMost; {
		last := p.order.Back()
		old := p.order.Remove(last).(phrase)
		delete(p.known, old.key)
		p.size -= len(old.f.PCM)
	}
}
