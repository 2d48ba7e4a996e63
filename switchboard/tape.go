package switchboard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// startTape begins a recording of both directions of a call at rate Hz; it is written by whoever has the sound.
func (s *Switchboard) startTape(id calls.ID, rate int) (*tape, error) {
	if err := os.MkdirAll(s.Scratch, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Scratch, fmt.Sprintf("call-%d-*.wav", id))
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
	ctx, stop := context.WithTimeout(context.Background(), tapeTime)
	defer stop()
	var err error
	select {
	case <-t.done:
		err = t.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	key := ""
	if err == nil {
		key, err = s.store(ctx, t.name)
	}
	os.Remove(t.name)
	if err != nil {
		s.Log.Error("recording not kept", "call", c.ID, "error", err)
	}
	return key
}

// store puts a recording among the files.
func (s *Switchboard) store(ctx context.Context, name string) (key string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var secret [20]byte
	_, _ = rand.Read(secret[:]) // never fails
	key = "recordings/" + hex.EncodeToString(secret[:]) + ".wav"
	if err := s.Files.Put(ctx, key, f, "audio/wav"); err != nil {
		return "", err
	}
	return key, nil
}

// rescue stores what an earlier life of this process had recorded of a call. The second result is when it wrote last.
func (s *Switchboard) rescue(ctx context.Context, id calls.ID) (key string, last time.Time) {
	for _, name := range s.oldTapes(fmt.Sprintf("call-%d-*.wav", id)) {
		written, err := finishTape(name)
		if err == nil {
			key, err = s.store(ctx, name)
		}
		if err != nil {
			s.Log.Error("recording of a lost call not kept", "call", id, "error", err)
			continue
		}
		last = written
	}
	return key, last
}

// finishTape writes the length into a recording that was cut off; it still counts as written when it was cut off.
func finishTape(name string) (written time.Time, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return written, err
	}
	info, err := f.Stat()
	if err != nil {
		return written, errors.Join(err, f.Close())
	}
	written = info.ModTime()
	return written, errors.Join(audio.FinishWAV(f), f.Close(), os.Chtimes(name, written, written))
}

// sweepTapes removes what an earlier life of this process left behind.
func (s *Switchboard) sweepTapes() {
	for _, name := range s.oldTapes("call-*.wav") {
		os.Remove(name)
	}
}

// oldTapes are the recordings in the making that this life of the process did not begin.
func (s *Switchboard) oldTapes(pattern string) []string {
	all, _ := filepath.Glob(filepath.Join(s.Scratch, pattern))
	return slices.DeleteFunc(all, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || !info.ModTime().Before(s.began)
	})
}
