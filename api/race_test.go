package api_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/calls"
	"parley/db/dbtest"
)

// race is two requests that change one record at once. In texts, {id} is the record, {of} what make says after " of ", and # the number of the round, so that
// every round writes something else.
type race struct {
	name  string
	make  func(s *apitest.Server) string // prepares; the record's id, or more of its path
	again bool                           // make it anew for every round
	a, b  string                         // "PUT /path body"
	read  string                         // "GET /path", or a change of nothing, after the two
	both  []string                       // "data.name=A#": what it must show; empty: only the statuses are looked at
	codes []string                       // what the two may answer, as "200 404"; nil: both 200
	path  string                         // what {id} is in the path of the route; empty: {id}
}

// TestRaces sends two changes at once, in every order that one interruption makes: both are there afterwards, or one is
// refused with the documented answer.
//
// Contract: 1.2 16.5
func TestRaces(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, r := range races {
			t.Run(r.name, func(t *testing.T) { r.run(t, s) })
		}
	})
}

// documentPath is what newDocument's id is in the path of a document's routes.
const documentPath = "{knowledgebaseId}/documents/{documentId}"

// unraced are the updating routes that stand in no race, and why.
var unraced = map[string]string{
	"POST /user/assistants/disable-inbound-webhook":            "the same change as its enable- twin, which is raced",
	"POST /user/assistants/disable-conversation-ended-webhook": "the same change as its enable- twin, which is raced",
	"POST /user/assistants/disable-webhook":                    "the same change as its enable- twin, which is raced",
	"DELETE /web-calls/{uuid}":                                 "changes no record: it tells the process that holds the call",
	"DELETE /sim/inventory/{phone_number}":                     "one guarded statement",
	"PUT /sim/phones/{phone_number}":                           "one statement that writes the whole row",
	"PUT /console/user":                                        "one statement that writes what was sent",
	"PUT /console/account":                                     "one guarded statement",
	"PUT /console/password":                                    "of two the later one counts",
	"DELETE /console/sessions/{id}":                            "one guarded statement",
	"DELETE /console/two-factor":                               "goes whatever it holds",
}

// TestEveryUpdateIsRaced asks of every route that changes or switches a record that it stands in a race, or in unraced.
func TestEveryUpdateIsRaced(t *testing.T) {
	raced := map[string]bool{}
	for _, r := range races {
		for _, request := range []string{r.a, r.b} {
			method, rest, _ := strings.Cut(request, " ")
			path, _, _ := strings.Cut(rest, " ")
			if r.path != "" {
				path = strings.Replace(path, "{id}", r.path, 1)
			}
			path = strings.Replace(path, "/versions/1/", "/versions/{n}/", 1)
			raced[method+" "+path] = true
		}
	}
	switching := regexp.MustCompile(`/(enable-|disable-|update-status|restore|reprocess|rotate)`)
	for _, route := range apitest.New(t, dbtest.SQLite(t)).API.Routes() {
		name := route.Method + " " + route.Path
		if route.Method == "GET" || route.Method == "POST" && !switching.MatchString(route.Path) {
			continue
		}
		if excused := unraced[name] != ""; raced[name] == excused {
			t.Errorf("%s: in a race: %v, excused: %v; want one of the two", name, raced[name], excused)
		}
	}
}

