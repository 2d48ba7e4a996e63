package api

import (
	"context"
	"net/http"

	"parley/wire"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// beside is what stands outside /api.
func (a *API) beside() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	m.HandleFunc("GET /readyz", a.ready)
	m.HandleFunc("GET /media/voices/{file}", a.servePreview)
	m.HandleFunc("GET /embed.json", a.serveEmbed)
	m.HandleFunc("GET /media/{folder}/{name}", a.serveMedia)
	m.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(a.document) // the client is gone: nobody is left to tell
	})
	m.Handle("GET /metrics", promhttp.HandlerFor(a.Metrics, promhttp.HandlerOpts{}))
	m.Handle("/mcp", a.mcp())
	m.HandleFunc("/hooks/{vendor}", a.callback)
	m.HandleFunc("/hooks/{vendor}/{rest...}", a.callback)
	m.HandleFunc("/hooks", a.callback)
	m.HandleFunc("/hooks/{$}", a.callback)
	if a.Console != nil {
		m.Handle("GET /console", a.Console)
		m.Handle("GET /console/", a.Console)
		m.HandleFunc("GET /embed.js", a.Console.Widget)
		m.Handle("GET /{$}", http.RedirectHandler("/console", http.StatusFound))
	}
	m.Handle("/", a.wire) // anything else is answered as an unknown route
	return m
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client is gone: nobody is left to tell
}

// unavailable is the answer of routes beside the API while the database or the disk is away (contract 1.9).
func unavailable(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "5")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(`{"message":"Service Unavailable"}`)) // the client is gone: nobody is left to tell
}

// ready answers 200 once calls can be taken and while the database answers.
func (a *API) ready(w http.ResponseWriter, r *http.Request) {
	if err := a.DB.Ping(r.Context()); err != nil {
		a.Log.WarnContext(r.Context(), "not ready", "error", err)
		unavailable(w)
		return
	}
	plain(w, http.StatusOK, "ready\n")
}

// serveDocument answers the OpenAPI document.
func (a *API) serveDocument(_ context.Context, _ *struct{}, w http.ResponseWriter) error {
	_, err := w.Write(a.document)
	return err
}

// documentRoute is GET /openapi.json.
func (a *API) documentRoute() wire.Route {
	return wire.Stream(messages, "GET /openapi.json", "application/json", a.serveDocument, wire.Keyless(), wire.Hidden())
}
