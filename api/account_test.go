package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/db/dbtest"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// TestKeys makes, lists and deletes API keys.
//
// Contract: 1.3 1.6 1.11 3.1 3.2 3.3
func TestKeys(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Cases("testdata/keys.http")
		made := s.Send("POST /user/api-keys", `{"name":" crm "}`).Want(201)
		crm := s.As(made.Text("api_key.token"))
		other := s.Stranger()
		other.Send("DELETE /user/api-keys/"+made.Text("api_key.id"), "").Want(404, `{"message":"API key not found."}`)
		if list := other.Send("GET /user/api-keys", "").Want(200); strings.Contains(list.Body, "crm") {
			t.Errorf("a stranger reads %s", list.Body)
		}
		crm.Send("DELETE /user/api-keys/"+made.Text("api_key.id"), "").Want(200)
		crm.Send("GET /user/me", "").Want(401, `{"message":"Unauthenticated."}`)
	})
}

// TestBadCredentials sends everything that is not a key.
//
// Contract: 1.3
func TestBadCredentials(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id, secret, _ := strings.Cut(s.Token, "|")
		for _, header := range []string{"", "Bearer", "Bearer ", "Basic " + s.Token, s.Token, "Bearer " + id, "Bearer |" + secret, "Bearer 99|" + secret,
			"Bearer " + id + "|" + strings.Repeat("A", 48), "Bearer " + s.Token + "x", "Bearer -" + s.Token} {
			var headers []string
			if header != "" {
				headers = append(headers, "Authorization: "+header)
			}
			a := s.Keyless().Send("GET /user/me", "", headers...).Want(401, `{"message":"Unauthenticated."}`)
			if a.Header.Get("WWW-Authenticate") != "Bearer" || a.Header.Get("X-RateLimit-Limit") != "" {
				t.Errorf("%q: headers %v", header, a.Header)
			}
		}
		s.Keyless().Send("GET /user/me?token="+s.Token, "").Want(401)
		s.Keyless().Send("GET /user/me", "", "Authorization:  bEaReR   "+s.Token+" ").Want(200)
	})
}

// TestMe reads and changes the account.
//
// Contract: 3.4 16.1 18.1
func TestMe(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) { s.Cases("testdata/me.http") })
}

// TestSession signs in by a link and works with the cookie.
//
// Contract: 18.3
func TestSession(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		acc, err := s.App.Accounts.First(t.Context(), s.DB)
		if err != nil {
			t.Fatal(err)
		}
		link, err := s.App.Accounts.Welcome(t.Context(), s.DB, acc.ID)
		if err != nil {
			t.Fatal(err)
		}
		page := s.Keyless()
		in := page.Send("POST /console/sign-in", `{"token":"`+link+`"}`).Want(200, `{"message":"Signed in."}`)
		cookie := (&http.Response{Header: in.Header}).Cookies()[0]
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || !cookie.Secure {
			t.Errorf("cookie %v", cookie)
		}
		page.Send("POST /console/sign-in", `{"token":"`+link+`"}`).Want(422)
		with := "Cookie: " + cookie.Name + "=" + cookie.Value
		page.Send("GET /user/me", "", with).Want(200)
		if demo := page.Send("GET /user/assistants", "", with).Want(200); !strings.HasPrefix(demo.Text("0.name"), "Demo") {
			t.Errorf("on the first visit: %s", demo.Body)
		}
		page.Send("PUT /user/me", `{"name":"x"}`, with).Want(401) // a form of another site
		page.Send("PUT /user/me", `{"name":"x"}`, with, "X-Requested-With: parley").Want(200)
		page.Send("PUT /console/password", `{"password":"short"}`, with, "X-Requested-With: parley").WantError("password: The password field must be at least 12 characters.")
		page.Send("PUT /console/password", `{"password":"correct horse battery"}`, with, "X-Requested-With: parley").Want(200)
		page.Send("POST /console/sign-out", "", with, "X-Requested-With: parley").Want(200)
		page.Send("GET /user/me", "", with).Want(401)
		page.Send("POST /console/sign-in", `{"email":"operator@localhost","password":"wrong"}`).Want(422, `{"message":"E-mail or password is wrong."}`)
		page.Send("POST /console/sign-in", `{"email":"operator@localhost","password":"correct horse battery"}`).Want(200)
		page.Send("POST /console/sign-in", `{}`).Want(422)
	})
}

// TestSpec fails when the OpenAPI document is not the golden one, or not valid; make spec asks a second validator.
//
// Contract: 2 18.3
func TestSpec(t *testing.T) {
	made := api.New(api.Deps{}).OpenAPI()
	apitest.Golden(t, "openapi.json", made, "and CHANGELOG.md must say what changed")
	doc, err := openapi3.NewLoader().LoadFromData(made)
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
	var hooks struct{ Webhooks map[string]any }
	if err := json.Unmarshal(made, &hooks); err != nil || len(hooks.Webhooks) != 4 {
		t.Errorf("webhooks %v %v", hooks.Webhooks, err)
	}
}

// TestMedia reads a recording, whole and in part, until it is deleted.
//
// Contract: 5.2 18.2
func TestMedia(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t))
	read := func(path, span string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Header.Set("Range", span)
		s.API.ServeHTTP(w, r)
		return w
	}
	const path = "/media/recordings/9f2c.wav"
	for _, key := range []string{"recordings/9f2c.wav", "documents/1"} {
		if err := s.App.Blobs.Put(t.Context(), key, strings.NewReader("RIFF1234"), "audio/wav"); err != nil {
			t.Fatal(err)
		}
	}
	if w := read(path, ""); w.Code != 200 || w.Body.String() != "RIFF1234" || w.Header().Get("Content-Type") != "audio/wav" {
		t.Errorf("whole: %d %q %v", w.Code, w.Body, w.Header())
	}
	if w := read(path, "bytes=4-5"); w.Code != 206 || w.Body.String() != "12" {
		t.Errorf("part: %d %q", w.Code, w.Body)
	}
	if err := s.App.Blobs.Delete(t.Context(), "recordings/9f2c.wav"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "/media/documents/1", "/media/recordings/..%2fdocuments%2f1", "/media/recordings/.."} {
		if w := read(path, ""); w.Code == 200 {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}

// TestBeside asks for what stands outside /api.
//
// Contract: 18.2
func TestBeside(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/api": 404, "/api/": 404, "/nope": 404, "/media/recordings/nope.wav": 404} {
			w := httptest.NewRecorder()
			s.API.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if w.Code != want {
				t.Errorf("%s: %d, want %d", path, w.Code, want)
			}
		}
		if doc := s.Keyless().Send("GET /openapi.json", "").Want(200); !strings.Contains(doc.Body, `"openapi": "3.1.0"`) {
			t.Errorf("document %.100s", doc.Body)
		}
	})
}
