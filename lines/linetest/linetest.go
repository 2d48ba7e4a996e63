// Package linetest has the test of a kind of line (Legs: sound, digits, interruption and recording through the whole path of
// two real legs) and a leg in memory for tests above the lines (Media).
package linetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"parley/audio"
	"parley/lines"
)

// Limit is how long the suite waits for anything to arrive.
const Limit = 10 * time.Second

// Options say what a kind of line cannot do.
type Options struct {
	NoDigits bool // no telephone events
	Lossy    bool // the codec does not keep waveforms (Opus): levels may be off by 6 dB
}

// Legs tests the two ends of an answered call. They must be connected to each other; the suite hangs up a.
func Legs(t *testing.T, a, b lines.Leg, o Options) {
	t.Helper()
	Streams(t, a.Media(), b.Media(), o)
	t.Run("hang up", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), Limit)
		defer cancel()
		if err := a.Hangup(ctx); err != nil {
			t.Errorf("hang up: %v", err)
		}
		for name, leg := range map[string]lines.Leg{"a": a, "b": b} {
			select {
			case <-leg.Done():
			case <-ctx.Done():
				t.Fatalf("leg %s goes on", name)
			}
			Ended(t, leg.Media())
		}
		if a.End().Remote || !b.End().Remote {
			t.Errorf("who ended it: a says remote=%v, b says remote=%v", a.End().Remote, b.End().Remote)
		}
	})
}

// Streams tests two live streams that are connected to each other.
func Streams(t *testing.T, a, b lines.Media, o Options) {
	t.Helper()
	t.Run("tones", func(t *testing.T) { tones(t, a, b, o) })
	if !o.NoDigits {
		t.Run("digits", func(t *testing.T) { digits(t, a, b) })
	}
	t.Run("clear", func(t *testing.T) { clears(t, a, b) })
	t.Run("recording", func(t *testing.T) { recording(t, a, b) })
}

// Ended checks that a stream is over: nothing more is heard, events and Play end.
func Ended(t *testing.T, m lines.Media) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	buf := make([]int16, 8000)
	for {
		if _, err := m.Hear(ctx, buf); err != nil {
			if err != io.EOF {
				t.Errorf("Hear after the end: %v", err)
			}
			break
		}
	}
	for {
		select {
		case _, open := <-m.Events():
			if open {
				continue
			}
		case <-ctx.Done():
			t.Error("events go on after the end")
		}
		return
	}
}

// Play queues a tone of 0.3 of full scale.
func Play(t *testing.T, m lines.Media, hz float64, d time.Duration) (start int64) {
	t.Helper()
	pcm := make([]int16, int(d.Seconds()*float64(m.Rate())))
	audio.GenSignal(pcm, m.Rate(), 0, audio.Tone{Hz: hz, Level: 0.3})
	start, err := m.Play(t.Context(), pcm)
	if err != nil {
		t.Fatalf("Play: %v", err)
	}
	return start
}

// Hears waits until a tone of at least that level (0-1) is heard.
func Hears(t *testing.T, m lines.Media, hz, level float64) {
	t.Helper()
	if err := until(t, m, func(pcm []int16) bool { return audio.FindSignal(pcm, m.Rate(), hz)[0].Level >= level }); err != nil {
		t.Fatalf("no %v Hz heard: %v", hz, err)
	}
}

// until hears windows of 80 ms until one is right.
func until(t *testing.T, m lines.Media, right func([]int16) bool) error {
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	window, n := make([]int16, m.Rate()*80/1000), 0
	for {
		k, err := m.Hear(ctx, window[n:])
		if err != nil {
			return err
		}
		if n += k; n < len(window) {
			continue
		}
		if right(window) {
			return nil
		}
		n = copy(window, window[n/4:])
	}
}

func tones(t *testing.T, a, b lines.Media, o Options) {
	level := 0.27
	if o.Lossy {
		level = 0.15
	}
	for _, hz := range []float64{440, 1000, 2800} {
		Play(t, a, hz, 600*time.Millisecond)
		Play(t, b, hz+120, 600*time.Millisecond)
		Hears(t, b, hz, level)
		Hears(t, a, hz+120, level)
	}
	Event(t, a, lines.FirstIn)
	Event(t, b, lines.FirstIn)
}

// Event waits for an event of a kind; others are passed over.
func Event(t *testing.T, m lines.Media, kind lines.EventKind) lines.Event {
	t.Helper()
	limit := time.After(Limit)
	for {
		select {
		case e, ok := <-m.Events():
			if !ok {
				t.Fatalf("events ended before one of kind %d", kind)
			}
			if e.Kind == kind {
				return e
			}
		case <-limit:
			t.Fatalf("no event of kind %d", kind)
		}
	}
}

