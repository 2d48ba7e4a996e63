package api_test

import (
	"strings"
	"testing"

	"parley/api/apitest"
)

// TestVariablesKeepTheirOrder follows variables from what a customer sends to every answer and webhook that shows them.
//
// Contract: 4.2 5.2 7.1 7.4 13.3 13.5
func TestVariablesKeepTheirOrder(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const sent, kept = `{"z":"<b>","a":1, "m m":null,"b":true,"y":12.50,"k":9007199254740993}`, `{"z":"<b>","a":1,"m m":null,"b":true,"y":12.5,"k":9007199254740993}`
		shows := func(a apitest.Answer, key, object string) {
			t.Helper()
			if want := `"` + key + `":` + object; a.Status >= 300 || !strings.Contains(a.Body, want) {
				t.Errorf("no %s in %d %s", want, a.Status, a.Body)
			}
		}
		id := s.Send("POST /user/assistant", strings.TrimSuffix(callAssistant("outbound"), "}")+`,"variables":`+sent+`}`).Want(201).Text("data.id")
		for _, list := range []string{"assistant/" + id, "assistants", "assistants/get", "assistants/outbound"} {
			shows(s.Send("GET /user/"+list, ""), "variables", kept)
		}
		s.Send("PUT /user/assistant/"+id, `{"variables":{"b":1,"a":2}}`).Want(200)
		s.Send("POST /user/assistants/"+id+"/versions/1/restore", "").Want(200)
		uuid := s.Send("GET /user/assistant/"+id, "").Want(200).Text("data.uuid")
		shows(s.Send("GET /user/assistant/"+id, ""), "variables", kept)

		call := s.Send("POST /user/make_call", `{"phone_number":"+491701234567","assistant_id":`+id+`,"variables":`+sent+`}`).Want(200).Text("call_id")
		shows(s.Send("GET /user/calls/"+call, ""), "input_variables", kept)

		campaign := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+id+`}`).Want(201).Text("data.id")
		lead := s.Send("POST /user/lead", `{"phone_number":"+491701234567","campaign_id":`+campaign+`,"variables":[{"b":1,"z":2},{"a":3,"b":4}],"secondary_contacts":[{"phone_number":"+491701234568","variables":`+sent+`}]}`).Want(200)
		shows(lead, "variables", `{"b":4,"z":2,"a":3}`)
		shows(s.Send("GET /user/leads", ""), "variables", kept)
		shows(s.Send("PUT /user/leads/"+lead.Text("data.id"), `{"variables":{"y":1,"z":null,"b":5}}`), "variables", `{"b":5,"a":3,"y":1}`)

		chat := s.Keyless().Send("POST /conversations", `{"assistant_id":"`+uuid+`","variables":`+sent+`}`).Want(200).Text("conversation_id")
		shows(s.Keyless().Send("GET /conversations/"+chat, ""), "variables", kept)
		shows(s.Send("GET /user/conversations", ""), "variables", kept)
		for _, variables := range []string{sent, `{"c":7,"a":8}`} {
			s.Send("POST /user/ai/generate-reply", `{"assistant_id":`+id+`,"customer_identifier":"crm","message":"Hi","variables":`+variables+`}`).Want(200)
		}
		shows(s.Send("GET /user/conversations?type=api", ""), "variables", `{"z":"<b>","a":8,"m m":null,"b":true,"y":12.5,"k":9007199254740993,"c":7}`)
	})
}
