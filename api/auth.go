package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/accounts"
	"parley/wire"
)

// authenticate finds the sender of a request: by API key, or by the console's session cookie.
func (a *API) authenticate(r *http.Request) (context.Context, wire.Who, error) {
	c, name, err := a.credential(r)
	if err != nil {
		return nil, wire.Who{}, err
	}
	from := caller{Caller: c}
	if c.Key == 0 {
		from.session = sessionToken(r)
	}
	ctx := withCaller(r.Context(), from)
	return ctx, wire.Who{Key: name, Account: int64(c.Account)}, nil
}

// credential checks what the request carries and names it for limits.
func (a *API) credential(r *http.Request) (accounts.Caller, string, error) {
	if header := r.Header.Get("Authorization"); strings.TrimSpace(header) != "" {
		token, ok := bearer(header)
		if !ok {
			return accounts.Caller{}, "", accounts.ErrUnauthenticated
		}
		c, err := a.Accounts.Verify(r.Context(), token, wire.Client(r.Context()))
		id, _, _ := strings.Cut(token, "|")
		return c, "key " + id, err
	}
	token := sessionToken(r)
	if token == "" {
		return accounts.Caller{}, "", wire.ErrNoCredential
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("X-Requested-With") != "parley" {
		return accounts.Caller{}, "", accounts.ErrUnauthenticated // another site's form carries the cookie, but not this
	}
	c, err := a.Accounts.Session(r.Context(), token)
	if errors.Is(err, accounts.ErrUnauthenticated) { // over: as good as none on routes that need none
		err = wire.ErrNoCredential
	}
	return c, fmt.Sprintf("session %x", sha256.Sum256([]byte(token))), err
}

// bearer is the token of an Authorization header; false when there is none of that scheme.
func bearer(header string) (string, bool) {
	scheme, token, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}
