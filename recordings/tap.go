package recordings

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"parley/audio"
	"parley/calls"
	"parley/fault"
	"parley/lines"
)

// Tap takes the sound of a line, both directions, for the recording and for those who listen in. The line is tapped when
// the first of them comes.
type Tap struct {
	media lines.Media

	mu        sync.Mutex
	open      bool // the line writes to us
	closed    bool
	tape      io.WriteCloser // nil = not recorded
	listeners []chan []int16
}

// NewTap is that of a line.
func NewTap(m lines.Media) *Tap { return &Tap{media: m} }

// Rate is that of the line in Hz.
func (t *Tap) Rate() int { return t.media.Rate() }

const (
	mostListeners = 4
	listenerRoom  = 20 // writes of about 100 ms that a listener may be behind
)

// Record begins the recording; before anybody listens.
func (t *Tap) Record(tape io.WriteCloser) {
	t.tape, t.open = tape, true
	t.media.Record(t)
}

// Listen delivers both voices as one from now on, at the rate of the line; the channel is closed at its end.
func (t *Tap) Listen() (heard <-chan []int16, stop func(), err error) {
	listener := make(chan []int16, listenerRoom)
	first, err := t.admit(listener)
	if err != nil {
		return nil, nil, err
	}
	if first {
		t.media.Record(t)
	}
	return listener, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.listeners = slices.DeleteFunc(t.listeners, func(c chan []int16) bool { return c == listener })
	}, nil
}

func (t *Tap) admit(listener chan []int16) (first bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return false, calls.ErrOver
	case len(t.listeners) == mostListeners:
		return false, fault.Full(mostListeners, 5, "Too many people listen to this call.")
	}
	t.listeners = append(t.listeners, listener)
	first, t.open = !t.open, true
	return first, nil
}

// Write takes interleaved 16-bit stereo from the line.
func (t *Tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.listeners) > 0 {
		mono := mix(b)
		for _, listener := range t.listeners {
			select {
			case listener <- mono:
			default: // a slow listener misses it
			}
		}
	}
	if t.tape == nil {
		return len(b), nil
	}
	return t.tape.Write(b)
}

// Close is called by the line at its end.
func (t *Tap) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, listener := range t.listeners {
		close(listener)
	}
	t.listeners = nil
	if t.tape == nil {
		return nil
	}
	return t.tape.Close()
}

// mix makes one channel of two.
func mix(stereo []byte) []int16 {
	mono := make([]int16, len(stereo)/4)
	for i := range mono {
		l := int16(binary.LittleEndian.Uint16(stereo[4*i:]))
		r := int16(binary.LittleEndian.Uint16(stereo[4*i+2:]))
		mono[i] = audio.Clip(int32(l) + int32(r))
	}
	return mono
}
