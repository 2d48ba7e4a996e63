package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api/apitest"
)

const customer = "+491701234567"

// advance moves the clock and waits for what fell due.
func advance(s *apitest.Server, d time.Duration) {
	s.T.Helper()
	if a := s.Send("POST /sim/clock/advance", fmt.Sprintf(`{"seconds":%d}`, int(d.Seconds()))).Want(200); a.Text("data.settled") != "true" {
		s.T.Errorf("not settled: %s", a.Body)
	}
}

func session(s *apitest.Server, sender, phone string) apitest.Answer {
	s.T.Helper()
	return s.Send("GET /user/whatsapp/session-status?sender_id="+sender+"&recipient_phone="+strings.Replace(phone, "+", "%2B", 1), "")
}

func refusal(code, text string) string {
	return `{"success":false,"error":"` + text + `","error_code":"` + code + `"}`
}

// TestSendChecks meets every check of a template send in its order: each request fails everything that is still to come.
//
// Contract: 1.2 11.5 16.4
func TestSendChecks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender := s.Send("POST /sim/whatsapp/senders", `{"phone_number":"+14155550123","status":"pending","messaging_limit":1}`).Want(200).Text("data.id")
		other := s.Send("POST /sim/whatsapp/senders", `{"phone_number":"+14155550124"}`).Want(200).Text("data.id")
		theirs := s.Send("POST /sim/whatsapp/senders/"+other+"/templates", `{"name":"other","body_text":"Hi."}`).Want(200).Text("data.id")
		template := s.Send("POST /sim/whatsapp/senders/"+sender+"/templates", `{"name":"ready","body_text":"Hi {{1}}, {{2}} is ready.","variables":["name","thing"],"status":"pending","synced":false,"asks_call_permission":true}`).Want(200).Text("data.id")
		s.Send("PUT /sim/account", `{"balance":0}`).Want(200)
		s.Send("PUT /sim/faults", `{"whatsapp":"reject:63018","remaining":1}`).Want(200)
		send := func(body string) apitest.Answer {
			return s.Send("POST /user/whatsapp/send", strings.NewReplacer("$S", sender, "$T", template, "$O", theirs).Replace(body))
		}
		const whole = `{"sender_id":$S,"template_id":$T,"recipient_phone":"+491701234567","variables":{"1":"Mia","thing":"it"}}`
		fails := func(code, text string) {
			t.Helper()
			send(whole).Want(422, refusal(code, text))
		}
		send(`{"sender_id":"x","recipient_phone":5,"recipient_name":7,"variables":"x"}`).Want(422, `{"message":"The given data was invalid.","errors":{"sender_id":["The sender id field must be an integer."],`+
			`"template_id":["The template id field is required."],"recipient_phone":["The recipient phone field must be a string."],"recipient_name":["The recipient name field must be a string."],"variables":["The variables field must be an array."]}}`)
		send(`{"sender_id":999,"template_id":999,"recipient_phone":"0170"}`).Want(404, refusal("SENDER_NOT_FOUND", "No sender with this id exists in your account."))
		send(`{"sender_id":$S,"template_id":$O,"recipient_phone":"0170"}`).Want(404, refusal("TEMPLATE_NOT_FOUND", "This sender has no template with this id."))
		send(`{"sender_id":$S,"template_id":$T,"recipient_phone":"0170"}`).Want(422, refusal("INVALID_PHONE", "This phone number cannot be messaged. Write it in E.164 form, for example +14155551234."))
		fails("SENDER_OFFLINE", "This sender cannot send while its status is Pending. Bring it online, then try again.")
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"status":"online","messaging_limit":"unknown","sync":true}`).Want(200)
		fails("TEMPLATE_NOT_SYNCED", "Template is not synced with the messaging platform yet.")
		s.Send("PUT /sim/whatsapp/templates/"+template, `{"sync":true}`).Want(200)
		fails("TEMPLATE_NOT_APPROVED", "Only approved templates can be sent. The status of this one is pending.")
		s.Send("PUT /sim/whatsapp/templates/"+template, `{"status":"approved","sync":true}`).Want(200)
		send(`{"sender_id":$S,"template_id":$T,"recipient_phone":"+491701234567","variables":{"1":"Mia","city":"Rome"}}`).Want(422, refusal("TEMPLATE_MISMATCH", "Template variables do not match. Missing: 2. Unknown: city."))
		fails("NO_ASSISTANT_CONFIGURED", "No assistant is configured for this sender.")
		assistant := s.Send("POST /user/assistant", assistantBody).Want(201).Text("data.id")
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"assistant_id":`+assistant+`}`).Want(200)
		fails("MESSAGING_LIMIT_UNAVAILABLE", "Messaging limit is not known yet.")
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"messaging_limit":999,"sync":true}`).Want(200)
		fails("VOICE_CALL_LIMIT_NOT_MET", "The sender's messaging limit is too low for voice call requests.")
		s.Send("PUT /sim/whatsapp/templates/"+template, `{"asks_call_permission":false,"sync":true}`).Want(200)
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"messaging_limit":0,"sync":true}`).Want(200)
		fails("MESSAGING_LIMIT_UNAVAILABLE", "Messaging limit reached for this sender.")
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"messaging_limit":1,"sync":true}`).Want(200)
		send(whole).Want(402, refusal("INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again."))
		s.Send("PUT /sim/account", `{"balance":0.3}`).Want(200)
		fails("PROVIDER_ERROR_63018", "The messaging platform refused the message.")
		if me := s.Send("GET /user/me", "").Want(200); me.Text("total_balance") != "0.3" || me.Text("available_balance") != "0.3" {
			t.Errorf("a refused message cost something: %s", me.Body)
		}
		session(s, sender, customer).Want(200, `{"success":true,"has_conversation":false,"session_status":{"is_open":false,"can_send_freeform":false,"requires_template":true,"message":"You have no conversation with this recipient yet. Start one with a template message.","expires_at":null}}`)
		sent := send(whole).Want(200)
		if want := fmt.Sprintf(`{"success":true,"conversation_id":%s,"message_id":%s,"whatsapp_message_id":%s,"message_sid":"%s","status":"queued","conversation_uuid":"%s"}`,
			sent.Text("conversation_id"), sent.Text("message_id"), sent.Text("whatsapp_message_id"), sent.Text("message_sid"), sent.Text("conversation_uuid")); sent.Body != want {
			t.Errorf("sent: %s", sent.Body)
		}
		if me := s.Send("GET /user/me", "").Want(200); me.Text("total_balance") != "0" || me.Text("available_balance") != "0" {
			t.Errorf("after a utility template: %s", me.Body)
		}
	})
}

// TestSenders lists senders and templates as the platform last showed them, every 5 minutes and every 4 hours.
//
// Contract: 11.1 11.2 11.3 14.11 18.1
func TestSenders(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		advance(s, 4*time.Hour) // just after everything was synchronised
		now := s.DB.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		one := s.Send("POST /sim/whatsapp/senders", `{"phone_number":"+14155550123","display_name":"Shop","quality_rating":"YELLOW","messaging_limit":1000}`).Want(200,
			`{"data":{"id":1,"phone_number":"+14155550123","display_name":"Shop","status":"online","quality_rating":"YELLOW","messaging_limit":1000,"messaging_limit_formatted":"1,000 / 24hr","assistant_id":null,"ai_enabled":true,"status_detail":"online","last_synced_at":"`+now+`"}}`)
		for i, state := range []string{"offline", "connecting", "pending", "suspended", "failed"} {
			a := s.Send("POST /sim/whatsapp/senders", fmt.Sprintf(`{"phone_number":"+1415555100%d","status":"%s","messaging_limit":null}`, i, state)).Want(200)
			if a.Text("data.status") != "offline" || a.Text("data.status_detail") != state || a.Text("data.messaging_limit") != "<nil>" || a.Text("data.messaging_limit_formatted") != "Unlimited" {
				t.Errorf("%s: %s", state, a.Body)
			}
		}
		list := func(query string) int {
			return strings.Count(s.Send("GET /user/whatsapp/senders"+query, "").Want(200).Body, `"id":`)
		}
		if list("") != 1 || list("?status=online") != 1 || list("?status=offline") != 5 || list("?status=all") != 6 {
			t.Error("filtered wrongly", list(""), list("?status=offline"), list("?status=all"))
		}
		s.Send("GET /user/whatsapp/senders?status=x", "").Want(422, `{"message":"The given data was invalid.","errors":{"status":["The selected status is invalid."]}}`)
		s.Send("PUT /sim/whatsapp/senders/1", `{"status":"suspended","quality_rating":"RED","messaging_limit":250}`).Want(200, one.Body) // not seen yet
		s.Send("PUT /sim/whatsapp/senders/1", `{"phone_number":"+14155551000"}`).Want(422, `{"message":"A sender with this phone number exists already."}`)
		s.Send("PUT /sim/whatsapp/senders/1", `{"phone_number":"+14155559999"}`).Want(200, one.Body)
		template := s.Send("POST /sim/whatsapp/senders/1/templates", `{"name":"hello","language":"de","category":"marketing","body_text":"Hallo {{1}}.","variables":["name"]}`).Want(200,
			`{"data":{"id":1,"name":"hello","language":"de","category":"marketing","status":"approved","body_text":"Hallo {{1}}.","variables":["name"],"has_variables":true,"status_detail":"approved","rejected_reason":null,"last_synced_at":"`+now+`"}}`)
		for _, state := range []string{"pending", "rejected", "paused", "disabled", "draft"} {
			s.Send("POST /sim/whatsapp/senders/1/templates", `{"name":"`+state+`","body_text":"x","status":"`+state+`"}`).Want(200)
		}
		count := func(query string) int {
			return strings.Count(s.Send("GET /user/whatsapp/senders/1/templates"+query, "").Want(200).Body, `"id":`)
		}
		if count("") != 1 || count("?status=approved") != 1 || count("?status=pending") != 2 || count("?status=rejected") != 3 || count("?status=all") != 6 {
			t.Error("templates filtered wrongly")
		}
		if got := s.Send("GET /user/whatsapp/senders/1/templates", "").Body; got != `{"data":[`+strings.TrimSuffix(strings.TrimPrefix(template.Body, `{"data":`), "}")+`]}` {
			t.Errorf("listed as %s", got)
		}
		s.Send("GET /user/whatsapp/senders/1/templates?status=draft", "").Want(422)
		for _, id := range []string{"99", "x", "99999999999999999999"} {
			s.Send("GET /user/whatsapp/senders/"+id+"/templates", "").Want(404, refusal("SENDER_NOT_FOUND", "Sender not found"))
		}
		s.Send("PUT /sim/whatsapp/templates/1", `{"status":"paused","body_text":"Hallo."}`).Want(200, template.Body)
		advance(s, 4*time.Minute)
		if list("") != 1 {
			t.Error("the sender was synchronised early")
		}
		advance(s, time.Minute)
		if got := s.Send("GET /user/whatsapp/senders?status=all", "").Want(200); got.Text("data.0.status_detail") != "suspended" || got.Text("data.0.quality_rating") != "RED" || got.Text("data.0.phone_number") != "+14155559999" || got.Text("data.0.messaging_limit_formatted") != "250 / 24hr" || got.Text("data.0.last_synced_at") == now {
			t.Errorf("after 5 minutes: %s", got.Body)
		}
		if count("") != 1 {
			t.Error("the templates were synchronised early")
		}
		advance(s, 4*time.Hour)
		if got := s.Send("GET /user/whatsapp/senders/1/templates?status=rejected", "").Want(200); got.Text("data.0.status_detail") != "paused" || got.Text("data.0.has_variables") != "false" {
			t.Errorf("after 4 hours: %s", got.Body)
		}

		s.Send("POST /user/whatsapp/senders", `{"carrier":"nobody","phone_number":"+14155550125"}`).Want(422, `{"message":"The given data was invalid.","errors":{"carrier":["The selected carrier is invalid."]}}`)
		s.Send("POST /user/whatsapp/senders", `{"carrier":"whatsapp_cloud","phone_number":"+14155550125"}`).WantError("credentials.phone_number_id: The credentials.phone number id field is required.",
			"credentials.business_account_id: The credentials.business account id field is required.", "credentials.access_token: The credentials.access token field is required.")
		mine := s.Send("POST /user/whatsapp/senders", `{"carrier":"simulator","phone_number":"+14155550125","display_name":"Mine","ai_enabled":false,"response_delay":5}`).Want(200)
		if mine.Text("data.display_name") != "Mine" || mine.Text("data.ai_enabled") != "false" || mine.Text("data.status") != "online" {
			t.Errorf("attached: %s", mine.Body)
		}
		id := mine.Text("data.id")
		s.Send("POST /user/whatsapp/senders", `{"carrier":"simulator","phone_number":"+14155550125"}`).Want(422, refusal("SENDER_EXISTS", "A sender with this phone number exists already."))
		var there int
		if err := s.DB.Get(t.Context(), &there, `SELECT count(*) FROM sim_senders`); err != nil || there != 7 {
			t.Errorf("the platform has %d senders, %v", there, err)
		}
		made := s.Send("POST /user/whatsapp/senders/"+id+"/templates", `{"name":"new_one","language":"en","category":"utility","body_text":"Hi {{1}}.","variables":["name"],"examples":["Mia"]}`).Want(201)
		if made.Text("data.status") != "pending" {
			t.Errorf("handed in: %s", made.Body)
		}
		s.Send("PUT /sim/whatsapp/templates/"+made.Text("data.id"), `{"status":"approved"}`).Want(200)
		if got := s.Send("POST /user/whatsapp/senders/"+id+"/templates/sync", "").Want(200); got.Text("data.0.status") != "approved" {
			t.Errorf("asked for: %s", got.Body)
		}
		if secret := s.Send("GET /user/whatsapp/senders/"+id+"/receipts-secret", "").Want(200).Text("secret"); !strings.HasPrefix(secret, "whsec_") {
			t.Error(secret)
		}
		s.Stranger().Send("DELETE /user/whatsapp/senders/"+id, "").Want(404)
		s.Send("DELETE /user/whatsapp/senders/"+id, "").Want(200)
		s.Send("DELETE /user/whatsapp/senders/"+id, "").Want(404)
	})
}

// TestMessagingWindow reads the window in every one of its states.
//
// Contract: 11.4 11.6 14.8
func TestMessagingWindow(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		sender, template := shop(t, s, "")
		stamp := func(after time.Duration) string {
			return s.DB.Now().Add(after).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
		s.Send("GET /user/whatsapp/session-status", "").Want(422, `{"message":"The given data was invalid.","errors":{"sender_id":["The sender id field is required."],"recipient_phone":["The recipient phone field is required."]}}`)
		session(s, "999", "x").Want(404, refusal("SENDER_NOT_FOUND", "Sender not found"))
		session(s, sender, "0170").Want(422, refusal("INVALID_PHONE", "This phone number cannot be messaged. Write it in E.164 form, for example +14155551234."))

		// A template opens the window; nobody has written yet.
		sent := s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`).Want(200)
		head := `{"success":true,"has_conversation":true,"conversation_id":` + sent.Text("conversation_id") + `,"customer_name":`
		opened := stamp(24 * time.Hour)
		open := func(left, minutes, until string) string {
			return `"session_status":{"is_open":true,"can_send_freeform":true,"requires_template":false,"message":"The messaging window is open for ` + left + ` more. Any text may be sent.","minutes_remaining":` + minutes + `,"expires_at":"` + until + `"}`
		}
		const closed = `"session_status":{"is_open":false,"can_send_freeform":false,"requires_template":true,"message":"The messaging window is over. Send a template, or wait until the customer writes."`
		session(s, sender, customer).Want(200, head+`null,"last_customer_message_at":null,`+open("24 h 0 min", "1440", opened)+`}`)
		advance(s, time.Hour)
		s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`).Want(200) // does not move the end
		text := s.Send("POST /user/whatsapp/send-freeform", `{"sender_id":`+sender+`,"recipient_phone":"+491701234567","message":"Still there?"}`).Want(200)
		if want := fmt.Sprintf(`{"success":true,"conversation_id":%s,"message_id":%s,"whatsapp_message_id":%s,"message_sid":"%s",%s,"status":"queued","conversation_uuid":"%s"}`, sent.Text("conversation_id"),
			text.Text("message_id"), text.Text("whatsapp_message_id"), text.Text("message_sid"), open("23 h 0 min", "1380", opened), sent.Text("conversation_uuid")); text.Body != want {
			t.Errorf("freeform\n got %s\nwant %s", text.Body, want)
		}
		session(s, sender, customer).Want(200, head+`null,"last_customer_message_at":null,`+open("23 h 0 min", "1380", opened)+`}`)
		advance(s, 23*time.Hour-time.Second)
		session(s, sender, customer).Want(200, head+`null,"last_customer_message_at":null,`+open("0 h 0 min", "0", opened)+`}`)
		advance(s, time.Second)
		session(s, sender, customer).Want(200, head+`null,"last_customer_message_at":null,`+closed+`,"expires_at":"`+opened+`","expired_at":"`+opened+`"}}`)
		s.Send("POST /user/whatsapp/send-freeform", `{"sender_id":`+sender+`,"recipient_phone":"+491701234567","message":"x"}`).Want(403,
			`{"success":false,"error":"The 24-hour messaging window is over. Send a template, or wait until the customer writes.","error_code":"SESSION_EXPIRED",`+closed+`,"expires_at":"`+opened+`","expired_at":"`+opened+`"}}`)

		// The customer's message restarts it.
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"ai_enabled":false}`).Want(200)
		wrote, until := stamp(0), stamp(24*time.Hour)
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234567","name":"Mia","text":"Yes"}`).Want(200)
		session(s, sender, customer).Want(200, head+`"Mia","last_customer_message_at":"`+wrote+`",`+open("24 h 0 min", "1440", until)+`}`)
		advance(s, 24*time.Hour)
		session(s, sender, customer).Want(200, head+`"Mia","last_customer_message_at":"`+wrote+`",`+closed+`,"expired_at":"`+until+`"}}`)
		s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","recipient_name":"Tom","variables":{"1":"a","2":"b"}}`).Want(200)
		session(s, sender, customer).Want(200, head+`"Mia","last_customer_message_at":"`+wrote+`",`+open("24 h 0 min", "1440", stamp(24*time.Hour))+`}`)

		// One who writes first has a conversation too, also where no assistant answers.
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"assistant_id":null}`).Want(200)
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234568","text":"Hello"}`).Want(200)
		first := session(s, sender, "+491701234568").Want(200)
		if first.Text("has_conversation") != "true" || first.Text("session_status.is_open") != "true" || first.Text("customer_name") != "<nil>" {
			t.Errorf("without an assistant: %s", first.Body)
		}
		s.Send("POST /user/whatsapp/send-freeform", `{"sender_id":`+sender+`,"recipient_phone":"+491701234568","message":"Hi"}`).Want(200)
		listed := s.Send("GET /user/conversations?customer_phone=%2B491701234568", "").Want(200)
		if listed.Text("data.0.assistant_id") != "<nil>" || listed.Text("data.0.message_count") != "2" {
			t.Errorf("listed: %s", listed.Body)
		}
	})
}

