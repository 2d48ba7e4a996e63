package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/accounts"
	"parley/api/apitest"
	"parley/db/dbtest"
)

// console sends requests in the session of somebody who signed in.
type console struct {
	*apitest.Server
	cookie string
}

func (s console) Send(line, body string, headers ...string) apitest.Answer {
	s.T.Helper()
	return s.Server.Send(line, body, append(headers, "Cookie: "+s.cookie, "X-Requested-With: parley")...)
}

func cookieOf(a apitest.Answer) string {
	c := (&http.Response{Header: a.Header}).Cookies()[0]
	return c.Name + "=" + c.Value
}

const goodPassword = "staple under the sea"

// join invites somebody with the server's key and accepts for them.
func join(s *apitest.Server, email, role string) console {
	s.T.Helper()
	url := s.Send("POST /user/members", `{"email":"`+email+`","role":"`+role+`"}`).Want(201).Text("data.invitation_url")
	_, token, _ := strings.Cut(url, "invitation=")
	in := s.Keyless().Send("POST /console/invitations", `{"token":"`+token+`","name":"N","password":"`+goodPassword+`"}`).Want(200)
	return console{s.Keyless(), cookieOf(in)}
}

// TestMembers invites, changes and removes people.
//
// Contract: 1.3 18.3
func TestMembers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("POST /user/members", `{"email":"x","role":"king"}`).WantError("email: The email field must be a valid email address.", "role: The selected role is invalid.")
		made := s.Send("POST /user/members", `{"email":"Ann@p.example","role":"agent"}`).Want(201)
		if made.Text("data.invited") != "true" || made.Text("data.email") != "ann@p.example" || !strings.HasPrefix(made.Text("data.invitation_url"), "https://p.example/console/") {
			t.Error(made.Body)
		}
		ann := join(s, "ann@p.example", "viewer")
		id := made.Text("data.id")
		if now := s.Send("GET /user/members/"+id, "").Want(200); now.Text("data.role") != "viewer" || now.Text("data.invited") != "false" || now.Text("data.name") != "N" {
			t.Error(now.Body)
		}
		me := ann.Send("GET /console/user", "").Want(200)
		if me.Text("role") != "viewer" || me.Text("email") != "ann@p.example" {
			t.Error(me.Body)
		}
		s.Send("PUT /user/members/"+id, `{"role":"admin","recordings":true}`).Want(200)
		ann.Send("GET /user/members", "").Want(200)
		first := s.Send("GET /user/members", "").Text("data.0.id")
		s.Send("DELETE /user/members/"+first, "").Want(409)
		s.Send("PUT /user/members/"+first, `{"role":"viewer"}`).Want(409)
		ann.Send("PUT /user/members/"+first, `{"role":"viewer"}`).Want(403, `{"message":"Your role does not allow this."}`)
		ann.Send("PUT /user/members/"+id, `{"role":"owner"}`).Want(403)
		ann.Send("POST /user/members", `{"email":"eve@p.example","role":"owner"}`).Want(403)
		s.Stranger().Send("PUT /user/members/"+id, `{"role":"viewer"}`).Want(404)
		s.Stranger().Send("DELETE /user/members/"+id, "").Want(404, `{"message":"Member not found."}`)
		s.Send("DELETE /user/members/"+id, "").Want(200)
		ann.Send("GET /user/me", "").Want(401)
		s.Keyless().Send("GET /auth/methods", "").Want(200, `{"password":true,"oidc":null}`)
	})
}

var places = regexp.MustCompile(`\{[^}]+\}`)

// TestEveryRouteByRole sends every route as every role and with keys of every scope, and expects 403 in the area's shape
// exactly where the table of rights says so.
//
// Contract: 1.3 18.3
func TestEveryRouteByRole(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t))
	roles := map[accounts.Role]console{}
	for _, role := range []accounts.Role{accounts.Owner, accounts.Admin, accounts.Agent, accounts.Viewer} {
		roles[role] = join(s, string(role)+"@p.example", string(role))
	}
	reader := s.As(s.Send("POST /user/api-keys", `{"name":"r","scopes":["read"]}`).Want(201).Text("api_key.token"))
	n := 0
	for _, r := range s.API.Routes() {
		right := accounts.Right(r.Right())
		if !right.Known() {
			t.Errorf("%s %s needs %q, which is no right", r.Method, r.Path, right)
		}
		if !r.Keyed() || strings.HasPrefix(r.Path, "/console/") || r.Produces() == "text/event-stream" || strings.HasPrefix(r.Path, "/sim/") {
			continue
		}
		line := r.Method + " " + places.ReplaceAllString(r.Path, "0")
		for role, as := range roles {
			a := as.Send(line, `{}`)
			n++
			if refused := strings.Contains(a.Body, "Your role does not allow this."); refused == right.Of(role) || refused && a.Status != 403 {
				t.Errorf("%s as %s: %d %s", line, role, a.Status, a.Body)
			}
		}
		a := reader.Send(line, `{}`)
		if refused := strings.Contains(a.Body, "This API key may not do this."); refused != (r.Method != "GET") && right != accounts.ToKeys && right != accounts.Operate && right != accounts.Read {
			t.Errorf("%s with a key that reads: %d %s", line, a.Status, a.Body)
		}
	}
	if n < 400 {
		t.Errorf("only %d requests", n)
	}
}

