package app

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/campaigns"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/numbers"
	"parley/switchboard"
	"parley/value"
)

// campaigns: lists of people to call.
func (h *App) campaigns(context.Context) error {
	w := campaignWorld{h}
	h.Campaigns = campaigns.New(h.DB, w, w, w, w, func(owner accounts.ID, id campaigns.ID) {
		h.tell(owner, "campaign", map[string]any{"id": id})
	})
	h.on.Jobs.Pulse("campaigns.tick", time.Second, h.Campaigns.Tick)
	h.on.Jobs.Also(jobs.Outside{Next: h.Campaigns.Next, Busy: h.Campaigns.Busy})
	return nil
}

// campaignWorld is the rest of the program as campaigns see it.
type campaignWorld struct{ h *App }

// Place records a call of a lead and queues its dialling.
func (w campaignWorld) Place(ctx context.Context, tx *db.Tx, a campaigns.Attempt) (calls.ID, error) {
	call, err := w.h.Switchboard.Place(ctx, tx, switchboard.Order{
		Owner: a.Owner, Assistant: value.Ref{ID: int64(a.AssistantID)}, Phone: a.Phone, Variables: a.Variables,
		CampaignID: a.CampaignID, CampaignName: a.Name, LeadID: a.LeadID, DialNo: a.DialNo, NumberID: a.NumberID,
	})
	return call.ID, refusedPlace(err)
}

// refusedPlace says in a campaign's terms why a call cannot be placed.
func refusedPlace(err error) error {
	switch {
	case errors.Is(err, switchboard.ErrDoNotCall):
		return campaigns.ErrDoNotCall
	case errors.Is(err, switchboard.ErrDestination):
		return campaigns.ErrUnreachable
	case errors.Is(err, switchboard.ErrNoNumber):
		return campaigns.ErrNoNumber
	case errors.Is(err, switchboard.ErrNoAssistant), errors.Is(err, switchboard.ErrNotOutbound), errors.Is(err, switchboard.ErrPaused),
		errors.Is(err, switchboard.ErrLanguage):
		return campaigns.ErrInactive
	case errors.Is(err, switchboard.ErrNoFunds):
		return campaigns.ErrNoFunds
	case fault.Is(err, fault.TooMany):
		return campaigns.ErrBusy
	}
	return err
}

// Live counts the campaign's calls that go on.
func (w campaignWorld) Live(ctx context.Context, q db.Q, id campaigns.ID) (int, error) {
	ids, err := w.h.Calls.LiveOfCampaign(ctx, q, id)
	return len(ids), err
}

// Placing counts the campaign's calls of which nothing has been heard yet.
func (w campaignWorld) Placing(ctx context.Context, q db.Q, id campaigns.ID) (int, error) {
	return w.h.Calls.PlacingOfCampaign(ctx, q, id)
}

// Room is what the account's ceiling leaves to outbound calls once the inbound reserve is kept free.
func (w campaignWorld) Room(ctx context.Context, tx *db.Tx, owner accounts.ID) (int, error) {
	me := owner
	plan, err := w.h.Accounts.LockPlan(ctx, tx, me)
	if err != nil {
		return 0, err
	}
	busy, err := w.h.Calls.Live(ctx, tx, me, calls.Outbound)
	if err != nil {
		return 0, err
	}
	reserve := w.h.on.Config.Telephony.InboundReserve
	return int(float64(plan.ParallelPerAccount)*(1-reserve)+0.5) - busy, nil
}

// MostCampaigns is the plan's limit.
func (w campaignWorld) MostCampaigns(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error) {
	plan, err := w.h.Accounts.LockPlan(ctx, tx, owner)
	return plan.MaxCampaigns, err
}

// HangUp ends a stopped campaign's calls.
func (w campaignWorld) HangUp(ctx context.Context, id campaigns.ID) error {
	ids, err := w.h.Calls.LiveOfCampaign(ctx, w.h.DB, id)
	if err != nil {
		return err
	}
	return w.h.Switchboard.HangUp(ctx, calls.CampaignStopped, ids...)
}

// Blocked asks the do-not-call list.
func (w campaignWorld) Blocked(ctx context.Context, q db.Q, owner accounts.ID, phones []string) (map[string]bool, error) {
	return w.h.Calls.IsBlocked(ctx, q, owner, phones...)
}

// ForCampaign is what a campaign must know of its assistant.
func (w campaignWorld) ForCampaign(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) (campaigns.Assistant, error) {
	a, err := w.h.Assistants.Get(ctx, q, owner, ref)
	if err != nil {
		return campaigns.Assistant{}, err
	}
	_, canCall, err := callNumbers(w).Caller(ctx, q, owner, value.Or(a.PhoneNumberID, 0))
	out := campaigns.Assistant{ID: a.ID, Outbound: a.Type == assistants.Outbound, Paused: a.Paused, CanCall: canCall}
	for _, item := range a.PostCallSchema {
		if item.Type == "bool" {
			out.GoalNames = append(out.GoalNames, item.Name)
		}
	}
	return out, err
}

// Hold keeps an assistant as it is until tx ends.
func (w campaignWorld) Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, id assistants.ID) error {
	return w.h.Assistants.Hold(ctx, tx, owner, id)
}

// Activate marks a new assistant as used.
func (w campaignWorld) Activate(ctx context.Context, tx *db.Tx, id assistants.ID) error {
	return w.h.Assistants.Activate(ctx, tx, id)
}

// Positive reports whether the account may spend.
func (w campaignWorld) Positive(ctx context.Context, q db.Q, owner accounts.ID) (bool, error) {
	return w.h.Billing.Positive(ctx, q, owner)
}

// Own are those of the numbers that the account can show to whom it calls.
func (w campaignWorld) Own(ctx context.Context, q db.Q, owner accounts.ID, list []numbers.ID) ([]numbers.ID, error) {
	all, err := w.h.Numbers.Of(ctx, q, owner, list)
	own := make([]numbers.ID, len(all))
	for i, n := range all {
		own[i] = n.ID
	}
	return own, err
}

// Terms are what the account and its plan say of campaigns.
func (w campaignWorld) Terms(ctx context.Context, q db.Q, owner accounts.ID) (campaigns.Terms, error) {
	a, err := w.h.Accounts.Get(ctx, q, owner)
	return campaigns.Terms{Timezone: a.Timezone, MostParallel: w.h.Accounts.PlanOf(a).ParallelPerCampaign}, err
}
