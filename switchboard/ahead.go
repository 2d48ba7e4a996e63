package switchboard

import (
	"context"
	"iter"
	"sync/atomic"

	"parley/audio"
	"parley/voice"
)

// ahead is a sentence whose sound is made before it is asked for: the greeting, while it still rings.
type ahead struct {
	speech voice.Speech
	pieces chan piece
	taken  atomic.Bool
}

type piece struct {
	frame audio.Frame
	err   error
}

// aheadMost is how many frames are made ahead; then the synthesizer waits.
const aheadMost = 1024

// speakAhead begins to make the sound of a sentence. It ends with ctx, taken or not.
func (s *Switchboard) speakAhead(ctx context.Context, m voice.Synthesizer, sp voice.Speech) *ahead {
	a := &ahead{speech: sp, pieces: make(chan piece, aheadMost)}
	if !s.spawn(func() {
		defer close(a.pieces)
		for f, err := range m.Speak(ctx, sp) {
			p := piece{audio.Frame{Rate: f.Rate, PCM: append([]int16(nil), f.PCM...)}, err}
			select {
			case a.pieces <- p:
			case <-ctx.Done():
				return
			}
		}
	}) {
		a.taken.Store(true)
	}
	return a
}

// headstart is a synthesizer that has begun with its first sentence.
type headstart struct {
	voice.Synthesizer
	first *ahead
}

// Speak gives the sentence that was begun, once; everything else is made as it is asked for.
func (h headstart) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	if s != h.first.speech || !h.first.taken.CompareAndSwap(false, true) {
		return h.Synthesizer.Speak(ctx, s)
	}
	return func(yield func(audio.Frame, error) bool) {
		for {
			select {
			case p, more := <-h.first.pieces:
				if !more || !yield(p.frame, p.err) || p.err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
