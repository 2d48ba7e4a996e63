package api_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/accounts"
	"parley/api/apitest"
	"parley/value"
)

// dialling fills the server with what campaigns need: an assistant that calls with a goal, one more, one that does not
// call, a number.
func dialling(s *apitest.Server) {
	made := func(body string) apitest.Answer { return s.Send("POST /user/assistant", body).Want(201) }
	goal := `,"post_call_schema":[{"name":"agreed","type":"bool","description":"whether"},{"name":"note","type":"string","description":"whether"}]}`
	desk := made(strings.TrimSuffix(callAssistant("outbound"), "}") + goal)
	s.Keep("desk", desk.Text("data.id"))
	s.Keep("uuid", s.Send("GET /user/assistant/"+s.Kept("desk"), "").Want(200).Text("data.uuid"))
	s.Keep("other", made(callAssistant("outbound")).Text("data.id"))
	s.Keep("inbound", made(callAssistant("inbound")).Text("data.id"))
	s.Keep("number", s.Send("POST /user/phone-numbers/sip-trunks", `{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"ada",
		"sip_password":"secret!","sip_address":"sip.p.example","sip_calling_format":"+e164","inbound_authorization_type":"auth"}`).Want(201).Text("data.id"))
}

// TestCampaigns makes, lists, changes, starts, stops and removes campaigns, with every refusal.
//
// Contract: 6.1 6.2 6.3 6.4 6.5 14.3 17 18.1
func TestCampaigns(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		dialling(s)
		s.Cases("testdata/campaigns.http")
	})
}

// TestCampaignLimits meets the plan: the number of campaigns, their calls at once.
//
// Contract: 6.2 16.5
func TestCampaignLimits(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		s.Send("POST /user/campaigns", `{"name":"a","assistant_id":`+id+`,"max_calls_in_parallel":10}`).Want(201)
		narrow := accounts.Terms{Plan: &accounts.Overrides{ParallelPerCampaign: value.Some(int64(2))}}
		if _, err := s.App.Accounts.SetTerms(t.Context(), s.DB, operator(t, s), narrow); err != nil {
			t.Fatal(err)
		}
		if made := s.Send("POST /user/campaigns", `{"name":"n","assistant_id":`+id+`}`).Want(201); made.Text("data.max_calls_in_parallel") != "2" {
			t.Errorf("the default is above the plan: %s", made.Body)
		}
		few := accounts.Terms{Plan: &accounts.Overrides{MaxCampaigns: value.Some(int64(1)), ParallelPerCampaign: value.Some(int64(4))}}
		if _, err := s.App.Accounts.SetTerms(t.Context(), s.DB, operator(t, s), few); err != nil {
			t.Fatal(err)
		}
		s.Send("POST /user/campaigns", `{"name":"b","assistant_id":`+id+`,"max_calls_in_parallel":5}`).WantError(
			"max_calls_in_parallel: The max calls in parallel field must be between 1 and 4.")
		s.Send("POST /user/campaigns", `{"name":"b","assistant_id":999}`).Want(404, `{"message":"No outbound assistant with this id exists in your account."}`)
		s.Send("POST /user/campaigns", `{"name":"b","assistant_id":`+id+`}`).Want(403, `{"message":"Your plan allows no further campaigns. Delete one, or change the plan."}`)
		if got := s.Send("GET /user/campaigns", "").Want(200); got.Text("1.max_calls_in_parallel") != "10" {
			t.Errorf("a lower plan broke what was there: %s", got.Body)
		}
	})
}