// TestFreeformChecks meets the refusals of a freeform message in their order.
//
// Contract: 11.6 16.4
func TestFreeformChecks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender, _ := shop(t, s, "")
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"ai_enabled":false}`).Want(200)
		s.Send("PUT /sim/account", `{"balance":0}`).Want(200)
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"status":"offline","sync":true}`).Want(200)
		send := func(id, phone, text string) apitest.Answer {
			return s.Send("POST /user/whatsapp/send-freeform", `{"sender_id":`+id+`,"recipient_phone":"`+phone+`","message":"`+text+`"}`)
		}
		send("999", "x", "").Want(422, `{"message":"The given data was invalid.","errors":{"message":["The message field is required."]}}`)
		send("999", "x", strings.Repeat("é", 4097)).Want(422, `{"message":"The given data was invalid.","errors":{"message":["The message field must be between 1 and 4096 characters."]}}`)
		send("999", "x", "a").Want(404, refusal("SENDER_NOT_FOUND", "No sender with this id exists in your account."))
		send(sender, "x", "a").Want(422, refusal("INVALID_PHONE", "This phone number cannot be messaged. Write it in E.164 form, for example +14155551234."))
		send(sender, customer, "a").Want(422, refusal("SENDER_OFFLINE", "This sender cannot send while its status is Offline. Bring it online, then try again."))
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"status":"online","sync":true}`).Want(200)
		send(sender, customer, "a").Want(403, `{"success":false,"error":"The 24-hour messaging window is over. Send a template, or wait until the customer writes.","error_code":"SESSION_EXPIRED",`+
			`"session_status":{"is_open":false,"can_send_freeform":false,"requires_template":true,"message":"You have no conversation with this recipient yet. Start one with a template message.","expires_at":null}}`)
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"`+customer+`","text":"Hello"}`).Want(200)
		send(sender, customer, "a").Want(402, refusal("INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again."))
		s.Send("PUT /sim/account", `{"balance":0.05}`).Want(200)
		s.Send("PUT /sim/faults", `{"whatsapp":"reject:131026"}`).Want(200)
		send(sender, customer, "a").Want(422, refusal("PROVIDER_ERROR_131026", "The messaging platform refused the message."))
		if me := s.Send("GET /user/me", "").Want(200); me.Text("available_balance") != "0.05" {
			t.Errorf("a refused message cost something: %s", me.Body)
		}
		send(sender, customer, strings.Repeat("é", 4096)).Want(200)
		if me := s.Send("GET /user/me", "").Want(200); me.Text("total_balance") != "0" {
			t.Errorf("a freeform message: %s", me.Body)
		}
	})
}

