// Package voice is one live spoken conversation.
package voice

import (
	"context"
	"errors"
	"iter"
	"time"

	"parley/audio"
)

// Transcriber turns one caller's audio into words. Write, EndTurn and Close come from one goroutine, Recv from another.
type Transcriber interface {
	// Write takes caller audio in order, at the rate it was opened with. It keeps no part of pcm and never waits: what cannot be
	// worked on or sent at once is kept, and of more than some seconds the oldest is lost.
	Write(pcm []int16) error
	// EndTurn says that the caller's turn is over: exactly one Final transcript (possibly empty) must follow. It never waits.
	EndTurn() error
	// Recv blocks for the next transcript; io.EOF after Close.
	Recv() (Transcript, error)
	Close() error
}

// Transcript is what was recognised since the last final one.
type Transcript struct {
	Text     string
	Final    bool
	Language string        // ISO 639-1 when the transcriber knows it, else empty
	Lost     time.Duration // audio given up since the last transcript, because the transcriber cannot keep up
}

// Transcribe says what is spoken in a recording, at the rate that t was opened with, and closes t.
func Transcribe(t Transcriber, pcm []int16) (text string, err error) {
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := t.Write(pcm); err != nil {
		return "", err
	}
	if err := t.EndTurn(); err != nil {
		return "", err
	}
	for {
		said, err := t.Recv()
		if err != nil {
			return "", err
		}
		if said.Final {
			return said.Text, nil
		}
	}
}

// Transcription is how a Transcriber is opened.
type Transcription struct {
	Rate      int      // Hz of the audio that will be written
	Languages []string // ISO 639-1, the primary first
	Hints     []string // sentences this conversation is likely to contain: initial message, prompt, knowledge, tools
}

// OpenTranscriber opens a transcriber for one conversation.
type OpenTranscriber func(ctx context.Context, l Transcription) (Transcriber, error)

// Synthesizer turns a sentence into sound.
type Synthesizer interface {
	// Speak yields audio as it is made, at any rate; the session resamples once. Breaking off or ctx ends the work.
	Speak(ctx context.Context, s Speech) iter.Seq2[audio.Frame, error]
}

// Speech is one sentence to be spoken and how.
type Speech struct {
	Text       string
	Voice      string  // the provider's own voice code
	Language   string  // ISO 639-1
	Speed      float64 // 0.7-1.2, 1 = normal
	Stability  float64 // 0-1
	Similarity float64 // 0-1
	Emotion    bool
}