func (r race) run(t *testing.T, s *apitest.Server) {
	here := *s
	s = &here
	s.T = t
	id, made := "", 0
	var codes [2]int
	ready := func(round int) { // for the round to come
		if made == 0 || r.again && made < round {
			id, made = r.make(s), round
		}
	}
	fill := func(text string, round int) string {
		record, of, _ := strings.Cut(id, " of ")
		return strings.NewReplacer("{id}", record, "{of}", of, "#", strconv.Itoa(round)).Replace(text)
	}
	send := func(ctx context.Context, request string, round int) apitest.Answer {
		method, rest, _ := strings.Cut(fill(request, round), " ")
		path, body, _ := strings.Cut(rest, " ")
		return s.In(ctx).Send(method+" "+path, body)
	}
	side := func(n int, request string) func(context.Context, int) {
		return func(ctx context.Context, round int) { codes[n] = send(ctx, request, round).Status }
	}
	ready(1)
	dbtest.Race(t, s.DB, side(0, r.a), side(1, r.b), func(round int) {
		got, allowed := fmt.Sprint(codes[0], " ", codes[1]), r.codes
		if allowed == nil {
			allowed = []string{"200 200"}
		}
		if !slices.Contains(allowed, got) {
			t.Errorf("round %d: answered %s, want one of %v", round, got, allowed)
		}
		if r.read != "" {
			after := send(t.Context(), r.read, round)
			for _, want := range r.both {
				path, value, _ := strings.Cut(fill(want, round), "=")
				if path == "status" {
					if code, _ := strconv.Atoi(value); after.Status != code {
						t.Errorf("round %d: %s answers %d, want %s", round, r.read, after.Status, value)
					}
				} else if shown := after.Text(path); shown != value {
					t.Errorf("round %d: %s is %s, want %s: lost", round, path, shown, value)
				}
			}
		}
		ready(round + 1)
	})
}

// made sends a request and gives the id that its answer holds at a path.
func made(line, body, at string) func(s *apitest.Server) string {
	return func(s *apitest.Server) string { s.T.Helper(); return s.Send(line, body).Text(at) }
}

var (
	newDesk   = made("POST /user/assistant", desk, "data.id")
	newTool   = func(s *apitest.Server) string { return made("POST /user/tools", raceTool(s), "data.id")(s) }
	newBase   = made("POST /user/knowledgebases", `{"name":"Facts"}`, "data.id")
	newMember = func(s *apitest.Server) string {
		return made("POST /user/members", `{"email":"`+fresh(s)+`@p.example","role":"agent"}`, "data.id")(s)
	}
	newFolder = func(s *apitest.Server) string {
		return made("POST /user/folder", `{"name":"`+fresh(s)+`"}`, "data.id")(s)
	}
	newLabel = func(s *apitest.Server) string {
		return made("POST /user/label", `{"name":"`+fresh(s)+`"}`, "data.id")(s)
	}
	newCampaign = func(s *apitest.Server) string {
		a := s.Send("POST /user/assistant", strings.Replace(desk, "inbound", "outbound", 1)).Text("data.id")
		return s.Send("POST /user/campaigns", `{"name":"C","assistant_id":`+a+`}`).Want(201).Text("data.id")
	}
	newLead = func(s *apitest.Server) string {
		return s.Send("POST /user/lead", `{"phone_number":"+491701234567","campaign_id":`+newCampaign(s)+`}`).Want(200).Text("data.id")
	}
	newDocument = func(s *apitest.Server) string {
		base := newBase(s)
		return base + "/documents/" + s.Send("POST /user/knowledgebases/"+base+"/documents", `{"name":"Page","type":"website","links":[{"link":"https://x.example/"}]}`).Want(201).Text("data.id")
	}
	newTrunk = func(s *apitest.Server) string {
		return s.Send("POST /user/phone-numbers/sip-trunks", `{"sip_trunk_type":"extension","phone_number":"`+fresh(s)+`","sip_address":"sip.example.net","sip_username":"user","sip_password":"secret","country_code":"DE","sip_calling_format":"+e164","inbound_authorization_type":"auth"}`).Want(201).Text("data.id")
	}
	newKey  = made("POST /user/api-keys", `{"name":"crm"}`, "api_key.id")
	newChat = func(s *apitest.Server) string {
		_, uuid := assistantOf(s, "")
		return s.Send("POST /conversations", `{"assistant_id":"`+uuid+`"}`).Want(200).Text("conversation_id")
	}
	newCall = func(s *apitest.Server) string {
		acc, err := s.App.Accounts.First(s.T.Context(), s.DB)
		if err != nil {
			s.T.Fatal(err)
		}
		c, err := s.App.Calls.Create(s.T.Context(), s.DB, calls.NewCall{Owner: acc.ID, Type: calls.Inbound, AssistantName: "Desk", Currency: "USD"})
		if err == nil {
			_, err = s.App.Calls.End(s.T.Context(), s.DB, c.ID, calls.Over{Reason: calls.CustomerHangup, Settled: true})
		}
		if err != nil {
			s.T.Fatal(err)
		}
		return fmt.Sprint(c.ID)
	}
	newStart = func(s *apitest.Server) string { // a campaign that can be started
		trunk := newTrunk(s)
		a := s.Send("POST /user/assistant", strings.Replace(strings.Replace(desk, "inbound", "outbound", 1), "{", `{"phone_number_id":`+trunk+`,`, 1)).Want(201).Text("data.id")
		c := s.Send("POST /user/campaigns", `{"name":"C","assistant_id":`+a+`}`).Want(201).Text("data.id")
		s.Send("POST /user/lead", `{"phone_number":"+491701234567","campaign_id":`+c+`}`).Want(200)
		return c + " of " + a
	}
	newTemplate = func(s *apitest.Server) string {
		return s.Send("POST /user/whatsapp/senders/"+newSender(s)+"/templates", `{"name":"hello","language":"en","category":"utility","body_text":"Hi."}`).Want(201).Text("data.id")
	}
	newSender = func(s *apitest.Server) string {
		return s.Send("POST /sim/whatsapp/senders", `{"phone_number":"+1415`+fmt.Sprint(5550000+count(s))+`","display_name":"Shop"}`).Want(200).Text("data.id")
	}
)

