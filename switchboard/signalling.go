package switchboard

import (
	"context"
	"slices"

	"parley/calls"
	"parley/fault"
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
	l.seat.at(leg)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leg = leg
}

// signalling is that of the call so far: of its leg, or of the attempt to reach somebody.
func (l *live) signalling() []calls.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.attempt
	if l.leg != nil {
		all = traceOf(l.leg)
	}
	if len(l.parties) == 0 {
		return all
	}
	all = slices.Clone(all)
	for _, p := range l.parties {
		all = append(all, p.trace...)
		if p.leg != nil {
			all = append(all, traceOf(p.leg)...)
		}
	}
	slices.SortStableFunc(all, func(a, b calls.Message) int { return a.At.Compare(b.At) })
	return all
}

// Signalling is that of a call so far, oldest first, wherever it is held or was.
func (s *Switchboard) Signalling(ctx context.Context, c calls.Call) (list []calls.Message, err error) {
	if l := s.find(c.ID); l != nil {
		return l.signalling(), nil
	}
	err = s.AskHolder(ctx, c, askSignalling, "", &list)
	if fault.Is(err, fault.Conflict) { // it was over before, or is meanwhile
		return s.Calls.Signalling(ctx, s.DB, c.ID)
	}
	return list, err
}
