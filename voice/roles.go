// Package voice is one live spoken conversation.
package voice

import (
	"context"
	"errors"
	"time"
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
	Text       string
	Final      bool
	Turn       TurnSign      // what the transcriber makes of the caller's turn
	Words      []Word        // of Text, when the transcriber tells them
	Confidence float64       // in Text, 0-1; 0 = not told
	Language   string        // ISO 639-1 when the transcriber knows it, else empty
	Lost       time.Duration // audio given up since the last transcript, because the transcriber cannot keep up
}

// Word is a word of a transcript and where it is in the audio.
type Word struct {
	Text       string
	From, To   time.Duration // since the first sample written; both 0 = not told
	Confidence float64       // 0-1; 0 = not told
}

// TurnSign is what a transcriber that ends turns itself makes of the caller's turn. It is believed when the conversation
// asks for it (Transcription.Turns); in others the text alone counts.
type TurnSign int

// The signs. TurnOver comes with a final transcript, which is the whole turn's; an EndTurn that it overtakes is answered by it.
const (
	NoSign      TurnSign = iota
	TurnLikely           // probably over: an answer may be prepared
	TurnResumed          // it goes on, after TurnLikely
	TurnOver
)

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

	Turns      bool          // a transcriber that ends turns itself is believed
	EndSilence time.Duration // silence that ends a turn, for one that does
}

// OpenTranscriber opens a transcriber for one conversation.
type OpenTranscriber func(ctx context.Context, l Transcription) (Transcriber, error)
