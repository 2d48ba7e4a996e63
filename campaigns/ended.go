package campaigns

import (
	"context"
	"time"

	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/value"
)

// EndedBy is a finished call as its campaign sees it; false when it has none.
func EndedBy(c calls.Call) (Ended, bool) {
	if c.LeadID == nil {
		return Ended{}, false
	}
	e := Ended{LeadID: *c.LeadID, CallID: c.ID, AnsweredBy: string(c.AnsweredBy), Spoke: c.Spoke,
		Talked: time.Duration(c.Seconds) * time.Second, At: c.EndedAt.Time(), Evaluation: c.Evaluation.V}
	if c.Reason != nil {
		e.Reason = string(*c.Reason)
	}
	for _, item := range c.Snapshot.V.Schema {
		if item.Type == "bool" {
			e.Bools = append(e.Bools, item.Name)
		}
	}
	return e, true
}

// shownLead and shownCampaign are what webhooks tell of a campaign's call.
type shownLead struct {
	ID        LeadID        `json:"id"`
	Phone     string        `json:"phone_number"`
	Variables value.Scalars `json:"variables"`
	Status    LeadStatus    `json:"status"`
	CreatedAt value.Time    `json:"created_at"`
	UpdatedAt value.Time    `json:"updated_at"`
	Campaign  shownCampaign `json:"campaign"`
}

type shownCampaign struct {
	ID         ID         `json:"id"`
	Name       string     `json:"name"`
	Status     Status     `json:"status"`
	Start      string     `json:"allowed_hours_start_time"`
	End        string     `json:"allowed_hours_end_time"`
	Days       []string   `json:"allowed_days"`
	Parallel   int        `json:"max_calls_in_parallel"`
	MaxRetries int        `json:"max_retries"`
	Interval   int        `json:"retry_interval"`
	CreatedAt  value.Time `json:"created_at"`
	UpdatedAt  value.Time `json:"updated_at"`
}

// Shown gives lead and campaign of a call as webhooks tell of them; what was removed meanwhile is nil.
func (c *Campaigns) Shown(ctx context.Context, q db.Q, call calls.Call) (lead, campaign any, err error) {
	if call.LeadID == nil || call.CampaignID == nil {
		return nil, nil, nil
	}
	gone := func(err error) error {
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	one, err := c.Get(ctx, q, call.Owner, *call.CampaignID)
	if err != nil {
		return nil, nil, gone(err)
	}
	l, err := c.Lead(ctx, q, call.Owner, *call.LeadID)
	if err != nil {
		return nil, nil, gone(err)
	}
	s := one.Settings.V
	shown := shownCampaign{one.ID, one.Name, one.Status, s.Start + ":00", s.End + ":00", s.Days, s.MaxParallel, s.MaxRetries, s.RetryInterval,
		value.At(one.CreatedAt.Time()), value.At(one.UpdatedAt.Time())}
	return shownLead{l.ID, l.Phone, l.Variables.V, l.Status, value.At(l.CreatedAt.Time()), value.At(l.UpdatedAt.Time()), shown}, shown, nil
}