// TestRoles says of routes that stand for many who may use them.
//
// Contract: 1.3 18.3
func TestRoles(t *testing.T) {
	want := map[string]string{
		"GET /user/me":                          "owner admin agent viewer",
		"GET /user/assistants":                  "owner admin agent viewer",
		"POST /user/assistant":                  "owner admin",
		"GET /user/knowledgebases":              "owner admin agent viewer",
		"POST /user/knowledgebases":             "owner admin",
		"GET /user/calls":                       "owner admin agent viewer",
		"POST /user/calls/{id}/whisper":         "owner admin agent",
		"POST /user/calls/{id}/hangup":          "owner admin agent",
		"POST /user/calls/{id}/listen":          "owner admin agent",
		"DELETE /user/calls/{id}":               "owner admin",
		"POST /user/do-not-call":                "owner admin agent",
		"PUT /user/leads/{id}":                  "owner admin agent",
		"POST /user/campaigns":                  "owner admin",
		"POST /user/whatsapp/send":              "owner admin agent",
		"POST /user/whatsapp/senders":           "owner admin",
		"POST /user/phone-numbers/purchase":     "owner admin",
		"GET /user/billing":                     "owner admin viewer",
		"POST /user/billing/topup":              "owner",
		"GET /user/api-keys":                    "owner admin",
		"POST /user/api-keys":                   "owner admin",
		"GET /user/webhook-secret":              "owner admin",
		"GET /user/members":                     "owner admin",
		"POST /user/members":                    "owner admin",
		"GET /user/audit":                       "owner admin",
		"POST /user/conversations/{uuid}/reply": "owner admin agent",
	}
	for _, r := range apitest.New(t, dbtest.SQLite(t)).API.Routes() {
		name := r.Method + " " + r.Path
		roles, ok := want[name]
		delete(want, name)
		if !ok {
			continue
		}
		for _, role := range []accounts.Role{accounts.Owner, accounts.Admin, accounts.Agent, accounts.Viewer} {
			if got := accounts.Right(r.Right()).Of(role); got != strings.Contains(roles, string(role)) {
				t.Errorf("%s: %s: %v", name, role, got)
			}
		}
	}
	if len(want) > 0 {
		t.Error("no such routes:", want)
	}
}

// TestRefusalsHaveTheShapeOfTheirArea reads 403 in three areas.
//
// Contract: 1.3 18.3
func TestRefusalsHaveTheShapeOfTheirArea(t *testing.T) {
	s := apitest.New(t, dbtest.SQLite(t))
	viewer := join(s, "v@p.example", "viewer")
	viewer.Send("POST /user/assistant", `{}`).Want(403, `{"message":"Your role does not allow this."}`)
	viewer.Send("POST /user/knowledgebases", `{}`).Want(403, `{"error":"Your role does not allow this."}`)
	viewer.Send("POST /user/whatsapp/send", `{}`).Want(403, `{"success":false,"error":"Your role does not allow this.","error_code":"FORBIDDEN"}`)
}

