package switchboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/agent"
	"parley/calls"
	"parley/campaigns"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/mind"
	"parley/value"
	"parley/webhooks"
)

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

// settle does everything that follows from a call, in one transaction. What the steps lock is locked in the order of
// placing a call: its campaign, then the balance.
func (s *Switchboard) settle(ctx context.Context, tx *db.Tx, call calls.Call, values value.Scalars, events []calls.Event) error {
	call.Evaluation.V, call.Variables.V = values, values.With(call.Variables.V...).With(values...)
	if e, ok := campaigns.EndedBy(call); ok {
		if err := s.Campaigns.Settle(ctx, tx, e); err != nil {
			return fmt.Errorf("settle lead: %w", err)
		}
	}
	var err error
	if call.AICost, call.CarrierCost, err = s.Billing.ChargeCall(ctx, tx, call); err != nil {
		return fmt.Errorf("charge call: %w", err)
	}
	if err := s.Calls.Log(ctx, tx, call.ID, events); err != nil {
		return err
	}
	if !call.Settled { // else with its end
		if call, err = s.Calls.Finish(ctx, tx, call); err != nil {
			return err
		}
	}
	for _, e := range webhooks.OfCall(call, s.Home) {
		lead, campaign, err := s.Campaigns.Shown(ctx, tx, call)
		if err != nil {
			return err
		}
		if err := s.Webhooks.Add(ctx, tx, e.Of(lead, campaign)); err != nil {
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
	fields := mind.Wanted(snap.Schema)
	values := agent.Undetermined(fields)
	if len(c.Entries.V) > 0 {
		e := agent.Evaluation{Engine: s.modelOf(snap.ModelID), Prompt: s.promptOf(c), Fields: fields,
			History: historyOf(c.Entries.V), Temperature: snap.Temperature, Observe: observe}
		found, err := e.Run(ctx)
		if err == nil {
			values = found
		} else {
			s.Log.Warn("call not evaluated", "call", c.ID, "error", err)
			if made, err := calls.MakeEvent(time.Now(), "error",
				map[string]string{"stage": "evaluation", "message": fault.Say(err, "The evaluation failed.")}); err == nil {
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
