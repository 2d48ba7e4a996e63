package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/app"
	"parley/jobs"
)

// TestSimulatorRoutes asks the pretend world for everything, and is refused what it does not have.
//
// Contract: 1.10 3.4 16.5
func TestSimulatorRoutes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) { s.Cases("testdata/sim.http") })
}

// TestSimulatorBelongsToTheFirstAccount keeps strangers out of the pretend world, and everybody when it is off.
//
// Contract: 1.3 1.6
func TestSimulatorBelongsToTheFirstAccount(t *testing.T) {
	lines := []string{"GET /sim/clock", "POST /sim/clock/advance", "PUT /sim/account", "POST /sim/users", "GET /sim/payments", "GET /sim/sms?phone=%2B491701234567",
		"GET /sim/inventory", "POST /sim/inventory", "DELETE /sim/inventory/+14155550101", "PUT /sim/faults", "PUT /sim/phones/+491701234567", "GET /sim/phones",
		"POST /sim/calls", "GET /sim/calls/1", "GET /sim/calls/1/audio", "POST /sim/whatsapp/senders", "PUT /sim/whatsapp/senders/1", "POST /sim/whatsapp/senders/1/templates",
		"PUT /sim/whatsapp/templates/1", "POST /sim/whatsapp/inbound", "GET /sim/whatsapp/messages", "POST /sim/whatsapp/messages/x/status"}
	const all = `{"seconds":1,"name":"x","email":"x@p.example","phone_number":"+4930901820","from":"+491701234567","to":"x","sender_id":1,"balance":1,"script":[{"hangup":true}]}`
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		other := s.Stranger()
		for _, line := range lines {
			if line == "POST /sim/whatsapp/messages/x/status" {
				continue // its own set of statuses; below
			}
			other.Send(line, all).Want(404, `{"message":"Not found"}`)
			s.Keyless().Send(line, all).Want(401, `{"message":"Unauthenticated."}`)
		}
		other.Send("POST /sim/whatsapp/messages/x/status", `{"status":"read"}`).Want(404, `{"message":"Not found"}`)
	})
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, line := range []string{"GET /sim/clock", "POST /sim/clock/advance", "PUT /sim/account", "POST /sim/users"} {
			s.Send(line, all).Want(404, `{"message":"Not found"}`)
		}
		s.Send("PUT /sim/faults", `{"carrier":"crash_before_order"}`).Want(404, `{"message":"Not found"}`)
		s.Send("PUT /sim/faults", `{"carrier":"search_fails"}`).Want(200)
	}, func(f *app.Foundations) { f.Config.Simulator.Enabled, f.Config.Listen = "auto", "127.0.0.1:80" })
}

// TestSimulatorInventory offers at least 30 numbers in each of ten countries; what somebody else bought is gone from search.
//
// Contract: 10.2
func TestSimulatorInventory(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		all := s.Send("GET /sim/inventory", "").Want(200)
		for _, country := range []string{"US", "CA", "GB", "AU", "IL", "PL", "FI", "NL", "DK", "IT"} {
			if n := strings.Count(all.Body, `"country_code":"`+country+`"`); n < 30 {
				t.Errorf("%d numbers in %s", n, country)
			}
		}
		s.Send("POST /sim/inventory", `{"phone_number":"+14155557777","price":3}`).Want(200)
		if got := s.Send("GET /user/phone-numbers/search?contains=5557777", "").Want(200); got.Text("data.0.price") != "3" {
			t.Errorf("%s", got.Body)
		}
		s.Send("DELETE /sim/inventory/+14155557777", "").Want(200)
		s.Send("GET /user/phone-numbers/search?contains=5557777", "").Want(200, `{"data":[]}`)
	})
}

// TestClockAdvance works off what falls due in due order, each at its own moment, and says when it could not wait for it.
//
// Contract: 1.7
func TestClockAdvance(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		begin := s.DB.Now()
		ran := make(chan time.Duration, 8)
		run := s.App.Jobs()
		run.Register("test.due", jobs.Options{}, func(ctx context.Context, _ jobs.Job) error { ran <- s.DB.Now().Sub(begin); return nil })
		for _, at := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
			if err := run.Add(t.Context(), s.DB, jobs.New{Kind: "test.due", RunAt: begin.Add(at)}); err != nil {
				t.Fatal(err)
			}
		}
		s.Work()
		got := s.Send("POST /sim/clock/advance", `{"seconds":9000}`).Want(200)
		if now := begin.Add(9000 * time.Second).UTC().Format("2006-01-02T15:04:05.000000Z"); got.Body != `{"data":{"now":"`+now+`","settled":true}}` {
			t.Errorf("%s, want %s", got.Body, now)
		}
		for _, want := range []time.Duration{time.Hour, 2 * time.Hour} {
			if at := <-ran; at != want {
				t.Errorf("due after %s, ran after %s", want, at)
			}
		}
		s.Send("GET /sim/clock", "").Want(200, `{"data":{"mode":"manual","now":"`+got.Text("data.now")+`"}}`)
		s.Send("POST /sim/clock/advance", `{"seconds":1800}`).Want(200)
		if at := <-ran; at != 3*time.Hour {
			t.Errorf("due after 3h, ran after %s", at)
		}
	})
}
