package voice

import (
	"context"
	"io"
	"iter"
	"slices"
	"sync"
	"time"
)

// Pipe is an Utterance without its engine: text goes in at one end and is taken out at the other, sound comes back. What
// makes the sound reads Inputs or Flushes, calls Put, and at last Finish.
type Pipe struct {
	ctx    context.Context
	stop   context.CancelFunc
	pieces int // written; the writer's

	mu       sync.Mutex
	inputs   []Input
	ended    bool
	sounds   []Sound
	kept     time.Duration // of sounds
	finished bool
	err      error // that Finish was called with

	fed, made, taken chan struct{} // something changed: text came, sound came, sound was taken
}

// Input is text on its way to the engine.
type Input struct {
	Text  string
	Piece int  // its number
	To    int  // the number of the last piece in it, of Flushes
	Flush bool // what came so far is to be spoken now
}

// mostAhead is how much sound is kept before it is received.
const mostAhead = 30 * time.Second

// NewPipe makes one that ends with ctx.
func NewPipe(ctx context.Context) *Pipe {
	p := &Pipe{fed: make(chan struct{}, 1), made: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(ctx)
	return p
}

// Context ends when nobody wants the utterance any more.
func (p *Pipe) Context() context.Context { return p.ctx }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Write implements Utterance.
func (p *Pipe) Write(text string) {
	p.give(Input{Text: text, Piece: p.pieces})
	p.pieces++
}

// Flush implements Utterance.
func (p *Pipe) Flush() { p.give(Input{Piece: p.pieces, Flush: true}) }

func (p *Pipe) give(in Input) {
	p.mu.Lock()
	if !p.ended && p.ctx.Err() == nil {
		p.inputs = append(p.inputs, in)
	}
	p.mu.Unlock()
	poke(p.fed)
}

// End implements Utterance.
func (p *Pipe) End() {
	p.Flush()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	poke(p.fed)
}

// Close implements Utterance.
func (p *Pipe) Close() { p.stop() }

// Recv implements Utterance.
func (p *Pipe) Recv() (Sound, error) {
	for {
		s, err, ok := p.take()
		if ok {
			return s, err
		}
		select {
		case <-p.made:
		case <-p.ctx.Done():
			return Sound{}, io.EOF
		}
	}
}

func (p *Pipe) take() (s Sound, err error, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ctx.Err() != nil:
		return s, io.EOF, true
	case len(p.sounds) > 0:
		s, p.sounds = p.sounds[0], p.sounds[1:]
		p.kept -= s.Dur()
		poke(p.taken)
		return s, nil, true
	case p.finished && p.err == nil:
		return s, io.EOF, true
	case p.finished:
		return s, p.err, true
	}
	return s, nil, false
}

// Inputs yields what is written until the utterance is ended, or nobody wants it any more.
func (p *Pipe) Inputs() iter.Seq[Input] {
	return func(yield func(Input) bool) {
		for {
			p.mu.Lock()
			inputs, ended := p.inputs, p.ended
			p.inputs = nil
			p.mu.Unlock()
			for _, in := range inputs {
				if p.ctx.Err() != nil || !yield(in) {
					return
				}
			}
			if ended {
				return
			}
			select {
			case <-p.fed:
			case <-p.ctx.Done():
				return
			}
		}
	}
}

// Flushes yields the same, put together from flush to flush with blanks between pieces.
func (p *Pipe) Flushes() iter.Seq[Input] {
	return func(yield func(Input) bool) {
		whole, some := Input{}, false
		for in := range p.Inputs() {
			switch {
			case !in.Flush && !some:
				whole, some = Input{Text: in.Text, Piece: in.Piece, To: in.Piece}, true
			case !in.Flush:
				whole.Text, whole.To = join(whole.Text, in.Text), in.Piece
			case some && !yield(whole):
				return
			default:
				some = false
			}
		}
	}
}

// Put hands sound to the receiver. It copies the samples, and waits while half a minute is kept.
func (p *Pipe) Put(s Sound) error {
	s.PCM = slices.Clone(s.PCM)
	for {
		p.mu.Lock()
		room := p.kept < mostAhead
		if room {
			p.sounds = append(p.sounds, s)
			p.kept += s.Dur()
		}
		p.mu.Unlock()
		if room {
			poke(p.made)
			return p.ctx.Err()
		}
		select {
		case <-p.taken:
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
}

// Finish says that no more sound comes: all was spoken, or err is why it was not. The first one counts.
func (p *Pipe) Finish(err error) {
	p.mu.Lock()
	if !p.finished {
		p.finished, p.err = true, err
	}
	p.mu.Unlock()
	poke(p.made)
}