// TestOneConversationPerCustomer sends to a new customer from many requests at once.
//
// Contract: 11.5 14.8
func TestOneConversationPerCustomer(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender, template := shop(t, s, "")
		var all sync.WaitGroup
		var mu sync.Mutex
		talks := map[string]int{}
		for range 5 {
			all.Go(func() {
				a := s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`).Want(200)
				mu.Lock()
				defer mu.Unlock()
				talks[a.Text("conversation_id")]++
			})
		}
		all.Wait()
		if len(talks) != 1 {
			t.Errorf("one customer has %d conversations", len(talks))
		}
	})
}

// TestIncoming has customers write, and the assistant answer what came together.
//
// Contract: 11.7 14.8 16.2
func TestIncoming(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		sender, _ := shop(t, s, "")
		write := func(body string) { s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,`+body+`}`).Want(200) }
		shown := func(phone string) (out []string) {
			var got struct {
				Data []struct{ Direction, Text, Status string }
			}
			a := s.Send("GET /sim/whatsapp/messages?sender_id="+sender+"&phone="+strings.Replace(phone, "+", "%2B", 1), "").Want(200)
			if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
				t.Fatal(err)
			}
			for _, m := range got.Data {
				out = append(out, m.Direction+" "+m.Text+" "+m.Status)
			}
			return out
		}
		write(`"from":"+491701234567","name":"Mia","text":"Hello","id":"m1"`)
		write(`"from":"+491701234567","name":"Mia","text":"Hello","id":"m1"`)
		advance(s, time.Second)
		write(`"from":"+491701234567","text":"When do you open?","id":"m2"`)
		advance(s, time.Second) // two seconds after the first, but only one after the last
		if got := shown(customer); len(got) != 2 {
			t.Errorf("answered early: %q", got)
		}
		advance(s, 2*time.Second)
		got := shown(customer)
		if len(got) != 3 || got[0] != "inbound Hello received" || !strings.HasPrefix(got[2], "outbound ") || !strings.Contains(got[2], "At nine.") {
			t.Errorf("the customer's phone shows %q", got)
		}
		if me := s.Send("GET /user/me", "").Want(200); me.Text("total_balance") != "9999.95" {
			t.Errorf("an answer cost %s", me.Text("total_balance"))
		}
		talk := s.Send("GET /user/conversations", "").Want(200)
		if talk.Text("data.0.customer.name") != "Mia" || talk.Text("data.0.message_count") != "3" || talk.Text("data.0.total_cost") != "0.005" {
			t.Errorf("conversation %s", talk.Body)
		}
		uuid := talk.Text("data.0.id")
		s.Send("POST /automate/conversations/"+uuid+"/disable-ai", "").Want(200)
		write(`"from":"+491701234567","text":"Anybody?"`)
		advance(s, time.Minute)
		s.Send("POST /automate/conversations/"+uuid+"/enable-ai", "").Want(200)
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"ai_enabled":false}`).Want(200)
		write(`"from":"+491701234567","text":"Hello?"`)
		advance(s, time.Minute)
		if got := shown(customer); len(got) != 5 {
			t.Errorf("answered while switched off: %q", got)
		}
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"ai_enabled":true,"response_delay":0}`).Want(200)
		write(`"from":"+491701234567","text":"","media":[{"type":"image","url":"https://pictures.example/door.jpg","filename":"door.jpg"}]`)
		advance(s, time.Second)
		if got := shown(customer); len(got) != 7 {
			t.Errorf("a picture got no answer: %q", got)
		}
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":999,"from":"+491701234567","text":"x"}`).Want(404, `{"message":"Not found"}`)
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"x","text":"x"}`).Want(422)
	})
}

// TestFilesOfCustomers keeps what customers send: it is there when its first address is gone.
//
// Contract: 11.7 15.4 18.2
func TestFilesOfCustomers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		pictures := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/door" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "image/jpeg")
			_, _ = w.Write([]byte("a door"))
		}))
		sender, _ := shop(t, s, "")
		write := func(name string) string {
			s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234567","media":[{"type":"image","url":"`+pictures.URL+name+`","filename":"door.jpg"}]}`).Want(200)
			advance(s, time.Minute)
			return s.Send("GET /conversations/"+s.Send("GET /user/conversations", "").Text("data.0.id"), "").Want(200).Body
		}
		said := write("/door")
		pictures.Close()
		kept := regexp.MustCompile(`\{"type":"image","url":"https?://[^/"]+(/media/chat/[A-Z2-7]{26}\.jpg)","filename":"door\.jpg"\}`).FindStringSubmatch(said)
		if kept == nil {
			t.Fatalf("history %s", said)
		}
		r := httptest.NewRequest("GET", kept[1], nil)
		w := httptest.NewRecorder()
		s.API.ServeHTTP(w, r)
		if w.Code != 200 || w.Body.String() != "a door" || w.Header().Get("Content-Type") != "image/jpeg" {
			t.Errorf("%s: %d %s", kept[1], w.Code, w.Body)
		}
		if said := write("/window"); !strings.Contains(said, `{"type":"image","url":"`+pictures.URL+`/window","filename":"door.jpg"}`) {
			t.Errorf("a file that cannot be fetched stays where it is: %s", said)
		}
	})
}

