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
func (x *exchange) preflight(rest string, methods []string) bool {
	public := false
	for _, m := range methods {
		var ignored []string
		if r, _ := x.s.tree.match(m, segments(rest), nil, &ignored); r != nil && r.public {
			public = true
		}
	}
	origin := x.r.Header.Get("Origin")
	configured := slices.Contains(x.s.cfg.Origins, origin)
	if !public && !configured {
		return false
	}
	allow, verbs := "*", corsMethods
	if !public {
		allow, verbs = origin, supported(methods)+", OPTIONS"
	}
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", allow)
	h.Set("Access-Control-Allow-Methods", verbs)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", "600")
	x.w.WriteHeader(http.StatusNoContent)
	return true
}

// openOrigin sets the headers that let a page of another origin read the answer.
func (x *exchange) openOrigin() {
	origin := x.r.Header.Get("Origin")
	h := x.w.Header()
	switch {
	case x.route.public:
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", corsMethods)
		h.Set("Access-Control-Allow-Headers", corsHeaders)
		h.Set("Access-Control-Max-Age", "600")
	case origin != "" && slices.Contains(x.s.cfg.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
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
