package api_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/api/apitest"
)

const desk = `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"Europe/Berlin",` +
	`"initial_message":"Hello {name}, how can I help?","system_prompt":"Be kind.","llm_model_id":1}`

// TestAssistantRoutes goes through the life of an assistant.
//
// Contract: 1.4 1.5 1.6 1.11 2 4.1 4.5
func TestAssistantRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		other := s.Stranger()
		s.Send("GET /user/assistants", "").Want(200, `[]`)
		s.Send("GET /user/assistants/outbound", "").Want(200, `[]`)
		made := s.Send("POST /user/assistant", desk)
		id := made.Text("data.id")
		made.Want(201, `{"message":"The new assistant was saved.","data":{"id":`+id+`,"name":"Desk","status":"inactive","type":"inbound","mode":"pipeline"}}`)
		got := s.Send("GET /user/assistant/"+id, "").Want(200)
		uuid := got.Text("data.uuid")
		for _, path := range []string{"/user/assistant/" + id, "/user/assistants/" + id, "/user/assistant/" + uuid, "/user/assistants/" + strings.ToUpper(uuid)} {
			if again := s.Send("GET "+path, "").Want(200); again.Body != got.Body {
				t.Errorf("%s: %s", path, again.Body)
			}
		}
		if all := s.Send("GET /user/assistants", "").Want(200); all.Body != "["+strings.TrimSuffix(strings.TrimPrefix(got.Body, `{"data":`), "}")+"]" {
			t.Error(all.Body)
		}
		const saved = `{"message":"The changes to the assistant were saved.","data":{"id":%s,"name":"%s","status":"%s","type":"%s","mode":"pipeline"}}`
		s.Send("PUT /user/assistant/"+id, `{}`).Want(200, fmt.Sprintf(saved, id, "Desk", "inactive", "inbound"))
		s.Send("PUT /user/assistant/"+id, ``).Want(200, fmt.Sprintf(saved, id, "Desk", "inactive", "inbound"))
		s.Send("PATCH /user/assistants/"+uuid, `{"name":"Front","status":"active","type":"outbound"}`).Want(200, fmt.Sprintf(saved, id, "Front", "active", "outbound"))
		item := s.Send("GET /user/assistants/outbound", "").Want(200)
		if item.Text("0.uuid") != uuid || item.Text("0.system_prompt") != "Be kind." || item.Get("0.webhook_url") != nil {
			t.Error(item.Body)
		}
		s.Send("PUT /user/assistant/"+id, `{"nope":1}`).Want(200, `{"message":"The changes to the assistant were saved.","data":{"id":`+id+
			`,"name":"Front","status":"active","type":"outbound","mode":"pipeline"},"warnings":[{"field":"nope","message":"This field is not known and was ignored."}]}`)

		const missing, gone = `{"message":"Assistant not found"}`, `{"message":"No assistant with this id exists in your account."}`
		for _, path := range []string{"999", "abc", "99999999999999999999", "00000000-0000-4000-8000-000000000000"} {
			s.Send("GET /user/assistant/"+path, "").Want(404, missing)
			s.Send("PUT /user/assistant/"+path, `{"name":7}`).Want(404, missing)
			s.Send("DELETE /user/assistant/"+path, "").Want(404, gone)
		}
		other.Send("GET /user/assistant/"+id, "").Want(404, missing)
		other.Send("PUT /user/assistant/"+uuid, `{}`).Want(404, missing)
		other.Send("DELETE /user/assistant/"+id, "").Want(404, gone)
		other.Send("GET /user/assistants", "").Want(200, `[]`)
		s.Keyless().Send("GET /user/assistant/"+id, "").Want(401, `{"message":"Unauthenticated."}`)
		s.Send("DELETE /user/assistants/"+id, "").Want(200, `{"message":"The assistant was removed."}`)
		s.Send("DELETE /user/assistant/"+id, "").Want(404, gone)
		s.Send("GET /user/assistants", "").Want(200, `[]`)
	})
}

// TestAssistantPages pages with the default of ten.
//
// Contract: 1.13 4.5
func TestAssistantPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for range 12 {
			s.Send("POST /user/assistants", desk).Want(201)
		}
		page := s.Send("GET /user/assistants/get", "").Want(200)
		for path, want := range map[string]string{"per_page": "10", "total": "12", "last_page": "2", "from": "1", "to": "10", "data.0.id": "12", "next_page_url": "https://p.example/api/user/assistants/get?page=2"} {
			if got := page.Text(path); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		if last := s.Send("GET /user/assistants/get?page=2&per_page=11", "").Want(200); last.Text("data.0.id") != "1" {
			t.Error(last.Body)
		}
		s.Send("GET /user/assistants/get?page=0&per_page=101", "").WantError("page: The page field must be at least 1.", "per_page: The per page field must be between 1 and 100.")
	})
}

