package api_test

import (
	"fmt"
	"testing"
	"time"

	"parley/accounts"
	"parley/api/apitest"
	"parley/value"
)

// TestTollFraud is refused calls, leads and texts to numbers that cost the account and pay somebody else.
//
// Contract: 5.1 6.6 12
func TestTollFraud(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		own := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550101"}`).Want(201).Text("data.id")
		campaign := s.Send("POST /user/campaigns", `{"name":"x","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		var leads []string
		for _, number := range []string{"+19002345678", "+499001234567", "+491801234567", "+881612345678", "+44901234567899"} {
			s.Send("POST /user/make_call", `{"phone_number":"`+number+`","assistant_id":`+desk+`}`).Want(422, `{"message":"Calls to this destination are not allowed."}`)
			s.Send("POST /user/sms", `{"from":`+own+`,"to":"`+number+`","body":"x"}`).Want(400, `{"message":"Texts to this destination are not allowed."}`)
			leads = append(leads, s.Send("POST /user/lead", `{"phone_number":"`+number+`","campaign_id":`+campaign+`}`).Want(200).Text("data.id"))
		}
		s.Send("POST /user/phone-numbers/caller-ids", `{"phone_number":"+19002345678"}`).Want(422, `{"error":"Calls to this destination are not allowed."}`)
		s.Send("POST /user/campaigns/update-status", `{"campaign_id":`+campaign+`,"action":"start"}`).Want(200)
		if err := s.App.Campaigns.Tick(t.Context(), s.DB.Now()); err != nil {
			t.Fatal(err)
		}
		for _, id := range leads {
			if got := s.Send("GET /user/leads/"+id, "").Want(200); got.Text("data.status") != "reached-max-retries" || got.Text("data.last_call_id") != "<nil>" {
				t.Errorf("%s", got.Body)
			}
		}
		if got := s.Send("GET /user/calls", "").Want(200).Text("total"); got != "0" {
			t.Errorf("%s calls were placed", got)
		}
	})
}

// TestTextsToAllowedCountries refuses texts, as it does calls, to countries that are not allowed; nothing is booked.
//
// Contract: 12 5.1
func TestTextsToAllowedCountries(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		own := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550101"}`).Want(201).Text("data.id")
		s.App.Messaging.Phones.Countries = []string{"US"}
		before := s.Send("GET /user/me", "").Want(200).Body
		s.Send("POST /user/sms", `{"from":`+own+`,"to":"+491701234567","body":"x"}`).Want(400, `{"message":"Texts to this destination are not allowed."}`)
		if after := s.Send("GET /user/me", "").Want(200).Body; string(after) != string(before) {
			t.Errorf("%s, before %s", after, before)
		}
		s.Send("POST /user/sms", `{"from":`+own+`,"to":"+14155550199","body":"x"}`).Want(200)
	})
}

// TestCallCeilings reaches the calls an account may place in a minute and in a day; deleting records makes no room.
//
// Contract: 1.12 5.1 6.6 16.5
func TestCallCeilings(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		desk := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).Text("data.id")
		call := func() apitest.Answer {
			return s.Send("POST /user/make_call", `{"phone_number":"+491701234567","assistant_id":`+desk+`}`)
		}
		s.App.Switchboard.CallsPerMinute = 2
		for range 2 {
			id := call().Want(200).Text("call_id")
			s.Send("POST /user/calls/"+id+"/hangup", "").Want(200)
			s.Send("DELETE /user/calls/"+id, "").Want(200)
		}
		full := call()
		wait := full.ID("retry_after")
		full.Want(429, fmt.Sprintf(`{"message":"Too many requests. Wait the stated seconds, then try again.","retry_after":%d}`, wait))
		if wait < 1 || wait > 60 || full.Header.Get("Retry-After") != fmt.Sprint(wait) {
			t.Errorf("wait %d s, header %q", wait, full.Header.Get("Retry-After"))
		}
		s.App.Switchboard.CallsPerMinute = 0

		day := accounts.Terms{Plan: &accounts.Overrides{DailyOutbound: value.Some(int64(3))}}
		if _, err := s.App.Accounts.SetTerms(t.Context(), s.DB, operator(t, s), day); err != nil {
			t.Fatal(err)
		}
		call().Want(200)
		if wait := call().Want(429).ID("retry_after"); wait != 86400 {
			t.Errorf("the next call of the day in %d s", wait)
		}
		// A campaign waits for the same ceiling.
		campaign := s.Send("POST /user/campaigns", `{"name":"x","assistant_id":`+desk+`}`).Want(201).Text("data.id")
		lead := s.Send("POST /user/lead", `{"phone_number":"+491700000001","campaign_id":`+campaign+`}`).Want(200).Text("data.id")
		s.Send("POST /user/campaigns/update-status", `{"campaign_id":`+campaign+`,"action":"start"}`).Want(200)
		tick := func(want string) {
			t.Helper()
			if err := s.App.Campaigns.Tick(t.Context(), s.DB.Now()); err != nil {
				t.Fatal(err)
			}
			if got := s.Send("GET /user/leads/"+lead, "").Text("data.status"); got != want {
				t.Errorf("the lead is %s, want %s", got, want)
			}
		}
		tick("scheduled")
		if err := s.DB.AdvanceTo(t.Context(), s.DB.Now().Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		tick("processing")
	})
}
