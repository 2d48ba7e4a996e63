package whatsapp

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/db"
	"parley/fault"
	"parley/messaging"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type glass struct{}

func (glass) Seal(b []byte) (string, error) { return string(b), nil }
func (glass) Open(s string) ([]byte, error) { return []byte(s), nil }

// exchange is one request as it arrived and what is answered.
type exchange struct{ want, body, status, answer string }

// graph answers requests in their order, like the Graph API, and fails the test for any other.
func graph(t *testing.T, all ...exchange) *Client {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || n >= len(all) {
			t.Errorf("unexpected: %s %s %s %v", r.Method, r.URL, b, err)
			return
		}
		e := all[n]
		n++
		if got := r.Method + " " + r.URL.String(); got != e.want || r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("asked %s with %q, want %s", got, r.Header.Get("Authorization"), e.want)
		}
		if e.body != "" && string(b) != e.body {
			t.Errorf("%s\n got %s\nwant %s", e.want, b, e.body)
		}
		if e.status != "" {
			w.WriteHeader(400)
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(e.answer, "$SELF", "http://"+r.Host))
	}))
	c := New(Config{BaseURL: server.URL + "/v23.0/", AppSecret: "app secret", VerifyToken: "words"}, glass{})
	t.Cleanup(func() {
		c.Close()
		server.Close()
		if n != len(all) {
			t.Errorf("%d of %d requests", n, len(all))
		}
	})
	return c
}

var sender = messaging.Sender{ID: 7, CarrierRef: "100", Credentials: `{"access_token":"token","business_account_id":"200"}`}

// TestSend hands text and templates over and reads every kind of answer.
func TestSend(t *testing.T) {
	c := graph(t,
		exchange{"POST /v23.0/100/messages", `{"messaging_product":"whatsapp","recipient_type":"individual","to":"491701234567","type":"text","text":{"body":"Hi \u003cyou\u003e"},"biz_opaque_callback_data":"ref"}`, "", `{"messages":[{"id":"wamid.1"}]}`},
		exchange{"POST /v23.0/100/messages", `{"messaging_product":"whatsapp","recipient_type":"individual","to":"491701234567","type":"template","template":{"name":"ready","language":{"code":"de"},"components":[{"type":"body","parameters":[{"type":"text","text":"Mia"},{"type":"text","text":"it"}]}]},"biz_opaque_callback_data":"ref"}`, "", `{"messages":[{"id":"wamid.2"}]}`},
		exchange{"POST /v23.0/100/messages", `{"messaging_product":"whatsapp","recipient_type":"individual","recipient":"DE.1","type":"template","template":{"name":"ready","language":{"code":"de"},"components":[{"type":"body","parameters":[{"type":"text","parameter_name":"name","text":"Mia"}]}]},"biz_opaque_callback_data":"ref"}`, "", `{"messages":[{"id":"wamid.3"}]}`},
		exchange{"POST /v23.0/100/messages", "", "400", `{"error":{"message":"(#131026) Message undeliverable","code":131026,"error_data":{"details":"Not on WhatsApp."}}}`},
		exchange{"POST /v23.0/100/messages", "", "400", `{"error":{"message":"(#132000) Number of parameters does not match","code":132000}}`},
		exchange{"POST /v23.0/100/messages", "", "400", `<html>`},
		exchange{"POST /v23.0/100/messages", "", "", `{}`},
	)
	text := messaging.Outgoing{Sender: sender, To: "+491701234567", Text: "Hi <you>", Ref: "ref"}
	template := &messaging.Template{Name: "ready", Language: "de", CarrierRef: "9"}
	namedTemplate := &messaging.Template{Name: "ready", Language: "de", CarrierRef: "9" + named, Variables: db.JSON[[]string]{V: []string{"name"}}}
	for i, o := range []messaging.Outgoing{
		text,
		{Sender: sender, To: "+491701234567", Template: template, Params: []string{"Mia", "it"}, Ref: "ref"},
		{Sender: sender, ToID: "DE.1", Template: namedTemplate, Params: []string{"Mia"}, Ref: "ref"},
	} {
		if sid, err := c.Send(t.Context(), o); err != nil || !strings.HasPrefix(sid, "wamid.") {
			t.Errorf("%d: %q %v", i, sid, err)
		}
	}
	_, err := c.Send(t.Context(), text)
	if r, ok := errors.AsType[*messaging.Refusal](err); !ok || *r != (messaging.Refusal{Code: "131026", Message: "Not on WhatsApp."}) {
		t.Error(err)
	}
	_, err = c.Send(t.Context(), text)
	if r, ok := errors.AsType[*messaging.Refusal](err); !ok || !r.Mismatch {
		t.Error(err)
	}
	for range 2 {
		_, err = c.Send(t.Context(), text)
		if _, refused := errors.AsType[*messaging.Refusal](err); err == nil || refused {
			t.Error("nobody knows whether it was sent:", err)
		}
	}
}

