package accounts

import "parley/value"

// Plan is what an account may have. A nil limit is no limit. Limits apply when something is created;
// lowering one breaks nothing that exists.
type Plan struct {
	MaxCampaigns        *int64
	MaxAssistants       *int64
	MaxTools            *int64
	ParallelPerCampaign int64 // 1-10
	ParallelPerAccount  int64
	DailyOutbound       *int64      // calls through carriers of the installation per rolling day
	MinutePrice         value.Money // currency per minute of AI time, more than 0
}

// Overrides are the keys of an account's plan that differ from the default plan: left out = as the default,
// null = no limit (for a key that must have one: as the default).
type Overrides struct {
	MaxCampaigns        value.Opt[int64]       `json:"max_campaigns,omitzero" rule:"null min=0"`
	MaxAssistants       value.Opt[int64]       `json:"max_assistants,omitzero" rule:"null min=0"`
	MaxTools            value.Opt[int64]       `json:"max_tools,omitzero" rule:"null min=0"`
	ParallelPerCampaign value.Opt[int64]       `json:"parallel_per_campaign,omitzero" rule:"null min=0"`
	ParallelPerAccount  value.Opt[int64]       `json:"parallel_per_account,omitzero" rule:"null min=0"`
	DailyOutbound       value.Opt[int64]       `json:"daily_outbound,omitzero" rule:"null min=0"`
	MinutePrice         value.Opt[value.Money] `json:"minute_price,omitzero" rule:"null min=0"`
}

// Merge is o with the keys that over sets.
func (o Overrides) Merge(over Overrides) Overrides {
	return Overrides{
		MaxCampaigns:        later(o.MaxCampaigns, over.MaxCampaigns),
		MaxAssistants:       later(o.MaxAssistants, over.MaxAssistants),
		MaxTools:            later(o.MaxTools, over.MaxTools),
		ParallelPerCampaign: later(o.ParallelPerCampaign, over.ParallelPerCampaign),
		ParallelPerAccount:  later(o.ParallelPerAccount, over.ParallelPerAccount),
		DailyOutbound:       later(o.DailyOutbound, over.DailyOutbound),
		MinutePrice:         later(o.MinutePrice, over.MinutePrice),
	}
}

// With is the plan under an account's overrides.
func (p Plan) With(o Overrides) Plan {
	return Plan{
		MaxCampaigns:        limit(p.MaxCampaigns, o.MaxCampaigns),
		MaxAssistants:       limit(p.MaxAssistants, o.MaxAssistants),
		MaxTools:            limit(p.MaxTools, o.MaxTools),
		ParallelPerCampaign: o.ParallelPerCampaign.Or(p.ParallelPerCampaign),
		ParallelPerAccount:  o.ParallelPerAccount.Or(p.ParallelPerAccount),
		DailyOutbound:       limit(p.DailyOutbound, o.DailyOutbound),
		MinutePrice:         o.MinutePrice.Or(p.MinutePrice),
	}
}

func later[T any](old, new value.Opt[T]) value.Opt[T] {
	if new.Set {
		return new
	}
	return old
}

func limit(base *int64, over value.Opt[int64]) *int64 {
	if over.Set {
		return over.Ptr()
	}
	return base
}

// Reached reports whether n things exhaust a limit.
func Reached(limit *int64, n int64) bool { return limit != nil && n >= *limit }
