package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/accounts"
	"parley/audit"
	"parley/db"
	"parley/fault"
	"parley/value"
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

// consoleRoutes are for people in a browser; they change nothing for keys.
func (a *API) consoleRoutes() []wire.Route {
	return []wire.Route{
		wire.On(messages, "GET /auth/methods", 200, a.authMethods, wire.Keyless()),
		wire.On(messages, "POST /console/sign-in", 200, a.signIn, wire.Keyless(), wire.Hidden()),
		wire.On(messages, "GET /console/invitations/{token}", 200, a.invitation, wire.Keyless(), wire.Hidden()),
		wire.On(messages, "POST /console/invitations", 200, a.acceptInvitation, wire.KeyOptional(), wire.Hidden()),
		wire.On(messages, "POST /console/sign-out", 200, a.signOut, wire.Hidden()),
		wire.On(messages, "GET /console/user", 200, a.self, wire.Hidden()),
		wire.On(messages, "PUT /console/user", 200, a.updateSelf, wire.Hidden()),
		wire.On(messages, "PUT /console/account", 200, a.switchAccount, wire.Hidden()),
		wire.On(messages, "PUT /console/password", 200, a.setPassword, wire.Hidden()),
		wire.On(messages, "GET /console/sessions", 200, a.sessions, wire.Hidden()),
		wire.On(messages, "DELETE /console/sessions/{id}", 200, a.endSession, wire.Hidden()),
		wire.On(messages, "POST /console/two-factor", 200, a.beginTwoFactor, wire.Hidden()),
		wire.On(messages, "POST /console/two-factor/confirm", 200, a.confirmTwoFactor, wire.Hidden()),
		wire.On(messages, "DELETE /console/two-factor", 200, a.removeTwoFactor, wire.Hidden()),
	}
}

type authMethods struct {
	Password bool      `json:"password"`
	OIDC     *oidcName `json:"oidc" doc:"Sign-in by OpenID Connect; null without."`
}

type oidcName struct {
	Name string `json:"name"`
}

func (a *API) authMethods(context.Context, *struct{}) (authMethods, error) {
	return authMethods{Password: true}, nil
}

type signInIn struct {
	Token    string `json:"token" rule:"max=100" doc:"Of a one-time link."`
	Email    string `json:"email" rule:"required_without=token max=255"`
	Password string `json:"password" rule:"required_without=token max=1000" trim:"no"`
	Code     string `json:"code" rule:"null max=40" doc:"Of the second factor, or a recovery code."`
}

func client(ctx context.Context) accounts.Client {
	return accounts.Client{Address: wire.Client(ctx), Agent: wire.RequestHeader(ctx, "User-Agent")}
}

func (a *API) signIn(ctx context.Context, in *signInIn) (wire.Message, error) {
	var o accounts.Opened
	var err error
	if in.Token != "" {
		if o, err = a.Accounts.Redeem(ctx, in.Token, client(ctx)); err == nil && a.FirstVisit != nil {
			err = a.FirstVisit(ctx, o.Account)
		}
	} else {
		o, err = a.Accounts.SignIn(ctx, accounts.Attempt{Email: in.Email, Password: in.Password, Code: in.Code, From: client(ctx)})
	}
	if err != nil {
		if errors.Is(err, accounts.ErrUnauthenticated) {
			err = errors.Join(err, a.noteRefused(ctx, in))
		}
		return wire.Message{}, a.refusal(in, err)
	}
	return wire.Message{Message: "Signed in."}, a.open(ctx, o, audit.SignedIn)
}

// refusal says no more than a stranger may know.
func (a *API) refusal(in *signInIn, err error) error {
	switch {
	case errors.Is(err, accounts.ErrUnauthenticated) && in.Token != "":
		return fault.New(fault.Invalid, "", "This link has been used or is older than 30 minutes. Ask the operator for a new one: parley users link --email E.")
	case errors.Is(err, accounts.ErrUnauthenticated):
		return fault.New(fault.Invalid, "", "E-mail or password is wrong.")
	}
	return err
}

// open answers with the cookie of a session that was just opened.
func (a *API) open(ctx context.Context, o accounts.Opened, action string) error {
	e := note(ctx, action, "")
	e.Actor, e.UserID = o.User.Email, &o.User.ID
	a.setSession(ctx, o.Token, sessionLife)
	return a.Audit.Add(ctx, a.DB, o.Account, e)
}

// noteRefused notes a refused sign-in in every account of the person whose address was given.
func (a *API) noteRefused(ctx context.Context, in *signInIn) error {
	u, err := a.Accounts.UserOf(ctx, a.DB, in.Email)
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := a.Accounts.Memberships(ctx, a.DB, u.ID)
	for _, m := range all {
		e := note(ctx, audit.SignInRefused, "")
		e.Actor, e.UserID = u.Email, &u.ID
		err = errors.Join(err, a.Audit.Add(ctx, a.DB, m.Account, e))
	}
	return err
}

