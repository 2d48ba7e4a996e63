package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

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
		for _, line := range []string{"GET ", "PUT "} {
			other.Send(line+"/user/phone-numbers/sip-trunks/"+id, "").Want(404, `{"error":"No SIP trunk with this id exists in your account."}`)
		}
		other.Send("DELETE /user/phone-numbers/"+id, "").Want(404, `{"error":"No phone number with this id exists in your account."}`)
		other.Send("DELETE /user/phone-numbers/sip-trunks/"+id, "").Want(404, `{"error":"No phone number with this id exists in your account."}`)
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

// TestBuyNumbers searches and buys, and is refused for every reason, at the simulated carrier and payment platform.
//
// Contract: 10.1 10.2 10.3 10.5
func TestBuyNumbers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		found := s.Send("GET /user/phone-numbers/search?contains=5550101", "").Want(200,
			`{"data":[{"phone_number":"+14155550101","phone_number_formatted":"(415) 555-0101","country_code":"US","price":1.15,"billing_price_id":"price_us_local","address_requirements":"none","sms_capable":true}]}`)
		s.Send("GET /user/phone-numbers/search?country=gb&contains=999999", "").Want(200, `{"data":[]}`)
		s.Send("GET /user/phone-numbers/search?country_code=DE&contains=12a", "").WantError(
			"country_code: The selected country code is invalid.", "contains: The contains field format is invalid.")
		s.Send("GET /user/phone-numbers/search?contains=12345678901", "").WantError("contains: The contains field must not be greater than 10 characters.")
		s.Send("PUT /sim/faults", `{"carrier":"search_fails"}`).Want(200)
		s.Send("GET /user/phone-numbers/search", "").Want(500, `{"error":"Failed to search phone numbers. Please try again."}`)

		buy := func(number string) apitest.Answer {
			return s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"`+number+`"}`)
		}
		const notForSale = `{"error":"This phone number cannot be bought here. Pick one from a fresh number search."}`
		s.Send("POST /user/phone-numbers/purchase", `{}`).WantError("phone_number: The phone number field is required.")
		s.Send("POST /user/phone-numbers/purchase", `{"phone_number":4155550100}`).WantError("phone_number: The phone number field must be a string.")
		buy("0415").Want(422, `{"error":"This phone number cannot be read. Send it in E.164 form."}`)
		buy("+4930123456").Want(400, notForSale)
		s.Send("POST /sim/inventory", `{"phone_number":"+14155559999","price":2,"address_requirements":"local","sms_capable":true}`).Want(200)
		buy("+14155559999").Want(400, notForSale)
		s.Send("PUT /sim/account", `{"payment_method":"none"}`).Want(200)
		buy(found.Text("data.0.phone_number")).Want(402, `{"error":"Your account has no payment method. Add one, then buy the number again."}`)
		s.Send("PUT /sim/account", `{"payment_method":"declined"}`).Want(200)
		buy("+14155550101").Want(402, `{"error":"The payment was refused. Check or replace your payment method."}`)
		s.Send("PUT /sim/account", `{"payment_method":"ok"}`).Want(200)
		s.Send("PUT /sim/faults", `{"carrier":"order_fails"}`).Want(200)
		for _, replayed := range []string{"", "true"} { // the money has moved: it is the answer for good
			failed := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550101"}`, "Idempotency-Key: failed").Want(500,
				`{"error":"The carrier could not supply this phone number. Any charge is returned; contact support if this happens again."}`)
			if got := failed.Header.Get("Idempotency-Replayed"); got != replayed {
				t.Errorf("replayed %q, want %q", got, replayed)
			}
		}
		if held := s.Send("GET /sim/payments", "").Want(200); held.Text("data.charges.0.status") != "refunded" || held.Text("data.subscriptions.0.status") != "cancelled" {
			t.Errorf("%s", held.Body)
		}

		bought := buy(" +14155550101 ").Want(201)
		if got, want := bought.Body, `{"message":"The phone number is now yours.","data":{"id":`+bought.Text("data.id")+
			`,"phone_number":"+14155550101","country_code":"US","type":"normal","sms_capable":true}}`; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if held := s.Send("GET /sim/payments", "").Want(200); held.Text("data.subscriptions.0.status") != "cancelled" || held.Text("data.subscriptions.1.status") != "active" {
			t.Errorf("not oldest first: %s", held.Body)
		}
		buy("+14155550101").Want(400, `{"error":"This phone number is taken. Choose another one."}`)
		s.Send("GET /user/phone-numbers/search?contains=5550101", "").Want(200, `{"data":[]}`)
		all := s.Send("GET /user/phone-numbers/all", "").Want(200)
		if all.Text("data.0.has_active_subscription") != "true" || all.Text("data.0.status") != "active" || all.Text("data.0.region") != "San Francisco" || all.Text("data.0.type_label") != "Dedicated Number" {
			t.Errorf("%s", all.Body)
		}
		if texting := s.Send("GET /user/phone-numbers", "").Want(200); texting.Body != all.Body {
			t.Errorf("%s", texting.Body)
		}
		s.Stranger().Send("GET /user/phone-numbers/all", "").Want(200, `{"data":[]}`)
		first := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550102"}`, "Idempotency-Key: once").Want(201)
		s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550102"}`, "Idempotency-Key: once").Want(201, first.Body)
		buy("+14155550100").Want(201)
		held := s.Send("GET /sim/payments", "").Want(200)
		for i, want := range []string{"+14155550101", "+14155550101", "+14155550102", "+14155550100"} {
			if got := held.Text(fmt.Sprintf("data.subscriptions.%d.phone_number", i)); got != want {
				t.Errorf("subscription %d is for %s, want %s", i, got, want)
			}
		}
	})
}

