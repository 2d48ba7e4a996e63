package switchboard

import (
	"context"
	"time"

	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/lines"
)

// answerTime is how long a far end may take to confirm that it was answered.
const answerTime = 35 * time.Second

// Inbound takes an unanswered inbound leg: an assistant answers it, or it is refused. It returns when the call is over.
func (s *Switchboard) Inbound(leg lines.Leg) {
	if !s.spawn(func() { s.inbound(leg) }) {
		_ = leg.Reject(503)
	}
}

// admitTime is how long a caller waits at most to hear whether there is room: after that it is the database that is away.
const admitTime = 2 * time.Second

func (s *Switchboard) inbound(leg lines.Leg) {
	ctx, stop := context.WithTimeout(s.ctx, admitTime)
	defer stop()
	in := leg.Info()
	number, ok, err := s.Numbers.Called(ctx, s.DB, in.TrunkID, in.To)
	if err != nil {
		s.Log.Error("number of an inbound call not found", "error", err)
		_ = leg.Reject(refusalOf(err).code)
		return
	}
	if !ok {
		_ = leg.Reject(404)
		return
	}
	a, no := s.route(ctx, number)
	if no != nil {
		s.refuse(leg, number, a, no)
		return
	}
	seat, ok := s.reserve(s.providers(a), leg)
	if !ok {
		s.refuse(leg, number, a, refuse(calls.ConcurrencyLimit))
		return
	}
	defer seat.release()
	call, err := s.open(ctx, a, s.inboundCall(in, number, a))
	if err != nil {
		if fault.Of(err).Kind == fault.Internal {
			s.Log.Error("inbound call not recorded", "error", err)
		}
		s.refuse(leg, number, a, refusalOf(err))
		return
	}
	l := s.begin(call, leg)
	l.seat = seat
	defer s.forget(l)
	s.answer(l, leg, a)
}

// route finds the assistant that answers a number.
func (s *Switchboard) route(ctx context.Context, n Number) (assistants.Assistant, *refusal) {
	owner, err := s.Accounts.Get(ctx, s.DB, n.Owner)
	if err != nil {
		s.Log.Error("owner of a number not found", "error", err)
		return assistants.Assistant{}, refusalOf(err)
	}
	if owner.Suspended() {
		return assistants.Assistant{}, refuse(calls.AccountSuspended)
	}
	a, err := s.Assistants.ForNumber(ctx, s.DB, n.ID)
	switch {
	case fault.Is(err, fault.NotFound):
		return a, refuse(calls.NoRoute)
	case err != nil:
		s.Log.Error("assistant of a number not found", "error", err)
		return a, refusalOf(err)
	case a.Paused:
		return a, refuse(calls.AssistantInactive)
	case !s.Catalog.Supports(a.LanguageID, a.ModeOf()):
		return a, refuse(calls.NoRoute)
	}
	return a, nil
}

func (s *Switchboard) inboundCall(in lines.Info, n Number, a assistants.Assistant) calls.NewCall {
	return calls.NewCall{Owner: n.Owner, Type: calls.Inbound, Ringing: true, AssistantID: a.ID, AssistantName: a.Name, AssistantPhone: n.Phone,
		ClientPhone: in.From, NumberID: n.ID, TrunkID: n.TrunkID, SignalID: in.SignalID, Node: s.Node, Lease: lease,
		Snapshot: snapshot(a), Currency: s.Currency}
}

// refuse leaves a failed record and tells the caller's side.
func (s *Switchboard) refuse(leg lines.Leg, n Number, a assistants.Assistant, no *refusal) {
	if err := leg.Reject(no.code); err != nil {
		s.Log.Debug("refusal not sent", "error", err)
	}
	err := s.DB.Do(s.ctx, func(tx *db.Tx) error {
		call, err := s.Calls.Create(s.ctx, tx, s.inboundCall(leg.Info(), n, a))
		if err != nil {
			return err
		}
		if _, err := s.Calls.End(s.ctx, tx, call.ID, calls.Over{Reason: no.reason}); err != nil {
			return err
		}
		if err := s.Calls.KeepSignalling(s.ctx, tx, call.ID, traceOf(leg)); err != nil {
			return err
		}
		return s.later(s.ctx, tx, call.ID)
	})
	if err != nil {
		s.Log.Error("refused call not recorded", "error", err)
	}
}

// open records a call with its hold.
func (s *Switchboard) open(ctx context.Context, a assistants.Assistant, n calls.NewCall) (call calls.Call, err error) {
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := s.ceiling(ctx, tx, n.Owner); err != nil {
			return err
		}
		call, err = s.enter(ctx, tx, a, n)
		return err
	})
	return call, err
}

// enter records a call with its hold inside a transaction.
func (s *Switchboard) enter(ctx context.Context, tx *db.Tx, a assistants.Assistant, n calls.NewCall) (calls.Call, error) {
	call, err := s.Calls.Create(ctx, tx, n)
	if err != nil {
		return call, err
	}
	paid, err := s.Billing.HoldCall(ctx, tx, call, seconds(a.MaxDuration))
	if err != nil || paid == 0 {
		return call, err
	}
	call.Paid = int64(paid.Seconds())
	return call, s.Calls.Covers(ctx, tx, call.ID, call.Paid)
}

// answer picks an inbound leg up and holds the conversation.
func (s *Switchboard) answer(l *live, leg lines.Leg, a assistants.Assistant) {
	_ = leg.Ring()
	if err := s.prepare(l, a); err != nil {
		s.Log.Error("conversation not prepared", "call", l.call.ID, "error", err)
		_ = leg.Reject(refusals[calls.EngineFailure])
		s.wrapUp(l, calls.Over{Reason: calls.EngineFailure})
		return
	}
	ctx, stop := context.WithTimeout(l.ctx, answerTime)
	defer stop()
	if err := leg.Answer(ctx); err != nil {
		s.wrapUp(l, calls.Over{Reason: s.unanswered(l, leg)})
		return
	}
	s.converse(l, leg, a)
}

// unanswered is why an inbound leg was not picked up.
func (s *Switchboard) unanswered(l *live, leg lines.Leg) calls.Reason {
	if r, ok := causeOf(l.ctx); ok {
		_ = leg.Reject(480)
		return r
	}
	select {
	case <-leg.Done():
		if leg.End().Remote {
			return calls.CallerAbandoned
		}
	case <-time.After(time.Second): // it is not over: the confirmation never came
		_ = leg.Reject(480)
	}
	return calls.CarrierError
}
