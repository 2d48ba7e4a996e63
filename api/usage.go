package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/assistants"
	"parley/billing"
	"parley/value"
)

type usageIn struct {
	From    value.Opt[string] `query:"from" rule:"date" doc:"First day, UTC; 30 days ago when left out."`
	To      value.Opt[string] `query:"to" rule:"date" doc:"Last day, UTC; today when left out."`
	GroupBy string            `query:"group_by" rule:"oneof=day|assistant|kind" default:"day"`
}

// days are the first and the last day asked for.
func (in *usageIn) days(now time.Time) (first, last time.Time) {
	first, last = now.AddDate(0, 0, -30), now
	if t, err := time.Parse(time.DateOnly, in.From.V); err == nil {
		first = t
	}
	if t, err := time.Parse(time.DateOnly, in.To.V); err == nil {
		last = t
	}
	return first, last
}

type usageOut struct {
	Data     []usageLine `json:"data"`
	Unit     string      `json:"unit"`
	Currency string      `json:"currency"`
}

type usageLine struct {
	Day         *string     `json:"day" doc:"YYYY-MM-DD; null unless grouped by day."`
	AssistantID *int64      `json:"assistant_id"`
	Assistant   *string     `json:"assistant" doc:"Its name; null when it is gone, or unless grouped by assistant."`
	Kind        *string     `json:"kind" doc:"Null unless grouped by kind."`
	Count       int64       `json:"count"`
	Amount      value.Money `json:"amount" doc:"In the account's unit."`
	Cost        value.Money `json:"cost" doc:"In currency."`
}

func (a *API) usage(ctx context.Context, in *usageIn) (usageOut, error) {
	rows, unit, err := a.usageOf(ctx, in)
	if err != nil {
		return usageOut{}, err
	}
	var list []assistants.ID
	for _, r := range rows {
		if r.Assistant != nil {
			list = append(list, *r.Assistant)
		}
	}
	names, err := a.Assistants.Names(ctx, a.DB, owner(ctx), list)
	out := usageOut{Unit: unit, Currency: a.Billing.Currency}
	for _, r := range rows {
		line := usageLine{Day: text(r.Day), AssistantID: (*int64)(r.Assistant), Kind: text(r.Kind),
			Count: r.Count, Amount: r.Amount, Cost: r.Money}
		if r.Assistant != nil {
			line.Assistant = text(names[*r.Assistant])
		}
		out.Data = append(out.Data, line)
	}
	return out, err
}

// text is null when there is none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *API) usageOf(ctx context.Context, in *usageIn) (rows []billing.Usage, unit string, err error) {
	acc, err := a.Accounts.Get(ctx, a.DB, owner(ctx))
	if err != nil {
		return nil, "", err
	}
	first, last := in.days(a.DB.Now())
	rows, err = a.Billing.Usage(ctx, a.DB, owner(ctx), first, last, billing.Group(in.GroupBy))
	return rows, acc.Kind.Unit(), err
}

// usageFile is the same as a file for spreadsheets.
func (a *API) usageFile(ctx context.Context, in *usageIn, w http.ResponseWriter) error {
	rows, unit, err := a.usageOf(ctx, in)
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := billing.WriteCSV(&out, billing.Group(in.GroupBy), unit, a.Billing.Currency, rows); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="usage.csv"`)
	_, err = w.Write([]byte(out.String()))
	return err
}
