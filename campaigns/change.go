package campaigns

import (
	"context"
	"slices"
	"strconv"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// Change is what a customer sent of a campaign's settings; what was not sent stays as it is.
type Change struct {
	Name         value.Opt[string]       `json:"name" rule:"max=255"`
	Assistant    value.Opt[value.Ref]    `json:"assistant_id"`
	Timezone     value.Opt[string]       `json:"timezone" rule:"timezone"`
	MaxParallel  value.Opt[int64]        `json:"max_calls_in_parallel"`
	Start        value.Opt[string]       `json:"allowed_hours_start_time" rule:"clock"`
	End          value.Opt[string]       `json:"allowed_hours_end_time" rule:"clock different=allowed_hours_start_time"`
	Days         value.Opt[[]string]     `json:"allowed_days" rule:"min=1 distinct" each:"oneof=monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	MaxRetries   value.Opt[int64]        `json:"max_retries" rule:"min=1 max=5"`
	Interval     value.Opt[int64]        `json:"retry_interval" rule:"min=10 max=4320"`
	Voicemail    value.Opt[bool]         `json:"retry_on_voicemail"`
	GoalMissed   value.Opt[bool]         `json:"retry_on_goal_incomplete"`
	GoalVariable value.Opt[string]       `json:"goal_completion_variable" rule:"max=255 null"`
	Complete     value.Opt[bool]         `json:"mark_complete_when_no_leads"`
	Numbers      value.Opt[[]ids.Number] `json:"phone_number_ids" rule:"distinct"`
}

// newcomer is a campaign of which only name and assistant were said; its time zone is the account's.
var newcomer = Settings{
	MaxParallel: 3, Start: "00:00", End: "23:59", MaxRetries: 3, RetryInterval: 60, CompleteWhenDone: true,
	Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
}

// Meant is what a new campaign of this input is.
func (ch Change) Meant() any {
	return struct {
		Of       value.Opt[value.Ref]
		Settings Settings
	}{ch.Assistant, ch.over(newcomer)}
}

// over is the settings with what was sent, but the assistant.
func (ch Change) over(s Settings) Settings {
	s.Name, s.Timezone = ch.Name.Or(s.Name), ch.Timezone.Or(s.Timezone)
	s.MaxParallel = int(ch.MaxParallel.Or(int64(s.MaxParallel)))
	s.Start, s.End, s.Days = ch.Start.Or(s.Start), ch.End.Or(s.End), ch.Days.Or(s.Days)
	s.MaxRetries, s.RetryInterval = int(ch.MaxRetries.Or(int64(s.MaxRetries))), int(ch.Interval.Or(int64(s.RetryInterval)))
	s.RetryVoicemail, s.RetryGoal = ch.Voicemail.Or(s.RetryVoicemail), ch.GoalMissed.Or(s.RetryGoal)
	s.CompleteWhenDone = ch.Complete.Or(s.CompleteWhenDone)
	s.NumberIDs = ch.Numbers.Or(s.NumberIDs)
	if ch.GoalVariable.Set {
		s.GoalVariable = ch.GoalVariable.Ptr()
	}
	return s
}

// New is the settings of a new campaign, judged as by Changed; its defaults are the account's time zone and what the plan
// leaves of three calls at once.
func (c *Campaigns) New(ctx context.Context, tx *db.Tx, owner accounts.ID, ch Change, failed []fault.Field) (Settings, error) {
	terms, err := c.funds.Terms(ctx, tx, owner)
	if err != nil {
		return Settings{}, err
	}
	s := newcomer
	s.Timezone, s.MaxParallel = terms.Timezone, min(s.MaxParallel, terms.ceiling())
	return c.judged(ctx, tx, owner, ch, s, terms, failed)
}

// Changed is the settings after the change, or everything that is wrong with it: failed, which its form told already, and
// what a form cannot know: the plan, the other end of the hours, the account's numbers, the schema. An unknown assistant is
// a fault.NotFound, which comes after every fault.Invalid.
func (c *Campaigns) Changed(ctx context.Context, tx *db.Tx, owner accounts.ID, ch Change, s Settings,
	failed []fault.Field) (Settings, error) {
	terms, err := c.funds.Terms(ctx, tx, owner)
	if err != nil {
		return s, err
	}
	return c.judged(ctx, tx, owner, ch, s, terms, failed)
}

func (c *Campaigns) judged(ctx context.Context, tx *db.Tx, owner accounts.ID, ch Change, s Settings, terms Terms,
	bad []fault.Field) (Settings, error) {
	bad = slices.Clip(bad)
	if n := ch.MaxParallel; n.Has() && (n.V < 1 || n.V > int64(terms.ceiling())) {
		bad = append(bad, fault.Bad("max_calls_in_parallel", "between.number", "1", strconv.Itoa(terms.ceiling())))
	}
	if start, end := ch.Start.Or(s.Start), ch.End.Or(s.End); start == end && ch.Start.Set != ch.End.Set {
		bad = append(bad, fault.Bad("allowed_hours_end_time", "different", "allowed hours start time"))
	}
	chosen, missing := c.chosen(ctx, tx, owner, ch, s.AssistantID)
	if missing != nil && !fault.Is(missing, fault.NotFound) {
		return s, missing
	}
	if ch.GoalVariable.Has() && missing == nil && !slices.Contains(chosen.GoalNames, ch.GoalVariable.V) {
		bad = append(bad, fault.Bad("goal_completion_variable", "in"))
	}
	foreign, err := c.foreign(ctx, tx, owner, ch.Numbers.V)
	if err != nil {
		return s, err
	}
	if err := fault.Input(append(bad, foreign...)...); err != nil {
		return s, err
	}
	if missing != nil {
		return s, missing
	}
	if ch.Assistant.Has() {
		s.AssistantID = chosen.ID
	}
	return ch.over(s), nil
}

// ceiling is how many calls at once a campaign may have.
func (t Terms) ceiling() int {
	if t.MostParallel < 1 {
		return 10
	}
	return int(min(10, t.MostParallel))
}

// chosen is the assistant that is to call, where the change depends on it: the one it names, else the present one.
func (c *Campaigns) chosen(ctx context.Context, tx *db.Tx, owner accounts.ID, ch Change, now assistants.ID) (Assistant, error) {
	if !ch.Assistant.Has() && !ch.GoalVariable.Has() {
		return Assistant{}, nil
	}
	one, err := c.assistants.ForCampaign(ctx, tx, owner, ch.Assistant.Or(value.Ref{ID: int64(now)}))
	if fault.Is(err, fault.NotFound) || err == nil && !one.Outbound {
		err = fault.New(fault.NotFound, "", "No outbound assistant with this id exists in your account.")
	}
	return one, err
}

// foreign names the numbers of a change that the account cannot call from.
func (c *Campaigns) foreign(ctx context.Context, tx *db.Tx, owner accounts.ID, list []ids.Number) (bad []fault.Field, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	own, err := c.numbers.Own(ctx, tx, owner, list)
	for i, id := range list {
		if !slices.Contains(own, id) {
			bad = append(bad, fault.Bad("phone_number_ids."+strconv.Itoa(i), "in"))
		}
	}
	return bad, err
}
