package wire

import (
	"context"
	"net/http"
	"slices"

	"parley/fault"
)

const (
	corsMethods = "GET, POST, DELETE, OPTIONS"
	corsHeaders = "Content-Type, Authorization, Idempotency-Key, X-Request-Id"
)

// preflight answers an OPTIONS request of a path that other origins may call.
func (x *exchange) preflight(methods []string) bool {
	origin := x.r.Header.Get("Origin")
	switch {
	case x.public:
	case len(methods) > 0 && slices.Contains(x.s.cfg.Origins, origin):
		h := x.w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", supported(methods)+", OPTIONS")
		h.Set("Access-Control-Allow-Headers", corsHeaders)
		h.Set("Access-Control-Max-Age", "600")
	default:
		return false
	}
	x.w.WriteHeader(http.StatusNoContent)
	return true
}

// publicTrees are the first segments of the paths that pages of any origin may call. What such a tree lacks is open
// too, so that the page's programmer can read what is wrong.
func publicTrees(routes []Route) map[string]bool {
	trees := map[string]bool{}
	for _, r := range routes {
		if r.public {
			trees[segments(r.Path)[0]] = true
		}
	}
	return trees
}

// openToAll sets the headers of a tree that pages of any origin may call.
func (x *exchange) openToAll() {
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", "600")
}

// openOrigin sets the headers that let a page of another origin read the answer.
func (x *exchange) openOrigin() {
	origin := x.r.Header.Get("Origin")
	switch {
	case x.public: // open already
	case origin != "" && slices.Contains(x.s.cfg.Origins, origin):
		x.w.Header().Set("Access-Control-Allow-Origin", origin)
		x.w.Header().Add("Vary", "Origin")
	}
}

// checkOrigin narrows the answer to the origins that this input allows.
func (x *exchange) checkOrigin(ctx context.Context) error {
	if x.route.origins == nil {
		return nil
	}
	allowed, err := x.route.origins(ctx, x.in)
	if err != nil || len(allowed) == 0 {
		return err
	}
	h, origin := x.w.Header(), x.r.Header.Get("Origin")
	h.Add("Vary", "Origin")
	if origin == "" {
		h.Del("Access-Control-Allow-Origin")
		return nil
	}
	if !slices.Contains(allowed, origin) {
		h.Del("Access-Control-Allow-Origin")
		return fault.New(fault.Forbidden, "", "Origin not allowed")
	}
	h.Set("Access-Control-Allow-Origin", origin)
	return nil
}
