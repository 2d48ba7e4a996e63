package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/apitest"
)

// TestTools makes, lists, changes and deletes mid-call tools, and refuses what must be refused.
//
// Contract: 1.10 9.1 9.2 9.6
func TestTools(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Cases("testdata/tools.http")
		s.Send("POST /user/tools", `{"name":"both","description":"Both.","endpoint":"https://example.com","method":"GET","timeout":99,`+
			`"schema":[{"name":"city","type":"string","description":"The city"},{"name":"city","type":"text","description":"The city"}]}`).
			WantError("timeout: The timeout field must be between 1 and 30.", "schema.1.name: The schema.1.name field has a duplicate value.",
				"schema.1.type: The selected schema.1.type is invalid.")
		id := s.Send("GET /user/tools", "").Text("0.id")
		other := s.Stranger()
		for _, line := range []string{"GET /user/tools/" + id, "PUT /user/tools/" + id, "DELETE /user/tools/" + id, "POST /user/tools/" + id + "/test"} {
			other.Send(line, "").Want(404, `{"message":"No tool with this id exists in your account."}`)
		}
		other.Send("GET /user/tools", "").Want(200, `[]`)
	})
}

// TestToolTrial calls an endpoint through the test routes.
//
// Contract: 9.3 9.4 9.6
func TestToolTrial(t *testing.T) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/down" {
			w.WriteHeader(500)
		}
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	}))
	defer endpoint.Close()
	s := one(t)
	made := s.Send("POST /user/tools", `{"name":"t","description":"d","endpoint":"`+endpoint.URL+`/{{where}}","method":"POST","schema":[{"name":"id1","type":"string","description":"The id"},{"name":"vip","type":"boolean","description":"Vip"}]}`).Want(201)
	test := "POST /user/tools/" + made.Text("data.id") + "/test"
	for _, c := range []struct{ line, body, want string }{
		{test, ``, `{"success":true,"status_code":200,"duration_ms":0,"request":{"method":"POST","url":"URL/","body":"{\"id1\":\"test\",\"vip\":true}"},"body":"POST / {\"id1\":\"test\",\"vip\":true}","error":null}`},
		{test, `{"arguments":{"id1":7,"vip":"no"},"variables":{"where":"down"}}`, `{"success":false,"status_code":500,"duration_ms":0,"request":{"method":"POST","url":"URL/down","body":"{\"id1\":\"7\",\"vip\":false}"},"body":"POST /down {\"id1\":\"7\",\"vip\":false}","error":"HTTP 500"}`},
		{"POST /user/tools/test", `{"endpoint":"` + endpoint.URL + `/x","method":"GET","static_fields":[{"key":"a","value":"b c"}]}`, `{"success":true,"status_code":200,"duration_ms":0,"request":{"method":"GET","url":"URL/x?a=b+c","body":null},"body":"GET /x?a=b+c ","error":null}`},
		{"POST /user/tools/test", `{"endpoint":"http://localhost:1/","method":"GET"}`, `{"success":false,"status_code":null,"duration_ms":0,"request":{"method":"GET","url":"http://localhost:1/","body":null},"body":"","error":"connection failed"}`},
	} {
		a := s.Send(c.line, c.body).Want(200)
		got := strings.Replace(strings.ReplaceAll(a.Body, endpoint.URL, "URL"), `"duration_ms":`+a.Text("duration_ms"), `"duration_ms":0`, 1)
		if got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.line, c.body, got, c.want)
		}
	}
}

// TestToolLimit stops at the plan's number of tools.
//
// Contract: 9.2 16.5
func TestToolLimit(t *testing.T) {
	s := one(t)
	if _, err := s.DB.Exec(t.Context(), `UPDATE accounts SET plan = '{"max_tools":1}'`); err != nil {
		t.Fatal(err)
	}
	s.Send("POST /user/tools", `{"name":"a","description":"d","endpoint":"https://example.com","method":"GET"}`).Want(201)
	s.Send("POST /user/tools", `{"name":"b","description":"d","endpoint":"https://example.com","method":"GET"}`).
		Want(422, `{"message":"Your plan allows 1 mid-call tools, and you have that many. Delete one, or change the plan."}`)
}

// TestToolSecrets uses a tool in a chat and looks for its secrets wherever a conversation leaves traces.
//
// Contract: 9.3 9.5 13.3
func TestToolSecrets(t *testing.T) {
	sent := ""
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.Header.Get("X-Key") + " " + string(body)
		io.WriteString(w, `{"message":"Your parcel arrives today."}`)
	}))
	defer endpoint.Close()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("POST /user/tools", `{"name":"track","description":"Use when the customer asks where a parcel is","endpoint":"`+endpoint.URL+`","method":"POST",
			"headers":[{"name":"X-Key","value":"s3cret-header"}],"static_fields":[{"key":"shop","value":"s3cret-field"}]}`).Want(201)
		var atRest string
		if err := s.DB.Get(t.Context(), &atRest, `SELECT headers || static_fields FROM tools`); err != nil || strings.Contains(atRest, "s3cret") {
			t.Errorf("at rest: %s %v", atRest, err)
		}
		id := s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC","initial_message":"Hi.",
			"system_prompt":"You help.","llm_model_id":1,"tool_ids":[1]}`).Want(201).Text("data.id")
		chat := s.Send("POST /conversations", `{"assistant_id":"`+s.Send("GET /user/assistant/"+id, "").Text("data.uuid")+`"}`).Want(200).Text("conversation_id")
		reply := s.Send("POST /conversations/"+chat+"/messages", `{"message":"Where is my parcel?"}`).Want(200)
		if sent != `s3cret-header {"shop":"s3cret-field"}` || !strings.HasPrefix(reply.Text("message"), "Your parcel arrives today.") {
			t.Errorf("sent %q, answered %s", sent, reply.Body)
		}
		history := s.Send("GET /conversations/"+chat, "").Want(200)
		if got := history.Text("history.2.function_calls.0.name"); got != "track" || strings.Contains(history.Body+reply.Body, "s3cret") {
			t.Errorf("history %s", history.Body)
		}
	})
}

// TestPlanLimits lowers and lifts the plan's limit: null is no limit.
//
// Contract: 9.2 16.5
func TestPlanLimits(t *testing.T) {
	s := one(t)
	tool := `{"name":"lookup","description":"Looks up.","endpoint":"https://example.com/","method":"GET"}`
	s.Send("PUT /sim/account", `{"plan":{"max_tools":0,"max_assistants":0}}`).Want(200)
	s.Send("POST /user/tools", tool).Want(422, `{"message":"Your plan allows 0 mid-call tools, and you have that many. Delete one, or change the plan."}`)
	s.Send("PUT /sim/account", `{"plan":{"max_tools":null}}`).Want(200)
	s.Send("POST /user/tools", tool).Want(201)
	s.Send("POST /user/assistant", assistantBody).Want(403, `{"message":"You have reached the maximum number of assistants allowed by your plan."}`)
}
