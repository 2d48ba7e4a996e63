package wire

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"parley/value"
)

// Change is a request that changed something.
type Change struct {
	Route         Route
	Place         string      // the route's path with the values of the request
	Body          value.Value // as sent
	Before, After []byte      // what a GET of the same place answered before and answers now; nil where there is none
	Answer        []byte
}

// noted reports whether somebody is told of what the request does.
func (x *exchange) noted() bool {
	return x.s.cfg.Changed != nil && x.known && x.route.auth == withKey && x.r.Method != http.MethodGet && x.r.Method != http.MethodHead
}

// before is the record as it is before the change.
func (x *exchange) before(ctx context.Context) []byte {
	if !x.noted() || x.r.Method == http.MethodPost {
		return nil
	}
	return x.twin(ctx)
}

// changed tells of a change. Where the answer is stored together with the effect, so is what is told; elsewhere the
// change has happened, and a failure to tell of it is an outage for the log.
func (x *exchange) changed(ctx context.Context, before, answer []byte) error {
	if !x.noted() {
		return nil
	}
	c := Change{Route: *x.route, Place: x.place(), Body: x.bound.body, Before: before, Answer: answer}
	if m := x.r.Method; m == http.MethodPut || m == http.MethodPatch {
		c.After = x.twin(ctx)
	}
	err := x.s.cfg.Changed(ctx, c)
	if together := x.route.idempotent && !x.route.outside && x.r.Header.Get("Idempotency-Key") != ""; err != nil && !together {
		x.s.cfg.Log.ErrorContext(ctx, "a change is missing in the audit", "error", err)
		err = nil
	}
	return err
}

// twin is what a GET of the request's place answers, by whichever of the route's names has one.
func (x *exchange) twin(ctx context.Context) []byte {
	paths := []string{x.route.Path}
	for _, alias := range x.route.Aliases {
		_, path, _ := strings.Cut(alias, " ")
		paths = append(paths, path)
	}
	for _, path := range paths {
		parts := segments(path)
		wild := strings.Count(path, "{")
		for i, p := range parts {
			if strings.HasPrefix(p, "{") {
				parts[i] = x.path[strings.Trim(p, "{}")]
			}
		}
		r, values := x.s.tree.match(http.MethodGet, parts, nil, new([]string))
		if r == nil || r.serve == nil || len(values) != wild { // /search is no {id}
			continue
		}
		in := r.fresh()
		readPath(r.plan, values, reflect.ValueOf(in).Elem())
		if out, err := r.serve(ctx, in); err == nil {
			if b, err := value.Marshal(out); err == nil {
				return b
			}
		}
		return nil
	}
	return nil
}
