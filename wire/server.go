package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/fault"
	"parley/once"
	"parley/value"

	"github.com/google/uuid"
)

// Config is what a Server needs to know about its surroundings.
type Config struct {
	Base      string // path prefix of every route, for example /api
	PublicURL string // scheme and host for links; empty = those of the request

	// Authenticate finds the sender of a request and a context that carries the account.
	// ErrNoCredential says that none was sent; any other error that it was bad.
	Authenticate func(*http.Request) (context.Context, Who, error)
	// Allow refuses a known sender a route whose right they do not have; nil = nobody.
	Allow func(ctx context.Context, right string) error
	// Changed is told of every change by a known sender; may be nil.
	Changed func(context.Context, Change) error
	BadKeys *Window // by client address: how many bad credentials are answered 401 before 429; nil = all
	Limits  []Limit // of every authenticated request

	Aliases map[string]string        // vendor spelling → field name
	Public  func(rawURL string) bool // reports whether the public rule accepts a URL; nil = all
	Origins []string                 // pages of these origins may call every route
	Proxies []netip.Prefix           // whose X-Forwarded-For and X-Forwarded-Proto are believed
	Once    *once.Store              // remembers idempotent requests; nil = none are

	Log     *slog.Logger                                              // nil = slog.Default()
	Away    func(error) bool                                          // reports that an error means the database is away; may be nil
	Observe func(method, pattern string, status int, d time.Duration) // called after every request; may be nil
}

// ErrNoCredential is Authenticate's answer to a request that carries no credential.
var ErrNoCredential = errors.New("no credential")

// Server serves a table of routes.
type Server struct {
	cfg      Config
	routes   []Route
	tree     router
	public   map[string]bool // see publicTrees
	alias    map[string][]string
	streams  seats           // open event streams
	draining context.Context // ends with Drain
	drain    context.CancelFunc
}

// NewServer puts the routes together; routes that contradict each other panic.
func NewServer(cfg Config, routes []Route) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	s := &Server{cfg: cfg, routes: routes, alias: map[string][]string{}, public: publicTrees(routes)}
	s.draining, s.drain = context.WithCancel(context.Background())
	for vendor, name := range cfg.Aliases {
		s.alias[name] = append(s.alias[name], vendor)
	}
	for _, names := range s.alias {
		slices.Sort(names)
	}
	for i := range routes {
		r := &s.routes[i]
		s.tree.add(r.Method, r.Path, r)
		for _, pattern := range r.Aliases {
			method, path, _ := strings.Cut(pattern, " ")
			s.tree.add(method, path, r)
		}
	}
	return s
}

// Drain makes every further request answer 503 and ends all streams, for a server that is shutting down.
func (s *Server) Drain() { s.drain() }

// exchange is one request on its way through the checks.
type exchange struct {
	s      *Server
	w      *recorder
	r      *http.Request
	public bool // pages of any origin may read the answer
	route  *Route
	path   map[string]string
	who    Who
	known  bool // a credential was sent
	in     any
	bound  *binding
	files  spool // that came with the request
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := &exchange{s: s, w: &recorder{ResponseWriter: w}, r: r}
	id := r.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Api-Version", "1")
	x.r = r.WithContext(context.WithValue(fault.WithRequestID(r.Context(), id), infoKey{}, &info{
		header: h, origin: s.origin(r), path: r.URL.EscapedPath(), query: r.URL.RawQuery, sent: r.Header, client: s.address(r)}))
	defer x.files.close()
	defer x.finish(began)
	if err := x.dispatch(); err != nil {
		x.fail(err)
	}
}

// finish turns a panic into an outage, and reports.
func (x *exchange) finish(began time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		x.s.cfg.Log.ErrorContext(x.r.Context(), "panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if x.w.status == 0 {
			x.fail(errors.New("panic"))
		}
	}
	pattern := "none"
	if x.route != nil {
		pattern = x.route.Path
	}
	took := time.Since(began)
	x.s.cfg.Log.DebugContext(x.r.Context(), "request", "method", x.r.Method, "route", pattern, "status", x.w.status, "took", took)
	if x.s.cfg.Observe != nil {
		x.s.cfg.Observe(x.r.Method, pattern, x.w.status, took)
	}
}

// dispatch finds the route and runs it.
func (x *exchange) dispatch() error {
	shown := strings.Trim(x.r.URL.Path, "/")
	method := x.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var methods []string
	if rest, inside := strings.CutPrefix(x.r.URL.EscapedPath(), x.s.cfg.Base+"/"); inside {
		parts := segments(rest)
		x.route, x.path = x.s.tree.match(method, parts, nil, &methods)
		if x.public = x.s.public[parts[0]]; x.public {
			x.openToAll()
		}
	}
	switch {
	case x.s.draining.Err() != nil:
		return errUnavailable
	case method == http.MethodOptions && x.preflight(methods):
		return nil
	case len(methods) == 0:
		return fault.General(fault.NotFound, "The route %s could not be found.", shown)
	case x.route == nil:
		allow := supported(methods)
		x.w.Header().Set("Allow", allow)
		return fault.General(fault.NotAllowed, "The %s method is not supported for route %s. Supported methods: %s.", x.r.Method, shown, allow)
	}
	x.openOrigin()
	return x.run()
}

