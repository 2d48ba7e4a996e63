package switchboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/calls"
	"parley/db"
	"parley/jobs"
)

const (
	kindSettle = "calls.settle"
	kindDial   = "calls.dial"
)

// Dialling is the queue of calls to be placed; processes that hold calls work it.
const Dialling = "dial"

type callArgs struct {
	ID calls.ID `json:"id"`
}

func (s *Switchboard) registerJobs() {
	s.Jobs.Register(kindSettle, jobs.Options{Queue: "calls", Timeout: 2 * time.Minute, MaxAttempts: 20}, s.settleJob)
	s.Jobs.Register(kindDial, jobs.Options{Queue: Dialling, Timeout: time.Minute, MaxAttempts: 5}, s.dialJob)
	s.Jobs.Every("calls.asks", time.Hour, s.Asks.Purge)
}

// later queues what follows the end of a call.
func (s *Switchboard) later(ctx context.Context, tx *db.Tx, id calls.ID) error {
	return s.Jobs.Add(ctx, tx, jobs.New{Kind: kindSettle, Args: callArgs{id}, Unique: fmt.Sprintf("settle:%d", id), Priority: jobs.High})
}

// lastTries is how often the end of a call is recorded in vain before it is left to the reaper; while the database is
// away that does not count, unless the process stops.
const lastTries = 10

// wrapUp closes the record, and settles the call or queues what follows, in one transaction. A call that nobody answered
// leaves nothing to find out: when o says so it is settled in the same transaction, at the first try.
func (s *Switchboard) wrapUp(l *live, o calls.Over, events ...calls.Event) {
	if o.At.IsZero() {
		o.At = time.Now()
	}
	o.Log = events
	ctx := context.Background()
	err := s.insist(l, func(tx *db.Tx, first bool) error {
		o.Settled = first
		call, err := s.Calls.End(ctx, tx, l.call.ID, o)
		if err != nil {
			return err
		}
		if err := s.Calls.KeepSignalling(ctx, tx, call.ID, l.signalling()); err != nil {
			return err
		}
		if call.Settled {
			return s.settle(ctx, tx, call, nil, nil)
		}
		return s.later(ctx, tx, call.ID)
	})
	if err != nil && o.Recording != "" {
		s.discardUnkept(ctx, l.call.ID, o.Recording)
	}
}

// discardUnkept deletes a recording that its call does not have: another process ended it first, or nobody could.
func (s *Switchboard) discardUnkept(ctx context.Context, id calls.ID, key string) {
	c, err := s.Calls.ByID(ctx, s.DB, id)
	switch {
	case err == nil && c.Recording != nil && *c.Recording == key: // the answer to the commit was lost
		return
	case err == nil || errors.Is(err, calls.ErrNotFound):
		err = s.Recordings.Discard(ctx, key)
	}
	if err != nil {
		s.Log.Error("recording that no call has not discarded", "call", id, "error", err)
	}
}

// insist runs the transaction that ends a call until it is committed. The record of a call is not given up because the
// database is away, however long that takes. Its error is db.ErrNone when somebody else has ended the call, or why it gave up.
func (s *Switchboard) insist(l *live, end func(tx *db.Tx, first bool) error) error {
	for try, first := 1, true; ; first = false {
		err := s.DB.Do(context.Background(), func(tx *db.Tx) error { return end(tx, first) })
		if err == nil || errors.Is(err, db.ErrNone) { // ended by somebody else: the reaper, another process
			return err
		}
		s.Log.Error("end of call not recorded", "call", l.call.ID, "error", err)
		if try == lastTries {
			return err // the reaper will find it
		}
		if !db.Away(err) || s.ctx.Err() != nil {
			try++
		}
		time.Sleep(time.Duration(try-1)*200*time.Millisecond + time.Second/5)
	}
}
