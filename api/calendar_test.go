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

// TestCalendarInChats looks for a free slot and books it; the key is nowhere to be read.
//
// Contract: 1.4 4.4 9.5 13.3 20
func TestCalendarInChats(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		var asked []string
		vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
			answer := `{"status":"success","data":{"2027-03-02":[{"start":"2027-03-02T09:00:00Z"}]}}`
			if r.Method == http.MethodPost {
				answer = `{"status":"success","data":{"uid":"b7","status":"accepted"}}`
			}
			_, _ = io.WriteString(w, answer)
		}))
		defer vendor.Close()
		// The vendor's own spelling of the fields is read too.
		id, uuid := assistantOf(s, `"variables":{"customer_name":"Mia","email":"mia@x.example"},"tools":[{"type":"calendar_integration","cal_api_key":"cal_live_9876",
			"calcom_event_slug":"intro","cal_com_team_slug":"sales","cal_endpoint":"custom","cal_custom_endpoint":"`+vendor.URL+`"}]`)
		if got := s.Send("GET /user/assistant/"+id, "").Want(200); got.Text("data.tools.0.calendar_api_key") != "****9876" || got.Text("data.tools.0.data.calendar_team_slug") != "sales" {
			t.Error(got.Body)
		}
		chat := s.Send("POST /conversations", `{"assistant_id":"`+uuid+`","type":"test"}`).Want(200).Text("conversation_id")
		said := func(messages ...string) (last apitest.Answer) {
			for _, m := range messages {
				last = s.Send("POST /conversations/"+chat+"/messages", `{"message":"`+m+`"}`).Want(200)
			}
			return last
		}
		if got := said("I want an appointment.", "2027-03-02", "2027-03-02", "yes"); got.Text("function_calls.0.name") != "check_availability" ||
			got.Text("function_calls.0.result.days.0.starts.0") != "2027-03-02T10:00:00+01:00" {
			t.Error(got.Body)
		}
		if got := said("yes"); got.Text("function_calls.0.name") != "book_appointment" || got.Text("function_calls.0.result.booking_uid") != "b7" {
			t.Error(got.Body)
		}
		if want := `GET /v2/slots Bearer cal_live_9876 ` + "\n" + `POST /v2/bookings Bearer cal_live_9876 {"attendee":{"name":"Mia","email":"mia@x.example","timeZone":"Europe/Berlin"},` +
			`"eventTypeSlug":"intro","start":"2027-03-02T09:00:00Z","teamSlug":"sales"}`; strings.Join(asked, "\n") != want {
			t.Errorf("asked %s\nwant  %s", strings.Join(asked, "\n"), want)
		}
		if history := s.Send("GET /conversations/"+chat, "").Want(200); strings.Contains(history.Body, "cal_live") || !strings.Contains(history.Body, `"name":"book_appointment"`) {
			t.Error(history.Body)
		}
	})
}
