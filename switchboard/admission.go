package switchboard

import (
	"context"
	"math"
	"slices"
	"time"

	"parley/accounts"
	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/lines"
)

// seat is a conversation's share of the engines. It is free when it is given back or the line is over, whichever is first:
// what follows a call keeps nobody waiting.
type seat struct {
	board     *Switchboard
	providers []string
	leg       lines.Leg // nil while it is dialled
}

// reserve takes the engines of a conversation on a leg; false when one of them serves as many as it can.
func (s *Switchboard) reserve(providers []string, leg lines.Leg) (*seat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range providers {
		if most, limited := s.Engines().Most[p]; limited && s.using(p) >= most {
			return nil, false
		}
	}
	t := &seat{s, providers, leg}
	s.seats[t] = struct{}{}
	return t, true
}

// using counts the conversations that use a provider, and forgets those whose line is over. Under mu.
func (s *Switchboard) using(provider string) (n int) {
	for t := range s.seats {
		switch {
		case over(t.leg):
			delete(s.seats, t)
		case slices.Contains(t.providers, provider):
			n++
		}
	}
	return n
}

// over reports whether a leg has ended.
func over(leg lines.Leg) bool {
	if leg == nil {
		return false
	}
	select {
	case <-leg.Done():
		return true
	default:
		return false
	}
}

func (t *seat) at(leg lines.Leg) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	t.leg = leg
}

// change takes the engines of another assistant instead; false when one of those serves as many as it can.
func (t *seat) change(providers []string) bool {
	s := t.board
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seats, t)
	defer func() { s.seats[t] = struct{}{} }()
	for _, p := range providers {
		if most, limited := s.Engines().Most[p]; limited && s.using(p) >= most {
			return false
		}
	}
	t.providers = providers
	return true
}

func (t *seat) release() {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	delete(t.board.seats, t)
}

// full reports whether a conversation with these engines would be refused now.
func (s *Switchboard) full(providers []string) bool {
	t, ok := s.reserve(providers, nil)
	if ok {
		t.release()
	}
	return !ok
}

// tight reports whether some engine of this process serves as many conversations as it can.
func (s *Switchboard) tight() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, most := range s.Engines().Most {
		if s.using(p) >= most {
			return true
		}
	}
	return false
}

// ending are the calls of this process whose line is over and whose record is not closed yet.
func (s *Switchboard) ending() (ids []calls.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.live {
		l.mu.Lock()
		if over(l.leg) {
			ids = append(ids, id)
		}
		l.mu.Unlock()
	}
	return ids
}

// errFull is the answer when a ceiling of parallel calls is reached.
func errFull(limit int) error { return fault.Full(limit, 5, "Too many calls in progress.") }

// most is how many conversations the scarcest of the engines serves.
func (s *Switchboard) most(providers []string) int {
	least := math.MaxInt
	for _, p := range providers {
		if most, limited := s.Engines().Most[p]; limited {
			least = min(least, most)
		}
	}
	return least
}

// ceiling checks the account's parallel calls inside the transaction that adds one.
func (s *Switchboard) ceiling(ctx context.Context, tx *db.Tx, owner accounts.ID) (accounts.Plan, error) {
	plan, err := s.Accounts.LockPlan(ctx, tx, owner) // whoever adds a call to the account waits here for the one before
	if err != nil {
		return plan, err
	}
	n, err := s.Calls.Live(ctx, tx, owner, "", s.ending()...)
	if err == nil && int64(n) >= plan.ParallelPerAccount {
		err = errFull(int(plan.ParallelPerAccount))
	}
	return plan, err
}

// pace notes an outbound call and checks the account's ceilings of calls a minute and, through the installation's own
// carriers, a day. The account's row is locked: the count is exact. Minutes are real ones, days those of durable time.
func (s *Switchboard) pace(ctx context.Context, tx *db.Tx, owner accounts.ID, plan accounts.Plan, carrier bool) (err error) {
	var wait time.Duration
	limit := s.CallsPerMinute
	if s.CallsPerMinute > 0 {
		if wait, err = s.Calls.PlaceableIn(ctx, tx, owner, calls.Minute, s.CallsPerMinute); err != nil {
			return err
		}
	}
	if wait == 0 && carrier && plan.DailyOutbound != nil {
		limit = int(*plan.DailyOutbound)
		if wait, err = s.Calls.PlaceableIn(ctx, tx, owner, calls.Day, limit); err != nil {
			return err
		}
	}
	if wait > 0 {
		return fault.Full(limit, int((wait+time.Second-1)/time.Second), "Too many requests. Wait the stated seconds, then try again.")
	}
	return s.Calls.Placed(ctx, tx, owner, carrier)
}

// refusal is why a call is refused here: the reason of its record and the SIP status of an inbound one.
type refusal struct {
	reason calls.Reason
	code   int
}

// refusals in the order of the contract's table.
var refusals = map[calls.Reason]int{
	calls.NoRoute: 480, calls.ConcurrencyLimit: 486, calls.InsufficientBalance: 480, calls.AssistantInactive: 480,
	calls.AccountSuspended: 480, calls.EngineFailure: 480,
}

func refuse(r calls.Reason) *refusal { return &refusal{r, refusals[r]} }

// refusalOf reads the error of finding a call's assistant or of opening its record.
func refusalOf(err error) *refusal {
	switch {
	case db.Away(err):
		return &refusal{calls.EngineFailure, 503} // the caller's side may try another way
	case fault.Is(err, fault.TooMany):
		return refuse(calls.ConcurrencyLimit)
	case fault.Is(err, fault.NeedsPayment):
		return refuse(calls.InsufficientBalance)
	}
	return refuse(calls.EngineFailure)
}