// TestRefusedAssistants words validation as assistants do.
//
// Contract: 1.10 4.5
func TestRefusedAssistants(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		bad := s.Send("POST /user/assistant", strings.Replace(desk, `"name":"Desk"`, `"speech_speed":2`, 1)).Want(422)
		if bad.Body != `{"message":"Validation failed","errors":{"name":["The name field is required."],"speech_speed":["The speech speed field must be between 0.7 and 1.2."]}}` {
			t.Error(bad.Body)
		}
		s.Send("POST /user/assistant", `{"name":`).Want(400, `{"message":"The request body is not valid JSON."}`)
		s.Send("POST /user/assistant", `[1]`).Want(400, `{"message":"The request body must be a JSON object."}`)
	})
}

// TestWebhookSwitches switches by id, text and uuid.
//
// Contract: 1.4 4.6
func TestWebhookSwitches(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id := s.Send("POST /user/assistant", desk).Text("data.id")
		uuid := s.Send("GET /user/assistant/"+id, "").Text("data.uuid")
		for i, c := range []struct{ route, message, field, url string }{
			{"enable-inbound-webhook", "The webhook is switched on.", "inbound_webhook_url", "https://x.example/in"},
			{"enable-conversation-ended-webhook", "The conversation-ended webhook is switched on.", "conversation_ended_webhook_url", "https://x.example/in"},
			{"enable-webhook", "The webhook is switched on.", "webhook_url", "https://x.example/in"},
			{"disable-inbound-webhook", "The inbound webhook is switched off.", "inbound_webhook_url", ""},
			{"disable-conversation-ended-webhook", "The conversation-ended webhook is switched off.", "conversation_ended_webhook_url", ""},
			{"disable-webhook", "The webhook is switched off.", "webhook_url", ""},
		} {
			ref := []string{id, `"` + id + `"`, `"` + uuid + `"`}[i%3]
			body := `{"assistant_id":` + ref
			if c.url != "" {
				body += `,"webhook_url":"` + c.url + `"`
			}
			for range 2 { // repeating is harmless
				s.Send("POST /user/assistants/"+c.route, body+"}").Want(200, `{"message":"`+c.message+`","data":[]}`)
			}
			got := s.Send("GET /user/assistant/"+id, "").Get("data." + c.field)
			if c.url == "" && got != nil || c.url != "" && got != c.url {
				t.Errorf("%s: %v", c.route, got)
			}
			s.Send("POST /user/assistants/"+c.route, `{"assistant_id":999,"webhook_url":"https://x.example"}`).Want(404, `{"message":"Assistant not found"}`)
			s.Stranger().Send("POST /user/assistants/"+c.route, body+"}").Want(404, `{"message":"Assistant not found"}`)
		}
		s.Send("POST /user/assistants/enable-webhook", `{"assistant_id":`+id+`}`).Want(422,
			`{"message":"The given data was invalid.","errors":{"webhook_url":["The webhook url field is required."]}}`)
		s.Send("POST /user/assistants/enable-webhook", `{}`).Want(422,
			`{"message":"The given data was invalid.","errors":{"assistant_id":["The assistant id field is required."],"webhook_url":["The webhook url field is required."]}}`)
		s.Send("POST /user/assistants/enable-webhook", `{"assistant_id":"x","webhook_url":"y"}`).WantError("assistant_id: The assistant id field must be an integer.", "webhook_url: The webhook url field must be a valid URL.")
		s.Send("POST /user/assistants/enable-webhook", `{"assistant_id":`+id+`,"webhook_url":"http://10.0.0.1/"}`).WantError("webhook_url: The webhook url field must not point to a private or local address.")
		s.Send("POST /user/assistants/disable-webhook", `{}`).WantError("assistant_id: The assistant id field is required.")
	})
}

