// Package apitest starts the API on SQLite and PostgreSQL and checks every answer against the OpenAPI document that the
// table of routes generates: an answer with a key too many, a key too few or a wrong type fails the test.
//
//	func TestKeys(t *testing.T) {
//		apitest.Each(t, func(t *testing.T, s *apitest.Server) {
//			made := s.Send("POST /user/api-keys", `{"name":"crm"}`).Want(201)
//			s.Send("DELETE /user/api-keys/"+made.Text("api_key.id"), "").Want(200, `{"message":"API key deleted successfully."}`)
//			other := s.Stranger()                      // another account with a key of its own
//			other.Send("GET /user/api-keys", "").Want(200)
//			s.Keyless().Send("GET /user/me", "").Want(401, `{"message":"Unauthenticated."}`)
//			s.Cases("testdata/keys.http")              // cases as files, see Cases
//		})
//	}
//
// Tests stand in package api_test. What a room needs is wired in rooms.go.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"parley/accounts"
	"parley/api"
	"parley/app"
	"parley/db"
	"parley/db/dbtest"
)

// Server is the API on one database, with the key of its first account.
type Server struct {
	T     testing.TB
	DB    *db.DB
	API   *api.API
	App   *app.App
	Token string
	ctx   context.Context // of the requests; nil = any
	spec  *spec
	vars  map[string]string // of Cases
}

// Each runs fn on SQLite and on PostgreSQL, durable time standing still. with may change what is wired.
func Each(t *testing.T, fn func(t *testing.T, s *Server), with ...func(*app.Foundations)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, New(t, dbtest.SQLite(t, db.Manual()), with...)) })
	t.Run("postgres", func(t *testing.T) { fn(t, New(t, dbtest.Postgres(t, db.Manual()), with...)) })
}

// New starts the API on d with every room wired as in the program.
func New(t testing.TB, d *db.DB, with ...func(*app.Foundations)) *Server {
	t.Helper()
	h, token := rooms(t, d, with...)
	return &Server{T: t, DB: d, API: h.API, App: h, Token: token, spec: newSpec(t, h.API.OpenAPI()), vars: map[string]string{}}
}

// Stranger is the same server, called by another account.
func (s *Server) Stranger() *Server {
	s.T.Helper()
	ctx := context.Background()
	acc, err := s.App.Accounts.Create(ctx, s.DB, accounts.Draft{Name: "Stranger", Email: "stranger@p.example"})
	if err != nil {
		s.T.Fatal(err)
	}
	_, token, err := s.App.Accounts.CreateKey(ctx, s.DB, acc.ID, "test")
	if err != nil {
		s.T.Fatal(err)
	}
	return s.As(token)
}

// As is the same server, called with another token.
func (s *Server) As(token string) *Server {
	other := *s
	other.Token, other.vars = token, maps.Clone(s.vars)
	return &other
}

// Keyless is the same server, called without a credential.
func (s *Server) Keyless() *Server { return s.As("") }

// In is the same server, called within ctx.
func (s *Server) In(ctx context.Context) *Server {
	other := *s
	other.ctx = ctx
	return &other
}

// Answer is what the server said.
type Answer struct {
	t      testing.TB
	what   string
	Status int
	Header http.Header
	Body   string
}

// Send makes a request. line is "METHOD /path?query", relative to /api; headers are "Name: value".
func (s *Server) Send(line, body string, headers ...string) Answer {
	s.T.Helper()
	method, path, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, api.Base+path, strings.NewReader(body))
	if s.ctx != nil {
		r = r.WithContext(s.ctx)
	}
	r.Host = "p.example"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	return s.Do(r)
}

// Do makes any request and checks its answer.
func (s *Server) Do(r *http.Request) Answer {
	s.T.Helper()
	w := httptest.NewRecorder()
	s.API.ServeHTTP(w, r)
	a := Answer{s.T, r.Method + " " + r.URL.String(), w.Code, w.Result().Header, w.Body.String()}
	if err := s.spec.check(s.API, r, a); err != nil {
		s.T.Errorf("%s: the answer does not fit the OpenAPI document: %v\n%d %s", a.what, err, a.Status, a.Body)
	}
	return a
}

// Want fails the test unless the status, and the body when one is given, are these.
func (a Answer) Want(status int, body ...string) Answer {
	a.t.Helper()
	if a.Status != status || len(body) > 0 && a.Body != body[0] {
		a.t.Errorf("%s\n got %d %s\nwant %d %s", a.what, a.Status, a.Body, status, strings.Join(body, ""))
	}
	return a
}

// WantError fails the test unless the answer is a validation error with exactly these keys, given as
// "field: sentence".
func (a Answer) WantError(errors ...string) Answer {
	a.t.Helper()
	want := map[string][]string{}
	for _, e := range errors {
		field, sentence, _ := strings.Cut(e, ": ")
		want[field] = []string{sentence}
	}
	var got struct{ Errors map[string][]string }
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 422 || fmt.Sprint(got.Errors) != fmt.Sprint(want) {
		a.t.Errorf("%s\n got %d %s\nwant 422 %v", a.what, a.Status, a.Body, want)
	}
	return a
}

// Get finds a value by its dotted path, such as data.0.id.
func (a Answer) Get(path string) any {
	a.t.Helper()
	v, err := find([]byte(a.Body), path)
	if err != nil {
		a.t.Errorf("%s: %v in %d %s", a.what, err, a.Status, a.Body)
	}
	return v
}

// Text is Get as text.
func (a Answer) Text(path string) string {
	a.t.Helper()
	return fmt.Sprint(a.Get(path))
}

// ID is Get as an id.
func (a Answer) ID(path string) int64 {
	a.t.Helper()
	n, err := strconv.ParseInt(a.Text(path), 10, 64)
	if err != nil {
		a.t.Errorf("%s: %s is no id: %v", a.what, path, err)
	}
	return n
}

func find(body []byte, path string) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if path == "" {
		return v, nil
	}
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[part]
			if !ok {
				return nil, fmt.Errorf("no %s", path)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("no %s", path)
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("no %s", path)
		}
	}
	return v, nil
}