// TestReceipts follows a message's delivery: forward only, every step reported once, a failed one refunded once.
//
// Contract: 14.10 15.1 15.5 16.2
func TestReceipts(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		var mu sync.Mutex
		var steps []string
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil || r.Header.Get("X-Webhook-Event") != "message_status" {
				t.Error(r.Header, err)
			}
			mu.Lock()
			defer mu.Unlock()
			steps = append(steps, string(b))
		}))
		t.Cleanup(receiver.Close)
		s.Work()
		sender, template := shop(t, s, "")
		s.Send("PUT /user/whatsapp/senders/"+sender, `{"receipts_webhook_url":"`+receiver.URL+`"}`).Want(200)
		send := func() apitest.Answer {
			return s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`).Want(200)
		}
		report := func(sid, body string) { s.Send("POST /sim/whatsapp/messages/"+sid+"/status", body).Want(200) }
		statuses := func() (out []string) {
			mu.Lock()
			defer mu.Unlock()
			for _, body := range steps {
				var step struct{ Status string }
				if err := json.Unmarshal([]byte(body), &step); err != nil {
					t.Error(err)
				}
				out = append(out, step.Status)
			}
			return out
		}
		assistant := s.Send("GET /user/assistants", "").Text("0.uuid")
		sent := send()
		sid := sent.Text("message_sid")
		advance(s, time.Second)
		report(sid, `{"status":"read"}`)
		report(sid, `{"status":"delivered"}`)
		report(sid, `{"status":"failed","error_code":"1"}`)
		advance(s, time.Second)
		if got := fmt.Sprint(statuses()); got != "[sent delivered read]" {
			t.Fatalf("reported %s", got)
		}
		var step struct {
			At       string `json:"timestamp"`
			Provider string `json:"provider_timestamp"`
		}
		mu.Lock()
		first := steps[0]
		steps = nil
		mu.Unlock()
		if err := json.Unmarshal([]byte(first), &step); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`{"event":"message_status","whatsapp_message_id":%s,"message_sid":"%s","provider_message_id":null,"conversation_id":"%s","assistant_id":"%s","sender":{"id":%s,"phone_number":"+14155550123","display_name":"Shop"},"to":"+491701234567","from":"+14155550123","direction":"outbound","status":"sent","error_code":null,"error_message":null,"error_description":null,"timestamp":"%s","provider_timestamp":"%s"}`,
			sent.Text("whatsapp_message_id"), sid, sent.Text("conversation_uuid"), assistant, sender, step.At, step.Provider); first != want {
			t.Errorf("receipt\n got %s\nwant %s", first, want)
		}
		before := s.Send("GET /user/me", "").Text("total_balance")
		sid = send().Text("message_sid")
		report(sid, `{"status":"failed","error_code":131026,"error_message":"Not on WhatsApp."}`)
		report(sid, `{"status":"failed","error_code":"131026","error_message":"Not on WhatsApp."}`)
		advance(s, time.Minute)
		if got := statuses(); fmt.Sprint(got) != "[sent failed]" {
			t.Errorf("reported %q", got)
		}
		mu.Lock()
		last := steps[len(steps)-1]
		mu.Unlock()
		if !strings.Contains(last, `"status":"failed","error_code":"131026","error_message":"Not on WhatsApp.","error_description":"Not on WhatsApp.",`) {
			t.Errorf("receipt of a failure %s", last)
		}
		if after := s.Send("GET /user/me", "").Text("total_balance"); after != before {
			t.Errorf("a failed message cost something: %s, then %s", before, after)
		}
		if got := s.Send("GET /user/conversations", "").Text("data.0.total_cost"); got != "0.03" {
			t.Errorf("the conversation cost %s", got)
		}
		if got := s.Send("GET /sim/whatsapp/messages?sender_id="+sender, "").Text("data.1.status"); got != "failed" {
			t.Errorf("the customer's phone says %s", got)
		}
		sid = send().Text("message_sid")
		if got := s.Send("GET /sim/whatsapp/messages?sender_id="+sender, "").Text("data.2.status"); got != "sent" {
			t.Errorf("the customer's phone shows a message %s", got)
		}
		report(sid, `{"status":"undelivered"}`)
		advance(s, time.Minute)
		if got := statuses(); fmt.Sprint(got) != "[sent failed sent undelivered]" {
			t.Errorf("reported %q", got)
		}
		s.Send("POST /sim/whatsapp/messages/SMnone/status", `{"status":"read"}`).Want(404, `{"message":"Not found"}`)
		s.Send("POST /sim/whatsapp/messages/"+sid+"/status", `{"status":"lost"}`).Want(422)
	})
}

// TestSMS texts from a bought number, and is refused for every reason in its order.
//
// Contract: 12 16.2 16.4
func TestSMS(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		mute := s.Send("POST /user/phone-numbers/sip-trunks", `{"sip_trunk_type":"number","phone_number":"+4930123456","sip_username":"ada","sip_password":"secret","sip_address":"sip.p.example","sip_calling_format":"+e164","inbound_authorization_type":"auth"}`).Want(201).Text("data.id")
		id := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550123"}`).Want(201).Text("data.id")
		send := func(from, to, body string) apitest.Answer {
			return s.Send("POST /user/sms", `{"from":`+from+`,"to":"`+to+`","body":"`+body+`"}`)
		}
		s.Send("POST /user/sms", `{}`).WantError("from: The from field is required.", "to: The to field is required.", "body: The body field is required.")
		send(`"x"`, "x", strings.Repeat("a", 301)).WantError("from: The from field must be an integer.", "body: The body field must be between 1 and 300 characters.")
		s.Send("PUT /sim/account", `{"balance":0}`).Want(200)
		send("999", "0170", "x").Want(400, `{"message":"The sending number is not in your account."}`)
		send(`"+4930999999"`, "0170", "x").Want(400, `{"message":"The sending number is not in your account."}`)
		send(mute, "0170", "x").Want(400, `{"message":"This phone number cannot send SMS. Choose one that can."}`)
		send(`"+4930123456"`, "0170", "x").Want(400, `{"message":"This phone number cannot send SMS. Choose one that can."}`)
		send(id, "0170", "x").Want(400, `{"message":"The recipient's number cannot be used. Write it in E.164 form."}`)
		send(id, customer, "x").Want(400, `{"message":"Your balance does not cover this SMS. Add funds, then try again."}`)
		s.Stranger().Send("POST /user/sms", `{"from":`+id+`,"to":"+491701234567","body":"x"}`).Want(400, `{"message":"The sending number is not in your account."}`)
		s.Send("PUT /sim/account", `{"balance":10}`).Want(200)
		sent := send(id, customer, "Your table is ready.").Want(200)
		if want := `{"message":"The SMS was accepted for sending.","data":{"sms_id":"` + sent.Text("data.sms_id") +
			`","from":"+14155550123","to":"+491701234567","body":"Your table is ready.","segments":1,"cost":0.05,"currency":"USD","status":"queued"}}`; sent.Body != want {
			t.Errorf("got %s\nwant %s", sent.Body, want)
		}
		once := s.Send("POST /user/sms", `{"from":"+14155550123","to":"+491701234567","message":"`+strings.Repeat("ж", 71)+`"}`, "Idempotency-Key: k").Want(200)
		if once.Text("data.segments") != "2" || once.Text("data.cost") != "0.1" {
			t.Errorf("%s", once.Body)
		}
		s.Send("POST /user/sms", `{"from":"+14155550123","to":"+491701234567","message":"`+strings.Repeat("ж", 71)+`"}`, "Idempotency-Key: k").Want(200, once.Body)
		if got := s.Send("GET /user/me", "").Text("total_balance"); got != "8.5" {
			t.Errorf("balance %s", got)
		}
		if texts := s.Send("GET /sim/sms?phone=%2B491701234567", "").Want(200); strings.Count(texts.Body, `"from":"+14155550123"`) != 2 {
			t.Errorf("the handset shows %s", texts.Body)
		}
		s.Send("DELETE /user/phone-numbers/"+id, "").Want(200)
		send(id, customer, "Until the end of the month.").Want(200)
		advance(s, 32*24*time.Hour)
		send(id, customer, "x").Want(400, `{"message":"The sending number is not in your account."}`)
	})
}

