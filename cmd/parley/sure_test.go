package main

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"parley/audio"
	"parley/english"
	"parley/providers"
	"parley/voice"
)

// sureWords is the environment of a server whose calls know the words of simulated phones by their very samples, which
// have come over the line: at once, on the busiest machine. What it does not change is the sound, and when it comes.
const sureWords = "PARLEY_TEST_SURE_WORDS=1"

// repertoire is what phones said so far, by the first samples of its packets.
type repertoire struct {
	mu     sync.Mutex
	pieces map[[piece]byte]place
}

// place is where in a text a packet is: the words said with it.
type place struct {
	text  string
	words int
}

const (
	lineRate = 8000
	packet   = lineRate / 50
	piece    = 24 // samples, as µ-law
)

// stage puts it in the place of the built-in transcriber, whose words come late on a busy machine.
func stage() {
	r := &repertoire{pieces: map[[piece]byte]place{}}
	own := makers[0]
	makers[0].Open = func(ctx context.Context, settings any, on providers.Ground) ([]providers.Vendor, error) {
		vs, err := own.Open(ctx, settings, on)
		vs[0].Transcriber, vs[0].Warm, vs[0].Limit = r.listen, nil, 0
		return vs, err
	}
	phones = func(vs providers.Vendors) (voice.Synthesizer, voice.OpenTranscriber) {
		return actor{vs[0].Synthesizer, r}, nil
	}
}

// learn takes the sound of a text. Pieces that are silent, or in two texts, tell nothing.
func (r *repertoire) learn(text string, pcm []int16) {
	said := english.Tokens(text)
	coded := make([]byte, len(pcm))
	audio.EncodeMuLaw(coded, pcm)
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := 0; at+piece <= len(pcm); at += packet {
		if quiet(pcm[at : at+piece]) {
			continue
		}
		key := [piece]byte(coded[at:])
		p := place{text, min(len(said), len(said)*(at+packet)/len(pcm)+1)}
		if other, ok := r.pieces[key]; ok && other.text != text {
			p = place{}
		}
		r.pieces[key] = p
	}
}

func quiet(pcm []int16) bool { return slices.Max(pcm) < 300 && slices.Min(pcm) > -300 }

// actor speaks for phones and tells the repertoire.
type actor struct {
	voice.Synthesizer
	r *repertoire
}

func (a actor) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		var pcm []int16
		var down *audio.Resampler
		for frame, err := range a.Synthesizer.Speak(ctx, s) {
			if err != nil {
				yield(audio.Frame{}, err)
				return
			}
			if down == nil {
				down = audio.NewResampler(frame.Rate, lineRate)
			}
			pcm = append(pcm, down.Process(frame.PCM)...)
		}
		if down != nil {
			pcm = append(pcm, down.Flush()...)
		}
		a.r.learn(s.Text, pcm)
		yield(audio.Frame{Rate: lineRate, PCM: pcm}, nil)
	}
}

// transcriber is one that knows the repertoire.
type transcriber struct {
	r      *repertoire
	before string // earlier texts of the turn
	now    place
	from   int // words of it that were in an earlier turn
	out    chan voice.Transcript
	closed chan struct{}
}

func (r *repertoire) listen(context.Context, voice.Transcription) (voice.Transcriber, error) {
	return &transcriber{r: r, out: make(chan voice.Transcript, 1024), closed: make(chan struct{})}, nil
}

// Write takes packets as phones sent them: speech begins with one.
func (e *transcriber) Write(pcm []int16) error {
	if len(pcm) < piece {
		return nil
	}
	var key [piece]byte
	audio.EncodeMuLaw(key[:], pcm[:piece])
	e.r.mu.Lock()
	p := e.r.pieces[key]
	e.r.mu.Unlock()
	if p.text == "" || p.text == e.now.text && p.words <= e.now.words {
		return nil
	}
	if p.text != e.now.text {
		e.before, e.from = e.said(), 0
	}
	e.now = p
	e.tell(voice.Transcript{Text: e.said()})
	return nil
}

func (e *transcriber) said() string {
	return strings.TrimSpace(e.before + " " + strings.Join(english.Tokens(e.now.text)[e.from:e.now.words], " "))
}

func (e *transcriber) tell(t voice.Transcript) {
	select {
	case e.out <- t:
	case <-e.closed:
	}
}

func (e *transcriber) EndTurn() error {
	e.tell(voice.Transcript{Text: e.said(), Final: true})
	e.before, e.from = "", e.now.words
	if e.from == len(english.Tokens(e.now.text)) { // it may be said again
		e.now, e.from = place{}, 0
	}
	return nil
}

func (e *transcriber) Recv() (voice.Transcript, error) {
	select {
	case t := <-e.out:
		return t, nil
	case <-e.closed:
		return voice.Transcript{}, io.EOF
	}
}

func (e *transcriber) Close() error { close(e.closed); return nil }
