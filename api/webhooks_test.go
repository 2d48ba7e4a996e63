package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/value"
	"parley/webhooks"
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
		chat := s.Keyless().Send("POST /conversations", `{"assistant_id":"`+uuid+`","variables":{"zip":"1","name":"Mia"}}`).Text("conversation_id")
		said := s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"Good morning"}`).Text("message")
		s.Keyless().Send("POST /conversations/"+chat+"/end", "", "X-Request-Id: abc").Want(200)
		now := value.At(s.DB.Now()).String()
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
			`"extracted_variables":{"status":` + got[evaluated+len(`"extracted_variables":{"status":`):after] + `,"input_variables":{"zip":"1","name":"Mia"},"transcript":[` + line("assistant", "Hello Mia, how can I help?") + "," + line("user", "Good morning") + "," + line("assistant", said) + `],` +
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
		for _, filter := range []string{"conversation_id=1&status=succeeded", "conversation_id=" + chat} {
			if got := s.Send("GET /user/webhook-deliveries?"+filter, "").Want(200); got.Text("data.0.id") != log.Text("data.0.id") {
				t.Errorf("%s: %s", filter, got.Body)
			}
		}
		for _, filter := range []string{"conversation_id=2", "conversation_id=5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11", "call_id=5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11", "call_id=1"} {
			if got := s.Send("GET /user/webhook-deliveries?"+filter, "").Want(200); got.Text("data") != "[]" {
				t.Errorf("%s: %s", filter, got.Body)
			}
		}
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

// TestCallWebhooks reports calls that ended in several ways and compares the bodies.
//
// Contract: 4.2 15.2 15.3
func TestCallWebhooks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		at := db.At(time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC))
		real := at + 86_400e6 // lines have real times, reports durable ones
		text := func(s string) *string { return &s }
		reason, assistant := calls.CustomerHangup, assistants.ID(7)
		hook := calls.Webhook{Active: true, URL: "https://x.example/post", OnlyCompleted: true, Recording: true, InboundURL: "https://x.example/in"}
		call := calls.Call{ID: 912, Owner: 1, UUID: "c1f0c3c8-0f6b-4a8f-9c43-9a3a3f0f2d11", Type: calls.Outbound, Status: calls.Completed, Reason: &reason, AssistantID: &assistant,
			AssistantPhone: text("+4930123456"), ClientPhone: text("+491701234567"), RequestID: text("req-1"), Recording: text("recordings/9f2c.wav"),
			Snapshot:       db.JSON[calls.Snapshot]{V: calls.Snapshot{AssistantUUID: "5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11", Webhook: hook}},
			InputVariables: db.JSON[value.Scalars]{V: value.Scalars{{Name: "customer_name", Value: "Mia"}}}, Evaluation: db.JSON[value.Scalars]{V: value.Scalars{{Name: "status", Value: false}}},
			Entries:    db.JSON[[]calls.Entry]{V: []calls.Entry{{Text: "Hello.", Assistant: true, At: int64(real) + 500000}, {Text: "Please call tomorrow.", At: int64(real) + 1500000, Interrupted: true}}},
			AnsweredBy: calls.Human, Seconds: 34, AICost: 5666667, CarrierCost: 1000000, CreatedAt: at, CreatedReal: real, EndedAt: at + 52e6}
		report := func(c calls.Call) []string {
			t.Helper()
			if _, err := s.DB.Exec(t.Context(), `DELETE FROM webhook_deliveries`); err != nil {
				t.Fatal(err)
			}
			if err := s.DB.Do(t.Context(), func(tx *db.Tx) error {
				for _, e := range webhooks.OfCall(c, "https://p.example") {
					if err := s.App.Webhooks.Add(t.Context(), tx, e.Of(nil, nil)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			var bodies []string
			if err := s.DB.Select(t.Context(), &bodies, `SELECT request_id || ' ' || url || ' ' || body FROM webhook_deliveries ORDER BY id`); err != nil {
				t.Fatal(err)
			}
			return bodies
		}
		const body = `{"id":912,"customer_phone":"+491701234567","assistant_phone":"+4930123456","duration":34,"status":"completed","extracted_variables":{"status":false},"input_variables":{"customer_name":"Mia"},` +
			`"transcript":"Assistant: Hello.\nCustomer: Please call tomorrow.","recording_url":"https://p.example/media/recordings/9f2c.wav","created_at":"2027-03-01T08:00:00.000000Z","finished_at":"2027-03-01T08:00:52.000000Z",` +
			`"lead":null,"campaign":null,"event":"call.completed","type":"outbound","assistant_id":7,"assistant_uuid":"5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11","uuid":"c1f0c3c8-0f6b-4a8f-9c43-9a3a3f0f2d11","answered_by":"human",` +
			`"ended_reason":"customer_hangup","formatted_transcript":"AI: Hello.\nCustomer: Please call tomorrow.","transcript_entries":[{"text":"Hello.","type":"transcript","sender":"bot","timestamp":1803888000.5,"interrupted":false},` +
			`{"text":"Please call tomorrow.","type":"transcript","sender":"human","timestamp":1803888001.5,"interrupted":true}],"variables":{},"total_cost":0.06666667}`
		if got := report(call); len(got) != 1 || got[0] != "req-1 https://x.example/post "+body {
			t.Errorf("got  %s\nwant %s", got, body)
		}
		in := call
		in.Type, in.Recording = calls.Inbound, nil
		if got := report(in); len(got) != 2 || !strings.Contains(got[0], `"recording_url":null`) || !strings.HasPrefix(got[1], "req-1 https://x.example/in ") || !strings.Contains(got[1], `"event":"inbound_call.completed"`) {
			t.Error(got)
		}
		in.Snapshot.V.Webhook.Active, in.Snapshot.V.Webhook.Recording = false, false
		if got := report(in); len(got) != 1 || strings.Contains(got[0], "recording_url") || strings.Contains(got[0], "call.completed\",\"type\":\"outbound") {
			t.Error(got)
		}
		busy := call
		busy.Status = calls.Busy
		if got := report(busy); len(got) != 0 {
			t.Error("only completed calls were asked for:", got)
		}
		busy.Snapshot.V.Webhook.OnlyCompleted = false
		if got := report(busy); len(got) != 1 || !strings.Contains(got[0], `"status":"busy"`) {
			t.Error(got)
		}
		busy.Type = calls.Inbound
		if got := report(busy); len(got) != 1 {
			t.Error("an inbound call that was not completed:", got)
		}
	})
}
