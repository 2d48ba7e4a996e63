// Package anthropic talks to Anthropic's Messages API, version 2026-10-21. It fills the role of a language model.
package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"parley/agent"
	"parley/catalog"
	"parley/providers"
	"parley/providers/rest"
)

// Code names this vendor everywhere.
const Code = "anthropic"

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	APIKey  string   `key:"api_key" secret:"true" also:"ANTHROPIC_API_KEY"`
	BaseURL string   `key:"base_url" check:"url" also:"ANTHROPIC_BASE_URL" doc:"empty = the vendor's own"`
	Models  []string `key:"models" doc:"offered to assistants, the first is the default"`
}

var defaults = Settings{Models: []string{"claude-haiku-5-5", "claude-sonnet-5-5"}}

// Vendor is Anthropic.
func Vendor() providers.Maker { return providers.Make(Code, "Anthropic", "llm", defaults, open) }

func open(_ context.Context, s Settings, _ providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" {
		return nil, nil
	}
	c := New(s.BaseURL, s.APIKey)
	v := providers.Vendor{Code: Code, About: cmp.Or(s.BaseURL, "Anthropic") + " for " + strings.Join(s.Models, ", "),
		Model: func(name string) agent.Model { return c.Model(name) },
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/models?limit=1") },
		Close: func() error { c.rest.Close(); return nil }}
	for _, m := range s.Models {
		v.Offer.Models = append(v.Offer.Models, catalog.NewModel{Provider: Code, Code: m, Name: m, Types: []string{catalog.LLM}})
	}
	return []providers.Vendor{v}, nil
}

// Client is one account. It is safe for concurrent use.
type Client struct{ rest *rest.Client }

// New makes a client; base may be empty, and may leave out the version segment. Nothing is sent yet.
func New(base, key string) *Client {
	base = rest.Versioned(cmp.Or(base, "https://api.anthropic.com"), "/v1")
	return &Client{rest.New(base, func(h http.Header) {
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2026-10-21")
	})}
}

// Model names a language model.
func (c *Client) Model(name string) *Model { return &Model{c.rest, name} }
