package main

import (
	"bytes"
	"context"
	"slices"

	"parley/audio"
)

// longestNote bounds what is decoded of a recording: ten minutes at 48 kHz, in samples.
const longestNote = 10 * 60 * 48000

// noteRate is what recordings are converted to: every transcriber takes it.
const noteRate = 16000

// sound decodes a recording that a customer sent: WAV, or Opus in Ogg as telephones record it.
func (s *server) sound(ctx context.Context, file []byte) (f audio.Frame, err error) {
	if bytes.HasPrefix(file, []byte("RIFF")) {
		f, err = audio.ReadWAV(bytes.NewReader(file), longestNote)
	} else {
		f, err = s.opus.ReadOgg(ctx, bytes.NewReader(file), longestNote)
	}
	if err != nil || f.Rate == noteRate {
		return f, err
	}
	r := audio.NewResampler(f.Rate, noteRate)
	pcm := slices.Clone(r.Process(f.PCM))
	return audio.Frame{Rate: noteRate, PCM: append(pcm, r.Flush()...)}, nil
}
