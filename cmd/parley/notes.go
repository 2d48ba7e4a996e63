package main

import (
	"bytes"
	"context"

	"parley/assets"
	"parley/audio"
	"parley/audio/opus"
)

// longestNote bounds what is decoded of a recording: ten minutes at 48 kHz, in samples.
const longestNote = 10 * 60 * 48000

// sound decodes a recording that a customer sent: WAV, or Opus in Ogg as telephones record it.
func (e *engines) sound(ctx context.Context, file []byte) (audio.Frame, error) {
	if bytes.HasPrefix(file, []byte("RIFF")) {
		return audio.ReadWAV(bytes.NewReader(file), longestNote)
	}
	lib, err := e.codec()
	if err != nil {
		return audio.Frame{}, err
	}
	return lib.ReadOgg(ctx, bytes.NewReader(file), longestNote)
}

// codec loads Opus for recordings when the first one comes.
func (e *engines) codec() (*opus.Library, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opus != nil {
		return e.opus, nil
	}
	wasm, err := assets.Read("opus.wasm")
	if err == nil {
		e.opus, err = opus.Load(context.Background(), wasm, nil)
	}
	return e.opus, err
}

func (e *engines) closeCodec() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opus == nil {
		return nil
	}
	return e.opus.Close(context.Background())
}
