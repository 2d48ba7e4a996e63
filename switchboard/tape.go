package switchboard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"parley/audio"
	"parley/calls"
)

// tape is a recording in the making: a WAV file in the scratch folder.
type tape struct {
	name string
	wav  *audio.WAVWriter
	done chan struct{} // closed when the line has written its last sample
	err  error
}

// startTape begins a recording of both directions of a line at rate Hz; it is written by whoever has the sound.
func (s *Switchboard) startTape(rate int) (*tape, error) {
	if err := os.MkdirAll(s.Scratch, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Scratch, "call-*.wav")
	if err != nil {
		return nil, err
	}
	t := &tape{name: f.Name(), done: make(chan struct{})}
	if t.wav, err = audio.NewWAVWriter(f, rate, 2); err != nil {
		f.Close()
		os.Remove(t.name)
		return nil, err
	}
	return t, nil
}

// Write takes interleaved samples from the line.
func (t *tape) Write(b []byte) (int, error) { return t.wav.Write(b) }

// Close is called by the line at its end.
func (t *tape) Close() error {
	defer close(t.done)
	t.err = t.wav.Close()
	return t.err
}

// tapeTime bounds how long the end of a call waits for its recording.
const tapeTime = 30 * time.Second

// keepTape stores a finished recording under a name that cannot be guessed, and returns it; empty when there is none.
func (s *Switchboard) keepTape(t *tape, c calls.Call) string {
	defer os.Remove(t.name)
	ctx, stop := context.WithTimeout(context.Background(), tapeTime)
	defer stop()
	select {
	case <-t.done:
	case <-ctx.Done():
		s.Log.Error("recording not finished", "call", c.ID)
		return ""
	}
	if err := t.err; err != nil {
		s.Log.Error("recording not written", "call", c.ID, "error", err)
		return ""
	}
	f, err := os.Open(t.name)
	if err != nil {
		s.Log.Error("recording lost", "call", c.ID, "error", err)
		return ""
	}
	defer f.Close()
	var name [20]byte
	_, _ = rand.Read(name[:]) // never fails
	key := "recordings/" + hex.EncodeToString(name[:]) + ".wav"
	if err := s.Files.Put(ctx, key, f, "audio/wav"); err != nil {
		s.Log.Error("recording not kept", "call", c.ID, "error", err)
		return ""
	}
	return key
}

// sweepTapes removes what an earlier life of this process left behind.
func (s *Switchboard) sweepTapes() {
	old, _ := filepath.Glob(filepath.Join(s.Scratch, "call-*.wav"))
	for _, name := range old {
		if info, err := os.Stat(name); err == nil && info.ModTime().Before(s.began) {
			os.Remove(name)
		}
	}
}
