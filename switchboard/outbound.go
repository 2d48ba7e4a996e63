package switchboard

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/campaigns"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/lines"
	"parley/numbers"
	"parley/safe"
	"parley/value"
)

// Order is an outbound call to place.
type Order struct {
	Owner     accounts.ID
	Assistant value.Ref
	Phone     string // E.164
	Variables value.Scalars
	RequestID string

	// Of a campaign.
	CampaignID   campaigns.ID
	CampaignName string
	LeadID       campaigns.LeadID
	DialNo       int64
	NumberID     numbers.ID // caller number; 0 = the assistant's choice
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// Place checks an order and records the call with its hold, in q's transaction or one of its own. Once that is committed
// the call is dialled: by this process when it has a telephone line, else by one that has. The order of the checks is that
// of the contract.
func (s *Switchboard) Place(ctx context.Context, q db.Q, o Order) (calls.Call, error) {
	if !e164.MatchString(o.Phone) {
		return calls.Call{}, ErrPhone
	}
	a, number, err := s.orderable(ctx, q, o)
	if err != nil {
		return calls.Call{}, err
	}
	var call calls.Call
	err = db.Within(ctx, q, func(tx *db.Tx) error {
		plan, full := s.ceiling(ctx, tx, o.Owner)
		if full == nil && s.full(s.providers(a)) {
			full = errFull(s.most(s.providers(a)))
		}
		if full == nil {
			full = s.pace(ctx, tx, o.Owner, plan, number.TrunkID == 0)
		}
		n := calls.NewCall{Owner: o.Owner, Type: calls.Outbound, AssistantID: a.ID, AssistantName: a.Name, AssistantPhone: number.Phone,
			ClientPhone: o.Phone, NumberID: number.ID, TrunkID: number.TrunkID, CampaignID: o.CampaignID, CampaignName: o.CampaignName,
			LeadID: o.LeadID, DialNo: o.DialNo, RequestID: o.RequestID, Variables: o.Variables, Snapshot: snapshot(a), Currency: s.Currency}
		here := s.Dialer != nil
		if here {
			n.Node, n.Lease = s.Node, lease
		}
		var err error
		if call, err = s.enter(ctx, tx, a, n); err != nil {
			return short(err)
		}
		if full != nil {
			return full
		}
		if a.Status != assistants.Active {
			if err := s.Assistants.Activate(ctx, tx, a.ID); err != nil {
				return err
			}
		}
		if here {
			tx.After(func() { s.dialHere(call, a) })
			return nil
		}
		return s.queue(ctx, tx, call.ID)
	})
	return call, err
}

// queue has a call that nobody holds placed by any process that has a telephone line.
func (s *Switchboard) queue(ctx context.Context, tx *db.Tx, id calls.ID) error {
	return s.Jobs.Add(ctx, tx, jobs.New{Kind: kindDial, Args: callArgs{id}, Unique: fmt.Sprintf("dial:%d", id), Priority: jobs.High})
}

// dialHere places a call that was recorded as held by this process. One it cannot take after all is left to the others.
func (s *Switchboard) dialHere(call calls.Call, a assistants.Assistant) {
	seat, ok := s.reserve(s.providers(a), nil)
	if ok {
		l := s.begin(call, nil)
		l.seat = seat
		if s.spawn(func() {
			defer seat.release()
			defer s.forget(l)
			s.place(l, a)
		}) {
			return
		}
		s.forget(l)
		seat.release()
	}
	err := s.DB.Do(s.ctx, func(tx *db.Tx) error {
		if freed, err := s.Calls.Free(s.ctx, tx, call.ID, s.Node); err != nil || !freed {
			return err
		}
		return s.queue(s.ctx, tx, call.ID)
	})
	if err != nil {
		s.Log.Error("call not left to other processes", "call", call.ID, "error", err) // the reaper ends it
	}
}

// short words a refused hold for the caller of make call.
func short(err error) error {
	if fault.Is(err, fault.NeedsPayment) {
		return ErrNoFunds
	}
	return err
}

// orderable finds assistant and number of an order, or says what is in the way.
func (s *Switchboard) orderable(ctx context.Context, q db.Q, o Order) (a assistants.Assistant, n Number, err error) {
	a, err = s.Assistants.Get(ctx, q, o.Owner, o.Assistant)
	switch {
	case fault.Is(err, fault.NotFound):
		return a, n, ErrNoAssistant
	case err != nil:
		return a, n, err
	case a.Type != "outbound":
		return a, n, ErrNotOutbound
	case a.Paused:
		return a, n, ErrPaused
	case !s.Catalog.Supports(a.LanguageID, a.ModeOf()):
		return a, n, ErrLanguage
	}
	preferred := o.NumberID
	if preferred == 0 {
		preferred = value.Or(a.PhoneNumberID, 0)
	}
	n, ok, err := s.Numbers.Caller(ctx, q, o.Owner, preferred)
	if err != nil {
		return a, n, err
	}
	if !ok {
		return a, n, ErrNoNumber
	}
	blocked, err := s.Calls.IsBlocked(ctx, q, o.Owner, o.Phone)
	switch {
	case err != nil:
		return a, n, err
	case blocked[o.Phone]:
		return a, n, ErrDoNotCall
	case !s.reachable(o.Phone):
		return a, n, ErrDestination
	}
	return a, n, nil
}

// reachable reports whether a number may be called, whoever chose it: a customer, a campaign, a model.
func (s *Switchboard) reachable(phone string) bool { return s.Phones.Allows(phone) }

// turnTime is how long a call waits for a process with a free line, when other processes may have one.
const turnTime = 10 * time.Second

// dialJob takes a call that is waiting to be placed; placing it goes on after the job is done. A call is placed at most
// once, whatever becomes of this process. One that keeps all the lines it has leaves it to others for a moment.
func (s *Switchboard) dialJob(ctx context.Context, job jobs.Job) error {
	var args callArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	if s.DB.Postgres() && s.tight() && s.othersMayDial(ctx, args.ID) {
		return jobs.Snooze(s.DB.Now().Add(200 * time.Millisecond))
	}
	taken := make(chan error, 1)
	if !s.spawn(func() { s.dial(ctx, args.ID, taken) }) {
		return jobs.Snooze(s.DB.Now().Add(time.Second)) // another process may take it
	}
	select {
	case err := <-taken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// othersMayDial reports whether this process has no line for a call that is young enough to wait for one elsewhere.
func (s *Switchboard) othersMayDial(ctx context.Context, id calls.ID) bool {
	c, err := s.Calls.ByID(ctx, s.DB, id)
	if err != nil || time.Since(c.CreatedReal.Time()) >= turnTime {
		return false
	}
	a, err := s.Assistants.Get(ctx, s.DB, c.Owner, value.Ref{ID: int64(*c.AssistantID)})
	return err == nil && s.full(s.providers(a))
}

// dial claims a call and places it. taken hears as soon as the call is ours, or cannot be.
func (s *Switchboard) dial(ctx context.Context, id calls.ID, taken chan<- error) {
	ok, err := s.Calls.Claim(ctx, s.DB, id, s.Node, lease)
	if err != nil || !ok {
		taken <- err
		return
	}
	call, err := s.Calls.ByID(ctx, s.DB, id)
	taken <- err
	if err != nil {
		return // the reaper ends it
	}
	l := s.begin(call, nil)
	defer s.forget(l)
	a, err := s.Assistants.Get(s.ctx, s.DB, call.Owner, value.Ref{ID: int64(*call.AssistantID)})
	if err != nil {
		s.wrapUp(l, calls.Over{Reason: gone(err)})
		return
	}
	seat, ok := s.reserve(s.providers(a), nil)
	if !ok {
		s.wrapUp(l, calls.Over{Reason: calls.ConcurrencyLimit})
		return
	}
	defer seat.release()
	l.seat = seat
	s.place(l, a)
}

// gone is why a call that was ours has no assistant.
func gone(err error) calls.Reason {
	if db.Away(err) {
		return calls.EngineFailure
	}
	return calls.NoRoute // deleted in the moment between
}

// place dials and, when somebody answers, holds the conversation.
func (s *Switchboard) place(l *live, a assistants.Assistant) {
	call := l.call
	if err := s.prepare(l, a); err != nil {
		s.Log.Error("conversation not prepared", "call", call.ID, "error", err)
		s.wrapUp(l, calls.Over{Reason: calls.EngineFailure})
		return
	}
	if s.Dialer == nil {
		s.Log.Error("call not placed: this process has no telephone line", "call", call.ID)
		s.wrapUp(l, calls.Over{Reason: calls.EngineFailure})
		return
	}
	rang := false
	to := lines.Destination{To: *call.ClientPhone, From: *call.AssistantPhone, RingFor: seconds(a.RingingTime)}
	if call.TrunkID != nil {
		to.TrunkID = *call.TrunkID
	}
	leg, err := s.Dialer.Dial(l.ctx, to, func(code int) {
		if code >= 180 && !rang {
			rang = true
			if err := s.Calls.Rings(s.ctx, s.DB, call.ID); err != nil {
				s.Log.Error("ringing not recorded", "call", call.ID, "error", err)
			}
		}
	})
	if err != nil {
		if d, ok := errors.AsType[*lines.DialError](err); ok {
			l.attempt = messages(d.Trace)
		}
		s.wrapUp(l, calls.Over{Reason: s.whyNot(l, err)})
		return
	}
	l.at(leg)
	noted := make(chan struct{})
	safe.Go("signalling id", func() { // the callee does not wait for it
		defer close(noted)
		if err := s.Calls.Signal(s.ctx, s.DB, call.ID, leg.Info().SignalID); err != nil {
			s.Log.Error("signalling id not recorded", "call", call.ID, "error", err)
		}
	})
	s.converse(l, leg, a)
	<-noted
}

// whyNot is why an outbound call was not answered.
func (s *Switchboard) whyNot(l *live, err error) calls.Reason {
	if r, ok := causeOf(l.ctx); ok {
		return r
	}
	var d *lines.DialError
	switch {
	case !errors.As(err, &d):
		s.Log.Error("call not placed", "call", l.call.ID, "error", err)
		return calls.CarrierError
	case d.Timeout:
		return calls.NoAnswerReason
	}
	return calls.ReasonForCode(d.Code)
}
