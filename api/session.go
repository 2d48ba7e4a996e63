package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/accounts"
	"parley/fault"
	"parley/wire"
)

// The console signs in with a one-time link or a password and then carries a session cookie, which is accepted wherever
// a key is.

const sessionCookie = "parley_session"

func sessionToken(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

type signInIn struct {
	Token    string `json:"token" rule:"max=100" doc:"Of a one-time link."`
	Email    string `json:"email" rule:"required_without=token max=255"`
	Password string `json:"password" rule:"required_without=token max=1000" trim:"no"`
}

func (a *API) signIn(ctx context.Context, in *signInIn) (wire.Message, error) {
	var session string
	var id accounts.ID
	var err error
	if in.Token != "" {
		if session, id, err = a.Accounts.Redeem(ctx, in.Token); err == nil && a.FirstVisit != nil {
			err = a.FirstVisit(ctx, id)
		}
	} else {
		session, _, err = a.Accounts.SignIn(ctx, in.Email, in.Password)
	}
	switch {
	case errors.Is(err, accounts.ErrUnauthenticated) && in.Token != "":
		return wire.Message{}, fault.New(fault.Invalid, "",
			"This link has been used or is older than 30 minutes. Start the server again for a new one.")
	case errors.Is(err, accounts.ErrUnauthenticated):
		return wire.Message{}, fault.New(fault.Invalid, "", "E-mail or password is wrong.")
	case err != nil:
		return wire.Message{}, err
	}
	a.setSession(ctx, session, 30*24*time.Hour)
	return wire.Message{Message: "Signed in."}, nil
}

// setSession answers with the cookie; an empty token takes it away.
func (a *API) setSession(ctx context.Context, token string, life time.Duration) {
	c := http.Cookie{Name: sessionCookie, Value: token, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(wire.Origin(ctx), "https://")}
	if token == "" {
		c.MaxAge = -1
	}
	wire.Header(ctx).Add("Set-Cookie", c.String())
}

type signOutIn struct{}

func (a *API) signOut(ctx context.Context, _ *signOutIn) (wire.Message, error) {
	token := tokenOf(ctx)
	if token == "" {
		return wire.Message{}, fault.New(fault.Invalid, "", "You are not signed in by a session.")
	}
	if err := a.Accounts.SignOut(ctx, token); err != nil {
		return wire.Message{}, err
	}
	a.setSession(ctx, "", 0)
	return wire.Message{Message: "Signed out."}, nil
}

type passwordIn struct {
	Password string `json:"password" rule:"required min=8 max=1000" trim:"no"`
}

func (a *API) setPassword(ctx context.Context, in *passwordIn) (wire.Message, error) {
	err := a.Accounts.SetPassword(ctx, owner(ctx), in.Password, tokenOf(ctx))
	return wire.Message{Message: "The password was saved."}, err
}

// tokenOf is the session that sent the request; empty when it was a key.
func tokenOf(ctx context.Context) string {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c.session
}
