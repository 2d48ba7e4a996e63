package api

import (
	"context"
	"parley/value"
	"time"
)

type planOut struct {
	Data planData `json:"data"`
}

type planData struct {
	Campaigns           planLimit   `json:"campaigns"`
	Assistants          planLimit   `json:"assistants"`
	Tools               planLimit   `json:"tools"`
	ParallelCalls       planLimit   `json:"parallel_calls"`
	DailyOutbound       planLimit   `json:"daily_outbound" doc:"Calls through carriers of the installation in the last 24 hours."`
	ParallelPerCampaign int64       `json:"parallel_per_campaign"`
	MinutePrice         value.Money `json:"minute_price" doc:"Of AI time, in currency."`
	Currency            string      `json:"currency"`
}

type planLimit struct {
	Used int64  `json:"used"`
	Most *int64 `json:"most" doc:"Null: no limit."`
}

// plan is what the account may use, and how much of it is used.
func (a *API) plan(ctx context.Context, _ *struct{}) (planOut, error) {
	who := owner(ctx)
	p, err := a.Accounts.Plan(ctx, a.DB, who)
	if err != nil {
		return planOut{}, err
	}
	used, err := a.used(ctx)
	if err != nil {
		return planOut{}, err
	}
	return planOut{planData{
		Campaigns: planLimit{used.campaigns, p.MaxCampaigns}, Assistants: planLimit{used.assistants, p.MaxAssistants},
		Tools: planLimit{used.tools, p.MaxTools}, ParallelCalls: planLimit{used.live, &p.ParallelPerAccount},
		DailyOutbound: planLimit{used.placed, p.DailyOutbound}, ParallelPerCampaign: p.ParallelPerCampaign,
		MinutePrice: p.MinutePrice, Currency: a.Billing.Currency}}, nil
}

type planUse struct{ campaigns, assistants, tools, live, placed int64 }

func (a *API) used(ctx context.Context) (u planUse, err error) {
	who := owner(ctx)
	list, err := a.Campaigns.List(ctx, a.DB, who)
	if err != nil {
		return u, err
	}
	_, people, err := a.Assistants.Page(ctx, a.DB, who, 0, 1)
	if err != nil {
		return u, err
	}
	own, err := a.Tools.List(ctx, who, "")
	if err != nil {
		return u, err
	}
	live, err := a.Calls.Live(ctx, a.DB, who, "")
	if err != nil {
		return u, err
	}
	placed, err := a.Calls.PlacedToday(ctx, a.DB, who)
	return planUse{int64(len(list)), int64(people), int64(len(own)), int64(live), int64(placed)}, err
}

type costOut struct {
	AI       value.Money `json:"ai_cost"`
	Carrier  value.Money `json:"carrier_cost"`
	Total    value.Money `json:"total_cost"`
	Currency string      `json:"currency"`
	Final    bool        `json:"final" doc:"False while the call goes on: what it would cost if it ended now."`
}

// callCost is what a call has cost so far.
func (a *API) callCost(ctx context.Context, in *callRef) (costOut, error) {
	c, err := a.Calls.Get(ctx, a.DB, owner(ctx), in.ID)
	if err != nil {
		return costOut{}, err
	}
	ai, carrier := c.AICost, c.CarrierCost
	if c.Status.Live() {
		if ai, carrier, err = a.Billing.CallPrice(ctx, a.DB, c, time.Now()); err != nil {
			return costOut{}, err
		}
	}
	return costOut{ai, carrier, ai + carrier, c.Currency, c.Settled || c.Status.Final()}, nil
}
