package api

import (
	"context"
	"strings"
	"time"

	"parley/accounts"
	"parley/fault"
	"parley/value"
	"parley/wire"
)

type apiKey struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	LastUsedAt value.Time `json:"last_used_at" rule:"null"`
	CreatedAt  value.Time `json:"created_at"`
	*keyDetails
}

// keyDetails are shown to those who ask for them.
type keyDetails struct {
	Scopes      []string    `json:"scopes,omitempty"`
	ExpiresAt   *value.Time `json:"expires_at,omitempty"`
	MadeBy      *string     `json:"made_by,omitempty" doc:"Address of the person; null: another key, or the command line."`
	LastAddress *string     `json:"last_address,omitempty"`
}

type apiKeys struct {
	Keys []apiKey `json:"api_keys"`
}

type keysIn struct {
	Details bool `query:"details" doc:"Scopes, expiry, who made it and its last address too."`
}

func (a *API) listKeys(ctx context.Context, in *keysIn) (apiKeys, error) {
	list, err := a.Accounts.Keys(ctx, a.DB, owner(ctx))
	out := apiKeys{}
	for _, k := range list {
		key := apiKey{ID: k.ID, Name: k.Name, LastUsedAt: value.At(k.LastUsedAt.Time()), CreatedAt: value.At(k.CreatedAt.Time())}
		if in.Details {
			key.keyDetails = &keyDetails{strings.Fields(k.Scopes), timeOrNull(k.ExpiresAt.Time()), text(k.MadeBy), k.LastAddress}
		}
		out.Keys = append(out.Keys, key)
	}
	return out, err
}

type newKeyIn struct {
	Name      string   `json:"name" rule:"required max=255"`
	Scopes    []string `json:"scopes" rule:"max=9" each:"oneof=*|read|assistants|calls|campaigns|messages|numbers|billing|keys"`
	ExpiresAt string   `json:"expires_at" rule:"max=40" doc:"When the key ends, RFC 3339; never when left out."`

	expires time.Time
}

// checkKey reads when a new key shall end.
func (a *API) checkKey(_ context.Context, in *newKeyIn) (err error) {
	if in.ExpiresAt == "" {
		return nil
	}
	if in.expires, err = time.Parse(time.RFC3339, in.ExpiresAt); err != nil {
		return fault.Input(fault.Own("expires_at", "The expires at field must be a time such as 2027-03-01T08:00:00Z."))
	}
	if !in.expires.After(a.DB.Now()) {
		return fault.Input(fault.Own("expires_at", "The expires at field must be in the future."))
	}
	return nil
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
	who := callerOf(ctx)
	draft := accounts.KeyDraft{Name: in.Name, Scopes: in.Scopes, ExpiresAt: in.expires, MadeBy: who.Email, Role: who.Role}
	if len(in.Scopes) == 0 {
		draft.Scopes = []string{"*"}
	}
	if err := who.MayGive(draft.Scopes); err != nil {
		return newKey{}, err
	}
	k, token, err := a.Accounts.MakeKey(ctx, a.DB, owner(ctx), draft)
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
