package api

import (
	"context"

	"parley/assistants"
	"parley/campaigns"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
	"parley/wire"
)

// campaignIn is the body of creation and change.
type campaignIn struct {
	ID int64 `path:"id"`
	campaigns.Change
}

type campaignOut struct {
	ID           campaigns.ID          `json:"id"`
	Name         string                `json:"name"`
	Status       campaigns.Status      `json:"status"`
	MaxParallel  int                   `json:"max_calls_in_parallel"`
	Complete     bool                  `json:"mark_complete_when_no_leads"`
	Start        string                `json:"allowed_hours_start_time"`
	End          string                `json:"allowed_hours_end_time"`
	Days         []string              `json:"allowed_days"`
	MaxRetries   int                   `json:"max_retries"`
	Interval     int                   `json:"retry_interval"`
	CreatedAt    value.Time            `json:"created_at"`
	UpdatedAt    value.Time            `json:"updated_at"`
	Assistant    *assistants.ID        `json:"assistant_id"`
	Timezone     string                `json:"timezone"`
	Voicemail    bool                  `json:"retry_on_voicemail"`
	GoalMissed   bool                  `json:"retry_on_goal_incomplete"`
	GoalVariable *string               `json:"goal_completion_variable"`
	Numbers      []ids.Number          `json:"phone_number_ids"`
	StopReason   *campaigns.StopReason `json:"stop_reason"`
	Leads        campaigns.Counts      `json:"leads_count"`
}

func campaignOf(c campaigns.Campaign, n campaigns.Counts) campaignOut {
	s := c.Settings.V
	return campaignOut{
		ID: c.ID, Name: c.Name, Status: c.Status, MaxParallel: s.MaxParallel, Complete: s.CompleteWhenDone,
		Start: s.Start + ":00", End: s.End + ":00", Days: s.Days, MaxRetries: s.MaxRetries, Interval: s.RetryInterval,
		CreatedAt: value.At(c.CreatedAt.Time()), UpdatedAt: value.At(c.UpdatedAt.Time()), Assistant: c.Assistant, Timezone: s.Timezone,
		Voicemail: s.RetryVoicemail, GoalMissed: s.RetryGoal, GoalVariable: s.GoalVariable, Numbers: orEmpty(s.NumberIDs),
		StopReason: c.StopReason, Leads: n,
	}
}

type campaignSaved struct {
	Message string      `json:"message"`
	Data    campaignOut `json:"data"`
}

func (a *API) createCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	me := owner(ctx)
	c, err := a.Campaigns.Create(ctx, me, func(tx *db.Tx) (campaigns.Settings, error) {
		return a.Campaigns.New(ctx, tx, me, in.Change, wire.Failed(ctx))
	})
	return campaignSaved{"The new campaign was saved as a draft.", campaignOf(c, campaigns.Counts{})}, err
}

func (a *API) updateCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	me := owner(ctx)
	c, err := a.Campaigns.Update(ctx, me, campaigns.ID(in.ID), func(tx *db.Tx, s campaigns.Settings) (campaigns.Settings, error) {
		return a.Campaigns.Changed(ctx, tx, me, in.Change, s, wire.Failed(ctx))
	})
	if err != nil {
		return campaignSaved{}, err
	}
	out, err := a.withCounts(ctx, c)
	return campaignSaved{"Campaign updated successfully", out}, err
}

func (a *API) withCounts(ctx context.Context, c campaigns.Campaign) (campaignOut, error) {
	n, err := a.Campaigns.Counts(ctx, a.DB, []campaigns.ID{c.ID})
	return campaignOf(c, n[c.ID]), err
}

type campaignRef struct {
	ID int64 `path:"id"`
}

func (a *API) getCampaign(ctx context.Context, in *campaignRef) (data[campaignOut], error) {
	c, err := a.Campaigns.Get(ctx, a.DB, owner(ctx), campaigns.ID(in.ID))
	if err != nil {
		return data[campaignOut]{}, err
	}
	out, err := a.withCounts(ctx, c)
	return data[campaignOut]{out}, err
}

func (a *API) listCampaigns(ctx context.Context, _ *struct{}) ([]campaignOut, error) {
	all, err := a.Campaigns.List(ctx, a.DB, owner(ctx))
	if err != nil {
		return nil, err
	}
	ids := make([]campaigns.ID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	n, err := a.Campaigns.Counts(ctx, a.DB, ids)
	out := make([]campaignOut, len(all))
	for i, c := range all {
		out[i] = campaignOf(c, n[c.ID])
	}
	return out, err
}

type campaignSwitchIn struct {
	Campaign int64  `json:"campaign_id" rule:"required"`
	Action   string `json:"action" rule:"required" also:"status"`
	Drain    bool   `json:"drain"`
}

type campaignSwitched struct {
	Message string        `json:"message"`
	Success bool          `json:"success"`
	Data    campaignState `json:"data"`
}

type campaignState struct {
	ID     campaigns.ID     `json:"campaign_id"`
	Status campaigns.Status `json:"status"`
}

func (a *API) switchCampaign(ctx context.Context, in *campaignSwitchIn) (campaignSwitched, error) {
	me, id := owner(ctx), campaigns.ID(in.Campaign)
	if _, err := a.Campaigns.Get(ctx, a.DB, me, id); err != nil {
		return campaignSwitched{}, err
	}
	switch in.Action {
	case "start":
		c, err := a.Campaigns.Start(ctx, me, id)
		return campaignSwitched{"The campaign is now running.", true, campaignState{id, c.Status}}, err
	case "stop":
		c, err := a.Campaigns.Stop(ctx, me, id, in.Drain)
		return campaignSwitched{"The campaign is now stopped.", true, campaignState{id, c.Status}}, err
	}
	return campaignSwitched{}, fault.New(fault.Malformed, "", "Unknown action. Send 'start' or 'stop'.")
}

func (a *API) deleteCampaign(ctx context.Context, in *campaignRef) (wire.Message, error) {
	return wire.Message{Message: "The campaign was removed."}, a.Campaigns.Delete(ctx, owner(ctx), campaigns.ID(in.ID))
}
