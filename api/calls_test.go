package api_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/accounts"
	"parley/api/apitest"
	"parley/calls"
	"parley/db"
	"parley/value"
)

// TestMakeCall places calls and is refused them, check by check.
//
// Contract: 5.1
func TestMakeCall(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		out := s.Send("POST /user/assistant", callAssistant("outbound")).Want(201).ID("data.id")
		in := s.Send("POST /user/assistant", callAssistant("inbound")).Want(201).ID("data.id")
		order := func(phone string, id any) string {
			return fmt.Sprintf(`{"phone_number":%q,"assistant_id":%v,"variables":{"first name":"Mia","a":1}}`, phone, id)
		}
		s.Send("POST /user/make_call", `{"assistant_id":{},"variables":{"x":[1]}}`).WantError("phone_number: The phone number field is required.",
			"assistant_id: The assistant id field must be an integer.", "variables.x: The variables.x field must be a string, number or boolean.")
		s.Send("POST /user/make_call", `{"phone_number":5,"assistant_id":`+fmt.Sprint(out)+`}`).WantError("phone_number: The phone number field must be a string.")
		s.Send("POST /user/make_call", order("0301234", out)).Want(400, `{"message":"This phone number cannot be dialled. Write it in E.164 form, for example +1234567890."}`)
		s.Send("POST /user/make_call", order("+491701234567", 999)).Want(404, `{"message":"No assistant with this id exists in your account."}`)
		s.Stranger().Send("POST /user/make_call", order("+491701234567", out)).Want(404, `{"message":"No assistant with this id exists in your account."}`)
		s.Send("POST /user/make_call", order("+491701234567", in)).Want(422, `{"message":"Assistant is not an outbound assistant."}`)
		s.Send("POST /user/do-not-call", `{"phone_number":"+491700000000"}`).Want(200)
		s.Send("POST /user/make_call", order("+491700000000", out)).Want(422, `{"message":"This phone number is on the do-not-call list."}`)

		uuid := s.Send(fmt.Sprintf("GET /user/assistant/%d", out), "").Want(200).Text("data.uuid")
		for i, ref := range []any{out, fmt.Sprintf("%q", fmt.Sprint(out)), fmt.Sprintf("%q", strings.ToUpper(uuid))} {
			id := s.Send("POST /user/make-call", order("+491701234567", ref)).Want(200,
				fmt.Sprintf(`{"message":"The call was accepted and is being placed.","call_id":%d,"status":"initiated"}`, i+1)).ID("call_id")
			call := s.Send(fmt.Sprintf("GET /user/calls/%d", id), "").Want(200)
			if !strings.Contains(call.Body, `"input_variables":{"first name":"Mia","a":1}`) || call.Text("answered_by") != "unknown" || call.Text("type") != "outbound" {
				t.Errorf("record %s", call.Body)
			}
		}
		if status := s.Send(fmt.Sprintf("GET /user/assistant/%d", out), "").Text("data.status"); status != "active" {
			t.Errorf("a called assistant is %s", status)
		}
		first := s.Send("POST /user/make_call", order("+491701234567", out), "Idempotency-Key: k").Want(200)
		again := s.Send("POST /user/make_call", order("+491701234567", out), "Idempotency-Key: k").Want(200, first.Body)
		if again.Header.Get("Idempotency-Replayed") != "true" {
			t.Error("placed twice")
		}
		few := accounts.Terms{Plan: &accounts.Overrides{ParallelPerAccount: value.Some(int64(4))}}
		if _, err := s.App.Accounts.SetTerms(t.Context(), s.DB, operator(t, s), few); err != nil {
			t.Fatal(err)
		}
		full := s.Send("POST /user/make_call", order("+491701234567", out)).Want(429, `{"message":"Too many calls in progress.","retry_after":5}`)
		if h := full.Header; h.Get("Retry-After") != "5" || h.Get("X-RateLimit-Limit") != "4" || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Reset") == "" {
			t.Error(h)
		}
	})
}

func callAssistant(typ string) string {
	return fmt.Sprintf(`{"name":"Desk","voice_id":1,"language_id":1,"type":%q,"mode":"pipeline","timezone":"UTC","initial_message":"Hi.",
		"system_prompt":"Be kind.","llm_model_id":1}`, typ)
}

