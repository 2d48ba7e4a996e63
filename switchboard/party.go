package switchboard

import (
	"context"
	"errors"
	"time"

	"parley/calls"
	"parley/db"
	"parley/lines"
	"parley/voice"
)

// party is a further leg of a call: somebody whom its caller is to be connected with.
type party struct {
	row   calls.Leg       // the moments are of the wall clock
	paid  time.Duration   // how long its money lasts from its answer; 0 = as long as the call may
	leg   lines.Leg       // nil until it is answered
	trace []calls.Message // signalling of one that nobody answered
}

// joint is the connection of a caller with a party.
type joint struct {
	*party
	part   func()
	reason voice.Reason // why the call ends once either leaves
}

// reach records a further leg with its hold and dials it. Without the money, or above a ceiling, no INVITE leaves.
func (s *Switchboard) reach(ctx context.Context, l *live, d lines.Destination) (*party, error) {
	if s.Dialer == nil {
		return nil, errors.New("this process has no telephone line")
	}
	p := &party{}
	if err := s.enterParty(ctx, l, d, p); err != nil {
		return nil, err
	}
	leg, err := s.Dialer.Dial(ctx, d, nil)
	if err != nil {
		if failed, ok := errors.AsType[*lines.DialError](err); ok {
			p.trace = messages(failed.Trace)
		}
		s.endParty(l, p)
		return nil, err
	}
	l.mu.Lock()
	p.leg, p.row.AnsweredReal = leg, db.At(time.Now())
	l.mu.Unlock()
	if err := s.Calls.SaveLeg(ctx, s.DB, p.row); err != nil { // stored with the end of the call at the latest
		s.Log.Error("answer of a leg not recorded", "call", l.call.ID, "error", err)
	}
	return p, nil
}

// enterParty records a leg with its hold. It counts as a placed call.
func (s *Switchboard) enterParty(ctx context.Context, l *live, d lines.Destination, p *party) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		plan, err := s.Accounts.LockPlan(ctx, tx, l.call.Owner)
		if err != nil {
			return err
		}
		if err := s.pace(ctx, tx, l.call.Owner, plan, d.TrunkID == 0); err != nil {
			return err
		}
		row := calls.Leg{CallID: l.call.ID, Target: d.To, Shown: d.From}
		if d.TrunkID != 0 {
			row.TrunkID = &d.TrunkID
		}
		if p.row, err = s.Calls.AddLeg(ctx, tx, row); err != nil {
			return err
		}
		p.paid, err = s.Billing.HoldLeg(ctx, tx, l.call, p.row, time.Until(l.latest()))
		tx.After(func() { l.add(p) })
		return err
	})
}

// endParty hangs a leg up, beside, and gives the money back of one that nobody answered. Its end is stored with the call's.
func (s *Switchboard) endParty(l *live, p *party) {
	l.mu.Lock()
	open := p.row.EndedReal.IsZero()
	if open {
		p.row.EndedReal = db.At(time.Now())
	}
	leg := p.leg
	l.mu.Unlock()
	switch {
	case !open:
	case leg != nil:
		l.hanging.Go("hang-up", func() { s.hangUp(leg) })
	default:
		err := s.DB.Do(s.ctx, func(tx *db.Tx) error {
			return errors.Join(s.Calls.SaveLeg(s.ctx, tx, p.row), s.Billing.ReleaseLeg(s.ctx, tx, l.call, p.row))
		})
		if err != nil {
			s.Log.Error("hold of a leg not given back", "call", l.call.ID, "error", err) // it is at the end of the call
		}
	}
}

// latest is when the call ends at the latest, by its longest duration and by what is paid for.
func (l *live) latest() time.Time {
	most := l.cfg.MaxDuration
	if paid := seconds(l.call.Paid); paid > 0 && paid < most {
		most = paid
	}
	return l.call.AnsweredReal.Time().Add(most)
}

func (l *live) add(p *party) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parties = append(l.parties, p)
}

// join connects the caller with a party; false when the call is over, or one of the two lines.
func (l *live) join(p *party, reason voice.Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || over(l.leg) || over(p.leg) {
		return false
	}
	part, err := l.leg.Media().Join(p.leg.Media())
	if err != nil {
		return false
	}
	p.row.JoinedReal = db.At(time.Now())
	l.joined = &joint{p, part, reason}
	return true
}

func (l *live) joint() *joint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.joined
}

// close ends the joining: what is not connected when the conversation is over is not connected any more.
func (l *live) close() *joint {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.joined
}

// endParties hangs up whoever is left and returns the further legs as they ended.
func (s *Switchboard) endParties(l *live) []calls.Leg {
	l.mu.Lock()
	all := l.parties
	l.mu.Unlock()
	for _, p := range all {
		s.endParty(l, p)
	}
	l.hanging.Wait()
	var out []calls.Leg
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range all {
		out = append(out, p.row)
	}
	return out
}

// together waits until two people that are connected part: either of them hangs up, the call reaches its longest duration or
// the end of its money, or somebody ends it. The assistant was paid for until they were connected.
func (s *Switchboard) together(l *live, leg lines.Leg, j *joint, o *calls.Over) {
	l.seat.release()
	o.AISeconds = calls.Begun(j.row.JoinedReal.Time().Sub(l.call.AnsweredReal.Time()))
	switch o.Reason {
	case calls.Transferred, calls.WarmTransferred, calls.CustomerHangup:
		o.Reason = s.parting(l, leg, j)
		o.At = time.Now()
	}
	s.endParty(l, j.party)
	s.hangUp(leg)
	j.part()
}

// parting waits for the end of a connection and says why it is.
func (s *Switchboard) parting(l *live, leg lines.Leg, j *joint) calls.Reason {
	call, money := l.call.AnsweredReal.Time(), time.Duration(0)
	if j.paid > 0 {
		money = time.Until(j.row.AnsweredReal.Time().Add(j.paid))
	}
	if left := time.Until(call.Add(seconds(l.call.Paid))); l.call.Paid > 0 && (money == 0 || left < money) {
		money = left
	}
	longest, broke := time.NewTimer(time.Until(call.Add(l.cfg.MaxDuration))), time.NewTimer(money)
	defer longest.Stop()
	defer broke.Stop()
	if money == 0 {
		broke.Stop()
	}
	select {
	case <-leg.Done():
		if leg.End().Err != nil {
			return calls.MediaTimeout
		}
	case <-j.leg.Done():
	case <-longest.C:
		return calls.MaxDuration
	case <-broke.C:
		return calls.BalanceExhausted
	case <-l.ctx.Done():
		if r, _ := causeOf(l.ctx); r != calls.CustomerHangup {
			return r
		}
	}
	return calls.Reason(j.reason)
}
