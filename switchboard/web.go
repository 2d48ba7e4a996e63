package switchboard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"time"

	"parley/assistants"
	"parley/calls"
	"parley/fault"
	"parley/lines"
	"parley/value"
	"parley/voice"
)

// WebCall is a call from a browser that was accepted.
type WebCall struct {
	Call  calls.Call
	Token string // whoever has it may end the call
}

// connectTime is how long a browser may take from our answer to its first packet.
const connectTime = 20 * time.Second

// Web takes a leg that a browser offered for an assistant: it records the call and holds the conversation beside.
func (s *Switchboard) Web(ctx context.Context, a assistants.Assistant, leg lines.Leg, variables value.Scalars,
	requestID string) (WebCall, error) {
	call, l, seat, err := s.webCall(ctx, a, leg, variables, requestID)
	if err != nil {
		_ = leg.Reject(480)
		return WebCall{}, err
	}
	l.token = rand.Text()
	if !s.spawn(func() {
		defer seat.release()
		defer s.forget(l)
		s.answerWeb(l, leg, a)
	}) {
		seat.release()
		s.wrapUp(l, calls.Over{Reason: calls.ServerShutdown})
		s.forget(l)
		_ = leg.Reject(503)
		return WebCall{}, fault.New(fault.Unavailable, "", "Service Unavailable")
	}
	return WebCall{call, l.token}, nil
}

func (s *Switchboard) webCall(ctx context.Context, a assistants.Assistant, leg lines.Leg, variables value.Scalars,
	requestID string) (calls.Call, *live, *seat, error) {
	none := calls.Call{}
	if !s.Catalog.Supports(a.LanguageID, a.ModeOf()) {
		return none, nil, nil, ErrLanguage
	}
	seat, ok := s.reserve(s.providers(a), leg)
	if !ok {
		return none, nil, nil, errFull(s.most(s.providers(a)))
	}
	call, err := s.open(ctx, a, calls.NewCall{Owner: a.Owner, Type: calls.Web, Ringing: true, AssistantID: a.ID, AssistantName: a.Name,
		SignalID: leg.Info().SignalID, Node: s.Node, Lease: lease, Variables: variables, RequestID: requestID,
		Snapshot: snapshot(a), Currency: s.Currency})
	if err != nil {
		seat.release()
		if fault.Is(err, fault.NeedsPayment) {
			err = &fault.Fault{Kind: fault.Malformed, Message: "Your balance is too low. Top it up, then try again.", Cause: err}
		}
		return none, nil, nil, err
	}
	l := s.begin(call, leg)
	l.seat = seat
	return call, l, seat, nil
}

func (s *Switchboard) answerWeb(l *live, leg lines.Leg, a assistants.Assistant) {
	if err := s.prepare(l, a); err != nil {
		s.Log.Error("conversation not prepared", "call", l.call.ID, "error", err)
		_ = leg.Reject(refusals[calls.EngineFailure])
		s.wrapUp(l, calls.Over{Reason: calls.EngineFailure})
		return
	}
	ctx, stop := context.WithTimeout(l.ctx, connectTime)
	defer stop()
	if err := leg.Answer(ctx); err != nil {
		s.wrapUp(l, calls.Over{Reason: s.unanswered(l, leg)})
		return
	}
	s.converse(l, leg, a)
}

// EndWeb ends a web call in the browser's name, wherever it is held; calls.ErrNotFound when there is no such call or the
// token is another's.
func (s *Switchboard) EndWeb(ctx context.Context, uuid, token string) error {
	err := s.leave(uuid, token)
	if err == nil || !s.DB.Postgres() {
		return err
	}
	c, err := s.Calls.ByUUID(ctx, s.DB, uuid)
	if err == nil {
		err = s.AskHolder(ctx, c, askLeave, token, nil)
	}
	if errors.Is(err, calls.ErrOver) {
		return calls.ErrNotFound
	}
	return err
}

// leave ends a web call that is held here.
func (s *Switchboard) leave(uuid, token string) error {
	s.mu.Lock()
	l := s.byUUID[uuid]
	s.mu.Unlock()
	if l == nil || l.token == "" || subtle.ConstantTimeCompare([]byte(l.token), []byte(token)) != 1 {
		return calls.ErrNotFound
	}
	l.stop(voice.CustomerHangup)
	return nil
}
