package api

import (
	"context"

	"parley/payments"
	"parley/value"
	"parley/wire"
)

type billingOut struct {
	Data billingData `json:"data"`
}

type billingData struct {
	Method   *methodOut `json:"payment_method" doc:"Null: there is none."`
	Auto     autoOut    `json:"auto_topup"`
	Currency string     `json:"currency"`
}

type methodOut struct {
	Ready   bool    `json:"ready" doc:"It can be charged."`
	Label   string  `json:"label" doc:"What a customer knows it by."`
	Expires *string `json:"expires" doc:"YYYY-MM; null: it does not, or nobody knows."`
}

type autoOut struct {
	Enabled   bool        `json:"enabled" doc:"The method on file is charged when the balance falls."`
	Below     value.Money `json:"below" doc:"Available balance that starts it, in the account's unit."`
	Amount    value.Money `json:"amount" doc:"In currency."`
	LastError *string     `json:"last_error" doc:"Why the last one was refused."`
}

// billing is what the account pays with.
func (a *API) billing(ctx context.Context, _ *struct{}) (billingOut, error) {
	s, err := a.Payments.State(ctx, owner(ctx))
	out := billingData{Currency: a.Billing.Currency,
		Auto: autoOut{s.Auto.Enabled, s.Auto.Below, s.Auto.Amount, s.Auto.LastError}}
	if s.Method != nil {
		out.Method = &methodOut{Ready: s.Method.Ready, Label: s.Method.Label, Expires: text(s.Method.Expires)}
	}
	return billingOut{out}, err
}

type payIn struct {
	Return string `json:"return_url" rule:"required url" doc:"Where the browser goes afterwards; an address of this installation."`
}

type topUpIn struct {
	Amount value.Money `json:"amount" rule:"required min=5 max=5000" doc:"In currency."`
	Return string      `json:"return_url" rule:"required url" doc:"Where the browser goes afterwards; an address of this installation."`
}

type payPage struct {
	URL string `json:"url" doc:"Page of the payment vendor, for a browser."`
}

func (a *API) setUpPayment(ctx context.Context, in *payIn) (payPage, error) {
	address, err := a.Payments.Setup(ctx, owner(ctx), wire.Origin(ctx), in.Return)
	return payPage{address}, err
}

func (a *API) topUp(ctx context.Context, in *topUpIn) (payPage, error) {
	address, err := a.Payments.TopUp(ctx, owner(ctx), in.Amount, wire.Origin(ctx), in.Return)
	return payPage{address}, err
}

type autoIn struct {
	Enabled value.Opt[bool]        `json:"enabled"`
	Below   value.Opt[value.Money] `json:"below" rule:"min=0 max=1000000"`
	Amount  value.Opt[value.Money] `json:"amount" rule:"min=5 max=5000"`
}

func (a *API) setAutoTopUp(ctx context.Context, in *autoIn) (billingOut, error) {
	err := a.Payments.SetAuto(ctx, owner(ctx), payments.AutoPatch{Enabled: in.Enabled, Below: in.Below, Amount: in.Amount})
	if err != nil {
		return billingOut{}, err
	}
	return a.billing(ctx, nil)
}
