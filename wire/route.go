// Package wire is the HTTP layer without the contract: typed handlers, binding, validation, error shapes, pages,
// limits, idempotency, OpenAPI. On says how a route is written; package api holds the table of routes.
package wire

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"parley/fault"
)

// Route is one line of the table of routes.
type Route struct {
	Method, Path string
	Aliases      []string // "PATCH /user/assistant/{id}", the same route under other names
	Area         Area
	Status       int    // of a success
	Summary      string // a line that names the operation
	Description  string // what it does
	section      string
	right        string

	auth       auth
	idempotent bool
	outside    bool // its effect is not in the database alone
	multipart  bool
	hidden     bool
	produces   string // content type of a streamed answer
	limits     []Limit
	require    []string
	find       func(context.Context, any) error
	check      func(context.Context, any) error
	judged     bool
	origins    func(context.Context, any) ([]string, error)
	public     bool

	in, out reflect.Type
	plan    *plan
	fresh   func() any
	serve   func(context.Context, any) (any, error)
	stream  func(context.Context, any, http.ResponseWriter) error
}

type auth byte

const (
	withKey auth = iota
	keyOptional
	keyless
)

// Option refines a route.
type Option func(*Route)

// On is a route whose handler takes the bound and validated input and gives the answer's body.
// pattern is "METHOD /path/{name}", relative to the base path; status is that of a success.
//
// In is a struct; its tags say where a field comes from and what it must be:
//
//	path:"id"        path segment: int64, Ref or string. What cannot be an id binds as zero, which no lookup finds.
//	query:"page"     query parameter
//	json:"name"      body field, JSON or form
//	rule:"…"         required required_if=other:value required_without=other (when=third:value) null(= null is a value)
//	                 max=N min=N (characters, amount, elements or kB, by type) oneof=a|b url public email uuid ip
//	                 e164 phone(lenient) distinct different=other date clock(H:i) timezone pattern=regexp upper lower
//	each:"…"         the same rules for every element of an array
//	default:"3"      taken when the field is absent, and with rule:"null=default" also for null
//	also:"country"   further accepted spellings, comma-separated
//	trim:"no"        white space stays
//	say:"pattern: …" a sentence of the field's own for a rule; several are separated by |
//	doc:"…"          description in the OpenAPI document
//
// Field types: string, int64, float64, bool, Money, Ref, File, slices, maps, structs, any, json.RawMessage, Value,
// types that implement Binding, and Opt of each, which tells absent, null and a value apart.
// Errors are reported in the order of the fields, the first failed rule of each.
func On[In, Out any](area Area, pattern string, status int, handler func(context.Context, *In) (Out, error), opts ...Option) Route {
	r := newRoute[In](area, pattern, status)
	r.out = reflect.TypeFor[Out]()
	r.serve = func(ctx context.Context, in any) (any, error) { return handler(ctx, in.(*In)) }
	return r.with(opts)
}

// Stream is a route whose handler writes the answer itself: event streams, files. An error that it returns before
// the first write is answered as usual.
func Stream[In any](area Area, pattern, contentType string, handler func(context.Context, *In, http.ResponseWriter) error,
	opts ...Option) Route {
	r := newRoute[In](area, pattern, http.StatusOK)
	r.produces = contentType
	r.stream = func(ctx context.Context, in any, w http.ResponseWriter) error { return handler(ctx, in.(*In), w) }
	return r.with(opts)
}

func newRoute[In any](area Area, pattern string, status int) Route {
	method, path, _ := strings.Cut(pattern, " ")
	t := reflect.TypeFor[In]()
	return Route{Method: method, Path: path, Area: area, Status: status,
		in: t, plan: planOf(t), fresh: func() any { return new(In) }}
}

func (r Route) with(opts []Option) Route {
	for _, o := range opts {
		o(&r)
	}
	return r
}

// Alias serves the route under further patterns, each with the wildcard names of the first.
func Alias(patterns ...string) Option {
	return func(r *Route) { r.Aliases = append(r.Aliases, patterns...) }
}

