// Package gemini talks to Google's Gemini API, version v1beta. It fills the role of a language model.
package gemini

import (
	"cmp"
	"context"
	"strings"

	"parley/agent"
	"parley/catalog"
	"parley/providers"
	"parley/providers/rest"
)

// Code names this vendor everywhere.
const Code = "gemini"

// Settings are the keys of this vendor; no key = not configured.
type Settings struct {
	APIKey  string   `key:"api_key" secret:"true" also:"GEMINI_API_KEY"`
	BaseURL string   `key:"base_url" check:"url" doc:"empty = the vendor's own"`
	Models  []string `key:"models" doc:"offered to assistants, the first is the default"`
}

var defaults = Settings{Models: []string{"gemini-3.5-flash-lite", "gemini-3.6-flash"}}

// Vendor is Google's Gemini.
func Vendor() providers.Maker { return providers.Make(Code, "Google Gemini", "llm", defaults, open) }

func open(_ context.Context, s Settings, _ providers.Ground) ([]providers.Vendor, error) {
	if s.APIKey == "" {
		return nil, nil
	}
	c := New(s.BaseURL, s.APIKey)
	v := providers.Vendor{Code: Code, About: cmp.Or(s.BaseURL, "Gemini") + " for " + strings.Join(s.Models, ", "),
		Model: func(name string) agent.Model { return c.Model(name) },
		Check: func(ctx context.Context) error { return c.rest.Alive(ctx, "/models?pageSize=1") },
		Close: func() error { c.rest.Close(); return nil }}
	for _, m := range s.Models {
		v.Offer.Models = append(v.Offer.Models,
			catalog.NewModel{Provider: Code, Code: m, Name: m, Types: []string{catalog.LLM}, Temperature: true})
	}
	return []providers.Vendor{v}, nil
}

// Client is one account. It is safe for concurrent use.
type Client struct{ rest *rest.Client }

// New makes a client; base may be empty, and may leave out the version segment. Nothing is sent yet.
func New(base, key string) *Client {
	base = rest.Versioned(cmp.Or(base, "https://generativelanguage.googleapis.com"), "/v1beta")
	return &Client{rest.New(base, rest.Header("X-Goog-Api-Key", key))}
}

// Model names a language model.
func (c *Client) Model(name string) *Model {
	return &Model{rest: c.rest, name: strings.TrimPrefix(name, "models/")}
}
