package api

import (
	"context"

	"parley/accounts"
	"parley/assistants"
)

// caller is who sent a request: a key of an account, or a person in a console session.
type caller struct {
	accounts.Caller
	session string // token of the console session; empty for a key
}

type callerKey struct{}

// withCaller is for authenticate.
func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// owner is the account that sent the request; 0 on keyless routes without a credential.
func owner(ctx context.Context) accounts.ID {
	return callerOf(ctx).Account
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// allow refuses a sender what they have no right to.
func (a *API) allow(ctx context.Context, right string) error {
	return callerOf(ctx).May(accounts.Right(right))
}

// by is who stands in the history of what the request changes.
func by(ctx context.Context) assistants.By {
	c := callerOf(ctx)
	return assistants.By{KeyID: c.Key, Name: c.Name}
}
