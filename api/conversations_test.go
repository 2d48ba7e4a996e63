package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/apitest"
)

const noConversation = `{"status":false,"error":"There is no conversation with this id."}`

// assistantOf makes an assistant and gives its id and uuid.
func assistantOf(s *apitest.Server, more string) (id, uuid string) {
	s.T.Helper()
	body := desk
	if more != "" {
		body = strings.TrimSuffix(desk, "}") + "," + more + "}"
	}
	id = s.Send("POST /user/assistant", body).Want(201).Text("data.id")
	return id, s.Send("GET /user/assistant/"+id, "").Text("data.uuid")
}

// TestConversationRoutes chats without a key and reads with one.
//
// Contract: 1.8 13.1 13.2 13.3 13.4
func TestConversationRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id, uuid := assistantOf(s, "")
		page := s.Keyless()
		begun := page.Send("POST /conversations", `{"assistant_id":"`+uuid+`","variables":{"name":"Mia"}}`).Want(200)
		chat := begun.Text("conversation_id")
		if begun.Text("history.0.content") != "Hello Mia, how can I help?" || begun.Text("history.0.role") != "assistant" || begun.Get("status") != true {
			t.Error(begun.Body)
		}
		if begun.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error(begun.Header)
		}
		said := page.Send("POST /conversations/"+chat+"/messages", `{"message":"Good morning"}`).Want(200)
		if said.Text("message") == "" || said.Get("status") != true {
			t.Error(said.Body)
		}
		read := page.Send("GET /conversations/"+strings.ToUpper(chat), "").Want(200)
		for path, want := range map[string]string{"history.1.role": "user", "history.1.content": "Good morning", "history.2.content": said.Text("message"),
			"variables.name": "Mia", "type": "widget", "state": "open", "ai_enabled": "true"} {
			if got := read.Text(path); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		list := s.Send("GET /user/conversations", "").Want(200)
		number := list.Text("data.0.conversation_id")
		if list.Text("data.0.id") != chat || list.Text("data.0.assistant_id") != uuid || list.Text("data.0.message_count") != "3" {
			t.Error(list.Body)
		}
		s.Send("GET /conversations/"+number, "").Want(200)
		page.Send("GET /conversations/"+number, "").Want(404, noConversation)
		s.Stranger().Send("GET /conversations/"+chat, "").Want(404, noConversation)
		for _, path := range []string{"nope", "00000000-0000-4000-8000-000000000000"} {
			page.Send("GET /conversations/"+path, "").Want(404, noConversation)
			page.Send("POST /conversations/"+path+"/messages", `{}`).Want(404, noConversation)
			s.Send("POST /automate/conversations/"+path+"/enable-ai", ``).Want(404, noConversation)
		}
		s.As("1|bad").Send("GET /conversations/"+chat, "").Want(401, `{"message":"Unauthenticated."}`)

		for body, want := range map[string]string{
			`{}`:                   `{"status":false,"error":"assistant_id is required"}`,
			`{"assistant_id":[1]}`: `{"status":false,"error":"assistant_id must be a string"}`,
			`{"assistant_id":"` + uuid + `","type":"x"}`: `{"status":false,"error":"type must be one of: widget, test"}`,
		} {
			page.Send("POST /conversations", body).Want(422, want)
		}
		page.Send("POST /conversations", `{"assistant_id":`+id+`}`).Want(404, `{"status":false,"error":"Assistant not found"}`)
		s.Send("POST /conversations", `{"assistant_id":`+id+`}`).Want(200)
		page.Send("POST /conversations", `{"assistant_id":"`+uuid+`","type":"test"}`).Want(401, `{"message":"Unauthenticated."}`)
		s.Send("POST /conversations", `{"assistant_id":"`+uuid+`","type":"test"}`).Want(200)
		for body, want := range map[string]string{
			`{}`:            `{"status":false,"error":"message is required"}`,
			`{"message":7}`: `{"status":false,"error":"message must be a string"}`,
			`{"message":"` + strings.Repeat("x", 2001) + `"}`: `{"status":false,"error":"message must not be greater than 2000 characters"}`,
		} {
			page.Send("POST /conversations/"+chat+"/messages", body).Want(422, want)
		}
	})
}