// roomForOne lets the plan have one more of a kind, and gives the body of a new one.
func roomForOne(limit, list string) func(s *apitest.Server) string {
	return func(s *apitest.Server) string {
		s.T.Helper()
		s.Send("PUT /sim/account", `{"plan":{"max_assistants":9000}}`).Want(200)
		body := desk
		switch list {
		case "/user/tools":
			body = `"description":"D","endpoint":"https://x.example/","method":"GET"}`
		case "/user/campaigns":
			a := s.Send("POST /user/assistant", strings.Replace(desk, "inbound", "outbound", 1)).Want(201).Text("data.id")
			body = `{"name":"C","assistant_id":` + a + `}`
		}
		all, _ := s.Send("GET "+list, "").Get("").([]any)
		s.Send("PUT /sim/account", fmt.Sprintf(`{"plan":{"%s":%d}}`, limit, len(all)+1)).Want(200)
		s.T.Cleanup(func() { s.Send("PUT /sim/account", `{"plan":{"`+limit+`":null}}`).Want(200) })
		return body
	}
}

func count(s *apitest.Server) (n int) {
	s.T.Helper()
	if err := s.DB.Get(s.T.Context(), &n, `SELECT count(*) + (SELECT count(*) FROM phone_numbers) FROM wa_senders`); err != nil {
		s.T.Fatal(err)
	}
	return n
}

// fresh is a name that was not used before.
func fresh(s *apitest.Server) string {
	s.T.Helper()
	var n int
	if err := s.DB.Get(s.T.Context(), &n, `SELECT (SELECT coalesce(max(id), 0) FROM tools) + (SELECT coalesce(max(id), 0) FROM folders)
		+ (SELECT coalesce(max(id), 0) FROM labels) + (SELECT coalesce(max(id), 0) FROM phone_numbers)`); err != nil {
		s.T.Fatal(err)
	}
	return "n" + strconv.Itoa(n)
}

func raceTool(s *apitest.Server) string {
	return `{"name":"` + fresh(s) + `","description":"D","endpoint":"https://x.example/","method":"GET"}`
}

// gone are the answers of a change and a deletion at once, and of two deletions.
var (
	gone  = []string{"200 200", "404 200"}
	twice = []string{"200 404", "404 200"}
	first = []string{"201 422", "422 201"}
)

