package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"parley/api/apitest"
)

// TestPayingIn tops an account up by the simulator's page, puts a method on file, and switches automatic top-ups on.
//
// Contract: 16.6
func TestPayingIn(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("GET /user/billing", "").Want(200, `{"data":{"payment_method":{"ready":true,"label":"Visa ending 4242","expires":"2034-12"},`+
			`"auto_topup":{"enabled":false,"below":5,"amount":25,"last_error":null},"currency":"USD"}}`)
		browse := func(method, address string) apitest.Answer {
			t.Helper()
			return s.Do(httptest.NewRequest(method, address, nil))
		}
		press := func(page string) apitest.Answer {
			t.Helper()
			if shown := browse(http.MethodGet, page).Want(200); shown.Header.Get("Content-Security-Policy") == "" {
				t.Error(shown.Header)
			}
			return browse(http.MethodPost, page).Want(303)
		}
		balance := func() float64 {
			t.Helper()
			n, _ := s.Send("GET /user/me", "").Want(200).Get("total_balance").(json.Number).Float64()
			return n
		}
		before := balance()
		key := "Idempotency-Key: pay-1"
		body := `{"amount":25,"return_url":"https://p.example/console/billing"}`
		page := s.Send("POST /user/billing/topup", body, key).Want(200).Text("url")
		if again := s.Send("POST /user/billing/topup", body, key).Want(200).Text("url"); again != page {
			t.Errorf("the same request opens %s and %s", page, again)
		}
		for range 2 { // the button, twice
			back := press(page).Header.Get("Location")
			for range 2 { // the browser comes back, twice
				if home := browse(http.MethodGet, back).Want(303); home.Header.Get("Location") != "https://p.example/console/billing" {
					t.Errorf("%s leads to %s", back, home.Header.Get("Location"))
				}
			}
		}
		if after := balance(); after != before+250 {
			t.Errorf("25 at 0.10 a minute: %v to %v", before, after)
		}

		s.Send("PUT /sim/account", `{"payment_method":"none"}`).Want(200)
		if m := s.Send("GET /user/billing", "").Want(200).Get("data.payment_method"); m != nil {
			t.Error(m)
		}
		s.Send("PUT /user/billing/auto-topup", `{"enabled":true}`).WantError("enabled: There is no payment method on file. Add one first.")
		press(s.Send("POST /user/billing/setup", `{"return_url":"https://p.example/"}`).Want(200).Text("url"))
		s.Send("PUT /user/billing/auto-topup", `{"enabled":true,"below":1,"amount":50}`).Want(200)
		s.Send("PUT /user/billing/auto-topup", `{"below":2}`).Want(200, `{"data":{"payment_method":{"ready":true,"label":"Visa ending 4242","expires":"2034-12"},`+
			`"auto_topup":{"enabled":true,"below":2,"amount":50,"last_error":null},"currency":"USD"}}`)

		s.Send("POST /user/billing/topup", `{"amount":4.99,"return_url":"https://p.example/"}`).Want(422)
		s.Send("POST /user/billing/topup", `{"amount":5001,"return_url":"https://p.example/"}`).Want(422)
		s.Send("POST /user/billing/topup", `{"amount":5}`).Want(422)
		s.Send("POST /user/billing/setup", `{"return_url":"https://evil.example/"}`).WantError("return_url: The return url must be an address of this installation.")
		s.Stranger().Send("GET /user/billing", "").Want(200)
	})
}
