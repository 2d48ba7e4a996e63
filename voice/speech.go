package voice

import (
	"context"
	"iter"
	"time"

	"parley/audio"
	"parley/safe"
)

// Synthesizer turns a sentence into sound.
type Synthesizer interface {
	// Speak yields audio as it is made, at any rate; the session resamples once. Breaking off or ctx ends the work.
	Speak(ctx context.Context, s Speech) iter.Seq2[audio.Frame, error]
}

// Speech is how to speak, and the text where it is known.
type Speech struct {
	Text       string
	Voice      string  // the provider's own voice code
	Language   string  // ISO 639-1
	Speed      float64 // 0.7-1.2, 1 = normal
	Stability  float64 // 0-1
	Similarity float64 // 0-1
	Emotion    bool
}

// Speaker is a Synthesizer that also speaks text as it comes, in one breath.
type Speaker interface {
	Synthesizer
	// Open begins an utterance; s.Text is empty. It never waits: what is written before the vendor is there is kept, and whatever
	// goes wrong comes out of Recv. ctx ends the utterance.
	Open(ctx context.Context, s Speech) Utterance
}

// Utterance is text on its way to sound. Write, Flush, End and Close never wait and come from one goroutine, Recv from another.
type Utterance interface {
	// Write adds a piece of the text: whole words, without blanks around them. What comes after End or Close is dropped.
	Write(text string)
	// Flush has all that was written spoken, without waiting for more.
	Flush()
	// End says that nothing more will be written, and flushes.
	End()
	// Recv blocks for the next sound, in the order of the pieces. After the last one of an utterance that was ended, and after
	// Close, it returns io.EOF. What is made before it is received is kept, up to half a minute; then the vendor waits.
	Recv() (Sound, error)
	// Close gives up what was not received; every utterance is closed. Closing again is harmless.
	Close()
}

// Sound is a run of an utterance's sound. Its samples are the receiver's.
type Sound struct {
	audio.Frame
	Piece int    // how many pieces were written before the one that is spoken; it never goes back
	Last  bool   // nothing follows of that piece; it is told without waiting for more text
	Marks []Mark // where words of that piece are, those that became known; they may come before or after the samples
}

// Mark is the end of a word of a piece.
type Mark struct {
	Text int           // bytes of the piece up to and with the word
	At   time.Duration // since the piece's first sample
}

// Open begins an utterance of m: in one breath when it is a Speaker, else flush by flush, each spoken on its own. The sound of
// pieces that are flushed together counts to the first of them.
func Open(ctx context.Context, m Synthesizer, s Speech) Utterance {
	if sp, ok := m.(Speaker); ok {
		return sp.Open(ctx, s)
	}
	p := NewPipe(ctx)
	safe.Go("utterance", func() { p.Finish(speakEach(p, m, s)) })
	return p
}

func speakEach(p *Pipe, m Synthesizer, s Speech) error {
	return safe.Do("synthesizer", func() error {
		for in := range p.Flushes() {
			s.Text = in.Text
			for f, err := range m.Speak(p.Context(), s) {
				if err != nil {
					return err
				}
				if err := p.Put(Sound{Frame: f, Piece: in.Piece}); err != nil {
					return err
				}
			}
			for piece := in.Piece; piece <= in.To; piece++ {
				if err := p.Put(Sound{Piece: piece, Last: true}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Opened is an utterance whose text is written and ended: the greeting, made while it rings. Who takes it has it closed.
type Opened struct {
	Utterance
	speech   Speech
	provider string
}

// OpenWhole begins to speak a text before it is asked for. ctx ends it.
func OpenWhole(ctx context.Context, m NamedSynthesizer, s Speech) *Opened {
	o := &Opened{provider: m.Provider, speech: s}
	s.Text = ""
	o.Utterance = Open(ctx, m.Synthesizer, s)
	o.Utterance.Write(o.speech.Text)
	o.Utterance.End()
	return o
}

// Is reports that it is what would be opened now.
func (o *Opened) Is(m NamedSynthesizer, s Speech, text string) bool {
	s.Text = text
	return o.provider == m.Provider && o.speech == s
}

// Write implements Utterance: all is written.
func (o *Opened) Write(string) {}

// Flush implements Utterance.
func (o *Opened) Flush() {}

// End implements Utterance.
func (o *Opened) End() {}
