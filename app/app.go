// Package app puts the rooms together by hand: what a room needs of its neighbours is a function or an interface of
// its own, and here is who fills it. cmd/parley adds the lines and the real engines, api/apitest a test database.
package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/api"
	"parley/assistants"
	"parley/audio"
	"parley/audit"
	"parley/billing"
	"parley/blobs"
	"parley/calendar"
	"parley/campaigns"
	"parley/catalog"
	"parley/config"
	"parley/console"
	"parley/db"
	"parley/events"
	"parley/fault"
	"parley/jobs"
	"parley/lines"
	"parley/once"
	"parley/providers"
	"parley/recordings"
	"parley/secrets"
	"parley/ssrf"
	"parley/switchboard"
	"parley/value"

	"github.com/prometheus/client_golang/prometheus"
)

// Foundations are what every room stands on.
type Foundations struct {
	Config  *config.Config
	DB      *db.DB
	Jobs    *jobs.Runner
	Guard   *ssrf.Guard
	Blobs   blobs.Store
	Box     *secrets.Box
	Vendors *providers.Registry
	// Sound decodes a recording that a customer sent; nil = voice notes are not transcribed.
	Sound func(ctx context.Context, file []byte) (audio.Frame, error)
	Node  string // names this process among those that share the database
	// Lines opens what calls come from and go to, on the rooms that are there by then; onCall takes the inbound ones. nil = this
	// process holds no calls.
	Lines   func(ctx context.Context, a *App, onCall func(lines.Leg)) (Lines, error)
	Metrics *prometheus.Registry // nil = nobody reads them
	Console *console.Console     // nil = none

	IsolatePDF bool // the program calls extract.Child first of all
}

// App is all rooms, and the surface on top.
type App struct {
	api.Deps
	API *api.API

	on    Foundations
	lines Lines
	built chan struct{} // closed when everything stands

	calendar   *calendar.Calendar
	recordings *recordings.Recordings
	vendors    *providers.Registry
	engines    atomic.Pointer[switchboard.Engines]
	hooks      atomic.Pointer[map[string]http.Handler]

	Reach *ssrf.Guard // where trunks and transfers may go

	Background []func(ctx context.Context) error // each runs until its context ends
	closers    []func() error
}

// New wires the rooms, those first that others need.
func New(ctx context.Context, f Foundations) (*App, error) {
	h := &App{on: f, vendors: f.Vendors, built: make(chan struct{})}
	defer close(h.built)
	h.DB, h.Guard, h.Vendors = f.DB, f.Guard, f.Vendors
	for _, build := range []func(context.Context) error{
		h.foundations,
		h.accounts,
		h.billing,
		h.simulator,
		h.catalog,
		h.tools,
		h.calendars,
		h.knowledge,
		h.payments,
		h.numbers,
		h.assistants,
		h.webhooks,
		h.chats,
		h.messaging,
		h.calls,
		h.campaigns,
		h.open,
		h.switchboard,
		h.surface,
	} {
		if err := build(ctx); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return h, nil
}

// Jobs is the runner of durable work.
func (h *App) Jobs() *jobs.Runner { return h.on.Jobs }

// Close lets go of what the rooms hold.
func (h *App) Close() (err error) {
	for i := len(h.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, h.closers[i]())
	}
	return err
}

// foundations: files, and what connected clients are told.
func (h *App) foundations(context.Context) error {
	h.Blobs = h.on.Blobs
	h.Live = events.New(h.DB)
	h.on.Jobs.Pulse("lists.fold", 5*time.Second, func(ctx context.Context, _ time.Time) error { return h.DB.FoldCounts(ctx) })
	h.closers = append(h.closers, func() error { h.Live.Close(); return nil })
	return nil
}

// accounts: who is asking.
func (h *App) accounts(context.Context) error {
	h.Accounts = Accounts(h.on.Config, h.DB)
	h.Accounts.Box = h.on.Box
	h.Audit = audit.New(h.DB)
	h.on.Jobs.Every("audit.purge", time.Hour, func(ctx context.Context, now time.Time) error {
		return h.Audit.Purge(ctx, now, h.on.Config.Retention.AuditDays)
	})
	h.on.Jobs.Every("accounts.purge", time.Hour, h.Accounts.Purge)
	h.Background = append(h.Background, h.Accounts.Run, h.vendors.Run)
	return nil
}

// Accounts opens the room of accounts alone, with the default plan of the configuration.
func Accounts(c *config.Config, d *db.DB) *accounts.Accounts {
	p := c.Plan.Default
	return accounts.New(d, accounts.Plan{
		MaxCampaigns: wide(p.MaxCampaigns), MaxAssistants: wide(p.MaxAssistants), MaxTools: wide(p.MaxTools),
		ParallelPerCampaign: int64(p.ParallelPerCampaign), ParallelPerAccount: int64(p.ParallelPerAccount),
		DailyOutbound: wide(c.Limits.DailyOutbound), MinutePrice: p.MinutePrice})
}

func wide(n *int) *int64 {
	if n == nil {
		return nil
	}
	w := int64(*n)
	return &w
}

// billing: the ledger and what things cost.
func (h *App) billing(context.Context) (err error) {
	h.Billing, err = Billing(h.on.Config, h.Accounts)
	return err
}

