package accounts

import "cmp"

// Plan is a set of limits. A nil limit is not set: in an account's own plan the default one applies,
// in the default plan there is no limit. -1 in an account's own plan lifts the default's limit.
type Plan struct {
	MaxCampaigns        *int64   `json:"max_campaigns,omitempty"`
	MaxAssistants       *int64   `json:"max_assistants,omitempty"`
	MaxTools            *int64   `json:"max_tools,omitempty"`
	ParallelPerCampaign *int64   `json:"parallel_per_campaign,omitempty"`
	ParallelPerAccount  *int64   `json:"parallel_per_account,omitempty"`
	DailyOutbound       *int64   `json:"daily_outbound,omitempty"` // calls through installation carriers per rolling day
	MinutePrice         *float64 `json:"minute_price,omitempty"`   // currency per minute of AI time
}

// Merge is p with the keys of over that are set.
func (p Plan) Merge(over Plan) Plan {
	return Plan{
		MaxCampaigns:        cmp.Or(over.MaxCampaigns, p.MaxCampaigns),
		MaxAssistants:       cmp.Or(over.MaxAssistants, p.MaxAssistants),
		MaxTools:            cmp.Or(over.MaxTools, p.MaxTools),
		ParallelPerCampaign: cmp.Or(over.ParallelPerCampaign, p.ParallelPerCampaign),
		ParallelPerAccount:  cmp.Or(over.ParallelPerAccount, p.ParallelPerAccount),
		DailyOutbound:       cmp.Or(over.DailyOutbound, p.DailyOutbound),
		MinutePrice:         cmp.Or(over.MinutePrice, p.MinutePrice),
	}
}

// Reached reports whether n things exhaust the limit.
func Reached(limit *int64, n int64) bool { return limit != nil && *limit >= 0 && n >= *limit }