// TestReleaseNumbers lets a dedicated number go at the end of its month, with everything that hangs on it.
//
// Contract: 10.4 14.7
func TestReleaseNumbers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		id := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550101"}`).Want(201).Text("data.id")
		desk := s.Send("POST /user/assistant", `{"name":"Desk","type":"inbound","mode":"pipeline","llm_model_id":1,"voice_id":1,"language_id":1,
			"timezone":"UTC","initial_message":"Hello","system_prompt":"Help.","phone_number_id":`+id+`}`).Want(201).Text("data.id")
		s.Send("DELETE /user/phone-numbers/sip-trunks/"+id, "").Want(404, `{"error":"No phone number with this id exists in your account."}`)
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(200, `{"message":"The phone number is cancelled. It leaves your account when the paid period ends."}`)
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(400, `{"error":"This phone number is cancelled already. It leaves your account when the paid period ends."}`)
		all := s.Send("GET /user/phone-numbers/all", "").Want(200)
		if all.Text("data.0.status") != "scheduled_for_release" || all.Text("data.0.has_active_subscription") != "false" || all.Text("data.0.assistant_ids") != "[]" || all.Text("data.0.release_at") == "<nil>" {
			t.Errorf("%s", all.Body)
		}
		if held := s.Send("GET /sim/payments", "").Want(200); held.Text("data.charges.0.status") != "succeeded" || held.Text("data.subscriptions.0.status") != "cancelled" {
			t.Errorf("%s", held.Body)
		}
		s.Send("GET /user/assistants/phone-numbers", "").Want(200, `[]`)
		s.Send("PUT /user/assistant/"+desk, `{"phone_number_id":`+id+`}`).Want(200) // until it goes
		s.Send("PUT /sim/faults", `{"carrier":"release_fails"}`).Want(200)
		began, err1 := time.Parse(time.RFC3339, all.Text("data.0.created_at"))
		ends, err2 := time.Parse(time.RFC3339, all.Text("data.0.release_at"))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		s.Send("POST /sim/clock/advance", fmt.Sprintf(`{"seconds":%d}`, int(ends.Sub(began).Seconds())+1)).Want(200)
		s.Send("PUT /user/phone-numbers/"+id, `{"nickname":"still here"}`).Want(200)
		s.Send("POST /sim/clock/advance", `{"seconds":3600}`).Want(200)
		s.Send("GET /user/phone-numbers/all", "").Want(200, `{"data":[]}`)
		if got := s.Send("GET /user/assistant/"+desk, "").Want(200).Text("data.phone_number_id"); got != "<nil>" {
			t.Errorf("the assistant keeps number %s", got)
		}
		s.Send("GET /user/phone-numbers/search?contains=5550101", "").Want(200).Text("data.0.phone_number")
	})
}

// TestCallerIDs proves that the account may show a number.
//
// Contract: 18.1 14.7
func TestCallerIDs(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("POST /user/phone-numbers/caller-ids", `{"phone_number":"x"}`).Want(422, `{"error":"This phone number cannot be read. Send it in E.164 form."}`)
		made := s.Send("POST /user/phone-numbers/caller-ids", `{"phone_number":"+493012345678"}`).Want(201)
		id := made.Text("data.id")
		s.Send("GET /user/phone-numbers/all", "").Want(200, `{"data":[]}`)
		s.Stranger().Send("POST /user/phone-numbers/caller-ids/"+id+"/verify", `{"code":"1"}`).Want(404, `{"error":"No phone number with this id exists in your account."}`)
		s.Send("POST /user/phone-numbers/caller-ids/"+id+"/verify", `{}`).WantError("code: The code field is required.")
		s.Send("POST /user/phone-numbers/caller-ids/"+id+"/verify", `{"code":"wrong"}`).WantError("code: The selected code is invalid.")
		text := s.Send("GET /sim/sms?phone=%2B493012345678", "").Want(200).Text("data.0.body")
		code := regexp.MustCompile(`[0-9]{6}`).FindString(text)
		done := s.Send("POST /user/phone-numbers/caller-ids/"+id+"/verify", `{"code":"`+code+`"}`).Want(200)
		if done.Text("data.type") != "caller_id" || done.Text("data.type_label") != "Caller ID" || done.Text("data.country_code") != "DE" {
			t.Errorf("%s", done.Body)
		}
		s.Send("POST /user/phone-numbers/caller-ids", `{"phone_number":"+493012345678"}`).Want(400, `{"error":"This phone number is taken. Choose another one."}`)
		s.Send("GET /user/assistants/phone-numbers?type=inbound", "").Want(200, `[]`)
		s.Send("PUT /sim/faults", `{"carrier":"release_fails"}`).Want(200)
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(500, `{"error":"The phone number could not be released and stays unchanged. Try again, or ask support."}`)
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(200, `{"message":"The phone number was removed."}`)
	})
}
