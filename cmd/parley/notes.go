package main

import (
	"bytes"
	"context"

	"parley/audio"
)

// longestNote bounds what is decoded of a recording: ten minutes at 48 kHz, in samples.
const longestNote = 10 * 60 * 48000

// sound decodes a recording that a customer sent: WAV, or Opus in Ogg as telephones record it.
func (e *engines) sound(ctx context.Context, file []byte) (audio.Frame, error) {
	if bytes.HasPrefix(file, []byte("RIFF")) {
		return audio.ReadWAV(bytes.NewReader(file), longestNote)
	}
	return e.opus.ReadOgg(ctx, bytes.NewReader(file), longestNote)
}
