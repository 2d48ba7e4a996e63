package builtin

import (
	"context"
	"slices"
	"sync"

	"parley/audio"
	"parley/voice"
)

// prepared holds sentences that were synthesised before they are needed, the least recently used going first.
type prepared struct {
	mu    sync.Mutex
	order []voice.Speech // least recently used first
	sound map[voice.Speech]audio.Frame
	bytes int
}

// preparedLimit is how much sound is kept: about four minutes.
const preparedLimit = 8 << 20

// Prepare synthesises a sentence that will be spoken soon, such as an initial message while the phone rings. The next
// Speak calls with the same s begin at once.
func (e *Engines) Prepare(ctx context.Context, s voice.Speech) error {
	if _, ok := e.mouth.prepared.get(s); ok {
		return nil
	}
	f, err := e.Render(ctx, s)
	if err != nil {
		return err
	}
	e.mouth.prepared.put(s, f)
	return nil
}

// Render synthesises a whole sentence.
func (e *Engines) Render(ctx context.Context, s voice.Speech) (audio.Frame, error) {
	var all audio.Frame
	for f, err := range e.Speak(ctx, s) {
		if err != nil {
			return audio.Frame{}, err
		}
		all.Rate = f.Rate
		all.PCM = append(all.PCM, f.PCM...)
	}
	return all, nil
}

func (p *prepared) get(s voice.Speech) (audio.Frame, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.sound[s]
	if ok {
		i := slices.Index(p.order, s)
		p.order = append(slices.Delete(p.order, i, i+1), s)
	}
	return f, ok
}

func (p *prepared) put(s voice.Speech, f audio.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.sound[s]; ok || 2*len(f.PCM) > preparedLimit {
		return
	}
	if p.sound == nil {
		p.sound = map[voice.Speech]audio.Frame{}
	}
	p.sound[s] = f
	p.order = append(p.order, s)
	p.bytes += 2 * len(f.PCM)
	for p.bytes > preparedLimit {
		p.bytes -= 2 * len(p.sound[p.order[0]].PCM)
		delete(p.sound, p.order[0])
		p.order = p.order[1:]
	}
}
