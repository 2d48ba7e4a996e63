package wire

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"parley/fault"
)

// admit checks the credential and the limits.
func (x *exchange) admit() error {
	limits := x.route.limits
	known, err := x.identify(x.route.auth)
	if err != nil {
		return err
	}
	if x.known = known; known {
		limits = slices.Concat(x.s.cfg.Limits, limits)
	}
	quota, err := pass(x.r.Context(), x.who, limits)
	if err != nil {
		return err
	}
	if x.who.Key != "" && quota.Limit > 0 {
		quota.head(x.w.Header())
	}
	if known && x.s.cfg.Allow != nil {
		return x.s.cfg.Allow(x.r.Context(), x.route.right)
	}
	return nil
}

// identify finds out who sent the request; known is false for one without a credential, where none is needed.
func (x *exchange) identify(need auth) (known bool, err error) {
	x.who.Address = x.s.address(x.r)
	if need == keyless || x.s.cfg.Authenticate == nil {
		return false, nil
	}
	ctx, who, err := x.s.cfg.Authenticate(x.r)
	switch {
	case err == nil:
		who.Address = x.who.Address
		x.who = who
		x.r = x.r.WithContext(ctx)
		return true, nil
	case errors.Is(err, ErrNoCredential) && need == keyOptional:
		return false, nil
	case errors.Is(err, ErrNoCredential):
		return false, fault.ErrUnauthenticated
	}
	return false, x.refuse(err)
}

// Keyed serves h, which is no route, to requests with a good credential.
func (s *Server) Keyed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{s: s, w: &recorder{ResponseWriter: w}, r: r}
		if _, err := x.identify(withKey); err != nil {
			x.fail(err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// refuse answers a bad credential; an outage while checking it is not the sender's fault.
func (x *exchange) refuse(err error) error {
	if !fault.Is(err, fault.Unauthorized) {
		return err
	}
	if x.s.cfg.BadKeys != nil {
		if q := x.s.cfg.BadKeys.Take(x.who.Address); !q.Allowed {
			return q.Refusal()
		}
	}
	return err
}

// address is what the client counts as in limits: its address without the port, of IPv6 the /64. The client is the last
// one that no proxy of ours reported.
func (s *Server) address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	client := at.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil || !within(s.cfg.Proxies, client) {
			break
		}
		client = next.Unmap()
	}
	return network(client)
}

// origin is scheme and host for links.
func (s *Server) origin(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/")
	}
	scheme := "http"
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	proxied := err == nil && within(s.cfg.Proxies, at.Addr().Unmap())
	if r.TLS != nil || proxied && r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