type invitationRef struct {
	Token string `path:"token"`
}

type invitationOut struct {
	Account string `json:"account"`
	Email   string `json:"email"`
	Role    string `json:"role"`
	Known   bool   `json:"known" doc:"The address signs in already: its password is asked."`
}

func (a *API) invitation(ctx context.Context, in *invitationRef) (invitationOut, error) {
	i, err := a.Accounts.Invitation(ctx, a.DB, in.Token)
	return invitationOut{i.Name, i.Email, string(i.Role), i.Known}, err
}

type acceptIn struct {
	Token    string `json:"token" rule:"required max=100"`
	Name     string `json:"name" rule:"max=255"`
	Password string `json:"password" rule:"max=1000" trim:"no"`
	Code     string `json:"code" rule:"null max=40"`
}

func (a *API) acceptInvitation(ctx context.Context, in *acceptIn) (wire.Message, error) {
	n := accounts.Newcomer{Token: in.Token, Name: in.Name, As: callerOf(ctx).User}
	n.Attempt = accounts.Attempt{Password: in.Password, Code: in.Code, From: client(ctx)}
	o, err := a.Accounts.Accept(ctx, n)
	if err != nil {
		return wire.Message{}, a.refusal(&signInIn{}, err)
	}
	return wire.Message{Message: "Signed in."}, a.open(ctx, o, audit.Joined)
}

const sessionLife = 30 * 24 * time.Hour

// setSession answers with the cookie; an empty token takes it away.
func (a *API) setSession(ctx context.Context, token string, life time.Duration) {
	c := http.Cookie{Name: sessionCookie, Value: token, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(wire.Origin(ctx), "https://")}
	if token == "" {
		c.MaxAge = -1
	}
	wire.Header(ctx).Add("Set-Cookie", c.String())
}

// signedIn is who sent the request by a session.
func signedIn(ctx context.Context) (caller, error) {
	c := callerOf(ctx)
	if c.User == 0 {
		return c, fault.New(fault.Invalid, "", "You are not signed in by a session.")
	}
	return c, nil
}

func (a *API) signOut(ctx context.Context, _ *struct{}) (wire.Message, error) {
	c, err := signedIn(ctx)
	if err == nil {
		err = a.Accounts.SignOut(ctx, c.session)
	}
	if err != nil {
		return wire.Message{}, err
	}
	a.setSession(ctx, "", 0)
	return wire.Message{Message: "Signed out."}, a.Audit.Add(ctx, a.DB, c.Account, note(ctx, audit.SignedOut, ""))
}

type selfOut struct {
	ID         int64           `json:"id"`
	Email      string          `json:"email"`
	Name       string          `json:"name"`
	Role       string          `json:"role"`
	Recordings bool            `json:"recordings"`
	Operator   bool            `json:"operator"`
	TwoFactor  bool            `json:"two_factor"`
	Password   bool            `json:"password" doc:"Signs in by password."`
	AccountID  int64           `json:"account_id"`
	Accounts   []membershipOut `json:"accounts"`
}

type membershipOut struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// self is who is signed in; their cookie lives 30 days from now again.
func (a *API) self(ctx context.Context, _ *struct{}) (selfOut, error) {
	c, err := signedIn(ctx)
	if err != nil {
		return selfOut{}, err
	}
	u, err := a.Accounts.User(ctx, a.DB, c.User)
	if err != nil {
		return selfOut{}, err
	}
	all, err := a.Accounts.Memberships(ctx, a.DB, u.ID)
	a.setSession(ctx, c.session, sessionLife)
	return selfOut{int64(u.ID), u.Email, u.Name, string(c.Role), c.Hears(), u.Operator, u.TOTP != nil, u.Password != nil, int64(c.Account),
		each(all, func(m accounts.Membership) membershipOut {
			return membershipOut{int64(m.Account), m.Name, string(m.Role)}
		})}, err
}

type selfIn struct {
	Name     value.Opt[string] `json:"name" rule:"max=255"`
	Email    value.Opt[string] `json:"email" rule:"email max=255"`
	Password string            `json:"current_password" rule:"max=1000" trim:"no" doc:"For another address, where there is a password."`
	Code     string            `json:"code" rule:"null max=40"`
}

func (a *API) updateSelf(ctx context.Context, in *selfIn) (selfOut, error) {
	c, err := signedIn(ctx)
	if err == nil && in.Email.Set {
		err = a.prove(ctx, c, in.Password, in.Code)
	}
	if err == nil {
		_, err = a.Accounts.UpdateUser(ctx, a.DB, c.User, accounts.Person{Name: in.Name, Email: in.Email})
	}
	if err != nil {
		return selfOut{}, err
	}
	return a.self(ctx, &struct{}{})
}