// Billing opens the room of money alone.
func Billing(c *config.Config, a *accounts.Accounts) (*billing.Billing, error) {
	settings := billing.Settings{Enforce: c.Billing.Enforce, StartingBalance: c.Billing.StartingBalance, Currency: c.Billing.Currency,
		OwnTrunk: c.Rates.OwnTrunk,
		Prices: billing.Prices{ChatMessage: c.Prices.ChatMessage, Marketing: c.Prices.WhatsAppMarketing, Utility: c.Prices.WhatsAppUtility,
			Auth: c.Prices.WhatsAppAuthentication, Freeform: c.Prices.WhatsAppFreeform, SMS: c.Prices.SMS}}
	if c.Rates.File != "" {
		rates, err := billing.LoadRates(c.Rates.File)
		if err != nil {
			return nil, fmt.Errorf("rates.file: %w", err)
		}
		settings.Rates = rates
	}
	return billing.New(a, settings), nil
}

// catalog: what assistants can be made of.
func (h *App) catalog(ctx context.Context) (err error) {
	h.Preview = h.preview
	if err := h.vendors.Join(ctx, h.DB, h.hire); err != nil {
		return err
	}
	if err := h.hire(ctx); err != nil {
		return err
	}
	h.Catalog, err = catalog.Open(ctx, h.DB, h.offer())
	return err
}

// assistants: their settings, and the facts of other rooms that their rules ask for.
func (h *App) assistants(context.Context) error {
	h.Assistants = assistants.New(h.DB, h.Catalog, h.on.Box, assistants.Account{
		Numbers: h.numbersOf,
		Tools:   h.Tools.Owned, Knowledgebases: h.Knowledge.Owned,
		RunningCampaign: func(ctx context.Context, q db.Q, id assistants.ID) (bool, error) {
			return h.Campaigns.Uses(ctx, q, id)
		},
		Most: func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error) {
			plan, err := h.Accounts.LockPlan(ctx, tx, owner)
			return plan.MaxAssistants, err
		},
		Deleted: func(ctx context.Context, tx *db.Tx, a assistants.Assistant) error {
			if err := h.Campaigns.StopFor(ctx, tx, a.ID, campaigns.StopAssistantDeleted); err != nil {
				return err
			}
			return h.Messaging.DetachAssistant(ctx, tx, a.ID)
		},
		Paused: func(ctx context.Context, tx *db.Tx, a assistants.Assistant) error {
			return h.Campaigns.StopFor(ctx, tx, a.ID, campaigns.StopAssistantInactive)
		},
		Changed: func(_ accounts.ID, id assistants.ID) { h.Switchboard.Ready(id) },
	})
	h.Folders, h.Labels = assistants.Folders(h.DB), assistants.Labels(h.DB)
	return nil
}

// surface: the HTTP API, and what other processes may ask of this one.
func (h *App) surface(ctx context.Context) error {
	c := h.on.Config
	requests, err := once.Open(ctx, h.DB, h.on.Node)
	if err != nil {
		return err
	}
	h.on.Jobs.Every("idempotency.purge", time.Hour, requests.Purge)
	h.Background = append(h.Background, requests.Run)
	h.Once, h.Metrics, h.Console, h.Browsers, h.FirstVisit = requests, h.on.Metrics, h.on.Console, h.lines.Browsers, h.firstVisit
	if h.Proxies, err = ssrf.ParseAllow(c.HTTP.TrustedProxies, false); err != nil {
		return fmt.Errorf("http.trusted_proxies: %w", err)
	}
	h.PublicURL, h.FieldAliases, h.CORSOrigins = c.PublicURL, c.Compat.FieldAliases, c.HTTP.CORSOrigins
	h.PerKeyPerMinute, h.PublicHistory = c.Limits.PerKeyPerMinute, c.Conversations.PublicHistory
	h.API = api.New(h.Deps)
	if h.lines.Phones != nil {
		answers := h.Switchboard.Answers()
		maps.Copy(answers, h.API.Answers())
		h.Background = append(h.Background, h.Switchboard.Run, func(ctx context.Context) error {
			return h.Asks.Serve(ctx, answers, h.Switchboard.Open)
		})
	}
	return nil
}

// base is scheme and host for links in what no request asked for.
func (h *App) base() string {
	if c := h.on.Config; c.PublicURL == "" {
		return "http://" + c.Listen
	}
	return h.on.Config.PublicURL
}

// ChatEngine is the text model that chats for an assistant: its own, its fallback, or the installation's.
func (h *App) ChatEngine(_ context.Context, a assistants.Assistant) (agent.Engine, error) {
	id := value.Or(a.LLMModelID, 0)
	if a.ModeOf() != catalog.Pipeline {
		id = value.Or(a.ChatLLMFallbackID, 0)
	}
	if id == 0 {
		id = h.Catalog.DefaultModel("chat")
	}
	m, ok := h.Catalog.Model(id)
	if !ok {
		return agent.Engine{}, fault.New(fault.Malformed, "", "no model is configured")
	}
	return h.model(m)
}

// FirstAccount is the operator's; it is made, with its starting balance, when it is asked for the first time.
func FirstAccount(ctx context.Context, a *accounts.Accounts, b *billing.Billing) (accounts.Account, error) {
	acc, _, err := a.EnsureFirst(ctx, accounts.Draft{Name: "Operator", Email: "operator@localhost", Timezone: "UTC"},
		func(tx *db.Tx, acc accounts.Account) error { return b.Begin(ctx, tx, acc.ID) })
	return acc, err
}
