package switchboard

import (
	"context"
	"time"

	"parley/assistants"
	"parley/calls"
)

// Ready has the engines of an assistant made ready in the background, so that its next call does not wait for them.
func (s *Switchboard) Ready(id assistants.ID) {
	select {
	case s.waiting <- id:
	default: // enough to do
	}
}

const (
	readyAtStart = 2 // assistants made ready when the process starts
	readyTime    = time.Minute
)

// makeReady works off Ready until ctx ends.
func (s *Switchboard) makeReady(ctx context.Context) {
	recent, err := s.Assistants.Recent(ctx, s.DB, readyAtStart)
	if err != nil && ctx.Err() == nil {
		s.Log.Error("assistants not made ready", "error", err)
	}
	for _, a := range recent {
		s.readyOne(ctx, a)
	}
	for {
		select {
		case id := <-s.waiting:
			if a, err := s.Assistants.ByID(ctx, s.DB, id); err == nil {
				s.readyOne(ctx, a)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *Switchboard) readyOne(ctx context.Context, a assistants.Assistant) {
	ctx, stop := context.WithTimeout(ctx, readyTime)
	defer stop()
	c := s.cast(a)
	warm := s.Engines().Warm[c.transcriber]
	if s.Engines().Default != c.synthesizer || warm == nil { // engines elsewhere need no preparation, and would cost
		return
	}
	cfg := configOf(a, s.values(a, calls.Call{}))
	cfg.Hints = hints(a)
	sp := cfg.Speech
	sp.Text, sp.Voice, sp.Language = "Hello.", c.voice, cfg.Language
	for _, err := range s.Engines().Synthesizers[c.synthesizer].Speak(ctx, sp) {
		if err != nil {
			break
		}
	}
	kind := calls.Web
	if a.PhoneNumberID != nil || a.Type == "outbound" {
		kind = calls.Outbound
	}
	s.warm(ctx, c, cfg, rateOf(kind))
}
