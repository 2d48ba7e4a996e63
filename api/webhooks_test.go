package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/wire"
)

// TestWebhookRoutes reads the secret, tries a receiver, and looks at the log.
//
// Contract: 15.1 18.1
func TestWebhookRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		secret := s.Send("GET /user/webhook-secret", "").Want(200).Text("secret")
		if !strings.HasPrefix(secret, "whsec_") || len(secret) != 50 {
			t.Error(secret)
		}
		if again := s.Send("GET /user/webhook-secret", "").Text("secret"); again != secret {
			t.Error("the secret changed by itself")
		}
		if fresh := s.Send("POST /user/webhook-secret/rotate", "").Want(200).Text("secret"); fresh == secret {
			t.Error("not rotated")
		}
		id, _ := assistantOf(s, "")
		s.Send("POST /user/assistants/"+id+"/test-webhook", `{"kind":"x"}`).WantError("kind: The selected kind is invalid.")
		s.Send("POST /user/assistants/"+id+"/test-webhook", `{"kind":"inbound"}`).Want(422)
		s.Send("POST /user/assistants/999/test-webhook", `{"kind":"inbound"}`).Want(404, `{"message":"Assistant not found"}`)
		s.Send("GET /user/webhook-deliveries", "").Want(200)
		s.Send("GET /user/webhook-deliveries?status=x", "").WantError("status: The selected status is invalid.")
		s.Send("POST /user/webhook-deliveries/9/replay", "").Want(404, `{"message":"Delivery not found"}`)
	})
}

// TestConversationEndedWebhook ends a chat and looks at what its receiver and the log got.
//
// Contract: 13.3 14.9 15.1 15.4 18.1
func TestConversationEndedWebhook(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bodies := make(chan string, 10)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			bodies <- r.Header.Get("X-Webhook-Event") + " " + r.Header.Get("X-Request-Id") + " " + string(b)
			_, _ = io.WriteString(w, "thanks")
		}))
		t.Cleanup(receiver.Close)
		s.Work()
		_, uuid := assistantOf(s, `"conversation_ended_webhook_url":"`+receiver.URL+`","tools":[{"type":"end_call"}]`)
		chat := s.Keyless().Send("POST /conversations", `{"assistant_id":"`+uuid+`","variables":{"name":"Mia"}}`).Text("conversation_id")
		said := s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"Good morning"}`).Text("message")
		s.Keyless().Send("POST /conversations/"+chat+"/end", "", "X-Request-Id: abc").Want(200)
		now := wire.At(s.DB.Now()).String()
		unix := strconv.FormatInt(s.DB.Now().Unix(), 10)
		line := func(role, text string) string {
			return `{"role":"` + role + `","content":"` + text + `","timestamp":"` + now + `","timestamp_unix":` + unix + `}`
		}
		got := <-bodies
		evaluated := strings.Index(got, `"extracted_variables":`)
		after := strings.Index(got, `,"input_variables"`)
		if evaluated < 0 || after < evaluated {
			t.Fatal(got)
		}
		want := `conversation.ended abc {"id":1,"conversation_id":"` + chat + `","assistant_id":"` + uuid + `","type":"widget","message_count":3,"status":"ended",` +
			got[evaluated:after] + `,"input_variables":{"name":"Mia"},"transcript":[` + line("assistant", "Hello Mia, how can I help?") + "," + line("user", "Good morning") + "," + line("assistant", said) + `],` +
			`"formatted_transcript":"AI: Hello Mia, how can I help?\nCustomer: Good morning\nAI: ` + said + `","attachments":[],"customer_phone":null,"customer_name":null,"sender":null,` +
			`"created_at":"` + now + `","ended_at":"` + now + `","event":"conversation.ended","end_reason":"closed"}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		var log apitest.Answer
		for log = s.Send("GET /user/webhook-deliveries?event=conversation.ended", ""); log.Text("data.0.status") == "pending"; {
			log = s.Send("GET /user/webhook-deliveries?event=conversation.ended", "")
		}
		for path, want := range map[string]string{"data.0.status": "succeeded", "data.0.attempts.0.status_code": "200", "data.0.attempts.0.response": "thanks", "data.0.url": receiver.URL} {
			if got := log.Text(path); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		s.Send("GET /user/webhook-deliveries?conversation_id=1&status=succeeded", "").Want(200, log.Body)
		s.Send("POST /user/webhook-deliveries/"+log.Text("data.0.id")+"/replay", "").Want(200, `{"message":"Webhook queued"}`)
		if again := <-bodies; again != got {
			t.Error(again)
		}
		s.Stranger().Send("POST /user/webhook-deliveries/"+log.Text("data.0.id")+"/replay", "").Want(404, `{"message":"Delivery not found"}`)
		tried := s.Send("POST /user/assistants/1/test-webhook", `{"kind":"conversation_ended"}`).Want(200, `{"success":true,"status_code":200,"body":"thanks"}`)
		if body := <-bodies; !strings.Contains(body, `"test":true`) {
			t.Error(tried, body)
		}
	})
}
