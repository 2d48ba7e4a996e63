package switchboard

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"parley/audio"
	"parley/calls"
	"parley/fault"
	"parley/lines"
)

// tap takes the sound of a line, both directions, for the recording and for those who listen in. The line is tapped when
// the first of them comes.
type tap struct {
	media lines.Media

	mu        sync.Mutex
	open      bool // the line writes to us
	closed    bool
	tape      io.WriteCloser // nil = not recorded
	listeners []chan []int16
}

const (
	mostListeners = 4
	listenerRoom  = 20 // writes of about 100 ms that a listener may be behind
)

// record begins the recording; before anybody listens.
func (t *tap) record(tape io.WriteCloser) {
	t.tape, t.open = tape, true
	t.media.Record(t)
}

// listen delivers both voices as one from now on, at the rate of the line; the channel is closed at its end.
func (t *tap) listen() (heard <-chan []int16, stop func(), err error) {
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

func (t *tap) admit(listener chan []int16) (first bool, err error) {
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
func (t *tap) Write(b []byte) (int, error) {
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
func (t *tap) Close() error {
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

// Listen lets a leg that waits to be answered hear a running call, until either is over. The parties of the call do not
// notice.
func (s *Switchboard) Listen(id calls.ID, leg lines.Leg) error {
	tap := s.tapped(id)
	if tap == nil {
		_ = leg.Reject(480)
		return calls.ErrOver
	}
	heard, stop, err := tap.listen()
	if err != nil {
		_ = leg.Reject(480)
		return err
	}
	if !s.spawn(func() {
		defer stop()
		defer s.hangUp(leg)
		s.playTo(leg, heard, tap.media.Rate())
	}) {
		stop()
		_ = leg.Reject(503)
		return fault.New(fault.Unavailable, "", "Service Unavailable")
	}
	return nil
}

// Holds reports whether a call is held here.
func (s *Switchboard) Holds(id calls.ID) bool { return s.find(id) != nil }

func (s *Switchboard) tapped(id calls.ID) *tap {
	l := s.find(id)
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tap
}

// playTo plays what is heard, at rate Hz, on a leg.
func (s *Switchboard) playTo(leg lines.Leg, heard <-chan []int16, rate int) {
	ctx, stop := context.WithTimeout(s.ctx, connectTime)
	defer stop()
	if leg.Answer(ctx) != nil {
		return
	}
	out := leg.Media()
	convert := audio.NewResampler(rate, out.Rate())
	var queued int64
	for {
		select {
		case pcm, ok := <-heard:
			if !ok {
				return
			}
			pcm = convert.Process(pcm)
			if out.Played() == queued { // nothing in hand: writes come in steps, so have a moment of it
				pcm = append(make([]int16, out.Rate()/10), pcm...)
			}
			start, err := out.Play(s.ctx, pcm)
			if err != nil {
				return
			}
			queued = start + int64(len(pcm))
		case <-leg.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