// prove asks somebody who is signed in for their password again, where they have one.
func (a *API) prove(ctx context.Context, c caller, password, code string) error {
	u, err := a.Accounts.User(ctx, a.DB, c.User)
	if err != nil || u.Password == nil {
		return err
	}
	_, err = a.Accounts.Prove(ctx, accounts.Attempt{Email: u.Email, Password: password, Code: code, From: client(ctx)})
	if errors.Is(err, accounts.ErrUnauthenticated) {
		err = fault.Input(fault.Own("current_password", "The password is wrong."))
	}
	return err
}

type switchAccountIn struct {
	ID accounts.ID `json:"account_id" rule:"required"`
}

func (a *API) switchAccount(ctx context.Context, in *switchAccountIn) (wire.Message, error) {
	c, err := signedIn(ctx)
	if err == nil {
		err = a.Accounts.Switch(ctx, c.session, in.ID)
	}
	return wire.Message{Message: "Switched."}, err
}

type passwordIn struct {
	Password string `json:"password" rule:"required max=1000" trim:"no"`
	Current  string `json:"current_password" rule:"max=1000" trim:"no"`
	Code     string `json:"code" rule:"null max=40"`
}

func (a *API) setPassword(ctx context.Context, in *passwordIn) (wire.Message, error) {
	c, err := signedIn(ctx)
	if err == nil && in.Current != "" {
		err = a.prove(ctx, c, in.Current, in.Code)
	}
	if err == nil {
		err = a.Accounts.SetPassword(ctx, c.User, in.Password, c.session)
	}
	if err == nil {
		err = a.Audit.Add(ctx, a.DB, c.Account, note(ctx, "password.changed", ""))
	}
	return wire.Message{Message: "The password was saved."}, err
}

type openSession struct {
	ID        int64      `json:"id"`
	Address   string     `json:"address"`
	Agent     string     `json:"agent"`
	Current   bool       `json:"current"`
	SeenAt    value.Time `json:"seen_at"`
	CreatedAt value.Time `json:"created_at"`
}

type openSessions struct {
	Data []openSession `json:"data"`
}

func (a *API) sessions(ctx context.Context, _ *struct{}) (openSessions, error) {
	c, err := signedIn(ctx)
	if err != nil {
		return openSessions{}, err
	}
	all, err := a.Accounts.Sessions(ctx, a.DB, c.User, c.session)
	return openSessions{each(all, func(s accounts.Session) openSession {
		return openSession{s.ID, s.Address, s.Agent, s.Current, value.At(s.SeenAt.Time()), value.At(s.CreatedAt.Time())}
	})}, err
}

type sessionRef struct {
	ID int64 `path:"id"`
}

func (a *API) endSession(ctx context.Context, in *sessionRef) (wire.Message, error) {
	c, err := signedIn(ctx)
	if err == nil {
		err = a.Accounts.EndSession(ctx, c.User, in.ID)
	}
	return wire.Message{Message: "Session ended."}, err
}

type secondFactor struct {
	Secret string `json:"secret"`
	URL    string `json:"url" doc:"otpauth address for authenticator apps."`
}

func (a *API) beginTwoFactor(ctx context.Context, _ *struct{}) (secondFactor, error) {
	c, err := signedIn(ctx)
	if err != nil {
		return secondFactor{}, err
	}
	secret, url, err := a.Accounts.BeginTOTP(ctx, c.User)
	return secondFactor{secret, url}, err
}

type codeIn struct {
	Code string `json:"code" rule:"required max=40"`
}

type recoveryCodes struct {
	Codes []string `json:"recovery_codes" doc:"Each stands in for the second factor once; shown here and never again."`
}

func (a *API) confirmTwoFactor(ctx context.Context, in *codeIn) (recoveryCodes, error) {
	c, err := signedIn(ctx)
	if err != nil {
		return recoveryCodes{}, err
	}
	codes, err := a.Accounts.ConfirmTOTP(ctx, c.User, in.Code)
	if err == nil {
		err = a.Audit.Add(ctx, a.DB, c.Account, note(ctx, "two_factor.added", ""))
	}
	return recoveryCodes{codes}, err
}

func (a *API) removeTwoFactor(ctx context.Context, _ *struct{}) (wire.Message, error) {
	c, err := signedIn(ctx)
	if err == nil {
		err = a.Accounts.RemoveTOTP(ctx, c.User)
	}
	if err == nil {
		err = a.Audit.Add(ctx, a.DB, c.Account, note(ctx, "two_factor.removed", ""))
	}
	return wire.Message{Message: "The second factor was removed."}, err
}