// operator is the account the server is called by.
func operator(t *testing.T, s *apitest.Server) accounts.ID {
	t.Helper()
	acc, err := s.App.Accounts.First(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	return acc.ID
}

// finished is a call of the account that is over.
func finished(t *testing.T, s *apitest.Server, n calls.NewCall) calls.Call {
	t.Helper()
	n.Owner, n.AssistantName, n.Currency = operator(t, s), "Desk", "USD"
	ctx := t.Context()
	call, err := s.App.Calls.Create(ctx, s.DB, n)
	if err != nil {
		t.Fatal(err)
	}
	if call, err = s.App.Calls.Answers(ctx, s.DB, call.ID); err != nil {
		t.Fatal(err)
	}
	call, err = s.App.Calls.End(ctx, s.DB, call.ID, calls.Over{Reason: calls.CustomerHangup, At: call.AnsweredReal.Time().Add(34 * time.Second), AISeconds: 34,
		Entries: []calls.Entry{{Text: "Hi.", Assistant: true, At: call.AnsweredReal.Time().UnixMicro()}, {Text: "Bye.", At: call.AnsweredReal.Time().Add(time.Second).UnixMicro()}},
		Spoke:   true, Recording: "recordings/x.wav"})
	if err != nil {
		t.Fatal(err)
	}
	call.Evaluation.V, call.AICost, call.CarrierCost = value.Scalars{{Name: "status", Value: true}}, 5666667, 1000000
	err = s.DB.Do(ctx, func(tx *db.Tx) error { call, err = s.App.Calls.Finish(ctx, tx, call); return err })
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// TestCallRecords reads, filters and deletes the record of a finished call.
//
// Contract: 5.2 5.3 5.4 5.5 4.9
func TestCallRecords(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		c := finished(t, s, calls.NewCall{Type: calls.Inbound, ClientPhone: "+491701234567", AssistantPhone: "+4930123456", AssistantID: 7})
		if err := s.App.Blobs.Put(t.Context(), "recordings/x.wav", strings.NewReader("RIFF"), "audio/wav"); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("GET /user/calls/%d", c.ID)
		got := s.Send(path, "").Want(200)
		for _, want := range []string{`"duration":34,`, `"status":"completed","transcript":"Assistant: Hi.\nCustomer: Bye.","variables":{"status":true},"evaluation":{"status":true},"webhook_response":null,"carrier_cost":0.01,"total_cost":0.06666667,"answered_by":"human","recording_url":"https://p.example/media/recordings/x.wav"`,
			`"ended_reason":"customer_hangup","ended_by":"customer"`, `"sender":"bot"`, `"ai_cost":0.05666667,"currency":"USD"`} {
			if !strings.Contains(got.Body, want) {
				t.Errorf("no %s in %s", want, got.Body)
			}
		}
		s.Send("GET /user/calls/"+c.UUID, "").Want(200, got.Body)
		s.Stranger().Send(path, "").Want(404, `{"message":"Call not found"}`)
		s.Send("GET /user/calls/x", "").Want(404, `{"message":"Call not found"}`)
		s.Send(fmt.Sprintf("GET /user/calls/%d/events", c.ID), "").Want(200)
		used, err := calls.MakeEvent(time.Now(), "usage", json.RawMessage(`{"stage":"realtime","provider":"p","model":"m","units":{"input_tokens":3},"cost":null}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DB.Do(t.Context(), func(tx *db.Tx) error { return s.App.Calls.Log(t.Context(), tx, c.ID, []calls.Event{used}) }); err != nil {
			t.Fatal(err)
		}
		if got := s.Send(fmt.Sprintf("GET /user/calls/%d", c.ID), "").Want(200); !strings.Contains(got.Body,
			`"vendor_costs":[{"stage":"realtime","provider":"p","model":"m","units":{"input_tokens":3},"cost":null}]`) {
			t.Error(got.Body)
		}
		s.Stranger().Send(fmt.Sprintf("GET /user/calls/%d/events", c.ID), "").Want(404, `{"message":"Call not found"}`)

		day := s.DB.Now().UTC().Format(time.DateOnly)
		for query, total := range map[string]string{"": "1", "status=completed": "1", "status=ended_by_customer": "1", "status=ended": "0", "type=inbound": "1", "type=web": "0",
			"phone_number=17012": "1", "phone_number=+49": "1", "phone_number=999": "0", "assistant_id=7": "1", "assistant_id=8": "0", "campaign_id=1": "0",
			"date_from=" + day: "1", "date_to=" + day: "1", "date_to=2020-01-01": "0", "page=2": "1"} {
			if got := s.Send("GET /user/calls?"+query, "").Want(200).Text("total"); got != total {
				t.Errorf("%s: %s calls, want %s", query, got, total)
			}
		}
		s.Send("GET /user/calls?status=odd&date_from=1.1.2020&per_page=0", "").WantError("per_page: The per page field must be between 1 and 100.",
			"status: The selected status is invalid.", "date_from: The date from field must match the format Y-m-d.")
		s.Send(fmt.Sprintf("POST /user/calls/%d/hangup", c.ID), "").Want(409, `{"message":"Call is not in progress."}`)
		s.Send(fmt.Sprintf("POST /user/calls/%d/whisper", c.ID), `{"text":"x"}`).Want(409, `{"message":"Call is not in progress."}`)

		s.Send(fmt.Sprintf("GET /user/calls/%d/cost", c.ID), "").Want(200, `{"ai_cost":0.05666667,"carrier_cost":0.01,"total_cost":0.06666667,"currency":"USD","final":true}`)
		s.Stranger().Send(fmt.Sprintf("GET /user/calls/%d/cost", c.ID), "").Want(404)
		listen := fmt.Sprintf("POST /user/calls/%d/listen", c.ID)
		s.Stranger().Send(listen, `{}`).Want(404, `{"message":"No call with this id exists in your account."}`)
		s.Send(listen, `{}`).WantError("sdp: The sdp field is required.")
		s.Send(listen, `{"sdp":"v=0"}`).Want(409, `{"message":"Call is not in progress."}`)

		said := []calls.Message{{At: c.AnsweredReal.Time().Add(-time.Second), Sent: true, Remote: "UDP 192.0.2.1:5060", Title: "180 Ringing", Text: "SIP/2.0 180 Ringing"}}
		if err := s.DB.Do(t.Context(), func(tx *db.Tx) error { return s.App.Calls.KeepSignalling(t.Context(), tx, c.ID, said) }); err != nil {
			t.Fatal(err)
		}
		signalling := fmt.Sprintf("GET /user/calls/%d/signalling", c.ID)
		if got := s.Send(signalling, "").Want(200); !strings.HasSuffix(got.Body, `"ms":-1000,"sent":true,"remote":"UDP 192.0.2.1:5060","title":"180 Ringing","text":"SIP/2.0 180 Ringing"}]}`) {
			t.Errorf("signalling %s", got.Body)
		}
		s.Stranger().Send(signalling, "").Want(404, `{"message":"Call not found"}`)

		s.Stranger().Send(fmt.Sprintf("DELETE /user/calls/%d", c.ID), "").Want(404, `{"message":"No call with this id exists in your account."}`)
		s.Send(fmt.Sprintf("DELETE /user/calls/%d", c.ID), "").Want(200, `{"message":"The call was removed."}`)
		s.Send(fmt.Sprintf("DELETE /user/calls/%d", c.ID), "").Want(404, `{"message":"No call with this id exists in your account."}`)
		if left, err := s.App.Calls.Signalling(t.Context(), s.DB, c.ID); err != nil || len(left) != 0 {
			t.Error("the signalling outlives its call", err)
		}
		if f, _, err := s.App.Blobs.Open(t.Context(), "recordings/x.wav"); err == nil {
			f.Close()
			t.Error("the recording outlives its call")
		}
	})
}

// TestRetention lets time pass after a call: its recording and its signalling go, the rest of its record stays.
//
// Contract: 5.2
func TestRetention(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Work()
		keep := func(c calls.Call) calls.Call {
			if err := s.App.Blobs.Put(t.Context(), "recordings/x.wav", strings.NewReader("RIFF"), "audio/wav"); err != nil {
				t.Fatal(err)
			}
			said := []calls.Message{{At: c.AnsweredReal.Time(), Title: "INVITE"}}
			if err := s.DB.Do(t.Context(), func(tx *db.Tx) error { return s.App.Calls.KeepSignalling(t.Context(), tx, c.ID, said) }); err != nil {
				t.Fatal(err)
			}
			return c
		}
		of := func(c calls.Call) string {
			record := s.Send(fmt.Sprintf("GET /user/calls/%d", c.ID), "").Want(200)
			w := httptest.NewRecorder()
			s.API.ServeHTTP(w, httptest.NewRequest("GET", "/media/recordings/x.wav", nil))
			return fmt.Sprint(strings.Contains(record.Body, `"recording_url"`), w.Code, strings.Contains(s.Send(fmt.Sprintf("GET /user/calls/%d/signalling", c.ID), "").Want(200).Body, "INVITE"))
		}
		old := keep(finished(t, s, calls.NewCall{Type: calls.Inbound}))
		advance(s, 60*24*time.Hour)
		if got := of(old); got != "true 200 true" {
			t.Errorf("after 60 days: %s", got)
		}
		advance(s, 31*24*time.Hour)
		if got := of(old); got != "false 404 false" {
			t.Errorf("after 91 days: %s", got)
		}
		young := keep(finished(t, s, calls.NewCall{Type: calls.Inbound}))
		advance(s, 60*24*time.Hour)
		if got := of(young); got != "true 200 true" {
			t.Errorf("another one after 60 days: %s", got)
		}
	})
}

// TestLiveCallIsKept deletes and hangs up a call that goes on.
//
// Contract: 18.1
func TestLiveCallIsKept(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		c, err := s.App.Calls.Create(t.Context(), s.DB, calls.NewCall{Owner: operator(t, s), Type: calls.Web, AssistantName: "D", Currency: "USD"})
		if err != nil {
			t.Fatal(err)
		}
		s.Send(fmt.Sprintf("DELETE /user/calls/%d", c.ID), "").Want(409, `{"message":"Call is still in progress."}`)
		s.Send(fmt.Sprintf("POST /user/calls/%d/hangup", c.ID), "").Want(200, `{"message":"Call hang-up requested"}`)
		got := s.Send(fmt.Sprintf("GET /user/calls/%d", c.ID), "").Want(200)
		if got.Text("status") != "failed" || got.Text("ended_reason") != "api_hangup" || got.Text("duration") != "0" || strings.Contains(got.Body, "recording_url") {
			t.Errorf("%s", got.Body)
		}
		s.Stranger().Send(fmt.Sprintf("POST /user/calls/%d/hangup", c.ID), "").Want(404, `{"message":"No call with this id exists in your account."}`)
	})
}

// TestRunningCost tells what a call that goes on would cost.
//
// Contract: 16.2
func TestRunningCost(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		c, err := s.App.Calls.Create(t.Context(), s.DB, calls.NewCall{Owner: operator(t, s), Type: calls.Outbound, ClientPhone: "+14155550123", AssistantName: "D", Currency: "USD"})
		if err != nil {
			t.Fatal(err)
		}
		cost := fmt.Sprintf("GET /user/calls/%d/cost", c.ID)
		s.Send(cost, "").Want(200, `{"ai_cost":0,"carrier_cost":0,"total_cost":0,"currency":"USD","final":false}`)
		if _, err := s.App.Calls.Answers(t.Context(), s.DB, c.ID); err != nil {
			t.Fatal(err)
		}
		if got := s.Send(cost, "").Want(200); got.Text("ai_cost") != "0.05" || got.Text("final") != "false" {
			t.Errorf("half a minute at least: %s", got.Body)
		}
	})
}

// TestDoNotCallList keeps numbers that are never called.
//
// Contract: 18.1
func TestDoNotCallList(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Send("POST /user/do-not-call", `{"phone_number":"0301","reason":5}`).WantError("phone_number: The phone number field must be a valid E.164 phone number.", "reason: The reason field must be a string.")
		one := s.Send("POST /user/do-not-call", `{"phone_number":"+491701234567","reason":"asked"}`).Want(200)
		s.Send("GET /user/do-not-call", "").Want(200, `{"data":[`+strings.TrimSuffix(strings.TrimPrefix(one.Body, `{"data":`), "}")+`]}`)
		s.Stranger().Send("GET /user/do-not-call", "").Want(200, `{"data":[]}`)
		path := fmt.Sprintf("DELETE /user/do-not-call/%d", one.ID("data.id"))
		s.Stranger().Send(path, "").Want(404)
		s.Send(path, "").Want(200)
		s.Send(path, "").Want(404)
	})
}

// TestWebCallRefusals asks for calls from a browser that nobody takes.
//
// Contract: 18.1
func TestWebCallRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		k := s.Keyless()
		k.Send("POST /web-calls", `{}`).Want(422, `{"status":false,"error":"assistant_id is required"}`)
		k.Send("POST /web-calls", `{"assistant_id":"0b6d6f0e-6f0b-4a8f-9c43-9a3a3f0f2d11","sdp":"x"}`).Want(404, `{"status":false,"error":"Assistant not found"}`)
		id := s.Send("POST /user/assistant", callAssistant("inbound")).Want(201).ID("data.id")
		uuid := s.Send(fmt.Sprintf("GET /user/assistant/%d", id), "").Text("data.uuid")
		k.Send("POST /web-calls", fmt.Sprintf(`{"assistant_id":"%d","sdp":"x"}`, id)).Want(404, `{"status":false,"error":"Assistant not found"}`)
		s.Send(fmt.Sprintf("PUT /user/assistant/%d", id), `{"widget_settings":{"voice_enabled":false}}`).Want(200)
		k.Send("POST /web-calls", fmt.Sprintf(`{"assistant_id":%q,"sdp":"x"}`, uuid)).Want(404, `{"status":false,"error":"Assistant not found"}`)
		k.Send("DELETE /web-calls/"+uuid+"?token=x", "").Want(404, `{"status":false,"error":"Call not found"}`)
	})
}
