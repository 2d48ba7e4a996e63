package switchboard

import (
	"parley/calls"
	"parley/lines"
)

// traceOf is the signalling of a leg, where it has one.
func traceOf(leg lines.Leg) []calls.Message {
	t, ok := leg.(lines.Tracer)
	if !ok {
		return nil
	}
	return messages(t.Trace())
}

func messages(list []lines.Message) []calls.Message {
	out := make([]calls.Message, len(list))
	for i, m := range list {
		out[i] = calls.Message(m)
	}
	return out
}

// at makes a leg the one whose signalling is told.
func (l *live) at(leg lines.Leg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leg = leg
}

// signalling is that of the call so far: of its leg, or of the attempt to reach somebody.
func (l *live) signalling() []calls.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leg == nil {
		return l.attempt
	}
	return traceOf(l.leg)
}

// Signalling is that of a call held here so far, oldest first. ok is false when the call is not held here.
func (s *Switchboard) Signalling(id calls.ID) (list []calls.Message, ok bool) {
	l := s.find(id)
	if l == nil {
		return nil, false
	}
	return l.signalling(), true
}
