package api_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/api/apitest"
)

const assistantBody = `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"FAQ:\nWhen do you open? At nine.","llm_model_id":1}`

// shop attaches a sender with an assistant and an approved template with two placeholders.
func shop(t *testing.T, s *apitest.Server, more string) (sender, template string) {
	assistant := s.Send("POST /user/assistant", assistantBody).Want(201).Text("data.id")
	sender = s.Send("POST /sim/whatsapp/senders", `{"phone_number":"+14155550123","display_name":"Shop","messaging_limit":2,"assistant_id":`+assistant+`}`).Want(200).Text("data.id")
	template = s.Send("POST /sim/whatsapp/senders/"+sender+"/templates", `{"name":"ready","body_text":"Hi {{1}}, {{2}} is ready.","variables":["name","thing"]`+more+`}`).Want(200).Text("data.id")
	return sender, template
}

// TestWhatsAppTemplate sends a template and keeps to the sender's unique recipients.
//
// Contract: 11.5 14.8 16.2
func TestWhatsAppTemplate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender, template := shop(t, s, "")
		send := func(to, values string) apitest.Answer {
			return s.Send("POST /user/whatsapp/send", fmt.Sprintf(`{"sender_id":%s,"template_id":%s,"recipient_phone":"%s","recipient_name":"Mia","variables":%s}`, sender, template, to, values))
		}
		status := func(to string) apitest.Answer {
			return s.Send("GET /user/whatsapp/session-status?sender_id="+sender+"&recipient_phone="+to, "")
		}
		status("+491701234567").Want(200, `{"success":true,"has_conversation":false,"session_status":{"is_open":false,"can_send_freeform":false,"requires_template":true,"message":"You have no conversation with this recipient yet. Start one with a template message.","expires_at":null}}`)
		for want, body := range map[string]string{
			`{"success":false,"error":"This phone number cannot be messaged. Write it in E.164 form, for example +14155551234.","error_code":"INVALID_PHONE"}`: `"recipient_phone":"0170"`,
			`{"success":false,"error":"Template variables do not match. Missing: 1.","error_code":"TEMPLATE_MISMATCH"}`:                                        `"recipient_phone":"+491701234567","variables":{"1":" ","2":"x"}`,
			`{"message":"The given data was invalid.","errors":{"variables.1":["The variables.1 field must be a string."]}}`:                                   `"recipient_phone":"+491701234567","variables":{"1":null,"2":"x"}`,
			`{"success":false,"error":"Template variables do not match. Missing: 2. Unknown: city.","error_code":"TEMPLATE_MISMATCH"}`:                         `"recipient_phone":"+491701234567","variables":{"1":"x","city":"y"}`,
		} {
			s.Send("POST /user/whatsapp/send", `{"sender_id":`+sender+`,"template_id":`+template+`,`+body+`}`).Want(422, want)
		}
		s.Send("POST /user/whatsapp/send", `{"sender_id":999,"template_id":1,"recipient_phone":"x"}`).Want(404, `{"success":false,"error":"No sender with this id exists in your account.","error_code":"SENDER_NOT_FOUND"}`)
		s.Send("POST /user/whatsapp/send", `{}`).Want(422, `{"message":"The given data was invalid.","errors":{"sender_id":["The sender id field is required."],"template_id":["The template id field is required."],"recipient_phone":["The recipient phone field is required."]}}`)

		before := s.Send("GET /user/me", "").Want(200).Text("total_balance")
		sent := send("+491701234567", `{"1":"Mia","thing":7}`).Want(200)
		if sent.Text("status") != "queued" || !strings.HasPrefix(sent.Text("message_sid"), "SM") {
			t.Errorf("sent as %s", sent.Body)
		}
		if after := s.Send("GET /user/me", "").Want(200).Text("total_balance"); before != "10000" || after != "9999.7" {
			t.Errorf("nothing was charged: %v, then %v", before, after)
		}
		open := status("+491701234567").Want(200)
		if open.Text("session_status.minutes_remaining") != "1440" || open.Text("customer_name") != "Mia" {
			t.Errorf("after the template: %s", open.Body)
		}
		history := s.Send("GET /conversations/"+sent.Text("conversation_uuid"), "").Want(200)
		if !strings.Contains(history.Body, "Hi Mia, 7 is ready.") {
			t.Errorf("history %s", history.Body)
		}
		// Two unique recipients are the sender's limit; a known one still fits.
		send("+491701234568", `{"1":"a","2":"b"}`).Want(200)
		send("+491701234569", `{"1":"a","2":"b"}`).Want(422, `{"success":false,"error":"Messaging limit reached for this sender.","error_code":"MESSAGING_LIMIT_UNAVAILABLE"}`)
		send("+491701234568", `{"1":"a","2":"b"}`).Want(200)

		other := s.Stranger()
		other.Send("GET /user/whatsapp/senders", "").Want(200, `{"data":[]}`)
		other.Send("GET /user/whatsapp/senders/"+sender+"/templates", "").Want(404, `{"success":false,"error":"Sender not found","error_code":"SENDER_NOT_FOUND"}`)
		other.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234567","text":"x"}`).Want(404)
	})
}