// TestScopedKeys makes keys that may little, for a while.
//
// Contract: 1.3 18.3
func TestScopedKeys(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("POST /user/api-keys", `{"name":"k","scopes":["everything"]}`).Want(422)
		s.Send("POST /user/api-keys", `{"name":"k","expires_at":"yesterday"}`).Want(422)
		s.Send("POST /user/api-keys", `{"name":"k","expires_at":"2001-01-01T00:00:00Z"}`).Want(422)
		made := s.Send("POST /user/api-keys", `{"name":"k","scopes":["read","keys"],"expires_at":"`+s.DB.Now().UTC().AddDate(0, 0, 1).Format("2006-01-02T15:04:05Z")+`"}`).Want(201)
		k := s.As(made.Text("api_key.token"))
		k.Send("GET /user/assistants", "").Want(200)
		k.Send("POST /user/folder", `{"name":"x"}`).Want(403, `{"message":"This API key may not do this."}`)
		k.Send("POST /user/api-keys", `{"name":"more"}`).Want(403, `{"message":"This API key may not do this."}`)
		k.Send("POST /user/api-keys", `{"name":"same","scopes":["keys"]}`).Want(201)
		if list := s.Send("GET /user/api-keys", ""); strings.Contains(list.Body, "scopes") {
			t.Error(list.Body)
		}
		if list := s.Send("GET /user/api-keys?details=1", ""); list.Text("api_keys.1.scopes") != "[read keys]" || list.Text("api_keys.1.expires_at") == "<nil>" {
			t.Error(list.Body)
		}
		if _, err := s.DB.Advance(t.Context(), 25*60*60*1e9); err != nil {
			t.Fatal(err)
		}
		k.Send("GET /user/assistants", "").Want(401)
		// What an admin makes may no more than they do.
		admin := join(s, "admin@p.example", "admin")
		theirs := s.As(admin.Send("POST /user/api-keys", `{"name":"theirs"}`).Want(201).Text("api_key.token"))
		theirs.Send("POST /user/billing/topup", `{}`).Want(403)
		if list := s.Send("GET /user/api-keys?details=1", ""); list.Text("api_keys.3.made_by") != "admin@p.example" {
			t.Error(list.Body)
		}
	})
}

// TestAudit reads what was done, and nothing of what is secret or about customers.
//
// Contract: 1.3 18.3
func TestAudit(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		base := s.Send("POST /user/knowledgebases", `{"name":"Old"}`).Want(201).Text("data.id")
		s.Send("PUT /user/knowledgebases/"+base, `{"name":"New"}`).Want(200)
		s.Send("POST /user/do-not-call", `{"phone_number":"+491701234567"}`).Want(200)
		s.Send("POST /user/api-keys", `{"name":"k"}`).Want(201)
		s.Send("POST /user/folder", `{}`).Want(422)
		ann := join(s, "ann@p.example", "admin")
		s.Keyless().Send("POST /console/sign-in", `{"email":"ann@p.example","password":"wrong"}`).Want(422)
		all := ann.Send("GET /user/audit?per_page=50", "").Want(200)
		var actions []string
		for i := range all.Get("data").([]any) {
			actions = append(actions, all.Text("data."+string(rune('0'+i))+".action"))
		}
		if got := strings.Join(actions, " "); got != "sign_in.refused member.joined post_members post_api_keys post_do_not_call put_knowledgebases_id post_knowledgebases" {
			t.Error(got)
		}
		if all.Text("data.0.actor") != "ann@p.example" || all.Text("data.5.subject") != "/user/knowledgebases/"+base {
			t.Error(all.Body)
		}
		for _, secret := range []string{"491701234567", "invitation?", "|"} {
			if strings.Contains(all.Body, secret) {
				t.Errorf("shows %s: %s", secret, all.Body)
			}
		}
		one := ann.Send("GET /user/audit?action=put_knowledgebases_id&actor=test", "").Want(200)
		if !strings.Contains(one.Body, `"name":{"before":"Old","after":"New"}`) || strings.Contains(one.Body, "post_knowledgebases") {
			t.Error(one.Body)
		}
		page := ann.Send("GET /user/audit?per_page=2", "").Want(200)
		if next := ann.Send("GET /user/audit?per_page=2&cursor="+page.Text("next_cursor"), "").Want(200); next.Text("data.0.action") != actions[2] {
			t.Error(next.Body)
		}
		if s.Stranger().Send("GET /user/audit", "").Text("data") != "[]" {
			t.Error("a stranger reads the audit")
		}
	})
}

// TestRefusedPasswords tries too often.
//
// Contract: 1.3 18.3
func TestRefusedPasswords(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ann := join(s, "ann@p.example", "agent")
		for range 10 {
			s.Keyless().Send("POST /console/sign-in", `{"email":"ann@p.example","password":"wrong"}`).Want(422)
		}
		a := s.Keyless().Send("POST /console/sign-in", `{"email":"ann@p.example","password":"`+goodPassword+`"}`).Want(429)
		if a.Header.Get("Retry-After") == "" {
			t.Error(a.Header)
		}
		ann.Send("PUT /console/password", `{"password":"password1234"}`).Want(422)
		if list := ann.Send("GET /console/sessions", "").Want(200); list.Text("data.0.current") != "true" {
			t.Error(list.Body)
		}
	})
}
