// Package recordings makes the recordings of calls, keeps them among the files for as long as the installation says, and
// saves what a process that died had recorded.
package recordings

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley/audio"
	"parley/calls"
	"parley/db"
)

// Files keeps recordings.
type Files interface {
	Put(ctx context.Context, key string, r io.Reader, contentType string) error
	Delete(ctx context.Context, key string) error
}

// Recordings is the room.
type Recordings struct {
	db      *db.DB
	calls   *calls.Calls
	files   Files
	scratch string // folder of those in the making
	began   time.Time
	log     *slog.Logger
}

// New opens the room. scratch is a folder of this process alone.
func New(d *db.DB, c *calls.Calls, f Files, scratch string, log *slog.Logger) *Recordings {
	return &Recordings{db: d, calls: c, files: f, scratch: scratch, began: time.Now(), log: log}
}

// Tape is a recording in the making: a WAV file in the scratch folder.
type Tape struct {
	name string
	wav  *audio.WAVWriter
	done chan struct{} // closed when the line has written its last sample
	err  error
}

// Start begins a recording of both directions of a call at rate Hz; it is written by whoever has the sound.
func (r *Recordings) Start(id calls.ID, rate int) (*Tape, error) {
	if err := os.MkdirAll(r.scratch, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(r.scratch, fmt.Sprintf("call-%d-*.wav", id))
	if err != nil {
		return nil, err
	}
	t := &Tape{name: f.Name(), done: make(chan struct{})}
	if t.wav, err = audio.NewWAVWriter(f, rate, 2); err != nil {
		f.Close()
		os.Remove(t.name)
		return nil, err
	}
	return t, nil
}

// Write takes interleaved samples from the line.
func (t *Tape) Write(b []byte) (int, error) { return t.wav.Write(b) }

// Close is called by the line at its end.
func (t *Tape) Close() error {
	defer close(t.done)
	t.err = t.wav.Close()
	return t.err
}

// tapeTime bounds how long the end of a call waits for its recording.
const tapeTime = 30 * time.Second

// Keep stores a finished recording under a name that cannot be guessed, and returns it; empty when there is none.
func (r *Recordings) Keep(t *Tape, id calls.ID) string {
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
		key, err = r.store(ctx, t.name)
	}
	os.Remove(t.name)
	if err != nil {
		r.log.Error("recording not kept", "call", id, "error", err)
	}
	return key
}

// store puts a recording among the files.
func (r *Recordings) store(ctx context.Context, name string) (key string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var secret [20]byte
	_, _ = rand.Read(secret[:]) // never fails
	key = "recordings/" + hex.EncodeToString(secret[:]) + ".wav"
	if err := r.files.Put(ctx, key, f, "audio/wav"); err != nil {
		return "", err
	}
	return key, nil
}

// Rescue stores what an earlier life of this process had recorded of a call. The second result is when it wrote last.
func (r *Recordings) Rescue(ctx context.Context, id calls.ID) (key string, last time.Time) {
	for _, name := range r.oldTapes(fmt.Sprintf("call-%d-*.wav", id)) {
		written, err := finishTape(name)
		if err == nil {
			key, err = r.store(ctx, name)
		}
		if err != nil {
			r.log.Error("recording of a lost call not kept", "call", id, "error", err)
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

// Sweep removes what an earlier life of this process left behind.
func (r *Recordings) Sweep() {
	for _, name := range r.oldTapes("call-*.wav") {
		os.Remove(name)
	}
}

// oldTapes are the recordings in the making that this life of the process did not begin.
func (r *Recordings) oldTapes(pattern string) []string {
	all, _ := filepath.Glob(filepath.Join(r.scratch, pattern))
	return slices.DeleteFunc(all, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || !info.ModTime().Before(r.began)
	})
}

// Discard removes a recording that no call has.
func (r *Recordings) Discard(ctx context.Context, key string) error { return r.files.Delete(ctx, key) }