// TestJoin looks at a customer's sender before it is attached.
//
// Contract: 18.1
func TestJoin(t *testing.T) {
	const look = "GET /v23.0/100?fields=display_phone_number,verified_name,quality_rating,messaging_limit_tier,status"
	c := graph(t,
		exchange{look, "", "", `{"display_phone_number":"+1 415-555-0123","verified_name":"Shop","quality_rating":"YELLOW","messaging_limit_tier":"TIER_10K","status":"CONNECTED"}`},
		exchange{look, "", "", `{"display_phone_number":"+1 415-555-0124","verified_name":"Other"}`},
		exchange{look, "", "400", `{"error":{"message":"Invalid OAuth access token","code":190}}`},
	)
	n := messaging.Joining{Phone: "+14155550123", Credentials: map[string]string{"phone_number_id": "100", "business_account_id": "200", "access_token": "token"}}
	j, err := c.Join(t.Context(), n)
	if err != nil || j.Ref != "100" || j.State.Status != messaging.SenderOnline || j.State.Quality != "YELLOW" || *j.State.Limit != 10_000 || !j.State.LimitKnown || j.State.DisplayName != "Shop" {
		t.Errorf("%+v %v", j, err)
	}
	if j.Credentials != sender.Credentials {
		t.Error(j.Credentials)
	}
	if _, err := c.Join(t.Context(), n); !fault.Is(err, fault.Invalid) {
		t.Error("the number of somebody else:", err)
	}
	_, err = c.Join(t.Context(), n)
	if r, ok := errors.AsType[*messaging.Refusal](err); !ok || r.Code != "190" {
		t.Error(err)
	}
	if _, err := c.Join(t.Context(), messaging.Joining{}); len(fault.Of(err).Fields) != 3 {
		t.Error(err)
	}
}

