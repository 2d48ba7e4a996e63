package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/db"
	"parley/db/dbtest"
)

// index are the lines of the route index that have aliases, those of folders and labels (19), and a request for each.
// The requests run in this order, each on what the ones before it left.
var index = []struct {
	route   string
	aliases []string
	body    string
	bad     string // refused
}{
	{"POST /user/assistant", []string{"POST /user/assistants"}, outbound, `{"name":7}`},
	{"GET /user/assistant/{id}", []string{"GET /user/assistants/{id}"}, ``, ``},
	{"PUT /user/assistant/{id}", []string{"PATCH /user/assistant/{id}", "PUT /user/assistants/{id}", "PATCH /user/assistants/{id}"},
		`{"name":"Front desk","nonsense":1}`, `{"speech_speed":9}`},
	{"POST /user/make_call", []string{"POST /user/make-call"}, `{"phone_number":"+491701234567","assistant_id":1}`, `{"phone_number":7}`},
	{"POST /user/campaigns", []string{"POST /user/campaign"}, `{"name":"Spring","assistant_id":1}`, `{"name":7}`},
	{"POST /user/lead", []string{"POST /user/leads"}, `{"campaign_id":1,"phone_number":"+491701234567"}`, `{"phone_number":"x"}`},
	{"PUT /user/leads/{id}", []string{"PATCH /user/leads/{id}", "PUT /leads/{id}", "PATCH /leads/{id}", "PUT /user/lead/{id}", "PATCH /user/lead/{id}"},
		`{"variables":{"name":"Mia"}}`, `{"phone_number":"x"}`},
	{"POST /user/campaigns/update-status", []string{"POST /user/campaign/update-status"}, `{"campaign_id":1,"action":"start"}`, `{"campaign_id":1,"action":"fly"}`},
	{"POST /user/campaigns/update-status", []string{"POST /user/campaign/update-status"}, `{"campaign_id":1,"status":"stop"}`, `{"action":"stop"}`},
	{"DELETE /user/leads/{id}", []string{"DELETE /leads/{id}", "DELETE /user/lead/{id}"}, ``, ``},
	{"DELETE /user/campaign/{id}", []string{"DELETE /user/campaigns/{id}"}, ``, ``},
	{"DELETE /user/phone-numbers/{id}", []string{"DELETE /user/phone-numbers/sip-trunks/{id}"}, ``, ``},
	{"POST /user/ai/generate-reply", []string{"POST /ai/generate-reply"}, `{"assistant_id":1,"customer_identifier":"crm-7","message":"Hi"}`, `{"message":7}`},
	{"POST /automate/conversations/{uuid}/disable-ai", []string{"POST /user/conversations/{uuid}/disable-ai"}, ``, ``},
	{"POST /automate/conversations/{uuid}/enable-ai", []string{"POST /user/conversations/{uuid}/enable-ai"}, ``, ``},
	{"POST /user/folder", []string{"POST /user/folders"}, `{"name":"Acme"}`, `{"name":7}`},
	{"PUT /user/folder/{id}", []string{"PUT /user/folders/{id}"}, `{"color":"red"}`, `{"color":"mud"}`},
	{"DELETE /user/folder/{id}", []string{"DELETE /user/folders/{id}"}, ``, ``},
	{"POST /user/label", []string{"POST /user/labels"}, `{"name":"Acme"}`, `{"name":7}`},
	{"PUT /user/label/{id}", []string{"PUT /user/labels/{id}"}, `{"color":"red"}`, `{"color":"mud"}`},
	{"DELETE /user/label/{id}", []string{"DELETE /user/labels/{id}"}, ``, ``},
	{"DELETE /user/assistant/{id}", []string{"DELETE /user/assistants/{id}"}, ``, ``},
}

const outbound = `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"Be kind.","llm_model_id":1}`

// TestAliases lives the same life once under the first names of the routes and once under each further name: good
// requests, refused ones, missing things, strangers and no key get the same answers, byte for byte.
//
// Contract: 2 19
func TestAliases(t *testing.T) {
	first := live(t, 0)
	called := map[string]bool{}
	turns := 0
	for _, line := range index {
		turns = max(turns, len(line.aliases))
	}
	for turn := range turns {
		for i, answers := range live(t, turn+1) {
			alias := index[i].aliases[turn%len(index[i].aliases)]
			called[alias] = true
			if !slices.Equal(answers, first[i]) {
				t.Errorf("%s\n  answers %s\n%s\n  answers %s", index[i].route, strings.Join(first[i], "\n          "), alias, strings.Join(answers, "\n          "))
			}
		}
	}
	for _, r := range apitest.New(t, dbtest.SQLite(t)).API.Routes() {
		for _, alias := range r.Aliases {
			if !called[alias] {
				t.Errorf("%s, another name of %s %s, is not in the index", alias, r.Method, r.Path)
			}
		}
	}
}

// changing are uuids and times.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}|\d{4}-\d\d-\d\d[T ][0-9:.]{8,15}Z?`)

// live makes every request of the index on a new server, in the n-th spelling, and tells the answers.
func live(t *testing.T, n int) [][]string {
	t.Helper()
	s := apitest.New(t, dbtest.SQLite(t, db.Manual()))
	stranger := s.Stranger()
	s.Send("POST /user/phone-numbers/sip-trunks", `{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"desk","sip_password":"secret","sip_address":"sip.example",`+
		`"sip_calling_format":"+e164","inbound_authorization_type":"auth","country_code":"DE"}`).Want(201)
	uuid := ""
	out := make([][]string, len(index))
	for i, line := range index {
		route := line.route
		if n > 0 {
			route = line.aliases[(n-1)%len(line.aliases)]
		}
		fill := func(id, uuid string) string {
			return strings.NewReplacer("{id}", id, "{uuid}", uuid).Replace(route)
		}
		keep := func(a apitest.Answer) apitest.Answer {
			headers := fmt.Sprint(a.Header["Content-Type"], a.Header["Allow"], a.Header["Access-Control-Allow-Origin"])
			out[i] = append(out[i], fmt.Sprintf("%d %s %s", a.Status, headers, changing.ReplaceAllString(a.Body, "<new>")))
			return a
		}
		keep(s.Keyless().Send(fill("1", uuid), line.body)).Want(401)
		if line.bad != "" {
			keep(s.Send(fill("1", uuid), "{")).Want(400)
			keep(s.Send(fill("1", uuid), line.bad))
		}
		if strings.Contains(route, "{") {
			keep(s.Send(fill("99", "5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11"), line.body)).Want(404)
			keep(stranger.Send(fill("1", uuid), line.body)).Want(404)
		}
		good := keep(s.Send(fill("1", uuid), line.body))
		if good.Status >= 300 {
			t.Errorf("%s: %d %s", route, good.Status, good.Body)
		}
		if strings.HasSuffix(route, "generate-reply") {
			uuid = good.Text("conversation_id")
		}
	}
	return out
}
