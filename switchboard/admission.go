package switchboard

import (
	"context"
	"math"
	"time"

	"parley/accounts"
	"parley/calls"
	"parley/db"
	"parley/fault"
)

// reserve takes the engines of a conversation; false when one of them serves as many as it can.
func (s *Switchboard) reserve(providers []string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range providers {
		if most, limited := s.Engines.Most[p]; limited && s.using[p] >= most {
			return nil, false
		}
	}
	for _, p := range providers {
		s.using[p]++
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range providers {
			s.using[p]--
		}
	}, true
}

// full reports whether a conversation with these engines would be refused now.
func (s *Switchboard) full(providers []string) bool {
	release, ok := s.reserve(providers)
	if ok {
		release()
	}
	return !ok
}

// tight reports whether some engine of this process serves as many conversations as it can.
func (s *Switchboard) tight() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, most := range s.Engines.Most {
		if s.using[p] >= most {
			return true
		}
	}
	return false
}

// errFull is the answer when a ceiling of parallel calls is reached.
func errFull(limit int) error { return fault.Full(limit, 5, "Too many calls in progress.") }

// most is how many conversations the scarcest of the engines serves.
func (s *Switchboard) most(providers []string) int {
	least := math.MaxInt
	for _, p := range providers {
		if most, limited := s.Engines.Most[p]; limited {
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
	n, err := s.Calls.Live(ctx, tx, owner, "")
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