// TestVersionRoutes lists changes and goes back.
//
// Contract: 18.3
func TestVersionRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id := s.Send("POST /user/assistant", desk).Text("data.id")
		s.Send("PUT /user/assistant/"+id, `{"name":"Front"}`).Want(200)
		list := s.Send("GET /user/assistants/"+id+"/versions", "").Want(200)
		if list.Text("data.0.version") != "2" || fmt.Sprint(list.Get("data.0.changes")) != "map[name:map[from:Desk to:Front]]" || list.Text("data.1.data.name") != "Desk" || list.Text("data.0.author") == "" {
			t.Error(list.Body)
		}
		s.Send("POST /user/assistants/"+id+"/versions/1/restore", "").Want(200,
			`{"message":"The changes to the assistant were saved.","data":{"id":`+id+`,"name":"Desk","status":"inactive","type":"inbound","mode":"pipeline"}}`)
		s.Send("POST /user/assistants/"+id+"/versions/9/restore", "").Want(404, `{"message":"Version not found"}`)
		s.Stranger().Send("GET /user/assistants/"+id+"/versions", "").Want(404, `{"message":"Assistant not found"}`)
	})
}

// TestReferenceLists reads what assistants are made of.
//
// Contract: 4.7
func TestReferenceLists(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		voice := s.Send("GET /user/assistants/voices", "").Want(200)
		if voice.Text("0.id") != "1" || voice.Text("0.preview_url") != "https://p.example/media/voices/1.wav" || voice.Text("0.synthesizer_provider_id") != "1" || fmt.Sprint(voice.Get("0.modes")) != "[pipeline dualplex]" {
			t.Error(voice.Body)
		}
		realtime := s.Send("GET /user/assistants/voices?mode=multimodal&language_id=1", "").Want(200)
		if realtime.Get("0.synthesizer_provider_id") != nil || fmt.Sprint(realtime.Get("0.modes")) != "[multimodal]" {
			t.Error(realtime.Body)
		}
		for _, list := range []string{"voices", "synthesizer-providers", "transcriber-providers"} {
			s.Send("GET /user/assistants/"+list+"?language_id=999", "").Want(200, `[]`)
			s.Send("GET /user/assistants/"+list+"?language_id=x", "").WantError("language_id: The language id field must be an integer.")
		}
		s.Send("GET /user/assistants/voices?mode=x", "").Want(422, `{"message":"The selected mode is invalid.","errors":{"mode":["The selected mode is invalid."]}}`)
		s.Send("GET /user/assistants/models?type=x", "").WantError("type: The selected type is invalid.")
		s.Send("GET /user/assistants/phone-numbers?type=x", "").WantError("type: The selected type is invalid.")
		s.Send("GET /user/assistants/synthesizer-providers", "").Want(200, `[{"id":1,"name":"Built-in speech","code":"builtin","is_healthy":true}]`)
		s.Send("GET /user/assistants/models", "").Want(200, `[{"id":1,"name":"Built-in assistant model","is_healthy":true}]`)
		s.Send("GET /user/assistants/models?type=dualplex", "").Want(200, `[{"id":2,"name":"Built-in realtime model","code":"builtin-realtime","is_healthy":true}]`)
		s.Send("GET /user/assistants/phone-numbers", "").Want(200, `[]`)
		if l := s.Send("GET /user/assistants/languages", "").Want(200); !strings.HasPrefix(l.Body, `[{"id":1,"name":"English","iso_2":"en"},{"id":2,"name":"Romanian","iso_2":"ro"}`) {
			t.Error(l.Body)
		}
	})
}

// TestFolderAndLabelRoutes keeps folders and labels.
//
// Contract: 19
func TestFolderAndLabelRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, noun := range []string{"folder", "label"} {
			s.Send("GET /user/"+noun+"s", "").Want(200)
			made := s.Send("POST /user/"+noun, `{"name":" Acme ","color":"blue"}`)
			id := made.Text("data.id")
			made.Want(201, `{"message":"The new `+noun+` was saved.","data":{"id":`+id+`,"name":"Acme","color":"blue","assistants_count":0}}`)
			s.Send("POST /user/"+noun+"s", `{"name":"Acme"}`).Want(422, `{"message":"The name has already been taken.","errors":{"name":["The name has already been taken."]}}`)
			s.Send("POST /user/"+noun, `{"color":"mauve"}`).WantError("name: The name field is required.", "color: The selected color is invalid.")
			s.Send("PUT /user/"+noun+"s/"+id, `{"color":null}`).Want(200, `{"message":"The changes to the `+noun+` were saved.","data":{"id":`+id+`,"name":"Acme","color":null,"assistants_count":0}}`)
			field := map[string]string{"folder": `"folder_id":` + id, "label": `"label_ids":[` + id + `]`}[noun]
			assistant := s.Send("POST /user/assistant", strings.TrimSuffix(desk, "}")+","+field+"}").Want(201).Text("data.id")
			if page := s.Send("GET /user/"+noun+"s?per_page=1", "").Want(200); page.Text("data.0.assistants_count") != "1" || page.Text("per_page") != "1" {
				t.Error(page.Body)
			}
			missing := `{"message":"No ` + noun + ` with this id exists in your account."}`
			s.Send("PUT /user/"+noun+"/999", `{"name":7}`).Want(404, missing)
			s.Stranger().Send("DELETE /user/"+noun+"/"+id, "").Want(404, missing)
			s.Send("DELETE /user/"+noun+"/"+id, "").Want(200, `{"message":"The `+noun+` was removed."}`)
			s.Send("DELETE /user/"+noun+"/"+id, "").Want(404, missing)
			s.Send("GET /user/assistant/"+assistant, "").Want(200)
		}
	})
}

