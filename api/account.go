package api

import (
	"context"

	"parley/accounts"
	"parley/value"
	"parley/wire"
)

type apiKey struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	LastUsedAt value.Time `json:"last_used_at" rule:"null"`
	CreatedAt  value.Time `json:"created_at"`
}

type apiKeys struct {
	Keys []apiKey `json:"api_keys"`
}

func (a *API) listKeys(ctx context.Context, _ *struct{}) (apiKeys, error) {
	list, err := a.Accounts.Keys(ctx, a.DB, owner(ctx))
	out := apiKeys{}
	for _, k := range list {
		out.Keys = append(out.Keys, apiKey{k.ID, k.Name, value.At(k.LastUsedAt.Time()), value.At(k.CreatedAt.Time())})
	}
	return out, err
}

type newKeyIn struct {
	Name string `json:"name" rule:"required max=255"`
}

type newKey struct {
	Message string       `json:"message"`
	Key     keyWithToken `json:"api_key"`
}

type keyWithToken struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	Token     string     `json:"token" doc:"Shown here and never again."`
	CreatedAt value.Time `json:"created_at"`
}

func (a *API) createKey(ctx context.Context, in *newKeyIn) (newKey, error) {
	k, token, err := a.Accounts.CreateKey(ctx, a.DB, owner(ctx), in.Name)
	return newKey{"API key created successfully.", keyWithToken{k.ID, k.Name, token, value.At(k.CreatedAt.Time())}}, err
}

type keyRef struct {
	ID int64 `path:"id"`
}

func (a *API) deleteKey(ctx context.Context, in *keyRef) (wire.Message, error) {
	return wire.Message{Message: "API key deleted successfully."}, a.Accounts.DeleteKey(ctx, a.DB, owner(ctx), in.ID)
}

type me struct {
	Name             string      `json:"name"`
	Email            string      `json:"email"`
	TotalBalance     value.Money `json:"total_balance" doc:"In balance_unit, without subtracting open holds."`
	ID               int64       `json:"id"`
	AccountKind      string      `json:"account_kind" rule:"oneof=direct|tenant"`
	BalanceUnit      string      `json:"balance_unit" rule:"oneof=minutes|credits"`
	AvailableBalance value.Money `json:"available_balance" doc:"What open holds leave."`
	Currency         string      `json:"currency"`
	Timezone         string      `json:"timezone"`
}

func (a *API) me(ctx context.Context, _ *struct{}) (me, error) {
	acc, err := a.Accounts.Get(ctx, a.DB, owner(ctx))
	if err != nil {
		return me{}, err
	}
	return a.describe(ctx, acc)
}

// describe puts an account and its balance together.
func (a *API) describe(ctx context.Context, acc accounts.Account) (me, error) {
	bal, err := a.Billing.Balance(ctx, a.DB, acc.ID)
	return me{acc.Name, acc.Email, bal.Total, int64(acc.ID), string(acc.Kind), acc.Kind.Unit(), bal.Available(), a.Billing.Currency,
		acc.Timezone}, err
}

type profileIn struct {
	Name     value.Opt[string] `json:"name" rule:"max=255"`
	Email    value.Opt[string] `json:"email" rule:"email max=255"`
	Timezone value.Opt[string] `json:"timezone" rule:"timezone"`
}

type profileOut struct {
	Message string `json:"message"`
	Data    me     `json:"data"`
}

func (a *API) updateMe(ctx context.Context, in *profileIn) (profileOut, error) {
	acc, err := a.Accounts.Update(ctx, a.DB, owner(ctx), accounts.Profile{Name: in.Name, Email: in.Email, Timezone: in.Timezone})
	if err != nil {
		return profileOut{}, err
	}
	data, err := a.describe(ctx, acc)
	return profileOut{"Profile updated successfully.", data}, err
}
