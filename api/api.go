// Package api is the HTTP surface: the table of routes, one file of handlers per area, and what stands beside /api.
package api

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"parley/accounts"
	"parley/asks"
	"parley/assistants"
	"parley/audit"
	"parley/billing"
	"parley/blobs"
	"parley/calllog"
	"parley/calls"
	"parley/campaigns"
	"parley/catalog"
	"parley/chats"
	"parley/console"
	"parley/db"
	"parley/events"
	"parley/jobs"
	"parley/knowledge"
	"parley/messaging"
	"parley/numbers"
	"parley/once"
	"parley/payments"
	"parley/providers"
	"parley/sim"
	"parley/ssrf"
	"parley/switchboard"
	"parley/tools"
	"parley/webhooks"
	"parley/wire"

	"github.com/prometheus/client_golang/prometheus"
)

// Deps are the rooms that the handlers call and the few settings they need.
type Deps struct {
	DB    *db.DB
	Guard *ssrf.Guard
	Blobs blobs.Store
	Once  *once.Store // idempotent requests; nil = none are remembered

	Accounts        *accounts.Accounts
	Audit           *audit.Audit
	Billing         *billing.Billing
	Catalog         *catalog.Catalog
	Preview         func(ctx context.Context, v catalog.Voice) (wav []byte, err error) // nil = voices cannot be heard
	Assistants      *assistants.Assistants
	Folders, Labels *assistants.Groups
	Tools           *tools.Tools
	Numbers         *numbers.Numbers
	Knowledge       *knowledge.Room
	Webhooks        *webhooks.Webhooks
	Chats           *chats.Chats
	Calls           *calls.Calls
	Switchboard     *switchboard.Switchboard
	Logs            *calllog.Logs
	Asks            *asks.Asks
	Browsers        BrowserLine // nil = no calls from browsers
	Live            *events.Hub
	Campaigns       *campaigns.Campaigns
	Messaging       *messaging.Messaging
	Payments        *payments.Payments
	Vendors         *providers.Registry
	Callbacks       func(name string) http.Handler // of vendors, by the name in /hooks/{name}; nil for no such vendor
	Jobs            *jobs.Runner
	Sim             *sim.Sim                                           // nil = the simulator is off
	FirstVisit      func(ctx context.Context, owner accounts.ID) error // somebody opened the console by a one-time link; may be nil
	PublicHistory   string                                             // which conversations a uuid alone may read: widget, all, none

	PublicURL       string            // scheme and host for links; empty = those of the request
	FieldAliases    map[string]string // vendor spelling → field name
	CORSOrigins     []string
	Proxies         []netip.Prefix // in front of us
	PerKeyPerMinute int            // 0 = no limit

	Console *console.Console // nil = none
	Log     *slog.Logger
	Metrics *prometheus.Registry
}

// API is the surface with everything it needs.
type API struct {
	Deps
	wire     *wire.Server
	table    []wire.Route
	document []byte
	mux      *http.ServeMux
	paced    http.Handler // serve, to clients that move
	previews previews
}

// Base is the path prefix of the routes.
const Base = "/api"

// New puts the surface together.
func New(d Deps) *API {
	a := &API{Deps: d}
	if a.Log == nil {
		a.Log = slog.Default()
	}
	if a.Metrics == nil {
		a.Metrics = prometheus.NewRegistry()
	}
	a.table = described(a.routes())
	a.document = wire.OpenAPI(wire.Document{Title: "parley", Version: "1", Base: Base, Hooks: hooks(), Fields: fieldWords(),
		Description: "AI assistants that hold calls and chats: assistants, calls, campaigns, knowledgebases, tools, phone numbers, WhatsApp, SMS and webhooks."}, a.table)
	a.wire = wire.NewServer(wire.Config{
		Base: Base, PublicURL: d.PublicURL,
		Authenticate: a.authenticate, Allow: a.allow, Changed: a.noteChange,
		BadKeys: wire.NewWindow(30, time.Minute),
		Limits:  []wire.Limit{wire.PerKey(d.PerKeyPerMinute, time.Minute)},
		Aliases: d.FieldAliases,
		Public:  func(raw string) bool { return a.Guard == nil || a.Guard.CheckURL(raw) == nil },
		Origins: d.CORSOrigins, Proxies: d.Proxies, Once: d.Once, Log: a.Log,
		Away: db.Away, Observe: a.observer(),
	}, a.table)
	a.mux = a.beside()
	a.paced = wire.Paced(http.HandlerFunc(a.serve))
	return a
}

// Answers are what this process answers others that have no line of their own.
func (a *API) Answers() map[string]asks.Answerer {
	answers := map[string]asks.Answerer{askWebCall: a.takeAsked, askListen: a.listenAsked}
	if a.Sim != nil {
		maps.Copy(answers, a.simulator().Answers())
	}
	return answers
}

// ServeHTTP answers everything below /api and what stands beside it.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.paced.ServeHTTP(w, r) }

func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == Base || strings.HasPrefix(r.URL.Path, Base+"/") {
		a.wire.ServeHTTP(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// Drain makes every further API request answer 503.
func (a *API) Drain() { a.wire.Drain() }

// OpenAPI is the document of the routes.
func (a *API) OpenAPI() []byte { return a.document }

// Route finds the route that serves a request.
func (a *API) Route(method, path string) (wire.Route, error) { return a.wire.Route(method, path) }

// Routes is the table of routes.
func (a *API) Routes() []wire.Route { return a.table }

// observer counts requests and how long they took.
func (a *API) observer() func(method, pattern string, status int, took time.Duration) {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parley_http_request_seconds", Help: "Time to answer API requests.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"method", "route", "status"})
	a.Metrics.MustRegister(h)
	return func(method, pattern string, status int, took time.Duration) {
		switch method {
		case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		default:
			method = "other"
		}
		h.WithLabelValues(method, pattern, statusLabel[status/100%6]).Observe(took.Seconds())
	}
}

var statusLabel = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}