// TestAssistantOfARunningCampaign keeps its type; pausing or deleting it stops the campaign.
//
// Contract: 4.2 4.5 14.3
func TestAssistantOfARunningCampaign(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, c := range []struct{ line, reason string }{{"PUT", "assistant_inactive"}, {"DELETE", "assistant_deleted"}} {
			id := s.Send("POST /user/assistant", strings.Replace(desk, "inbound", "outbound", 1)).Want(201).Text("data.id")
			campaign := s.Send("POST /user/campaigns", `{"name":"Spring","assistant_id":`+id+`}`).Want(201).Text("data.id")
			if _, err := s.DB.Exec(t.Context(), `UPDATE campaigns SET status = 'in-progress' WHERE id = `+campaign); err != nil {
				t.Fatal(err)
			}
			s.Send("PUT /user/assistant/"+id, `{"type":"inbound"}`).WantError("type: The assistant is used by a running campaign.")
			s.Send("PUT /user/assistant/"+id, `{"status":"active"}`).Want(200)
			s.Send(c.line+" /user/assistant/"+id, `{"status":"inactive"}`).Want(200)
			if got := s.Send("GET /user/campaigns/"+campaign, "").Want(200); got.Text("data.status") != "stopped" || got.Text("data.stop_reason") != c.reason {
				t.Error(got.Body)
			}
		}
	})
}

// TestWriteBack sends records back as they were read: nothing changes, and only what has no effect is warned of.
//
// Contract: 1.5 4.1 4.3
func TestWriteBack(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		tools := `"tools":[{"type":"end_call"},{"type":"collect_keypad","timeout":9},{"type":"calendar_integration","calendar_api_key":"cal_live_9876","calendar_event_slug":"intro"}]`
		pipeline, _ := assistantOf(s, tools+`,"variables":{"b":1,"a":null},"fillers":true,"webhook_url":"https://x.example/","is_webhook_active":true`)
		multimodal := s.Send("POST /user/assistant", strings.NewReplacer(`"pipeline"`, `"multimodal"`, `"voice_id":1`, `"voice_id":6`, `"llm_model_id"`, `"multimodal_model_id"`, `:1}`, `:2}`).Replace(desk)).Want(201).Text("data.id")
		s.Send("POST /user/assistants/enable-inbound-webhook", `{"assistant_id":`+pipeline+`,"webhook_url":"https://x.example/in"}`).Want(200)
		for _, id := range []string{pipeline, multimodal} {
			read := func() string {
				return strings.TrimSuffix(strings.TrimPrefix(at.ReplaceAllString(s.Send("GET /user/assistant/"+id, "").Want(200).Body, "<time>"), `{"data":`), "}")
			}
			before := strings.TrimSuffix(strings.TrimPrefix(s.Send("GET /user/assistant/"+id, "").Want(200).Body, `{"data":`), "}")
			saved := s.Send("PUT /user/assistant/"+id, before).Want(200)
			if after := read(); after != at.ReplaceAllString(before, "<time>") {
				t.Errorf("before %s\nafter  %s", before, after)
			}
			for _, field := range []string{"id", "uuid", "user_id", "language", "inbound_webhook_url", "created_at", "updated_at", "deleted_at"} {
				if strings.Contains(saved.Body, `"field":"`+field+`"`) {
					t.Errorf("warned of %s in %s", field, saved.Body)
				}
			}
		}
		const other = `"warnings":[{"field":"inbound_webhook_url","message":"This address is set by enable-inbound-webhook and was ignored here."}]`
		if got := s.Send("PUT /user/assistant/"+pipeline, `{"inbound_webhook_url":"https://y.example/"}`).Want(200); !strings.Contains(got.Body, other) {
			t.Error(got.Body)
		}
		if got := s.Send("PUT /user/assistant/"+pipeline, `{"tools":[{"type":"calendar_integration","calendar_api_key":"****9876","calendar_event_slug":"intro"}]}`).Want(200); strings.Contains(got.Body, "warnings") {
			t.Error(got.Body)
		}
	})
}
