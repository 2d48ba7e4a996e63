package api

import (
	"context"
	"slices"

	"parley/accounts"
	"parley/campaigns"
	"parley/db"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

// campaignIn is the body of creation and change.
type campaignIn struct {
	ID           int64                `path:"id"`
	Name         value.Opt[string]    `json:"name" rule:"max=255"`
	Assistant    value.Opt[value.Ref] `json:"assistant_id"`
	Timezone     value.Opt[string]    `json:"timezone" rule:"timezone"`
	MaxParallel  value.Opt[int64]     `json:"max_calls_in_parallel"`
	Start        value.Opt[string]    `json:"allowed_hours_start_time" rule:"clock"`
	End          value.Opt[string]    `json:"allowed_hours_end_time" rule:"clock different=allowed_hours_start_time"`
	Days         value.Opt[[]string]  `json:"allowed_days" rule:"min=1 distinct" each:"oneof=monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	MaxRetries   value.Opt[int64]     `json:"max_retries" rule:"min=1 max=5"`
	Interval     value.Opt[int64]     `json:"retry_interval" rule:"min=10 max=4320"`
	Voicemail    value.Opt[bool]      `json:"retry_on_voicemail"`
	GoalMissed   value.Opt[bool]      `json:"retry_on_goal_incomplete"`
	GoalVariable value.Opt[string]    `json:"goal_completion_variable" rule:"max=255 null"`
	Complete     value.Opt[bool]      `json:"mark_complete_when_no_leads"`
	Numbers      value.Opt[[]int64]   `json:"phone_number_ids" rule:"distinct"`
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
		CreatedAt: value.At(c.CreatedAt.Time()), UpdatedAt: value.At(c.UpdatedAt.Time()), Assistant: c.Assistant, Timezone: s.Timezone,
		Voicemail: s.RetryVoicemail, GoalMissed: s.RetryGoal, GoalVariable: s.GoalVariable, Numbers: orEmpty(s.NumberIDs), StopReason: c.StopReason, Leads: n,
	}
}

type campaignSaved struct {
	Message string      `json:"message"`
	Data    campaignOut `json:"data"`
}

func (a *API) createCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	me := owner(ctx)
	c, err := a.Campaigns.Create(ctx, int64(me), func(tx *db.Tx) (campaigns.Settings, error) {
		account, err := a.Accounts.Get(ctx, tx, me)
		if err != nil {
			return campaigns.Settings{}, err
		}
		s := newCampaign
		s.Timezone, s.MaxParallel = account.Timezone, min(s.MaxParallel, int(parallelCeiling(a.Accounts.PlanOf(account))))
		return a.judgeCampaign(ctx, tx, in, s)
	})
	return campaignSaved{"The new campaign was saved as a draft.", campaignOf(c, campaigns.Counts{})}, err
}

// newCampaign is a campaign of which only name and assistant were said; its time zone is the account's.
var newCampaign = campaigns.Settings{
	MaxParallel: 3, Start: "00:00", End: "23:59", MaxRetries: 3, RetryInterval: 60, CompleteWhenDone: true,
	Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
}

// Meant is what a new campaign of this input is.
func (in *campaignIn) Meant() any {
	s := newCampaign
	in.over(&s)
	return struct {
		Of       value.Opt[value.Ref]
		Settings campaigns.Settings
	}{in.Assistant, s}
}

// over puts what was sent into the settings.
func (in *campaignIn) over(s *campaigns.Settings) {
	s.Name, s.Timezone = in.Name.Or(s.Name), in.Timezone.Or(s.Timezone)
	s.MaxParallel = int(in.MaxParallel.Or(int64(s.MaxParallel)))
	s.Start, s.End, s.Days = in.Start.Or(s.Start), in.End.Or(s.End), in.Days.Or(s.Days)
	s.MaxRetries, s.RetryInterval = int(in.MaxRetries.Or(int64(s.MaxRetries))), int(in.Interval.Or(int64(s.RetryInterval)))
	s.RetryVoicemail, s.RetryGoal, s.CompleteWhenDone = in.Voicemail.Or(s.RetryVoicemail), in.GoalMissed.Or(s.RetryGoal), in.Complete.Or(s.CompleteWhenDone)
	s.NumberIDs = in.Numbers.Or(s.NumberIDs)
	if in.GoalVariable.Set {
		s.GoalVariable = in.GoalVariable.Ptr()
	}
}

// judgeCampaign is the settings after the change, or everything that is wrong with it: the tags, and what they cannot know:
// the plan, the other end of the hours, the account's numbers, the schema. An unknown assistant is a 404, which comes after
// every 422.
func (a *API) judgeCampaign(ctx context.Context, tx *db.Tx, in *campaignIn, s campaigns.Settings) (campaigns.Settings, error) {
	bad, err := a.checkParallel(ctx, tx, in)
	if err != nil {
		return s, err
	}
	bad = append(wire.Failed(ctx), bad...)
	if start, end := in.Start.Or(s.Start), in.End.Or(s.End); start == end && in.Start.Set != in.End.Set {
		bad = append(bad, fault.Bad("allowed_hours_end_time", "different", "allowed hours start time"))
	}
	chosen, err := a.chosenAssistant(ctx, tx, in, s.AssistantID)
	missing := fault.Is(err, fault.NotFound)
	if err != nil && !missing {
		return s, err
	}
	if in.GoalVariable.Has() && !missing && !slices.Contains(chosen.GoalNames, in.GoalVariable.V) {
		bad = append(bad, fault.Bad("goal_completion_variable", "in"))
	}
	for i, id := range in.Numbers.V {
		ok, err := a.Campaigns.MayCallFrom(ctx, tx, int64(owner(ctx)), id)
		if err != nil {
			return s, err
		}
		if !ok {
			bad = append(bad, fault.Bad("phone_number_ids."+itoa(int64(i)), "in"))
		}
	}
	if err := fault.Input(bad...); err != nil {
		return s, err
	}
	if missing {
		return s, err
	}
	if in.Assistant.Has() {
		s.AssistantID = chosen.ID
	}
	in.over(&s)
	return s, nil
}

// checkParallel holds the calls at once against the plan's ceiling.
func (a *API) checkParallel(ctx context.Context, tx *db.Tx, in *campaignIn) (bad []fault.Field, err error) {
	plan, err := a.Accounts.Plan(ctx, tx, owner(ctx))
	if err != nil {
		return nil, err
	}
	ceiling := parallelCeiling(plan)
	if n := in.MaxParallel; n.Has() && (n.V < 1 || n.V > ceiling) {
		bad = append(bad, fault.Bad("max_calls_in_parallel", "between.number", "1", itoa(ceiling)))
	}
	return bad, nil
}

// parallelCeiling is how many calls at once a plan lets a campaign have.
func parallelCeiling(plan accounts.Plan) int64 {
	if plan.ParallelPerCampaign < 1 {
		return 10
	}
	return min(10, plan.ParallelPerCampaign)
}

// chosenAssistant is the assistant that is to call, where the change depends on it: the one it names, else the present one.
func (a *API) chosenAssistant(ctx context.Context, tx *db.Tx, in *campaignIn, now int64) (campaigns.Assistant, error) {
	if !in.Assistant.Has() && !in.GoalVariable.Has() {
		return campaigns.Assistant{}, nil
	}
	none := fault.New(fault.NotFound, "", "No outbound assistant with this id exists in your account.")
	me := owner(ctx)
	if in.Assistant.Has() {
		found, err := a.Assistants.Get(ctx, tx, me, in.Assistant.V)
		if err != nil {
			if fault.Is(err, fault.NotFound) {
				err = none
			}
			return campaigns.Assistant{}, err
		}
		now = int64(found.ID)
	}
	chosen, err := a.Campaigns.Assistant(ctx, tx, int64(me), now)
	if fault.Is(err, fault.NotFound) || err == nil && !chosen.Outbound {
		return chosen, none
	}
	return chosen, err
}

func (a *API) updateCampaign(ctx context.Context, in *campaignIn) (campaignSaved, error) {
	c, err := a.Campaigns.Update(ctx, int64(owner(ctx)), campaigns.ID(in.ID), func(tx *db.Tx, s campaigns.Settings) (campaigns.Settings, error) {
		return a.judgeCampaign(ctx, tx, in, s)
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
