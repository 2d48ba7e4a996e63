package api_test

import (
	"strings"
	"testing"

	"parley/api/apitest"
)

// TestTrunks makes, changes and deletes SIP trunks, which are numbers too.
//
// Contract: 10.4 10.5 10.6 10.7
func TestTrunks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Cases("testdata/trunks.http")
		const body = `{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"ada","sip_password":"secret!","sip_address":"sip.p.example",
			"sip_calling_format":"+e164","inbound_authorization_type":"auth"}`
		made := s.Send("POST /user/phone-numbers/sip-trunks", body).Want(201)
		id := made.Text("data.id")
		if strings.Contains(made.Body, "secret!") || !strings.HasPrefix(made.Text("data.inbound_trunk_id"), "trk_") {
			t.Errorf("%s", made.Body)
		}
		other := s.Stranger()
		for _, line := range []string{"GET ", "PUT ", "DELETE "} {
			other.Send(line+"/user/phone-numbers/sip-trunks/"+id, "").Want(404, `{"error":"No SIP trunk with this id exists in your account."}`)
		}
		other.Send("DELETE /user/phone-numbers/"+id, "").Want(404, `{"error":"No phone number with this id exists in your account."}`)
		other.Send("PUT /user/phone-numbers/"+id, `{"nickname":"x"}`).Want(404, `{"error":"No phone number with this id exists in your account."}`)
		other.Send("GET /user/phone-numbers/sip-trunks", "").Want(200, `{"data":[]}`)
		other.Send("GET /user/phone-numbers/all", "").Want(200, `{"data":[]}`)

		desk := s.Send("POST /user/assistant", `{"name":"Desk","type":"inbound","mode":"pipeline","llm_model_id":1,"voice_id":1,"language_id":1,
			"timezone":"UTC","initial_message":"Hello","system_prompt":"Help.","phone_number_id":`+id+`}`).Want(201).Text("data.id")
		if got := s.Send("GET /user/phone-numbers/all", "").Want(200).Text("data.0.assistant_ids"); got != "["+desk+"]" {
			t.Errorf("assistants %s", got)
		}
		s.Send("GET /user/assistants/phone-numbers?type=inbound", "").Want(200, `[]`)
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(200, `{"message":"The phone number was removed."}`)
		if got := s.Send("GET /user/assistant/"+desk, "").Want(200).Text("data.phone_number_id"); got != "<nil>" {
			t.Errorf("the assistant keeps number %s", got)
		}
	})
}

// TestNumbersWithoutACarrier searches and buys where nothing is sold.
//
// Contract: 10.2 10.3 18.1
func TestNumbersWithoutACarrier(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for query, want := range map[string]string{
			"": `{"data":[]}`, "?country=gb&contains=123": `{"data":[]}`, "?country_code=GB": `{"data":[]}`,
		} {
			s.Send("GET /user/phone-numbers/search"+query, "").Want(200, want)
		}
		s.Send("GET /user/phone-numbers/search?country_code=DE&contains=12a", "").WantError(
			"country_code: The selected country code is invalid.", "contains: The contains field format is invalid.")
		s.Send("GET /user/phone-numbers/search?contains=12345678901", "").WantError("contains: The contains field must not be greater than 10 characters.")
		s.Send("POST /user/phone-numbers/purchase", `{}`).WantError("phone_number: The phone number field is required.")
		s.Send("POST /user/phone-numbers/purchase", `{"phone_number":4155550100}`).WantError("phone_number: The phone number field must be a string.")
		s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"0415"}`).Want(422, `{"error":"This phone number cannot be read. Send it in E.164 form."}`)
		s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550100"}`).Want(400, `{"error":"This phone number cannot be bought here. Pick one from a fresh number search."}`)
		s.Send("POST /user/phone-numbers/caller-ids/9/verify", `{}`).Want(404, `{"error":"No phone number with this id exists in your account."}`)
		s.Send("GET /user/phone-numbers", "").Want(200, `{"data":[]}`)
	})
}
