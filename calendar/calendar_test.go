package calendar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/ssrf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service plays the vendor: it notes what it is asked and answers by path.
type service struct {
	*httptest.Server
	asked   []string
	answers map[string]string // "200 body" by path
}

func serve(t *testing.T) *service {
	s := &service{answers: map[string]string{"/v2/me": `200 {"status":"success","data":{"id":7,"username":"desk-team"}}`}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked = append(s.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Cal-Api-Version"), body)))
		status, answer := 404, `{"status":"error","error":{"code":"NotFoundException","message":"Nothing here"}}`
		if text, ok := s.answers[r.URL.Path]; ok {
			_, _ = fmt.Sscan(text, &status)
			answer = text[4:]
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, us, eu string, allow ...string) *Calendar {
	t.Helper()
	var nets []netip.Prefix
	for _, a := range allow {
		nets = append(nets, netip.MustParsePrefix(a))
	}
	c := New(ssrf.New(nets...), us, eu)
	t.Cleanup(c.Close)
	return c
}

func berlin(t *testing.T) *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

const key = `"calendar_api_key":"cal_live_9876","calendar_event_slug":"intro"`

func run(t *testing.T, c *Calendar, zone *time.Location, tool, function, args string) (string, error) {
	var given map[string]any
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		return "", err
	}
	var in struct {
		Key            string `json:"calendar_api_key"`
		Event          string `json:"calendar_event_slug"`
		Team           string `json:"calendar_team_slug"`
		Endpoint       string `json:"calendar_endpoint"`
		CustomEndpoint string `json:"calendar_custom_endpoint"`
		Fields         []struct {
			Slug string `json:"slug"`
		} `json:"calendar_booking_fields"`
	}
	if err := json.Unmarshal([]byte(tool), &in); err != nil {
		return "", err
	}
	setup := Setup{Key: in.Key, Event: in.Event, Team: in.Team, Endpoint: in.Endpoint, CustomEndpoint: in.CustomEndpoint}
	for _, f := range in.Fields {
		setup.Fields = append(setup.Fields, f.Slug)
	}
	value, err := c.Run(t.Context(), setup, function, given, zone)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(value)
	return string(b), err
}

// TestAvailability asks for the slots of days in the assistant's time zone.
//
// Contract: 4.4 20
func TestAvailability(t *testing.T) {
	us, eu := serve(t), serve(t)
	c, zone := open(t, us.URL+"/", eu.URL), berlin(t)
	us.answers["/v2/slots"] = `200 {"status":"success","data":{"2027-03-02":[{"start":"2027-03-02T09:30:00.000+01:00"},{"start":"2027-03-02T09:00:00.000+01:00"}],"2027-03-01":[{"start":"2027-03-01T22:59:00Z"},{"start":"2027-02-28T22:59:00Z"}],"2027-03-03":[{"start":"2027-03-02T23:00:00Z"}]}}`
	const days = `{"date_from":"2027-03-01","date_to":"2027-03-02"}`
	got, err := run(t, c, zone, `{`+key+`,"calendar_endpoint":"us"}`, "check_availability", days)
	want := `{"timezone":"Europe/Berlin","days":[{"date":"2027-03-01","weekday":"Monday","starts":["2027-03-01T23:59:00+01:00"]},{"date":"2027-03-02","weekday":"Tuesday","starts":["2027-03-02T09:00:00+01:00","2027-03-02T09:30:00+01:00"]}]}`
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if want := "[GET /v2/me Bearer cal_live_9876 2024-08-13 GET /v2/slots?end=2027-03-02T22%3A59%3A59Z&eventTypeSlug=intro&start=2027-02-28T23%3A00%3A00Z&timeZone=Europe%2FBerlin&username=desk-team Bearer cal_live_9876 2024-09-04]"; fmt.Sprint(us.asked) != want {
		t.Errorf("asked %s\nwant  %s", us.asked, want)
	}
	if _, err := run(t, c, zone, `{`+key+`}`, "check_availability", days); err != nil || len(us.asked) != 3 {
		t.Error("the name behind a key is asked once:", us.asked, err)
	}

	eu.answers["/v2/slots"] = `200 {"status":"success","data":{"slots":{"2027-03-01":[{"time":"2027-03-01T08:00:00.000Z"}]}}}`
	got, err = run(t, c, zone, `{`+key+`,"calendar_endpoint":"eu","calendar_team_slug":"sales"}`, "check_availability", days)
	if err != nil || got != `{"timezone":"Europe/Berlin","days":[{"date":"2027-03-01","weekday":"Monday","starts":["2027-03-01T09:00:00+01:00"]}]}` {
		t.Error(got, err)
	}
	if len(eu.asked) != 1 || !strings.Contains(eu.asked[0], "&teamSlug=sales&") || strings.Contains(eu.asked[0], "username") {
		t.Error(eu.asked)
	}
	eu.answers["/v2/slots"] = `200 {"data":{}}`
	if got, err := run(t, c, zone, `{`+key+`,"calendar_endpoint":"eu","calendar_team_slug":"sales"}`, "check_availability", days); err != nil || got != `{"timezone":"Europe/Berlin","days":[]}` {
		t.Error(got, err)
	}
	for args, want := range map[string]string{
		`{"date_from":"tomorrow","date_to":"2027-03-02"}`:   "date_from must be a day in the form YYYY-MM-DD",
		`{"date_from":"2027-03-01","date_to":7}`:            "date_to must be a day in the form YYYY-MM-DD",
		`{"date_from":"2027-03-02","date_to":"2027-03-01"}`: "date_to must not be before date_from",
		`{"date_from":"2027-03-02","date_to":"2028-03-01"}`: "at most 62 days can be looked at",
	} {
		if _, err := run(t, c, zone, `{`+key+`}`, "check_availability", args); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestManySlots tells the first ones, and that there are more.
func TestManySlots(t *testing.T) {
	us := serve(t)
	list := make([]string, 70)
	for i := range list {
		list[i] = fmt.Sprintf(`{"start":"2027-03-01T10:%02d:00Z"}`, i%60)
	}
	us.answers["/v2/slots"] = `200 {"data":{"2027-03-01":[` + strings.Join(list, ",") + `]}}`
	got, err := run(t, open(t, us.URL, us.URL), time.UTC, `{`+key+`}`, "check_availability", `{"date_from":"2027-03-01","date_to":"2027-03-01"}`)
	if err != nil || strings.Count(got, "T10:") != mostTold || !strings.HasSuffix(got, `"more":true}`) {
		t.Error(got, err)
	}
}

// TestBooking books with the answers to the form's questions.
//
// Contract: 4.4
func TestBooking(t *testing.T) {
	host := serve(t)
	c, zone := open(t, "http://127.0.0.1:1", "", "127.0.0.0/8"), berlin(t)
	tool := `{` + key + `,"calendar_team_slug":"sales","calendar_endpoint":"custom","calendar_custom_endpoint":"` + host.URL + `/v2","calendar_booking_fields":[{"slug":"company-size"},{"slug":"seats"},{"slug":"note"},{"slug":"email"}]}`
	args := `{"start":"2027-03-02T09:00","name":" Mia ","email":"mia@x.example","phone":"+49 170 1234567","company-size":"11+","seats":3,"note":"","other":1}`
	host.answers["/v2/bookings"] = `201 {"status":"success","data":{"uid":"b7","status":"accepted","start":"2027-03-02T08:00:00.000Z","end":"2027-03-02T08:30:00.000Z","location":"https://meet.example/b7"}}`
	got, err := run(t, c, zone, tool, "book_appointment", args)
	if want := `{"status":"accepted","booking_uid":"b7","start":"2027-03-02T09:00:00+01:00","end":"2027-03-02T09:30:00+01:00","timezone":"Europe/Berlin","location":"https://meet.example/b7"}`; err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	want := `[POST /v2/bookings Bearer cal_live_9876 2024-08-13 {"attendee":{"name":"Mia","email":"mia@x.example","timeZone":"Europe/Berlin","phoneNumber":"+491701234567"},"bookingFieldsResponses":{"company-size":"11+","seats":3},"eventTypeSlug":"intro","start":"2027-03-02T08:00:00Z","teamSlug":"sales"}]`
	if fmt.Sprint(host.asked) != want {
		t.Errorf("asked %s\nwant  %s", host.asked, want)
	}
	host.answers["/v2/bookings"] = `201 {"status":"success","data":[{"uid":"s1","status":"pending","start":"2027-03-02T08:00:00Z"},{"uid":"s2"}]}`
	if got, err := run(t, c, zone, tool, "book_appointment", args); err != nil || got != `{"status":"pending","booking_uid":"s1","start":"2027-03-02T09:00:00+01:00","timezone":"Europe/Berlin"}` {
		t.Error(got, err)
	}
	for args, want := range map[string]string{
		`{"start":"soon","email":"mia@x.example"}`:                               "start must be a date and time, as check_availability gave it",
		`{"start":"2027-03-02T09:00:00+01:00","email":"mia"}`:                    "email must be an e-mail address",
		`{"start":"2027-03-02T09:00:00Z","email":"mia@x.example","phone":"007"}`: "phone must be in E.164 form, for example +1234567890",
	} {
		if _, err := run(t, c, zone, tool, "book_appointment", args); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestRefusals words what went wrong, without the key.
//
// Contract: 4.4 9.5 15.7
func TestRefusals(t *testing.T) {
	host := serve(t)
	c := open(t, host.URL, "http://127.0.0.1:1")
	const args = `{"start":"2027-03-02T09:00:00Z","name":"Mia","email":"mia@x.example"}`
	book := func(more string) string {
		_, err := run(t, c, time.UTC, `{`+key+more+`}`, "book_appointment", args)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for answer, want := range map[string]string{
		`400 {"status":"error","error":{"code":"BadRequestException","message":"cal_live_9876: no free host"}}`: "the calendar refused: ****: no free host",
		`409 {"message":"Slot is taken"}`:                       "the calendar refused: Slot is taken",
		`401 {"error":{"message":"Invalid key cal_live_9876"}}`: "the calendar does not accept its key",
		`503 busy`:                     "the calendar answered HTTP 503",
		`302 `:                         "the calendar answered HTTP 302",
		`200 <html>`:                   "the calendar's answer cannot be read",
		`200 {"data":7}`:               "the calendar's answer cannot be read",
		`400 {"message":["a","b"]}`:    "the calendar answered HTTP 400",
		`201 {"data":{"uid":"b7"}}`:    "",
		`404 {"error":"no such type"}`: "the calendar answered HTTP 404",
	} {
		host.answers["/v2/bookings"] = answer
		if got := book(""); got != want {
			t.Errorf("%s: %s", answer, got)
		}
	}
	if got := book(`,"calendar_endpoint":"eu"`); got != "the calendar cannot be reached" {
		t.Error(got)
	}
	if got := book(`,"calendar_endpoint":"custom","calendar_custom_endpoint":"` + host.URL + `"`); got != ssrf.ErrRefused.Error() {
		t.Error(got)
	}
	host.answers["/v2/me"] = `401 {}`
	if _, err := run(t, c, time.UTC, `{"calendar_api_key":"other","calendar_event_slug":"intro"}`, "book_appointment", args); err == nil || err.Error() != "the calendar does not accept its key" {
		t.Error(err)
	}
	delete(host.answers, "/v2/me")
	host.answers["/v2/bookings"] = `201 {"data":{"uid":"b7"}}`
	if _, err := run(t, c, time.UTC, `{"calendar_api_key":"nameless","calendar_event_slug":"intro"}`, "book_appointment", args); err != nil {
		t.Error("a service that knows nobody by name:", err)
	}
	if last := host.asked[len(host.asked)-1]; strings.Contains(last, "username") {
		t.Error(last)
	}
	if err := unreached(slow{}); err.Error() != "timeout" {
		t.Error(err)
	}
	if err := unreached(errors.New("dial tcp: refused")); strings.Contains(err.Error(), "dial") {
		t.Error(err)
	}
}

type slow struct{}

func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }
func (slow) Error() string   { return "slow" }
