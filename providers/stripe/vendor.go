// Package stripe takes customers' money by Stripe: a method on file, top-ups on its pages, charges with nobody there.
// No card number comes near this installation.
package stripe

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"parley/providers"
	"parley/providers/rest"
)

// Code names this vendor everywhere.
const Code = "stripe"

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	SecretKey     string `key:"secret_key" secret:"true" also:"STRIPE_SECRET_KEY"`
	WebhookSecret string `key:"webhook_secret" secret:"true" also:"STRIPE_WEBHOOK_SECRET" doc:"of the endpoint at /hooks/stripe: signs its callbacks"`
	BaseURL       string `key:"base_url" check:"url" doc:"empty = the vendor's own"`
}

// Live reports a key that moves real money.
func (s Settings) Live() bool {
	return strings.HasPrefix(s.SecretKey, "sk_live_") || strings.HasPrefix(s.SecretKey, "rk_live_")
}

// Vendor is Stripe.
func Vendor() providers.Maker { return providers.Make(Code, "Stripe", "payments", Settings{}, open) }

func open(_ context.Context, s Settings, _ providers.Ground) ([]providers.Vendor, error) {
	if s.SecretKey == "" {
		return nil, nil
	}
	c := New(s)
	return []providers.Vendor{{Code: Code, About: cmp.Or(s.BaseURL, "Stripe"), Till: c,
		Hooks: func(on providers.Rooms) map[string]http.Handler {
			return map[string]http.Handler{Code: c.Hooks(on.Payments)}
		},
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/customers?limit=1") },
		Close: func() error { c.rest.Close(); return nil }}}, nil
}

// version of the API that this adapter was written against.
const version = "2026-10-28.endive"

// Client is one account at Stripe. It is safe for concurrent use.
type Client struct {
	rest   *rest.Client
	secret string // signs callbacks
}

// New makes a client; the base may leave out the version segment. Nothing is sent yet.
func New(s Settings) *Client {
	base := rest.Versioned(cmp.Or(s.BaseURL, "https://api.stripe.com"), "/v1")
	key := rest.Bearer(s.SecretKey)
	return &Client{secret: s.WebhookSecret, rest: rest.New(base, func(h http.Header) {
		key(h)
		h.Set("Stripe-Version", version)
	})}
}
