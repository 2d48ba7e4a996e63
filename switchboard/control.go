package switchboard

import (
	"context"
	"errors"

	"parley/calllog"
	"parley/calls"
	"parley/db"
	"parley/voice"
)

// HangUp ends calls for a reason, wherever they are held. Calls that are over are left alone.
func (s *Switchboard) HangUp(ctx context.Context, r calls.Reason, ids ...calls.ID) error {
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.DB.Do(ctx, func(tx *db.Tx) error {
			ended, err := s.Calls.AskStop(ctx, tx, id, r)
			if err != nil {
				return err
			}
			if ended {
				return s.later(ctx, tx, id)
			}
			return nil
		}))
	}
	s.stopHere(r, ids)
	if err := s.DB.Notify(ctx, stopChannel, ""); err != nil {
		s.Log.Warn("other processes not told of a hang-up", "error", err) // they look every second
	}
	return errors.Join(errs...)
}

func (s *Switchboard) stopHere(r calls.Reason, ids []calls.ID) {
	for _, id := range ids {
		if l := s.find(id); l != nil {
			l.stop(voice.Reason(r))
		}
	}
}

// talking is the conversation of a call, if it is held here and was answered.
func (s *Switchboard) talking(id calls.ID) (*voice.Session, *calllog.Log) {
	l := s.find(id)
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session, l.record
}

// Whisper gives the assistant of a running call a hint, wherever the call is held.
func (s *Switchboard) Whisper(ctx context.Context, c calls.Call, text string) error {
	if s.find(c.ID) == nil {
		return s.AskHolder(ctx, c, askHint, text, nil)
	}
	return s.hint(ctx, c.ID, text)
}

func (s *Switchboard) hint(ctx context.Context, id calls.ID, text string) error {
	session, _ := s.talking(id)
	if session == nil || session.Hint(ctx, text) != nil {
		return calls.ErrOver
	}
	return nil
}

// Type takes written text as the caller's turn, wherever the call is held.
func (s *Switchboard) Type(ctx context.Context, c calls.Call, text string) error {
	if s.find(c.ID) == nil {
		return s.AskHolder(ctx, c, askSay, text, nil)
	}
	return s.say(ctx, c.ID, text)
}

func (s *Switchboard) say(ctx context.Context, id calls.ID, text string) error {
	session, _ := s.talking(id)
	if session == nil || session.Say(ctx, text) != nil {
		return calls.ErrOver
	}
	return nil
}

// Watch delivers the events of a call held here as they happen. seq is the number of the last event before them; those up
// to it are in the log when Watch returns. ok is false when the call is not held here.
func (s *Switchboard) Watch(id calls.ID) (events <-chan calllog.Watched, seq int64, stop func(), ok bool) {
	_, rec := s.talking(id)
	if rec == nil {
		return nil, 0, nil, false
	}
	events, seq, stop = rec.Watch()
	rec.Flush()
	return events, seq, stop, true
}
