package api_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/assistants"
	"parley/billing"
	"parley/db"
)

// TestUsage sums the ledger by day, assistant and kind, also as a file.
//
// Contract: 16.2 18.3
func TestUsage(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("GET /user/usage", "").Want(200, `{"data":[],"unit":"minutes","currency":"USD"}`)
		s.Send("GET /user/plan", "").Want(200, `{"data":{"campaigns":{"used":0,"most":null},"assistants":{"used":0,"most":null},"tools":{"used":0,"most":null},`+
			`"parallel_calls":{"used":0,"most":100},"daily_outbound":{"used":0,"most":null},"parallel_per_campaign":10,"minute_price":0.1,"currency":"USD"}}`)
		world(s)
		acc, err := s.App.Accounts.First(t.Context(), s.DB)
		if err != nil {
			t.Fatal(err)
		}
		desk := assistants.ID(1)
		err = s.DB.Do(t.Context(), func(tx *db.Tx) error {
			for _, ref := range []string{"chat:1", "chat:2"} {
				if _, err := s.App.Billing.Charge(t.Context(), tx, acc.ID, ref, billing.Item{Kind: billing.ChatMessage, Money: 1e6, Assistant: &desk}); err != nil {
					return err
				}
			}
			_, err := s.App.Billing.Charge(t.Context(), tx, acc.ID, "sms:1", billing.Item{Kind: billing.SMS, Money: 5e6})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		day := s.DB.Now().Format("2006-01-02")
		s.Send("GET /user/usage?from="+day+"&to="+day, "").Want(200,
			`{"data":[{"day":"`+day+`","assistant_id":null,"assistant":null,"kind":null,"count":3,"amount":0.7,"cost":0.07}],"unit":"minutes","currency":"USD"}`)
		s.Send("GET /user/usage?group_by=kind", "").Want(200,
			`{"data":[{"day":null,"assistant_id":null,"assistant":null,"kind":"chat_message","count":2,"amount":0.2,"cost":0.02},{"day":null,"assistant_id":null,"assistant":null,"kind":"sms","count":1,"amount":0.5,"cost":0.05}],"unit":"minutes","currency":"USD"}`)
		by := s.Send("GET /user/usage?group_by=assistant", "").Want(200)
		if by.Text("data.1.assistant") != "Desk" || by.Text("data.1.amount") != "0.2" {
			t.Errorf("by assistant %s", by.Body)
		}
		s.Send("GET /user/usage?group_by=moon&from=1", "").WantError("from: The from field must match the format Y-m-d.", "group_by: The selected group by is invalid.")
		s.Send("GET /user/usage.csv?group_by=kind", "").Want(200, "kind,count,minutes,USD\nchat_message,2,0.2,0.02\nsms,1,0.5,0.05\n")
		s.Stranger().Send("GET /user/usage.csv", "").Want(200, "day,count,minutes,USD\n")
	})
}

// TestEvents follows the changes of an account, and only those.
//
// Contract: 18.3
func TestEvents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		web := httptest.NewServer(s.API)
		defer web.Close()
		defer s.API.Drain()
		listen := func(last string) *bufio.Scanner {
			r, err := http.NewRequestWithContext(t.Context(), "GET", web.URL+"/api/user/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.Token)
			r.Header.Set("Last-Event-ID", last)
			res, err := web.Client().Do(r)
			if err != nil || res.StatusCode != 200 {
				t.Fatal(err, res)
			}
			t.Cleanup(func() { res.Body.Close() })
			return bufio.NewScanner(res.Body)
		}
		event := func(lines *bufio.Scanner) (all []string) {
			for lines.Scan() && (lines.Text() != "" || len(all) == 0) {
				all = append(all, lines.Text())
			}
			return all
		}
		first := listen("")
		for account, data := range map[int64]int{2: 2, 1: 1} {
			if err := s.App.Live.Publish(t.Context(), account, "call", data); err != nil {
				t.Fatal(err)
			}
		}
		got := event(first)
		if len(got) != 3 || got[1] != "event: call" || got[2] != "data: 1" {
			t.Fatalf("event %q", got)
		}
		if err := s.App.Live.Publish(t.Context(), 1, "call", 3); err != nil {
			t.Fatal(err)
		}
		event(first)
		if again := event(listen(strings.TrimPrefix(got[0], "id: "))); again[2] != "data: 3" {
			t.Errorf("after %s came %q", got[0], again)
		}
	})
}
