package api

import (
	"context"

	"parley/accounts"
	"parley/assistants"
)

// caller is who sent a request: an account by one of its keys, or by a console session.
type caller struct {
	account accounts.ID
	key     int64  // 0 for a session
	name    string // of the key or the person
	session string // token of the console session; empty for a key
}

type callerKey struct{}

// withCaller is for authenticate.
func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// owner is the account that sent the request; 0 on keyless routes without a credential.
func owner(ctx context.Context) accounts.ID {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c.account
}

// by is who stands in the history of what the request changes.
func by(ctx context.Context) assistants.By {
	c, _ := ctx.Value(callerKey{}).(caller)
	return assistants.By{KeyID: c.key, Name: c.name}
}
