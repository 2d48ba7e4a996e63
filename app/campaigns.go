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
	h.Campaigns = campaigns.New(h.DB, w, w, w, w, func(owner int64, id campaigns.ID) {
		h.tell(accounts.ID(owner), "campaign", map[string]any{"id": id})
	})
	h.on.Jobs.Pulse("campaigns.tick", time.Second, h.Campaigns.Tick)
	h.on.Jobs.Also(jobs.Outside{Next: h.Campaigns.Next, Busy: h.Campaigns.Busy})
	h.LeadOf = h.leadOf
	h.Switchboard.Ended = append(h.Switchboard.Ended, h.settleCampaign)
	h.Calls.OnBlock(func(ctx context.Context, tx *db.Tx, owner accounts.ID, phone string) error {
		return h.Campaigns.Block(ctx, tx, int64(owner), phone)
	})
	h.Numbers.OnDetach(func(ctx context.Context, tx *db.Tx, owner accounts.ID, id numbers.ID) error {
		return h.Campaigns.ForgetNumber(ctx, tx, int64(owner), int64(id))
	})
	h.Assistants.OnDelete(func(ctx context.Context, tx *db.Tx, a assistants.Assistant) error {
		return errors.Join(h.Campaigns.StopFor(ctx, tx, int64(a.ID), campaigns.StopAssistantDeleted), h.Messaging.DetachAssistant(ctx, tx, int64(a.ID)))
	})
	h.Assistants.OnPause(func(ctx context.Context, tx *db.Tx, a assistants.Assistant) error {
		return h.Campaigns.StopFor(ctx, tx, int64(a.ID), campaigns.StopAssistantInactive)
	})
	return nil
}

// campaignWorld is the rest of the program as campaigns see it.
type campaignWorld struct{ h *App }

// Place records a call of a lead and queues its dialling.
func (w campaignWorld) Place(ctx context.Context, tx *db.Tx, a campaigns.Attempt) (int64, error) {
	call, err := w.h.Switchboard.Place(ctx, tx, switchboard.Order{
		Owner: accounts.ID(a.Owner), Assistant: value.Ref{ID: a.AssistantID}, Phone: a.Phone, Variables: a.Variables,
		CampaignID: int64(a.CampaignID), CampaignName: a.Name, LeadID: int64(a.LeadID), DialNo: a.DialNo, NumberID: a.NumberID,
	})
	return int64(call.ID), refusedPlace(err)
}

// refusedPlace says in a campaign's terms why a call cannot be placed.
func refusedPlace(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		return err
	}
	switch f.Message {
	case "This phone number is on the do-not-call list.":
		return campaigns.ErrDoNotCall
	case "Calls to this destination are not allowed.":
		return campaigns.ErrUnreachable
	case "Assistant has no phone number to call from.":
		return campaigns.ErrNoNumber
	case "Assistant is inactive.", "Assistant is not an outbound assistant.", "No configured engine supports this language.", "No assistant with this id exists in your account.":
		return campaigns.ErrInactive
	}
	switch {
	case f.Kind == fault.TooMany:
		return campaigns.ErrBusy
	case fault.Is(f.Cause, fault.NeedsPayment):
		return campaigns.ErrNoFunds
	}
	return err
}

// Live counts the campaign's calls that go on.
func (w campaignWorld) Live(ctx context.Context, q db.Q, id campaigns.ID) (int, error) {
	ids, err := w.h.Calls.LiveOfCampaign(ctx, q, int64(id))
	return len(ids), err
}

// Placing counts the campaign's calls of which nothing has been heard yet.
func (w campaignWorld) Placing(ctx context.Context, q db.Q, id campaigns.ID) (int, error) {
	return w.h.Calls.PlacingOfCampaign(ctx, q, int64(id))
}

// Room is what the account's ceiling leaves to outbound calls once the inbound reserve is kept free.
func (w campaignWorld) Room(ctx context.Context, q db.Q, owner int64) (int, error) {
	me := accounts.ID(owner)
	plan, err := w.h.Accounts.Plan(ctx, q, me)
	if err != nil {
		return 0, err
	}
	busy, err := w.h.Calls.Live(ctx, q, me, calls.Outbound)
	if err != nil {
		return 0, err
	}
	reserve := w.h.on.Config.Telephony.InboundReserve
	return int(float64(plan.ParallelPerAccount)*(1-reserve)+0.5) - busy, nil
}

// HangUp ends a stopped campaign's calls.
func (w campaignWorld) HangUp(ctx context.Context, id campaigns.ID) error {
	ids, err := w.h.Calls.LiveOfCampaign(ctx, w.h.DB, int64(id))
	if err != nil {
		return err
	}
	return w.h.Switchboard.HangUp(ctx, calls.CampaignStopped, ids...)
}

