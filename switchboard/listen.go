package switchboard

import (
	"context"

	"parley/audio"
	"parley/calls"
	"parley/fault"
	"parley/lines"
	"parley/recordings"
)

// Listen lets a leg that waits to be answered hear a running call, until either is over. The parties of the call do not
// notice.
func (s *Switchboard) Listen(id calls.ID, leg lines.Leg) error {
	tap := s.tapped(id)
	if tap == nil {
		_ = leg.Reject(480)
		return calls.ErrOver
	}
	heard, stop, err := tap.Listen()
	if err != nil {
		_ = leg.Reject(480)
		return err
	}
	if !s.spawn(func() {
		defer stop()
		defer s.hangUp(leg)
		s.playTo(leg, heard, tap.Rate())
	}) {
		stop()
		_ = leg.Reject(503)
		return fault.New(fault.Unavailable, "", "Service Unavailable")
	}
	return nil
}

// Holds reports whether a call is held here.
func (s *Switchboard) Holds(id calls.ID) bool { return s.find(id) != nil }

func (s *Switchboard) tapped(id calls.ID) *recordings.Tap {
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