// run takes a request through the checks of its route in their order.
func (x *exchange) run() error {
	if err := x.admit(); err != nil {
		return err
	}
	if err := x.read(); err != nil {
		return err
	}
	if x.route.idempotent && x.s.cfg.Once != nil && x.r.Header.Get("Idempotency-Key") != "" {
		return x.once()
	}
	return x.effect()
}

// read parses the request and fills the input, collecting what is wrong with it.
func (x *exchange) read() error {
	body := value.Value{Kind: value.KindObject}
	if m := x.r.Method; m == http.MethodPost || m == http.MethodPut || m == http.MethodPatch {
		var err error
		if body, err = x.readBody(); err != nil {
			return err
		}
	}
	query, err := readQuery(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	x.in = x.route.fresh()
	x.bound = newBinding(x.s.alias, x.s.cfg.Public, x.route.Area.Phrase)
	x.bound.body, x.bound.require = body, x.route.require
	dst := reflect.ValueOf(x.in).Elem()
	readPath(x.route.plan, x.path, dst)
	x.bound.object(x.route.plan, query, "", dst, fromQuery)
	x.bound.whole(x.route.plan, body, dst)
	x.bound.readUnknown(x.route.plan, body, dst)
	return nil
}

// effect runs the route's own steps: the resource of the path, validation, the handler.
func (x *exchange) effect() error {
	ctx := x.r.Context()
	if err := x.prepare(ctx); err != nil {
		return err
	}
	if x.route.stream != nil {
		return x.stream(ctx)
	}
	body, err := x.produce(ctx)
	if err != nil {
		return err
	}
	return x.respond(x.route.Status, body)
}

// prepare finds the resource of the path and validates.
func (x *exchange) prepare(ctx context.Context) error {
	if x.route.find != nil {
		if err := x.route.find(ctx, x.in); err != nil {
			return err
		}
	}
	if !x.route.judged {
		if err := x.validate(ctx); err != nil {
			return err
		}
	}
	return x.checkOrigin(ctx)
}

// produce runs the handler.
func (x *exchange) produce(ctx context.Context) ([]byte, error) {
	if x.route.judged {
		ctx = context.WithValue(ctx, failedKey{}, x.bound.fields)
	}
	before := x.before(ctx)
	out, err := x.route.serve(ctx, x.in)
	if err != nil {
		return nil, err
	}
	if x.route.judged && len(x.bound.fields) > 0 {
		return nil, fmt.Errorf("the handler of %s %s went on although %v", x.route.Method, x.route.Path, x.bound.fields)
	}
	body, err := value.Marshal(out)
	if err == nil {
		err = x.changed(ctx, before, body)
	}
	return body, err
}

// validate joins the failed tag rules with the room's own.
func (x *exchange) validate(ctx context.Context) error {
	if x.route.check != nil {
		if err := x.route.check(ctx, x.in); err != nil {
			f, isFault := errors.AsType[*fault.Fault](err)
			switch {
			case isFault && len(f.Fields) > 0 && len(x.bound.fields) == 0:
				return err
			case isFault && len(f.Fields) > 0:
				x.bound.merge(f.Fields)
			case !isFault || len(x.bound.fields) == 0:
				return err
			}
		}
	}
	return fault.Input(x.bound.fields...)
}

func (x *exchange) respond(status int, body []byte) error {
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // the client is gone: nobody is left to tell
	}
	return nil
}

// fail answers an error in the words of the route's area.
func (x *exchange) fail(err error) {
	ctx := x.r.Context()
	if x.w.status != 0 { // a stream broke off
		if IsOutage(err) {
			x.s.cfg.Log.ErrorContext(ctx, "stream broke", "error", err)
		}
		return
	}
	if x.s.cfg.Away != nil && x.s.cfg.Away(err) {
		x.s.cfg.Log.ErrorContext(ctx, "database away", "error", err)
		err = errUnavailable
	}
	area := Area{}
	sorted := func(f []fault.Field) []fault.Field { return f }
	if x.route != nil {
		area = x.route.Area
		sorted = func(f []fault.Field) []fault.Field {
			b := &binding{failed: map[string]bool{}}
			b.merge(f)
			return b.sorted(x.route.plan)
		}
	}
	a := area.answerTo(err, sorted)
	if a.status >= 500 && a.fault.Kind == fault.Internal && !errors.Is(err, context.Canceled) {
		x.s.cfg.Log.ErrorContext(ctx, "outage", "error", err)
	}
	for k, v := range a.header {
		x.w.Header()[k] = v
	}
	_ = x.respond(a.status, a.bytes())
}