// TestPastDueNumberIsMute refuses texts from a number whose renewal was refused.
//
// Contract: 12 14.7
func TestPastDueNumberIsMute(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		id := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550123"}`).Want(201).Text("data.id")
		s.Send("PUT /sim/account", `{"payment_method":"declined"}`).Want(200)
		advance(s, 31*24*time.Hour+time.Hour)
		s.Send("POST /user/sms", `{"from":`+id+`,"to":"+491701234567","body":"x"}`).Want(400, `{"message":"Phone number subscription is not active"}`)
		subscription := func() string { return s.Send("GET /sim/payments", "").Text("data.subscriptions.0.status") }
		if got := subscription(); got != "past_due" {
			t.Errorf("the subscription is %s", got)
		}
		s.Send("PUT /sim/account", `{"payment_method":"ok"}`).Want(200)
		advance(s, 3*24*time.Hour) // the renewal is tried again
		s.Send("POST /user/sms", `{"from":`+id+`,"to":"+491701234567","body":"x"}`).Want(200)
		if got := subscription(); got != "active" {
			t.Errorf("the subscription is %s", got)
		}
	})
}

// TestHooks forbids callbacks that nobody signed.
//
// Contract: 18.2
func TestHooks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, line := range []string{"POST /hooks/whatsapp", "GET /hooks/whatsapp", "POST /hooks/twilio/sms", "POST /hooks/", "POST /hooks", "PUT /hooks/stripe", "POST /hooks/whatsapp/more"} {
			method, path, _ := strings.Cut(line, " ")
			for _, signature := range []string{"", "sha256=", "sha256=" + strings.Repeat("0", 64)} {
				r := httptest.NewRequest(method, path, strings.NewReader(`{"entry":[]}`))
				r.Header.Set("X-Hub-Signature-256", signature)
				w := httptest.NewRecorder()
				s.API.ServeHTTP(w, r)
				if w.Code != 403 || w.Body.String() != `{"message":"Forbidden."}` {
					t.Errorf("%s signed %q: %d %s", line, signature, w.Code, w.Body)
				}
			}
		}
	})
}

