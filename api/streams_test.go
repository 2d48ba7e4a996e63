package api_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/calls"
)

// stream follows a server-sent event stream; each call gives the next event as "id|kind|data", pings left out.
func stream(s *apitest.Server, web *httptest.Server, path, last string) func() string {
	s.T.Helper()
	ctx, stop := context.WithTimeout(s.T.Context(), time.Minute) // an event that never comes is an error, not a wait
	s.T.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "GET", web.URL+"/api"+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := web.Client().Do(r)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		s.T.Fatal(err, res)
	}
	s.T.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	return func() string {
		var id, kind string
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "":
				id, kind = "", ""
			case "id":
				id = value
			case "event":
				kind = value
			case "data":
				return id + "|" + kind + "|" + at.ReplaceAllString(value, "<time>")
			}
		}
		return "over"
	}
}

var at = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// TestConversationStream follows a chat, goes away and comes back.
//
// Contract: 13.1 18.3
func TestConversationStream(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		web := httptest.NewServer(s.API)
		defer web.Close()
		defer s.API.Drain()
		_, uuid := assistantOf(s, "")
		page := s.Keyless()
		chat := page.Send("POST /conversations", `{"assistant_id":"`+uuid+`"}`).Text("conversation_id")
		other := page.Send("POST /conversations", `{"assistant_id":"`+uuid+`"}`).Text("conversation_id")
		next := stream(page, web, "/conversations/"+strings.ToUpper(chat)+"/stream", "")
		want := func(wants ...string) {
			t.Helper()
			for _, w := range wants {
				if got := next(); got != strings.ReplaceAll(w, "<id>", chat) {
					t.Errorf("got %s, want %s", got, w)
				}
			}
		}
		page.Send("POST /conversations/"+other+"/messages", `{"message":"Elsewhere"}`).Want(200)
		said := page.Send("POST /conversations/"+chat+"/messages", `{"message":"Good morning"}`).Want(200).Text("message")
		user := `5|message|{"conversation_id":"<id>","role":"user","content":"Good morning","created_at":"<time>"}`
		reply := `6|message|{"conversation_id":"<id>","role":"assistant","content":"` + said + `","created_at":"<time>"}`
		want(user)
		typing, got := `|typing|{"conversation_id":"`+chat+`"}`, next()
		if got == typing { // not told when the answer is there already
			got = next()
		}
		if got != strings.ReplaceAll(reply, "<id>", chat) {
			t.Errorf("got %s, want %s", got, reply)
		}
		s.Send("POST /automate/conversations/"+chat+"/disable-ai", "").Want(200)
		want(`|state|{"conversation_id":"<id>","state":"open","ai_enabled":false}`)
		s.Send("POST /user/conversations/"+chat+"/reply", `{"message":"A person."}`).Want(200)
		person := next()
		if !strings.HasSuffix(person, `|message|{"conversation_id":"`+chat+`","role":"assistant","content":"A person.","created_at":"<time>"}`) {
			t.Error(person)
		}
		page.Send("POST /conversations/"+chat+"/end", "").Want(200)
		want(`|state|{"conversation_id":"<id>","state":"ended","ai_enabled":false}`)

		next = stream(page, web, "/conversations/"+chat+"/stream", "5")
		want(reply, strings.ReplaceAll(person, chat, "<id>"))
		next = stream(s, web, "/conversations/"+chat+"/stream?last_event_id=0", "")
		if got := next(); !strings.Contains(got, `"role":"assistant","content":"Hello`) {
			t.Error("from the beginning:", got)
		}
		page.Send("GET /conversations/00000000-0000-4000-8000-000000000000/stream", "").Want(404, noConversation)
		s.Stranger().Send("GET /conversations/"+chat+"/stream", "").Want(404, noConversation)
	})
}

// TestCallStream reads the log of a call from where the client was.
//
// Contract: 4.9 18.3
func TestCallStream(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		web := httptest.NewServer(s.API)
		defer web.Close()
		call := finished(t, s, calls.NewCall{Type: calls.Web})
		path := "/user/calls/" + call.UUID + "/stream"
		read := func(last string) (all []string) {
			for next := stream(s, web, path, last); ; {
				e := next()
				if e == "over" {
					return all
				}
				all = append(all, e)
			}
		}
		whole := read("")
		if len(whole) < 3 || !strings.HasPrefix(whole[0], "1|call.state|") {
			t.Fatal(whole)
		}
		if rest := read("2"); strings.Join(rest, "\n") != strings.Join(whole[2:], "\n") {
			t.Errorf("after 2 came %v", rest)
		}
	})
}
