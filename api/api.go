// Package api is the HTTP surface: the table of routes, one file of handlers per area, and what stands beside /api.
package api

import (
	"net/http"
)

// Deps are the rooms that the handlers call and the few settings they need.
type Deps struct{}

// API is the surface with everything it needs.
type API struct{ Deps }

// New puts the surface together.
func New(d Deps) http.Handler {
	a := &API{d}
	_ = a
	return nil
}
