package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/asks"
	"parley/calls"
)

// Kinds of questions about a call, to the process that holds it.
const (
	askHint  = "call.hint"
	askSay   = "call.say"
	askLeave = "call.leave"

	askSignalling = "call.signalling"
)

// AboutCall is a question to the process that holds a call.
type AboutCall struct {
	Call calls.ID `json:"call"`
	UUID string   `json:"uuid"`
	Text string   `json:"text"`
}

// Answers are what this process answers others about the calls it holds.
func (s *Switchboard) Answers() map[string]asks.Answerer {
	about := func(do func(ctx context.Context, a AboutCall) (any, error)) asks.Answerer {
		return func(ctx context.Context, body json.RawMessage) (any, error) {
			var a AboutCall
			if err := json.Unmarshal(body, &a); err != nil {
				return nil, err
			}
			return do(ctx, a)
		}
	}
	return map[string]asks.Answerer{
		askHint:  about(func(ctx context.Context, a AboutCall) (any, error) { return true, s.hint(ctx, a.Call, a.Text) }),
		askSay:   about(func(ctx context.Context, a AboutCall) (any, error) { return true, s.say(ctx, a.Call, a.Text) }),
		askLeave: about(func(_ context.Context, a AboutCall) (any, error) { return true, s.leave(a.UUID, a.Text) }),
		askSignalling: about(func(_ context.Context, a AboutCall) (any, error) {
			if l := s.find(a.Call); l != nil {
				return l.signalling(), nil
			}
			return nil, calls.ErrOver
		}),
	}
}

// Open reports whether this process takes new calls.
func (s *Switchboard) Open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.draining
}

// AskHolder asks the process that holds a call; calls.ErrOver when that is nobody else.
func (s *Switchboard) AskHolder(ctx context.Context, c calls.Call, kind, text string, dst any) error {
	if !c.Status.Live() || c.Node == nil || *c.Node == s.Node || c.LeaseReal.Time().Before(time.Now()) {
		return calls.ErrOver
	}
	err := s.Asks.Ask(ctx, *c.Node, kind, AboutCall{c.ID, c.UUID, text}, dst)
	if errors.Is(err, asks.ErrNobody) {
		return calls.ErrOver
	}
	return err
}