// TestTakeOver switches the assistant off and answers as a person.
//
// Contract: 13.4 13.6 18.1
func TestTakeOver(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		_, uuid := assistantOf(s, "")
		chat := s.Keyless().Send("POST /conversations", `{"assistant_id":"`+uuid+`"}`).Text("conversation_id")
		for range 2 {
			s.Send("POST /automate/conversations/"+chat+"/disable-ai", "").Want(200, `{"status":true,"ai_enabled":false}`)
		}
		s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"Anybody?"}`).Want(200, `{"status":true,"message":"","function_calls":[],"ai_disabled":true}`)
		s.Send("POST /user/conversations/"+chat+"/reply", `{"message":"A person."}`).Want(200, `{"status":true}`)
		s.Send("POST /user/conversations/"+chat+"/reply", `{}`).WantError("message: The message field is required.")
		if got := s.Keyless().Send("GET /conversations/"+chat, ""); got.Text("history.2.content") != "A person." || got.Text("history.2.role") != "assistant" || got.Get("ai_enabled") != false {
			t.Error(got.Body)
		}
		s.Stranger().Send("POST /automate/conversations/"+chat+"/enable-ai", "").Want(404, noConversation)
		s.Send("POST /user/conversations/"+chat+"/enable-ai", "").Want(200, `{"status":true,"ai_enabled":true}`)
		s.Keyless().Send("POST /automate/conversations/"+chat+"/enable-ai", "").Want(401, `{"message":"Unauthenticated."}`)
		s.Keyless().Send("POST /conversations/"+chat+"/end", "").Want(200, `{"status":true}`)
		s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"x"}`).Want(400, `{"status":false,"error":"Conversation has ended"}`)
	})
}

// TestGenerateReply answers for a customer the caller names.
//
// Contract: 13.1 13.7
func TestGenerateReply(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id, _ := assistantOf(s, "")
		body := `{"assistant_id":` + id + `,"customer_identifier":"crm-7","message":"Hi","variables":{"name":"Mia"}}`
		first := s.Send("POST /user/ai/generate-reply", body).Want(200)
		chat := first.Text("conversation_id")
		if first.Get("success") != true || first.Text("reply") == "" || first.Text("customer_identifier") != "crm-7" || first.Get("ai_disabled") != false {
			t.Error(first.Body)
		}
		if again := s.Send("POST /ai/generate-reply", body).Want(200); again.Text("conversation_id") != chat {
			t.Error(again.Body)
		}
		if got := s.Send("GET /conversations/"+chat, "").Want(200); got.Text("external_identifier") != "crm-7" || got.Text("type") != "api" || got.Text("history.0.role") != "user" {
			t.Error(got.Body)
		}
		if spent := s.Send("GET /user/usage?group_by=assistant", "").Want(200); spent.Text("data.0.assistant_id") != id || spent.Text("data.0.count") != "2" {
			t.Errorf("the answers were spent on %s", spent.Body)
		}
		s.Keyless().Send("GET /conversations/"+chat, "").Want(404, noConversation)
		s.Keyless().Send("POST /conversations/"+chat+"/messages", `{"message":"x"}`).Want(404, noConversation)
		s.Send("POST /automate/conversations/"+chat+"/disable-ai", "").Want(200)
		s.Send("POST /user/ai/generate-reply", body).Want(200, `{"success":true,"conversation_id":"`+chat+`","customer_identifier":"crm-7","reply":null,"function_calls":[],"ai_disabled":true}`)
		const missing = `{"success":false,"error":"No assistant with this id exists in your account.","error_code":"ASSISTANT_NOT_FOUND"}`
		s.Send("POST /user/ai/generate-reply", `{"assistant_id":999,"customer_identifier":"x","message":"x"}`).Want(404, missing)
		s.Stranger().Send("POST /user/ai/generate-reply", body).Want(404, missing)
		s.Send("POST /user/ai/generate-reply", `{}`).Want(422, `{"message":"The assistant id field is required. (and 2 more errors)","errors":{"assistant_id":["The assistant id field is required."],"customer_identifier":["The customer identifier field is required."],"message":["The message field is required."]}}`)
	})
}