func digits(t *testing.T, a, b lines.Media) {
	const keys = "11*A0w#"
	for _, m := range []lines.Media{a, b} {
		if err := m.SendDigits(keys); err != nil {
			t.Fatalf("SendDigits: %v", err)
		}
	}
	for _, m := range []lines.Media{a, b} {
		var got []byte
		for len(got) < 6 {
			got = append(got, Event(t, m, lines.Digit).Digit)
		}
		if string(got) != "11*A0#" {
			t.Errorf("keys %q arrived as %q", keys, got)
		}
	}
	if a.SendDigits("5x") == nil {
		t.Error("x was taken for a key")
	}
}

// clears interrupts a long tone: what was sent is counted, the rest is never heard, and new speech follows at once.
func clears(t *testing.T, a, b lines.Media) {
	before := Play(t, a, 600, 15*time.Second)
	Hears(t, b, 600, 0.1)
	played := a.Clear()
	if played <= before || played >= before+int64(15*a.Rate()) {
		t.Errorf("played %d samples of a tone that began at %d", played, before)
	}
	if p := a.Played(); p != played {
		t.Errorf("Played is %d, Clear said %d", p, played)
	}
	if start := Play(t, a, 1500, 500*time.Millisecond); start != played {
		t.Errorf("speech after Clear begins at %d, want %d", start, played)
	}
	Hears(t, b, 1500, 0.1)
	stray := errors.New("the cleared tone is still heard")
	if err := until(t, b, func(pcm []int16) bool {
		if found := audio.FindSignal(pcm, b.Rate(), 600, 1500); found[0].Level > 0.1 && found[1].Level > 0.2 {
			t.Error(stray)
		}
		return audio.Level(pcm) < -45
	}); err != nil {
		t.Errorf("no silence behind the speech: %v", err)
	}
	for {
		if e := Event(t, a, lines.Drained); e.Pos == played+int64(a.Rate()/2) {
			return
		}
	}
}

// Tape is a recording in memory.
type Tape struct {
	mu   sync.Mutex
	b    bytes.Buffer
	done chan struct{}
}

// NewTape makes one.
func NewTape() *Tape { return &Tape{done: make(chan struct{})} }

// Write implements io.Writer.
func (w *Tape) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// Close implements io.Closer.
func (w *Tape) Close() error {
	close(w.done)
	return nil
}

// Done is closed when the recording is complete.
func (w *Tape) Done() <-chan struct{} { return w.done }

// Channels are the far end's and our own samples so far.
func (w *Tape) Channels() (far, ours []int16) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := w.b.Bytes(); len(b) >= 4; b = b[4:] {
		far = append(far, int16(binary.LittleEndian.Uint16(b)))
		ours = append(ours, int16(binary.LittleEndian.Uint16(b[2:])))
	}
	return far, ours
}

// recording has both ends recorded while each plays a tone. What a side recorded of the other must lag behind its own
// sound by the way there: the two lags add up to the round trip, whenever the tones began.
func recording(t *testing.T, a, b lines.Media) {
	tapeA, tapeB := NewTape(), NewTape()
	a.Record(tapeA)
	b.Record(tapeB)
	quiet := make([]int16, a.Rate()/2)
	if _, err := a.Play(t.Context(), quiet); err != nil {
		t.Fatal(err)
	}
	Play(t, a, 800, time.Second)
	Play(t, b, 800, time.Second)
	var lag time.Duration
	for _, side := range []struct {
		tape *Tape
		rate int
	}{{tapeA, a.Rate()}, {tapeB, b.Rate()}} {
		far, ours, ok := onsets(t, side.tape)
		if !ok {
			t.Fatal("a tone is missing in a recording")
		}
		lag += time.Duration(far-ours) * time.Second / time.Duration(side.rate)
	}
	if lag < -40*time.Millisecond || lag > 400*time.Millisecond {
		t.Errorf("the channels are shifted against each other by %v", lag/2)
	}
}

// onsets waits until both channels have become loud and says where.
func onsets(t *testing.T, w *Tape) (far, ours int, ok bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(Limit)
	for {
		left, right := w.Channels()
		far, ours = loud(left), loud(right)
		if far >= 0 && ours >= 0 {
			return far, ours, true
		}
		select {
		case <-tick.C:
		case <-limit:
			return far, ours, false
		}
	}
}

func loud(pcm []int16) int {
	for i, s := range pcm {
		if s > 4000 {
			return i
		}
	}
	return -1
}