// Keyless serves the route without a credential; one that is sent is not looked at.
func Keyless() Option { return func(r *Route) { r.auth = keyless } }

// KeyOptional serves the route with or without a credential; a bad one is refused.
func KeyOptional() Option { return func(r *Route) { r.auth = keyOptional } }

// Idempotent honours the Idempotency-Key header. What the handler writes and its stored answer are one transaction.
func Idempotent() Option { return func(r *Route) { r.idempotent = true } }

// IdempotentOutside does the same for a handler whose effect reaches beyond the database: the room records what it does
// under [once.Ref] before it does it, and a try after a crash finds that and makes the answer of it.
func IdempotentOutside() Option {
	return func(r *Route) { r.idempotent, r.outside = true, true }
}

// Needs says which right the sender must have, where it is not that of the route's section.
func Needs[R ~string](right R) Option { return func(r *Route) { r.right = string(right) } }

// Right names what the sender must be allowed.
func (r Route) Right() string { return r.right }

// Multipart accepts multipart/form-data beside JSON.
func Multipart() Option { return func(r *Route) { r.multipart = true } }

// Hidden leaves the route out of the OpenAPI document.
func Hidden() Option { return func(r *Route) { r.hidden = true } }

// Limited adds rate limits to the route; all must allow a request.
func Limited(limits ...Limit) Option {
	return func(r *Route) { r.limits = append(r.limits, limits...) }
}

// Require demands top-level fields that the input's own tags leave optional: a create route that shares its input
// with the update.
func Require(fields ...string) Option {
	return func(r *Route) { r.require = append(r.require, fields...) }
}

// Find looks up what the path names, before the body is validated; its error is the answer. What it found it may
// keep in an untagged field of the input.
func Find[In any](find func(context.Context, *In) error) Option {
	return func(r *Route) {
		fits[In](r, "Find")
		r.find = func(ctx context.Context, in any) error { return find(ctx, in.(*In)) }
	}
}

// Check adds rules that need the room's knowledge. It runs together with the tag rules, even when some of those
// failed (a failed field then looks absent), and its Invalid errors are merged into the same answer.
func Check[In any](check func(context.Context, *In) error) Option {
	return func(r *Route) {
		fits[In](r, "Check")
		r.check = func(ctx context.Context, in any) error { return check(ctx, in.(*In)) }
	}
}

// Judged leaves the judgement of the input to the handler, for rules that need a row which the change must hold: the
// handler runs even when tag rules failed (a failed field then looks absent). It answers [Failed] together with what it
// finds itself, in one fault, and changes nothing when there is either.
func Judged() Option { return func(r *Route) { r.judged = true } }

type failedKey struct{}

// Failed are the tag rules that the input of a [Judged] route breaks.
func Failed(ctx context.Context) []fault.Field {
	failed, _ := ctx.Value(failedKey{}).([]fault.Field)
	return failed
}

// OpenToOrigins lets pages of other origins call the route. origins, which may be nil, lists the only origins
// allowed for this input; an empty list allows all. It runs on valid input, before the handler.
func OpenToOrigins[In any](origins func(context.Context, *In) ([]string, error)) Option {
	return func(r *Route) {
		fits[In](r, "OpenToOrigins")
		r.public = true
		if origins != nil {
			r.origins = func(ctx context.Context, in any) ([]string, error) { return origins(ctx, in.(*In)) }
		}
	}
}

func fits[In any](r *Route, option string) {
	if t := reflect.TypeFor[In](); t != r.in {
		panic("wire: " + option + " of " + r.Method + " " + r.Path + " takes " + t.String() + ", the route " + r.in.String())
	}
}

// Undocumented reports whether the route is left out of the OpenAPI document.
func (r Route) Undocumented() bool { return r.hidden }

// Produces is the content type of a success.
func (r Route) Produces() string {
	if r.stream != nil {
		return r.produces
	}
	return "application/json"
}
