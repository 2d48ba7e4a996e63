package apitest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"parley/agent"
	"parley/app"
	"parley/blobs"
	"parley/config"
	"parley/db"
	"parley/jobs"
	"parley/providers"
	"parley/providers/anthropic"
	"parley/providers/builtin"
	"parley/providers/builtin/responder"
	"parley/providers/whatsapp"
	"parley/secrets"
	"parley/ssrf"
)

// Makers are vendors that operators can set up, beside WhatsApp's.
var Makers = []providers.Maker{anthropic.Vendor()}

// rooms wires the rooms on a test database, with the built-in engines on offer: voices 1-5 speak in pipeline and
// dualplex mode, 6-10 in multimodal; model 1 is a text model, 2 a realtime one. It returns a key of the first account.
func rooms(t testing.TB, d *db.DB, with ...func(*app.Foundations)) (*app.App, string) {
	t.Helper()
	ctx := context.Background()
	cfg := config.Default()
	cfg.PublicURL = "https://p.example"
	cfg.Limits.PerKeyPerMinute = 0
	cfg.Simulator.Enabled = "true"
	days := 90
	cfg.Retention.RecordingsDays = &days
	allow, err := ssrf.ParseAllow(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	box, err := secrets.New(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	files, err := blobs.Open(ctx, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	vendors := providers.Start(ctx, append([]providers.Maker{whatsapp.Vendor()}, Makers...), nil, providers.Ground{Box: box},
		providers.Vendor{Code: builtin.Code, Offer: builtin.Offer(), Model: func(string) agent.Model { return responder.Model{} }})
	t.Cleanup(func() {
		if err := vendors.Close(); err != nil {
			t.Error(err)
		}
	})
	f := app.Foundations{Config: cfg, DB: d, Jobs: jobs.NewRunner(d), Guard: ssrf.New(allow...), Box: box, Blobs: files,
		Vendors: vendors, Node: "test"}
	for _, change := range with {
		change(&f)
	}
	h, err := app.New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	acc, err := app.FirstAccount(ctx, h.Accounts, h.Billing)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := h.Accounts.CreateKey(ctx, d, acc.ID, "test")
	if err != nil {
		t.Fatal(err)
	}
	return h, token
}

// Work runs durable work in the background until the test ends.
func (s *Server) Work() {
	s.T.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.App.Jobs().Run(ctx) }()
	s.T.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.T.Error(err)
		}
	})
}