// TestTenantCredits pays in credits: a hundred for one of the currency.
//
// Contract: 3.4 12 16.1 16.2 16.4
func TestTenantCredits(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		sender, template := shop(t, s, "")
		number := s.Send("POST /user/phone-numbers/purchase", `{"phone_number":"+14155550124"}`).Want(201).Text("data.id")
		s.Send("PUT /sim/account", `{"account_kind":"tenant","balance":8}`).Want(200)
		balance := func() string {
			me := s.Send("GET /user/me", "").Want(200)
			if me.Text("account_kind") != "tenant" || me.Text("balance_unit") != "credits" || me.Text("available_balance") != me.Text("total_balance") {
				t.Errorf("%s", me.Body)
			}
			return me.Text("total_balance")
		}
		send := func() apitest.Answer {
			return s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`)
		}
		send().Want(200)
		if got := balance(); got != "5" {
			t.Errorf("after a template of 0.03: %s", got)
		}
		s.Send("POST /user/sms", `{"from":`+number+`,"to":"+491701234567","body":"x"}`).Want(200)
		if got := balance(); got != "0" {
			t.Errorf("after an SMS of 0.05: %s", got)
		}
		send().Want(402, refusal("INSUFFICIENT_BALANCE", "Your balance is too low. Top it up, then try again."))
		s.Send("POST /user/sms", `{"from":`+number+`,"to":"+491701234567","body":"x"}`).Want(400, `{"message":"Your balance does not cover this SMS. Add funds, then try again."}`)
		s.Send("PUT /sim/account", `{"plan":{"minute_price":-1}}`).WantError("plan.minute_price: The plan.minute price field must be at least 0.")
	})
}
