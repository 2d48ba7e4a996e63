package switchboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/agent"
	"parley/calls"
	"parley/db"
	"parley/jobs"
	"parley/value"
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

// wrapUp closes the record and settles the call or queues what follows, in one transaction. The record of a call is not
// given up because the database is away, however long that takes.
func (s *Switchboard) wrapUp(l *live, o calls.Over, events ...calls.Event) {
	if o.At.IsZero() {
		o.At = time.Now()
	}
	o.Log = events
	for try, first := 1, true; ; first = false {
		o.Settled = first
		err := s.conclude(context.Background(), l, o)
		if err == nil || errors.Is(err, db.ErrNone) { // ended by somebody else: the reaper, another process
			return
		}
		s.Log.Error("end of call not recorded", "call", l.call.ID, "error", err)
		if try == lastTries {
			return // the reaper will find it
		}
		if !db.Away(err) || s.ctx.Err() != nil {
			try++
		}
		time.Sleep(time.Duration(try-1)*200*time.Millisecond + time.Second/5)
	}
}

// conclude is one try of wrapUp. A call that nobody answered leaves nothing to find out: when o says so it is settled in
// the same transaction.
func (s *Switchboard) conclude(ctx context.Context, l *live, o calls.Over) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
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
}

// settleJob finds out what the call came to and settles it.
func (s *Switchboard) settleJob(ctx context.Context, job jobs.Job) error {
	var args callArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	call, err := s.Calls.ByID(ctx, s.DB, args.ID)
	if errors.Is(err, calls.ErrNotFound) {
		return nil // deleted in the meantime
	}
	if err != nil {
		return err
	}
	if call.Settled {
		return nil // with its end, or by another run of this job
	}
	if call.Status.Live() {
		return fmt.Errorf("call %d has not ended", call.ID)
	}
	values, events := s.evaluate(ctx, call)
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := s.settle(ctx, tx, call, values, events); err != nil {
			return err
		}
		return job.Complete(ctx, tx)
	})
	if errors.Is(err, db.ErrNone) {
		return nil // settled before
	}
	return err
}

// settle does everything that follows from a call, in one transaction.
func (s *Switchboard) settle(ctx context.Context, tx *db.Tx, call calls.Call, values value.Scalars, events []calls.Event) error {
	var err error
	call.Evaluation.V, call.Variables.V = values, values.With(call.Variables.V...).With(values...)
	for _, f := range s.Ended {
		if err := f(ctx, tx, call); err != nil {
			return err
		}
	}
	if s.Funds != nil {
		if call.AICost, call.CarrierCost, err = s.Funds.Charge(ctx, tx, call); err != nil {
			return fmt.Errorf("charge call: %w", err)
		}
	}
	if err := s.Calls.Log(ctx, tx, call.ID, events); err != nil {
		return err
	}
	if !call.Settled {
		if call, err = s.Calls.Finish(ctx, tx, call); err != nil {
			return err
		}
	}
	for _, f := range s.Settled {
		if err := f(ctx, tx, call); err != nil {
			return err
		}
	}
	return nil
}

// evaluateTime keeps the whole work after a call within a minute.
const evaluateTime = 40 * time.Second

// evaluate asks a model for the values of the schema. What it does not answer in time is null.
func (s *Switchboard) evaluate(ctx context.Context, c calls.Call) (value.Scalars, []calls.Event) {
	snap := c.Snapshot.V
	if !snap.Evaluate || !c.Answered() || len(snap.Schema) == 0 {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, evaluateTime)
	defer stop()
	var events []calls.Event
	observe := func(e agent.Event) {
		if made, err := calls.MakeEvent(time.Now(), e.Type, e.Data); err == nil {
			events = append(events, made)
		}
	}
	fields := fieldsOf(snap.Schema)
	values := agent.Undetermined(fields)
	if len(c.Entries.V) > 0 {
		e := agent.Evaluation{Engine: s.modelOf(snap.ModelID), Prompt: s.promptOf(c), Fields: fields,
			History: historyOf(c.Entries.V), Temperature: snap.Temperature, Observe: observe}
		found, err := e.Run(ctx)
		if err == nil {
			values = found
		} else {
			s.Log.Warn("call not evaluated", "call", c.ID, "error", err)
			if made, err := calls.MakeEvent(time.Now(), "error", map[string]string{"stage": "evaluation", "message": err.Error()}); err == nil {
				events = append(events, made)
			}
		}
	}
	return values, events
}

func historyOf(es []calls.Entry) []agent.Message {
	out := make([]agent.Message, len(es))
	for i, e := range es {
		out[i] = agent.Message{Role: agent.RoleUser, Text: e.Text}
		if e.Assistant {
			out[i].Role = agent.RoleAssistant
		}
	}
	return out
}