// TestWhatsAppSendingIsRefused takes the platform's no, and looks again at the template it refused.
//
// Contract: 1.14 11.5 14.11
func TestWhatsAppSendingIsRefused(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender, template := shop(t, s, "")
		body := fmt.Sprintf(`{"sender_id":%s,"template_id":%s,"recipient_phone":"+491701234567","variables":{"1":"a","2":"b"}}`, sender, template)
		s.Send("PUT /sim/faults", `{"whatsapp":"reject:63016"}`).Want(200)
		s.Send("POST /user/whatsapp/send", body).Want(422, `{"success":false,"error":"The messaging platform refused the message.","error_code":"PROVIDER_ERROR_63016"}`)
		s.Send("PUT /sim/faults", `{"whatsapp":"reject:470"}`).Want(200)
		once := s.Send("POST /user/whatsapp/send", body, "Idempotency-Key: once").Want(422)
		if again := s.Send("POST /user/whatsapp/send", body, "Idempotency-Key: once").Want(422, once.Body); again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("what the platform refused was tried again: %v", again.Header)
		}
		s.Send("GET /user/whatsapp/session-status?sender_id="+sender+"&recipient_phone=%2B491701234567", "").Want(200, `{"success":true,"has_conversation":false,"session_status":{"is_open":false,"can_send_freeform":false,"requires_template":true,"message":"You have no conversation with this recipient yet. Start one with a template message.","expires_at":null}}`)
		s.Send("PUT /sim/whatsapp/templates/"+template, `{"body_text":"Hi {{1}}."}`).Want(200)
		s.Send("POST /user/whatsapp/send", body).Want(422, `{"success":false,"error":"Template variables do not match. The messaging platform has other parameters or another language.","error_code":"TEMPLATE_MISMATCH"}`)
		s.Send("PUT /sim/whatsapp/templates/"+template, `{"status":"paused","sync":true}`).Want(200)
		s.Send("POST /user/whatsapp/send", body).Want(422, `{"success":false,"error":"Only approved templates can be sent. The status of this one is rejected.","error_code":"TEMPLATE_NOT_APPROVED"}`)
		s.Send("PUT /sim/whatsapp/senders/"+sender, `{"status":"suspended","sync":true}`).Want(200)
		s.Send("POST /user/whatsapp/send", body).Want(422, `{"success":false,"error":"This sender cannot send while its status is Suspended. Bring it online, then try again.","error_code":"SENDER_OFFLINE"}`)
		s.Send("GET /user/whatsapp/senders", "").Want(200, `{"data":[]}`)
		s.Send("POST /user/whatsapp/send-freeform", `{"sender_id":`+sender+`,"recipient_phone":"+491701234567","message":"x"}`).Want(422)
		s.Send("PUT /sim/account", `{"balance":0}`).Want(200)
	})
}

// TestWhatsAppFreeform writes in an open window, five times a second.
//
// Contract: 1.12 11.6 11.7
func TestWhatsAppFreeform(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sender, _ := shop(t, s, "")
		freeform := `{"sender_id":` + sender + `,"recipient_phone":"+491701234567","message":" hi "}`
		refused := s.Send("POST /user/whatsapp/send-freeform", freeform).Want(403)
		if refused.Text("error_code") != "SESSION_EXPIRED" || refused.Text("session_status.requires_template") != "true" {
			t.Errorf("without a window: %s", refused.Body)
		}
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234567","name":"Mia","text":"Hello","id":"m1"}`).Want(200, `{"data":{"id":"m1"}}`)
		s.Send("POST /sim/whatsapp/inbound", `{"sender_id":`+sender+`,"from":"+491701234567","name":"Mia","text":"Hello","id":"m1"}`).Want(200)
		if sent := s.Send("POST /user/whatsapp/send-freeform", freeform).Want(200); sent.Header.Get("X-RateLimit-Limit") != "5" || sent.Header.Get("X-RateLimit-Remaining") != "4" {
			t.Errorf("the first of five: %v", sent.Header)
		}
		shown := s.Send("GET /sim/whatsapp/messages?sender_id="+sender+"&phone=%2B491701234567", "").Want(200)
		if strings.Count(shown.Body, `"direction":"inbound"`) != 1 || strings.Count(shown.Body, `"text":" hi "`) != 1 {
			t.Errorf("the customer's phone shows %s", shown.Body)
		}
		codes := map[int]int{}
		for range 8 { // some of the first five may be a second ago by now
			codes[s.Send("POST /user/whatsapp/send-freeform", freeform).Status]++
		}
		if codes[200] < 4 || codes[200]+codes[429] != 8 {
			t.Errorf("answers %v", codes)
		}
	})
}