var races = []race{
	{name: "member", make: newMember, a: `PUT /user/members/{id} {"role":"viewer"}`, b: `PUT /user/members/{id} {"recordings":true}`,
		read: "GET /user/members/{id}", both: []string{"data.role=viewer", "data.recordings=true"}},
	{name: "member that goes", make: newMember, again: true, a: `PUT /user/members/{id} {"role":"viewer"}`, b: `DELETE /user/members/{id}`,
		codes: []string{"200 200", "404 200"}, read: "GET /user/members/{id}", both: []string{"status=404"}},
	{name: "automatic top-up", make: func(*apitest.Server) string { return "" }, a: `PUT /user/billing/auto-topup {"below":1#}`,
		b:    `PUT /user/billing/auto-topup {"amount":1#}`,
		read: "GET /user/billing", both: []string{"data.auto_topup.below=1#", "data.auto_topup.amount=1#"}},
	// Two changes of different fields: both are there.
	{name: "assistant", make: newDesk, a: `PUT /user/assistant/{id} {"name":"A#"}`, b: `PUT /user/assistant/{id} {"system_prompt":"B#"}`,
		read: "GET /user/assistant/{id}", both: []string{"data.name=A#", "data.system_prompt=B#"}},
	{name: "assistant and switch", make: newDesk, a: `PUT /user/assistant/{id} {"name":"A#"}`,
		b:    `POST /user/assistants/enable-inbound-webhook {"assistant_id":{id},"webhook_url":"https://x.example/#"}`,
		read: "GET /user/assistant/{id}", both: []string{"data.name=A#", "data.inbound_webhook_url=https://x.example/#"}},
	{name: "switch and switch", make: newDesk, a: `POST /user/assistants/enable-webhook {"assistant_id":{id},"webhook_url":"https://x.example/#"}`,
		b:    `POST /user/assistants/enable-conversation-ended-webhook {"assistant_id":{id},"webhook_url":"https://x.example/b#"}`,
		read: "GET /user/assistant/{id}", both: []string{"data.webhook_url=https://x.example/#", "data.conversation_ended_webhook_url=https://x.example/b#"}},
	{name: "restore and switch", make: newDesk, a: `POST /user/assistants/{id}/versions/1/restore`,
		b: `PUT /user/assistant/{id} {"name":"B#"}`, codes: []string{"200 200"}},
	{name: "tool", make: newTool, a: `PUT /user/tools/{id} {"description":"A#"}`, b: `PUT /user/tools/{id} {"endpoint":"https://x.example/#"}`,
		read: "GET /user/tools/{id}", both: []string{"description=A#", "endpoint=https://x.example/#"}},
	{name: "knowledgebase", make: newBase, a: `PUT /user/knowledgebases/{id} {"name":"A#"}`, b: `PUT /user/knowledgebases/{id} {"description":"B#"}`,
		read: "GET /user/knowledgebases/{id}", both: []string{"data.name=A#", "data.description=B#"}},
	{name: "document", make: newDocument, path: documentPath, a: `PUT /user/knowledgebases/{id} {"name":"A#"}`, b: `PUT /user/knowledgebases/{id} {"description":"B#"}`,
		read: "GET /user/knowledgebases/{id}", both: []string{"data.name=A#", "data.description=B#"}},
	{name: "document read again", make: newDocument, path: documentPath, a: `PUT /user/knowledgebases/{id} {"name":"A#"}`, b: `POST /user/knowledgebases/{id}/reprocess`,
		read: "GET /user/knowledgebases/{id}", both: []string{"data.name=A#", "data.status=processing"}},
	{name: "folder", make: newFolder, a: `PUT /user/folder/{id} {"name":"A#"}`, b: `PUT /user/folder/{id} {"color":"red"}`,
		read: "GET /user/folders", both: []string{"data.0.name=A#", "data.0.color=red"}},
	{name: "label", make: newLabel, a: `PUT /user/label/{id} {"name":"A#"}`, b: `PUT /user/label/{id} {"color":"red"}`,
		read: "GET /user/labels", both: []string{"data.0.name=A#", "data.0.color=red"}},
	{name: "campaign", make: newCampaign, a: `PUT /user/campaigns/{id} {"name":"A#"}`, b: `PUT /user/campaigns/{id} {"goal_completion_variable":null,"retry_interval":1#}`,
		read: "GET /user/campaigns/{id}", both: []string{"data.name=A#", "data.retry_interval=1#"}},
	{name: "lead", make: newLead, a: `PUT /user/leads/{id} {"variables":{"a":"A#"}}`, b: `PUT /user/leads/{id} {"variables":{"b":"B#"}}`,
		read: "GET /user/leads", both: []string{"data.0.variables.a=A#", "data.0.variables.b=B#"}},
	{name: "profile", make: func(*apitest.Server) string { return "1" }, a: `PUT /user/me {"name":"A#"}`, b: `PUT /user/me {"timezone":"Europe/Berlin"}`,
		read: "GET /user/me", both: []string{"name=A#", "timezone=Europe/Berlin"}},
	{name: "terms", make: func(*apitest.Server) string { return "1" }, a: `PUT /sim/account {"plan":{"max_tools":90#}}`, b: `PUT /sim/account {"plan":{"max_assistants":90#}}`,
		read: "GET /user/plan", both: []string{"data.tools.most=90#", "data.assistants.most=90#"}},
	{name: "trunk", make: newTrunk, a: `PUT /user/phone-numbers/sip-trunks/{id} {"nickname":"A#"}`, b: `PUT /user/phone-numbers/sip-trunks/{id} {"port":507#}`,
		read: "GET /user/phone-numbers/sip-trunks/{id}", both: []string{"data.nickname=A#", "data.port=507#"}},
	{name: "trunk and number", make: newTrunk, a: `PUT /user/phone-numbers/{id} {"nickname":"A#"}`, b: `PUT /user/phone-numbers/sip-trunks/{id} {"port":507#}`,
		read: "GET /user/phone-numbers/sip-trunks/{id}", both: []string{"data.nickname=A#", "data.port=507#"}},
	{name: "sender", make: newSender, a: `PUT /user/whatsapp/senders/{id} {"display_name":"A#"}`, b: `PUT /user/whatsapp/senders/{id} {"ai_enabled":false}`,
		read: "GET /user/whatsapp/senders?status=all", both: []string{"data.0.display_name=A#", "data.0.ai_enabled=false"}},
	{name: "simulated sender", make: newSender, a: `PUT /sim/whatsapp/senders/{id} {"display_name":"A#"}`, b: `PUT /sim/whatsapp/senders/{id} {"messaging_limit":1#}`,
		read: `PUT /sim/whatsapp/senders/{id} {"sync":true}`, both: []string{"data.display_name=A#", "data.messaging_limit=1#"}},

	{name: "webhook secret", make: fresh, a: `POST /user/webhook-secret/rotate`, b: `POST /user/webhook-secret/rotate`},
	{name: "assistant of a conversation off and on", make: newChat, path: "{uuid}", a: `POST /automate/conversations/{id}/disable-ai`, b: `POST /automate/conversations/{id}/enable-ai`},
	{name: "campaign started and renamed", make: newStart, again: true, a: `POST /user/campaigns/update-status {"campaign_id":{id},"action":"start"}`, b: `PUT /user/campaigns/{id} {"name":"B#"}`,
		read: "GET /user/campaigns/{id}", both: []string{"data.name=B#", "data.status=in-progress"}},
	{name: "campaign started and its assistant paused", make: newStart, again: true, a: `POST /user/campaigns/update-status {"campaign_id":{id},"action":"start"}`,
		b: `PUT /user/assistant/{of} {"status":"inactive"}`, codes: []string{"200 200", "400 200"},
		read: `POST /user/campaigns/update-status {"campaign_id":{id},"action":"stop"}`, both: []string{"status=400"}}, // it does not run
	{name: "campaign started and its assistant deleted", make: newStart, again: true, a: `POST /user/campaigns/update-status {"campaign_id":{id},"action":"start"}`,
		b: `DELETE /user/assistant/{of}`, codes: []string{"200 200", "400 200"},
		read: `POST /user/campaigns/update-status {"campaign_id":{id},"action":"stop"}`, both: []string{"status=400"}},
	{name: "vendor settings", make: func(*apitest.Server) string { return "anthropic" }, a: `PUT /user/providers/{id} {"models":["m#"]}`,
		b: `PUT /user/providers/{id} {"api_key":"k#"}`, read: "GET /user/assistants/models?type=llm", both: []string{"status=200"}, path: "{code}"},
	{name: "simulated failures", make: fresh, a: `PUT /sim/faults {"carrier":"search_fails","whatsapp":"timeout"}`, b: `PUT /sim/faults {"whatsapp":"ok","carrier":"ok"}`},
	{name: "simulated template", make: newTemplate, a: `PUT /sim/whatsapp/templates/{id} {"body_text":"A#"}`, b: `PUT /sim/whatsapp/templates/{id} {"name":"b#"}`,
		read: `PUT /sim/whatsapp/templates/{id} {"sync":true}`, both: []string{"data.body_text=A#", "data.name=b#"}},

	// Two changes that exclude each other: one is refused.
	{name: "campaign's hours", make: newCampaign, again: true, a: `PUT /user/campaigns/{id} {"allowed_hours_start_time":"09:00"}`,
		b: `PUT /user/campaigns/{id} {"allowed_hours_end_time":"09:00"}`, codes: []string{"200 422", "422 200"}},
	{name: "trunk's ways in", make: newTrunk, again: true, a: `PUT /user/phone-numbers/sip-trunks/{id} {"inbound_authorization_type":"ip","allowed_inbound_ips":["203.0.113.7"]}`,
		b: `PUT /user/phone-numbers/sip-trunks/{id} {"allowed_inbound_ips":[]}`, codes: []string{"200 422", "200 200", "422 200"}},

	// A change and a deletion: what was deleted stays away.
	{name: "assistant deleted", make: newDesk, again: true, a: `PUT /user/assistant/{id} {"name":"A#"}`, b: `DELETE /user/assistant/{id}`,
		codes: gone, read: "GET /user/assistant/{id}", both: []string{"status=404"}},
	{name: "switch and deletion", make: newDesk, again: true, a: `POST /user/assistants/enable-inbound-webhook {"assistant_id":{id},"webhook_url":"https://x.example/#"}`, b: `DELETE /user/assistant/{id}`,
		codes: gone, read: "GET /user/assistant/{id}", both: []string{"status=404"}},
	{name: "tool deleted", make: newTool, again: true, a: `PUT /user/tools/{id} {"description":"A#"}`, b: `DELETE /user/tools/{id}`,
		codes: gone, read: "GET /user/tools/{id}", both: []string{"status=404"}},
	{name: "knowledgebase deleted", make: newBase, again: true, a: `PUT /user/knowledgebases/{id} {"name":"A#"}`, b: `DELETE /user/knowledgebases/{id}`,
		codes: gone, read: "GET /user/knowledgebases/{id}", both: []string{"status=404"}},
	{name: "document deleted", make: newDocument, path: documentPath, again: true, a: `PUT /user/knowledgebases/{id} {"name":"A#"}`, b: `DELETE /user/knowledgebases/{id}`,
		codes: gone, read: "GET /user/knowledgebases/{id}", both: []string{"status=404"}},
	{name: "folder deleted", make: newFolder, again: true, a: `PUT /user/folder/{id} {"name":"A#"}`, b: `DELETE /user/folder/{id}`, codes: gone},
	{name: "label deleted", make: newLabel, again: true, a: `PUT /user/label/{id} {"name":"A#"}`, b: `DELETE /user/label/{id}`, codes: gone},
	{name: "campaign deleted", make: newCampaign, again: true, a: `PUT /user/campaigns/{id} {"name":"A#"}`, b: `DELETE /user/campaign/{id}`,
		codes: gone, read: "GET /user/campaigns/{id}", both: []string{"status=404"}},
	{name: "lead deleted", make: newLead, again: true, a: `PUT /user/leads/{id} {"variables":{"a":"A#"}}`, b: `DELETE /user/leads/{id}`, codes: gone},
	{name: "trunk deleted", make: newTrunk, again: true, a: `PUT /user/phone-numbers/sip-trunks/{id} {"nickname":"A#"}`, b: `DELETE /user/phone-numbers/sip-trunks/{id}`,
		codes: gone, read: "GET /user/phone-numbers/sip-trunks/{id}", both: []string{"status=404"}},
	{name: "number deleted", make: newTrunk, again: true, a: `PUT /user/phone-numbers/{id} {"nickname":"A#"}`, b: `DELETE /user/phone-numbers/{id}`, codes: gone},
	{name: "sender deleted", make: newSender, again: true, a: `PUT /user/whatsapp/senders/{id} {"ai_enabled":false}`, b: `DELETE /user/whatsapp/senders/{id}`, codes: gone},

	// Two deletions: one finds nothing.
	{name: "assistant twice deleted", make: newDesk, again: true, a: `DELETE /user/assistant/{id}`, b: `DELETE /user/assistant/{id}`, codes: twice},
	{name: "tool twice deleted", make: newTool, again: true, a: `DELETE /user/tools/{id}`, b: `DELETE /user/tools/{id}`, codes: twice},
	{name: "knowledgebase twice deleted", make: newBase, again: true, a: `DELETE /user/knowledgebases/{id}`, b: `DELETE /user/knowledgebases/{id}`, codes: twice},
	{name: "document twice deleted", make: newDocument, path: documentPath, again: true, a: `DELETE /user/knowledgebases/{id}`, b: `DELETE /user/knowledgebases/{id}`, codes: twice},
	{name: "campaign twice deleted", make: newCampaign, again: true, a: `DELETE /user/campaign/{id}`, b: `DELETE /user/campaign/{id}`, codes: twice},
	{name: "lead twice deleted", make: newLead, again: true, a: `DELETE /user/leads/{id}`, b: `DELETE /user/leads/{id}`, codes: twice},
	{name: "trunk twice deleted", make: newTrunk, again: true, a: `DELETE /user/phone-numbers/sip-trunks/{id}`, b: `DELETE /user/phone-numbers/sip-trunks/{id}`, codes: twice},
	{name: "sender twice deleted", make: newSender, again: true, a: `DELETE /user/whatsapp/senders/{id}`, b: `DELETE /user/whatsapp/senders/{id}`, codes: twice},

	{name: "key twice deleted", make: newKey, again: true, a: `DELETE /user/api-keys/{id}`, b: `DELETE /user/api-keys/{id}`, codes: twice},
	{name: "call twice deleted", make: newCall, again: true, a: `DELETE /user/calls/{id}`, b: `DELETE /user/calls/{id}`, codes: twice},
	{name: "blocked number twice deleted", make: made("POST /user/do-not-call", `{"phone_number":"+491701234568"}`, "data.id"), again: true,
		a: `DELETE /user/do-not-call/{id}`, b: `DELETE /user/do-not-call/{id}`, codes: twice},

	// Two where the plan has room for one.
	{name: "limit of assistants", make: roomForOne("max_assistants", "/user/assistants"), again: true, a: `POST /user/assistant {id}`, b: `POST /user/assistant {id}`,
		codes: []string{"201 403", "403 201"}},
	{name: "limit of tools", make: roomForOne("max_tools", "/user/tools"), again: true, a: `POST /user/tools {"name":"a#",{id}`, b: `POST /user/tools {"name":"b#",{id}`,
		codes: []string{"201 422", "422 201"}},
	{name: "limit of campaigns", make: roomForOne("max_campaigns", "/user/campaigns"), again: true, a: `POST /user/campaigns {id}`, b: `POST /user/campaigns {id}`,
		codes: []string{"201 403", "403 201"}},

	// Two of one name or number: one is refused.
	{name: "folder's name", make: fresh, again: true, a: `POST /user/folder {"name":"{id}"}`, b: `POST /user/folder {"name":"{id}"}`, codes: first},
	{name: "label's name", make: fresh, again: true, a: `POST /user/label {"name":"{id}"}`, b: `POST /user/label {"name":"{id}"}`, codes: first},
	{name: "tool's name", make: raceTool, again: true, a: `POST /user/tools {id}`, b: `POST /user/tools {id}`, codes: first},
	{name: "lead's number", make: newCampaign, again: true, a: `POST /user/lead {"phone_number":"+491701234567","campaign_id":{id}}`,
		b: `POST /user/lead {"phone_number":"+491701234567","campaign_id":{id}}`, codes: []string{"200 422", "422 200"}},
}