// TestAllowedOrigins chats from pages that may and may not.
//
// Contract: 1.15
func TestAllowedOrigins(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		_, uuid := assistantOf(s, `"widget_settings":{"allowed_origins":["https://shop.example"]}`)
		body := `{"assistant_id":"` + uuid + `"}`
		page := s.Keyless()
		page.Send("POST /conversations", body, "Origin: https://evil.example").Want(403, `{"status":false,"error":"Origin not allowed"}`)
		ok := page.Send("POST /conversations", body, "Origin: https://shop.example").Want(200)
		if ok.Header.Get("Access-Control-Allow-Origin") != "https://shop.example" {
			t.Error(ok.Header)
		}
		chat := ok.Text("conversation_id")
		for _, line := range []string{"GET /conversations/" + chat, "POST /conversations/" + chat + "/messages"} {
			page.Send(line, `{"message":"x"}`, "Origin: https://evil.example").Want(403, `{"status":false,"error":"Origin not allowed"}`)
		}
		page.Send("OPTIONS /conversations/"+chat+"/messages", "", "Origin: https://shop.example").Want(204, "")
	})
}

// TestConversationPages pages and filters.
//
// Contract: 1.13 13.5
func TestConversationPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id, uuid := assistantOf(s, "")
		for range 5 {
			s.Send("POST /conversations", `{"assistant_id":"`+uuid+`","type":"test"}`).Want(200)
		}
		var seen []string
		next := "/user/conversations?type=test&per_page=2&assistant_id=" + id
		pages := 0
		for ; next != ""; pages++ {
			page := s.Send("GET "+next, "").Want(200)
			for i := range page.Get("data").([]any) {
				seen = append(seen, page.Text("data."+string(rune('0'+i))+".conversation_id"))
			}
			if (page.Get("prev_cursor") == nil) != (pages == 0) {
				t.Error(page.Body)
			}
			next = ""
			if page.Get("next_page_url") != nil {
				next = strings.TrimPrefix(page.Text("next_page_url"), "https://p.example/api")
			}
		}
		if strings.Join(seen, " ") != "5 4 3 2 1" || pages != 3 {
			t.Error(seen, pages)
		}
		s.Send("GET /user/conversations?assistant_id=999", "").Want(200)
		s.Send("GET /user/conversations?cursor=x", "").Want(422, `{"message":"The selected cursor is invalid.","errors":{"cursor":["The selected cursor is invalid."]}}`)
		s.Send("GET /user/conversations?type=x", "").WantError("type: The selected type is invalid.")
		long := strings.Repeat("A", 513) // decodes, but is no cursor
		s.Send("GET /user/conversations?cursor="+long+"&per_page=0&type=x", "").Want(422, `{"message":"The per page field must be between 1 and 100. (and 2 more errors)","errors":{`+
			`"per_page":["The per page field must be between 1 and 100."],"cursor":["The selected cursor is invalid."],"type":["The selected type is invalid."]}}`)
		s.Send("GET /user/webhook-deliveries?cursor=x&status=y", "").WantError("cursor: The selected cursor is invalid.", "status: The selected status is invalid.")
	})
}

// TestEmbed asks for the look of a widget, as the script on a page does.
//
// Contract: 1.15 4.2
func TestEmbed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id, uuid := assistantOf(s, `"widget_settings":{"header_title":"Shop","allowed_origins":["https://shop.example"],"voice_enabled":false}`)
		get := func(assistant, origin string) (int, string, string) {
			r := httptest.NewRequest("GET", "/embed.json?assistant="+assistant, nil)
			r.Header.Set("Origin", origin)
			w := httptest.NewRecorder()
			s.API.ServeHTTP(w, r)
			return w.Code, w.Body.String(), w.Header().Get("Access-Control-Allow-Origin")
		}
		code, body, origin := get(uuid, "https://shop.example")
		if code != 200 || origin != "https://shop.example" || !strings.HasPrefix(body, `{"voice_enabled":false,"position":"bottom-right"`) || !strings.Contains(body, `"header_title":"Shop"`) {
			t.Error(code, body, origin)
		}
		if code, _, origin := get(uuid, "https://evil.example"); code != 403 || origin != "" {
			t.Error(code, origin)
		}
		for _, unknown := range []string{"", "x", id, "00000000-0000-4000-8000-000000000000"} {
			if code, _, _ := get(unknown, ""); code != 404 {
				t.Error(unknown, code)
			}
		}
		s.Send("PUT /user/assistant/"+id, `{"widget_settings":{"enabled":false}}`).Want(200)
		if code, _, _ := get(uuid, "https://shop.example"); code != 404 {
			t.Error(code)
		}
	})
}