// TestCampaignStart is refused its start for every reason and then starts: leads become scheduled, a stop gives them back.
//
// Contract: 6.4 14.3 14.4 16.4
func TestCampaignStart(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		id := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		lead := s.Send("POST /user/lead", `{"phone_number":"+491700000001","campaign_id":`+id+`}`).Want(200).Text("data.id")
		press := func(action string) apitest.Answer {
			return s.Send("POST /user/campaigns/update-status", `{"campaign_id":`+id+`,"action":"`+action+`"}`)
		}
		refused := func(sentence, status string) string {
			return fmt.Sprintf(`{"message":%q,"success":false,"data":{"campaign_id":%s,"status":%q}}`, sentence, id, status)
		}
		for _, kind := range []string{"direct", "tenant"} {
			s.Send("PUT /sim/account", `{"balance":0,"account_kind":"`+kind+`"}`).Want(200)
			press("start").Want(400, refused("Your balance is too low to start this campaign. Add funds, then try again.", "draft"))
		}
		s.Send("PUT /sim/account", `{"balance":100}`).Want(200)
		s.Send("PUT /user/assistant/"+desk, `{"is_active":false}`)
		other := s.Stranger()
		other.Send("POST /user/campaigns/update-status", `{"campaign_id":`+id+`,"action":"start"}`).Want(404, `{"message":"No campaign with this id exists in your account.","success":false}`)
		for _, line := range []string{"GET /user/campaigns/" + id, "PUT /user/campaigns/" + id, "DELETE /user/campaign/" + id} {
			other.Send(line, "{}").Want(404, `{"message":"No campaign with this id exists in your account."}`)
		}
		for _, line := range []string{"GET /user/leads/" + lead, "PUT /user/leads/" + lead, "DELETE /user/leads/" + lead} {
			other.Send(line, "{}").Want(404, `{"message":"No lead with this id exists in your account."}`)
		}
		other.Send("POST /user/lead", `{"phone_number":"+491700000002","campaign_id":`+id+`}`).Want(404, `{"message":"No campaign with this id exists in your account."}`)
		other.Send("GET /user/campaigns", "").Want(200, `[]`)
		if got := other.Send("GET /user/leads?campaign_id="+id, "").Want(200).Text("total"); got != "0" {
			t.Errorf("a stranger sees %s leads", got)
		}

		press("start").Want(200, `{"message":"The campaign is now running.","success":true,"data":{"campaign_id":`+id+`,"status":"in-progress"}}`)
		press("start").Want(400, refused("This campaign is running already. Stop it first to change or restart it.", "in-progress"))
		got := s.Send("GET /user/leads/"+lead, "").Want(200)
		if got.Text("data.status") != "scheduled" || got.Text("data.next_attempt_at") == "<nil>" || got.Text("data.attempts") != "0" {
			t.Errorf("%s", got.Body)
		}
		s.Send("POST /user/do-not-call", `{"phone_number":"+491700000001"}`).Want(200)
		if got := s.Send("GET /user/leads/"+lead, "").Want(200); got.Text("data.status") != "blacklisted" || got.Text("data.next_attempt_at") != "<nil>" {
			t.Errorf("on the do-not-call list: %s", got.Body)
		}
		again := s.Send("POST /user/lead", `{"phone_number":"+491700000003","campaign_id":`+id+`}`).Want(200)
		if again.Text("data.status") != "scheduled" {
			t.Errorf("added to a running campaign: %s", again.Body)
		}
		press("stop").Want(200, `{"message":"The campaign is now stopped.","success":true,"data":{"campaign_id":`+id+`,"status":"stopped"}}`)
		press("stop").Want(400, refused("Only a running campaign can be stopped.", "stopped"))
		if got := s.Send("GET /user/leads/"+again.Text("data.id"), "").Want(200); got.Text("data.status") != "created" {
			t.Errorf("after the stop: %s", got.Body)
		}
		if got := s.Send("GET /user/campaigns/"+id, "").Want(200); got.Text("data.stop_reason") != "user" ||
			!strings.HasSuffix(got.Body, `"leads_count":{"total":2,"open":1,"completed":0,"failed":1}}}`) {
			t.Errorf("%s", got.Body)
		}
		s.Send("DELETE /user/assistant/"+desk, "").Want(200)
		press("start").Want(400, refused("Assistant is inactive.", "stopped"))
	})
}

// TestLeads adds, lists, changes and removes leads, with every refusal.
//
// Contract: 7.1 7.2 7.3 7.4 7.5 1.7 1.13 17
func TestLeads(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		dialling(s)
		for _, name := range []string{"spring", "other"} {
			s.Keep(name, s.Send("POST /user/campaigns", `{"name":"`+name+`","assistant_id":`+s.Kept("desk")+`}`).Want(201).Text("data.id"))
		}
		s.Send("POST /user/do-not-call", `{"phone_number":"+491700000009"}`).Want(200)
		s.Cases("testdata/leads.http")
	})
}
