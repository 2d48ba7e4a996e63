package api

import (
	"context"
	"slices"

	"parley/accounts"
	"parley/campaigns"
	"parley/fault"
	"parley/wire"
)

// campaignIn is the body of creation and change.
type campaignIn struct {
	ID           int64              `path:"id"`
	Name         wire.Opt[string]   `json:"name" rule:"max=255"`
	Assistant    wire.Opt[wire.Ref] `json:"assistant_id"`
	Timezone     wire.Opt[string]   `json:"timezone" rule:"timezone"`
	MaxParallel  wire.Opt[int64]    `json:"max_calls_in_parallel"`
	Start        wire.Opt[string]   `json:"allowed_hours_start_time" rule:"clock"`
	End          wire.Opt[string]   `json:"allowed_hours_end_time" rule:"clock different=allowed_hours_start_time"`
	Days         wire.Opt[[]string] `json:"allowed_days" rule:"min=1 distinct" each:"oneof=monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	MaxRetries   wire.Opt[int64]    `json:"max_retries" rule:"min=1 max=5"`
	Interval     wire.Opt[int64]    `json:"retry_interval" rule:"min=10 max=4320"`
	Voicemail    wire.Opt[bool]     `json:"retry_on_voicemail"`
	GoalMissed   wire.Opt[bool]     `json:"retry_on_goal_incomplete"`
	GoalVariable wire.Opt[string]   `json:"goal_completion_variable" rule:"max=255 null"`
	Complete     wire.Opt[bool]     `json:"mark_complete_when_no_leads"`
	Numbers      wire.Opt[[]int64]  `json:"phone_number_ids" rule:"distinct"`

	found campaigns.Campaign
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
	CreatedAt    wire.Time             `json:"created_at"`
	UpdatedAt    wire.Time             `json:"updated_at"`
	Assistant    *int64                `json:"assistant_id"`
	Timezone     string                `json:"timezone"`
	Voicemail    bool                  `json:"retry_on_voicemail"`
	GoalMissed   bool                  `json:"retry_on_goal_incomplete"`
	GoalVariable *string               `json:"goal_completion_variable"`
	Numbers      []int64               `json:"phone_number_ids"`
	StopReason   *campaigns.StopReason `json:"stop_reason"`
	Leads        campaigns.Counts      `json:"leads_count"`
}

func campaignOf(c campaigns.Campaign, n campaigns.Counts) campaignOut {
	s := c.Settings.V
	return campaignOut{
		ID: c.ID, Name: c.Name, Status: c.Status, MaxParallel: s.MaxParallel, Complete: s.CompleteWhenDone,
		Start: s.Start + ":00", End: s.End + ":00", Days: s.Days, MaxRetries: s.MaxRetries, Interval: s.RetryInterval,
		CreatedAt: wire.At(c.CreatedAt.Time()), UpdatedAt: wire.At(c.UpdatedAt.Time()), Assistant: c.Assistant, Timezone: s.Timezone,
		Voicemail: s.RetryVoicemail, GoalMissed: s.RetryGoal, GoalVariable: s.GoalVariable, Numbers: orEmpty(s.NumberIDs), StopReason: c.StopReason, Leads: n,
	}
}

type campaignSaved struct {
	Message string      `json:"message"`
	Data    campaignOut `json:"data"`
}

func (a *API) createCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	me := owner(ctx)
	account, err := a.Accounts.Get(ctx, a.DB, me)
	if err != nil {
		return campaignSaved{}, err
	}
	s := campaigns.Settings{
		Timezone: account.Timezone, MaxParallel: 3, Start: "00:00", End: "23:59", MaxRetries: 3, RetryInterval: 60, CompleteWhenDone: true,
		Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
	}
	if err := a.fillCampaign(ctx, me, in, &s); err != nil {
		return campaignSaved{}, err
	}
	most := -1
	if m := a.Accounts.PlanOf(account).MaxCampaigns; m != nil {
		most = int(*m)
	}
	c, err := a.Campaigns.Create(ctx, int64(me), s, most)
	return campaignSaved{"The new campaign was saved as a draft.", campaignOf(c, campaigns.Counts{})}, err
}

// fillCampaign puts what was sent into the settings and checks what the tags cannot.
func (a *API) fillCampaign(ctx context.Context, me accounts.ID, in *campaignIn, s *campaigns.Settings) error {
	var bad []fault.Field
	plan, err := a.Accounts.Plan(ctx, a.DB, me)
	if err != nil {
		return err
	}
	ceiling := int64(10)
	if plan.ParallelPerCampaign >= 1 {
		ceiling = min(ceiling, plan.ParallelPerCampaign)
	}
	if n := in.MaxParallel; n.Has() && (n.V < 1 || n.V > ceiling) {
		bad = append(bad, wire.Bad("max_calls_in_parallel", "between.number", "1", itoa(ceiling)))
	}
	s.Name, s.Timezone = in.Name.Or(s.Name), in.Timezone.Or(s.Timezone)
	s.MaxParallel = int(in.MaxParallel.Or(int64(s.MaxParallel)))
	s.Start, s.End, s.Days = in.Start.Or(s.Start), in.End.Or(s.End), in.Days.Or(s.Days)
	if s.Start == s.End && (in.Start.Set || in.End.Set) && !(in.Start.Set && in.End.Set) {
		bad = append(bad, wire.Bad("allowed_hours_end_time", "different", "allowed hours start time"))
	}
	s.MaxRetries, s.RetryInterval = int(in.MaxRetries.Or(int64(s.MaxRetries))), int(in.Interval.Or(int64(s.RetryInterval)))
	s.RetryVoicemail, s.RetryGoal, s.CompleteWhenDone = in.Voicemail.Or(s.RetryVoicemail), in.GoalMissed.Or(s.RetryGoal), in.Complete.Or(s.CompleteWhenDone)
	if in.Numbers.Has() {
		for i, id := range in.Numbers.V {
			ok, err := a.Campaigns.MayCallFrom(ctx, int64(me), id)
			if err != nil {
				return err
			}
			if !ok {
				bad = append(bad, wire.Bad("phone_number_ids."+itoa(int64(i)), "in"))
			}
		}
		s.NumberIDs = in.Numbers.V
	}
	// An unknown assistant is a 404, which comes after every 422; its schema is needed for the goal all the same.
	var missing error
	if in.Assistant.Has() || in.GoalVariable.Has() {
		chosen, err := a.outboundAssistant(ctx, me, in, s)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		missing = err
		if err == nil && in.GoalVariable.Has() && !slices.Contains(chosen.GoalNames, in.GoalVariable.V) {
			bad = append(bad, wire.Bad("goal_completion_variable", "in"))
		}
	}
	if in.GoalVariable.Set {
		s.GoalVariable = in.GoalVariable.Ptr()
	}
	if err := wire.Invalid(bad...); err != nil {
		return err
	}
	return missing
}

func (a *API) outboundAssistant(ctx context.Context, me accounts.ID, in *campaignIn, s *campaigns.Settings) (campaigns.Assistant, error) {
	none := fault.New(fault.NotFound, "", "No outbound assistant with this id exists in your account.")
	if in.Assistant.Has() {
		found, err := a.Assistants.Get(ctx, a.DB, me, in.Assistant.V)
		if err != nil {
			if fault.Is(err, fault.NotFound) {
				err = none
			}
			return campaigns.Assistant{}, err
		}
		s.AssistantID = int64(found.ID)
	}
	chosen, err := a.Campaigns.Assistant(ctx, int64(me), s.AssistantID)
	if fault.Is(err, fault.NotFound) || err == nil && !chosen.Outbound {
		return chosen, none
	}
	return chosen, err
}

func (a *API) findCampaign(ctx context.Context, in *campaignIn) (err error) {
	in.found, err = a.Campaigns.Get(ctx, a.DB, int64(owner(ctx)), campaigns.ID(in.ID))
	return err
}

func (a *API) updateCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	me := owner(ctx)
	c, err := a.Campaigns.Update(ctx, int64(me), in.found.ID, func(s *campaigns.Settings) error { return a.fillCampaign(ctx, me, in, s) })
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
	c, err := a.Campaigns.Get(ctx, a.DB, int64(owner(ctx)), campaigns.ID(in.ID))
	if err != nil {
		return data[campaignOut]{}, err
	}
	out, err := a.withCounts(ctx, c)
	return data[campaignOut]{out}, err
}

func (a *API) listCampaigns(ctx context.Context, _ *struct{}) ([]campaignOut, error) {
	all, err := a.Campaigns.List(ctx, a.DB, int64(owner(ctx)))
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
	me, id := int64(owner(ctx)), campaigns.ID(in.Campaign)
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
	return wire.Message{Message: "The campaign was removed."}, a.Campaigns.Delete(ctx, int64(owner(ctx)), campaigns.ID(in.ID))
}