// TestStates reads the platform's words for limits and states.
//
// Contract: 11.1 14.11
func TestStates(t *testing.T) {
	for tier, want := range map[string]int64{"TIER_50": 50, "TIER_250": 250, "TIER_1K": 1000, "TIER_100K": 100_000} {
		if n, known := limit(tier); !known || *n != want {
			t.Error(tier, n, known)
		}
	}
	if n, known := limit("TIER_UNLIMITED"); n != nil || !known {
		t.Error("unlimited", n, known)
	}
	if _, known := limit("TIER_NOT_SET"); known {
		t.Error("not set is known")
	}
	for status, want := range map[string]messaging.SenderStatus{"CONNECTED": "online", "BANNED": "suspended", "PENDING": "pending", "NEW_WORD": "offline"} {
		if got := (number{Status: status}).state(); got.Status != want || got.Quality != "GREEN" {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// TestTemplates reads page after page, and hands one in.
//
// Contract: 14.11 18.1
func TestTemplates(t *testing.T) {
	const list = "GET /v23.0/200/message_templates?"
	const fields = "fields=id%2Cname%2Clanguage%2Cstatus%2Ccategory%2Cparameter_format%2Crejected_reason%2Ccomponents&limit=100"
	c := graph(t,
		exchange{list + fields, "", "", `{"data":[{"id":"1","name":"ready","language":"de","status":"APPROVED","category":"MARKETING","components":[{"type":"HEADER","text":"x"},{"type":"BODY","text":"Hi {{1}}."}]}],"paging":{"cursors":{"after":"A"},"next":"$SELF"}}`},
		exchange{list + "after=A&" + fields, "", "", `{"data":[{"id":"2","name":"named","language":"en","status":"PAUSED","category":"UTILITY","parameter_format":"NAMED","rejected_reason":"NONE","components":[{"type":"BODY","text":"{{ name }}, {{thing}} for {{name}}."}]},
			{"id":"3","name":"no","language":"en","status":"REJECTED","category":"NEW","rejected_reason":"INVALID_FORMAT"}],"paging":{"cursors":{"after":"B"}}}`},
		exchange{"POST /v23.0/200/message_templates", `{"category":"UTILITY","components":[{"example":{"body_text":[["Mia"]]},"text":"Hi {{1}}.","type":"BODY"}],"language":"en","name":"new"}`, "", `{"id":"4","status":"PENDING"}`},
	)
	all, err := c.Templates(t.Context(), sender)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if got := all[0]; got.Ref != "1" || got.Body != "Hi {{1}}." || got.Status != messaging.TemplateApproved || got.Category != "marketing" {
		t.Errorf("%+v", got)
	}
	if got := all[1]; got.Body != "{{1}}, {{2}} for {{1}}." || strings.Join(got.Variables, " ") != "name thing" || got.Status != messaging.TemplatePaused || got.RejectedFor != nil {
		t.Errorf("%+v", got)
	}
	if got := all[2]; *got.RejectedFor != "INVALID_FORMAT" || got.Category != "utility" {
		t.Errorf("%+v", got)
	}
	ref, err := c.Submit(t.Context(), sender, messaging.Template{Name: "new", Language: "en", Category: "utility", Body: "Hi {{1}}.", Examples: db.JSON[[]string]{V: []string{"Mia"}}})
	if err != nil || ref != "4" {
		t.Error(ref, err)
	}
}

// TestFile fetches what a customer sent.
func TestFile(t *testing.T) {
	c := graph(t,
		exchange{"GET /v23.0/55", "", "", `{"url":"$SELF/bytes","mime_type":"image/jpeg"}`},
		exchange{"GET /bytes", "", "", "picture"},
	)
	f, kind, err := c.File(t.Context(), sender, "55")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "picture" || kind != "image/jpeg" {
		t.Error(string(b), kind, err)
	}
}

// TestIncoming reads what the platform posts.
//
// Contract: 11.7 18.2
func TestIncoming(t *testing.T) {
	for body, want := range map[string]messaging.Incoming{
		`{"id":"w1","from":"491701234567","type":"text","text":{"body":"Hello"}}`:                             {ID: "w1", Text: "Hello", Name: "Mia"},
		`{"id":"w2","from":"491701234567","type":"image","image":{"id":"55","caption":"my door"}}`:            {ID: "w2", Text: "my door", Name: "Mia", Files: []messaging.File{{Type: "image", Ref: "55"}}},
		`{"id":"w3","from":"491701234567","type":"audio","audio":{"id":"56","voice":true}}`:                   {ID: "w3", Name: "Mia", Files: []messaging.File{{Type: "audio", Ref: "56"}}},
		`{"id":"w4","from":"491701234567","type":"document","document":{"id":"57","filename":"a.pdf"}}`:       {ID: "w4", Name: "Mia", Files: []messaging.File{{Type: "document", Ref: "57", Filename: "a.pdf"}}},
		`{"id":"w5","from":"491701234567","type":"interactive","interactive":{"list_reply":{"title":"Two"}}}`: {ID: "w5", Text: "Two", Name: "Mia"},
		`{"id":"w6","from":"491701234567","type":"location","location":{"latitude":52.5,"longitude":13.4}}`:   {ID: "w6", Text: "52.5,13.4", Name: "Mia"},
	} {
		var in inbound
		if err := json.Unmarshal([]byte(body), &in); err != nil {
			t.Fatal(err)
		}
		p := person{Phone: "491701234567"}
		p.Profile.Name = "Mia"
		got, ok := in.incoming(sender, []person{p})
		want.SenderID, want.From = 7, messaging.Peer{Phone: "+491701234567"}
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if !ok || string(g) != string(w) {
			t.Errorf("%s\n got %s\nwant %s", body, g, w)
		}
	}
	hidden, ok := inbound{ID: "w7", FromID: "DE.1", Text: text{"x"}}.incoming(sender, nil)
	if !ok || hidden.From != (messaging.Peer{ID: "DE.1"}) {
		t.Errorf("%+v", hidden)
	}
	if _, ok := (inbound{ID: "w8", From: "1", Type: "reaction"}).incoming(sender, nil); ok {
		t.Error("a reaction became a message")
	}
}

// TestSignature accepts callbacks signed with the app secret only.
//
// Contract: 18.2
func TestSignature(t *testing.T) {
	c := New(Config{AppSecret: "app secret", VerifyToken: "words"}, glass{})
	ask := func(method, target, signature, body string) (int, string) {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("X-Hub-Signature-256", signature)
		w := httptest.NewRecorder()
		c.Hook(nil).ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const signature = "sha256=4269b90096ee090e4a787624758f36c998f98fdc3858d7ac354ed25fa9f869f3" // by openssl dgst -sha256 -hmac
	for _, c := range []struct {
		method, target, signature, body string
		code                            int
		says                            string
	}{
		{"GET", "/?hub.mode=subscribe&hub.verify_token=words&hub.challenge=42", "", "", 200, "42"},
		{"GET", "/?hub.mode=subscribe&hub.verify_token=other&hub.challenge=42", "", "", 403, `{"message":"Forbidden."}`},
		{"GET", "/", "", "", 403, `{"message":"Forbidden."}`},
		{"POST", "/", "", `{"entry":[]}`, 403, `{"message":"Forbidden."}`},
		{"POST", "/", "sha256=" + strings.Repeat("0", 64), `{"entry":[]}`, 403, `{"message":"Forbidden."}`},
		{"POST", "/", "SIGNED", `{"entry":[]}`, 200, ""},
		{"POST", "/", "SIGNED", `{"entry":[] }`, 403, `{"message":"Forbidden."}`},
		{"PUT", "/", "SIGNED", `{"entry":[]}`, 403, `{"message":"Forbidden."}`},
	} {
		code, says := ask(c.method, c.target, strings.Replace(c.signature, "SIGNED", signature, 1), c.body)
		if code != c.code || says != c.says {
			t.Errorf("%s %s %s: %d %s", c.method, c.target, c.body, code, says)
		}
	}
	c.AppSecret, c.VerifyToken = "", ""
	if code, _ := ask("POST", "/", signature, `{"entry":[]}`); code != 403 {
		t.Error("signed without a secret:", code)
	}
	if code, _ := ask("GET", "/?hub.mode=subscribe&hub.verify_token=&hub.challenge=42", "", ""); code != 403 {
		t.Error("verified without words:", code)
	}
}