// Blocked asks the do-not-call list.
func (w campaignWorld) Blocked(ctx context.Context, q db.Q, owner int64, phones []string) (map[string]bool, error) {
	return w.h.Calls.IsBlocked(ctx, q, accounts.ID(owner), phones...)
}

// ForCampaign is what a campaign must know of its assistant.
func (w campaignWorld) ForCampaign(ctx context.Context, q db.Q, owner, id int64) (campaigns.Assistant, error) {
	a, err := w.h.Assistants.Get(ctx, q, accounts.ID(owner), value.Ref{ID: id})
	if err != nil {
		return campaigns.Assistant{}, err
	}
	_, canCall, err := callNumbers(w).Caller(ctx, q, accounts.ID(owner), value.Or(a.PhoneNumberID, 0))
	out := campaigns.Assistant{ID: id, Outbound: a.Type == assistants.Outbound, Paused: a.Paused, CanCall: canCall}
	for _, item := range a.PostCallSchema {
		if item.Type == "bool" {
			out.GoalNames = append(out.GoalNames, item.Name)
		}
	}
	return out, err
}

// Activate marks a new assistant as used.
func (w campaignWorld) Activate(ctx context.Context, tx *db.Tx, id int64) error {
	return w.h.Assistants.Activate(ctx, tx, assistants.ID(id))
}

// Positive reports whether the account may spend.
func (w campaignWorld) Positive(ctx context.Context, q db.Q, owner int64) (bool, error) {
	return w.h.Billing.Positive(ctx, q, accounts.ID(owner))
}

// MayCallFrom reports whether a number of the owner can be shown to those called.
func (w campaignWorld) MayCallFrom(ctx context.Context, q db.Q, owner, number int64) (bool, error) {
	_, err := w.h.Numbers.Get(ctx, q, accounts.ID(owner), numbers.ID(number))
	return known(err), missing(err)
}

// settleCampaign moves the lead of a finished call on.
func (h *App) settleCampaign(ctx context.Context, tx *db.Tx, c calls.Call) error {
	if c.LeadID == nil {
		return nil
	}
	e := campaigns.Ended{LeadID: campaigns.LeadID(*c.LeadID), CallID: int64(c.ID), AnsweredBy: string(c.AnsweredBy), Spoke: c.Spoke,
		Talked: time.Duration(c.Seconds) * time.Second, At: c.EndedAt.Time(), Evaluation: c.Evaluation.V}
	if c.Reason != nil {
		e.Reason = string(*c.Reason)
	}
	for _, item := range c.Snapshot.V.Schema {
		if item.Type == "bool" {
			e.Bools = append(e.Bools, item.Name)
		}
	}
	return h.Campaigns.Settle(ctx, tx, e)
}

// shownLead and shownCampaign are what webhooks tell of a campaign's call.
type shownLead struct {
	ID        campaigns.LeadID     `json:"id"`
	Phone     string               `json:"phone_number"`
	Variables value.Scalars        `json:"variables"`
	Status    campaigns.LeadStatus `json:"status"`
	CreatedAt value.Time           `json:"created_at"`
	UpdatedAt value.Time           `json:"updated_at"`
	Campaign  shownCampaign        `json:"campaign"`
}

type shownCampaign struct {
	ID         campaigns.ID     `json:"id"`
	Name       string           `json:"name"`
	Status     campaigns.Status `json:"status"`
	Start      string           `json:"allowed_hours_start_time"`
	End        string           `json:"allowed_hours_end_time"`
	Days       []string         `json:"allowed_days"`
	Parallel   int              `json:"max_calls_in_parallel"`
	MaxRetries int              `json:"max_retries"`
	Interval   int              `json:"retry_interval"`
	CreatedAt  value.Time       `json:"created_at"`
	UpdatedAt  value.Time       `json:"updated_at"`
}

// leadOf reads lead and campaign of a call; what was removed meanwhile is null.
func (h *App) leadOf(ctx context.Context, q db.Q, c calls.Call) (lead, campaign any, err error) {
	if c.LeadID == nil || c.CampaignID == nil {
		return nil, nil, nil
	}
	one, err := h.Campaigns.Get(ctx, q, int64(c.Owner), campaigns.ID(*c.CampaignID))
	if err != nil {
		return nil, nil, missing(err)
	}
	l, err := h.Campaigns.Lead(ctx, q, int64(c.Owner), campaigns.LeadID(*c.LeadID))
	if err != nil {
		return nil, nil, missing(err)
	}
	s := one.Settings.V
	shown := shownCampaign{one.ID, one.Name, one.Status, s.Start + ":00", s.End + ":00", s.Days, s.MaxParallel, s.MaxRetries, s.RetryInterval, value.At(one.CreatedAt.Time()), value.At(one.UpdatedAt.Time())}
	return shownLead{l.ID, l.Phone, l.Variables.V, l.Status, value.At(l.CreatedAt.Time()), value.At(l.UpdatedAt.Time()), shown}, shown, nil
}
