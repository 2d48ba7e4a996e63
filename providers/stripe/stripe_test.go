package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/accounts"
	"parley/billing"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/jobs"
	"parley/payments"
	"parley/providers/rest"
	"parley/value"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is the vendor as far as this adapter uses it: what it answers under an idempotency key it answers again.
type fake struct {
	mu      sync.Mutex
	log     []string          // "POST /v1/x form"
	kept    map[string]string // answers by key
	objects map[string]string // by path: answers to GET
	answer  map[string]string // by path: answers to POST; "402 …" refuses
	lose    int               // answers that do not arrive
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Authorization") != "Bearer sk_test_1" || r.Header.Get("Stripe-Version") != version {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodGet {
		io.WriteString(w, f.objects[r.URL.Path])
		return
	}
	key := r.Header.Get("Idempotency-Key")
	answer, again := f.kept[key]
	if !again {
		f.log = append(f.log, r.URL.Path+" "+string(body))
		answer = f.answer[r.URL.Path]
		f.kept[key] = answer
	}
	if f.lose > 0 {
		f.lose--
		panic(http.ErrAbortHandler)
	}
	if refused, ok := strings.CutPrefix(answer, "402 "); ok {
		w.WriteHeader(http.StatusPaymentRequired)
		answer = refused
	}
	io.WriteString(w, answer)
}

func start(t *testing.T) (*Client, *fake) {
	f := &fake{kept: map[string]string{}, objects: map[string]string{}, answer: map[string]string{}}
	s := httptest.NewServer(f)
	c := New(Settings{SecretKey: "sk_test_1", WebhookSecret: "whsec_test", BaseURL: s.URL})
	c.rest.Patience = rest.Patience{Header: 5 * time.Second, Idle: 5 * time.Second, Tries: 3, Pause: time.Millisecond}
	t.Cleanup(func() { c.rest.Close(); s.Close() })
	return c, f
}

const card = `{"id":"cus_1","invoice_settings":{"default_payment_method":{"id":"pm_1","type":"card","card":{"brand":"visa","last4":"4242","exp_month":9,"exp_year":2099}}}}`

func TestMethod(t *testing.T) {
	c, f := start(t)
	if m, err := c.Method(t.Context(), 7, ""); m != nil || err != nil {
		t.Errorf("without a customer: %v %v", m, err)
	}
	for object, want := range map[string]string{
		card:                                     "&{true Visa ending 4242 2099-09}",
		strings.Replace(card, "2099", "2020", 1): "&{false Visa ending 4242 2020-09}",
		`{"id":"cus_1","invoice_settings":{"default_payment_method":null}}`:                                   "<nil>",
		`{"id":"cus_1","deleted":true}`:                                                                       "<nil>",
		`{"id":"cus_1","invoice_settings":{"default_payment_method":{"id":"pm_2","type":"us_bank_account"}}}`: "&{true us bank account }",
	} {
		f.objects["/v1/customers/cus_1"] = object
		if m, err := c.Method(t.Context(), 7, "cus_1"); err != nil || fmt.Sprint(m) != want {
			t.Errorf("%s: %v %v", object, m, err)
		}
	}
}

func TestPages(t *testing.T) {
	c, f := start(t)
	f.answer["/v1/checkout/sessions"] = `{"id":"cs_1","url":"https://checkout.example/cs_1","status":"open"}`
	page := payments.Page{Key: "k1", Owner: 7, Customer: "cus_1", Amount: 25 * value.MoneyUnit, Currency: "USD", Back: "https://p.example/hooks/stripe/return", Cancel: "https://p.example/"}
	f.lose = 1
	for range 2 {
		if s, err := c.Open(t.Context(), page); err != nil || s.ID != "cs_1" || s.URL != "https://checkout.example/cs_1" {
			t.Errorf("%+v %v", s, err)
		}
	}
	want := "/v1/checkout/sessions cancel_url=https%3A%2F%2Fp.example%2F&client_reference_id=k1&customer=cus_1&line_items%5B0%5D%5Bprice_data%5D%5Bcurrency%5D=usd" +
		"&line_items%5B0%5D%5Bprice_data%5D%5Bproduct_data%5D%5Bname%5D=Balance&line_items%5B0%5D%5Bprice_data%5D%5Bunit_amount%5D=2500&line_items%5B0%5D%5Bquantity%5D=1&mode=payment" +
		"&payment_intent_data%5Bmetadata%5D%5Baccount%5D=7&payment_intent_data%5Bsetup_future_usage%5D=off_session" +
		"&success_url=https%3A%2F%2Fp.example%2Fhooks%2Fstripe%2Freturn%3Fsession_id%3D%7BCHECKOUT_SESSION_ID%7D"
	if len(f.log) != 1 || f.log[0] != want {
		t.Errorf("%q", f.log)
	}
	page.Key, page.Amount = "k2", 0
	if _, err := c.Open(t.Context(), page); err != nil || !strings.Contains(f.log[1], "currency=usd") || !strings.Contains(f.log[1], "mode=setup") {
		t.Errorf("%v %q", err, f.log)
	}
	f.answer["/v1/customers/cus_1"] = card
	for object, want := range map[string]string{
		`{"id":"cs_1","customer":"cus_1","status":"open","payment_status":"unpaid","payment_intent":{"id":"pi_1"}}`:                            "{cs_1  false false }",
		`{"id":"cs_1","customer":"cus_1","status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1"}}`:                        "{cs_1  false false }",
		`{"id":"cs_1","customer":"cus_1","status":"complete","payment_status":"paid","payment_intent":{"id":"pi_1","payment_method":"pm_1"}}`:  "{cs_1  true false pi_1}",
		`{"id":"cs_1","customer":"cus_1","status":"complete","payment_status":"no_payment_required","setup_intent":{"payment_method":"pm_2"}}`: "{cs_1  true false }",
		`{"id":"cs_1","customer":"cus_1","status":"expired","payment_status":"unpaid"}`:                                                        "{cs_1  false true }",
	} {
		f.objects["/v1/checkout/sessions/cs_1"], f.log, f.kept = object, nil, map[string]string{}
		s, err := c.Session(t.Context(), "cs_1")
		if err != nil || fmt.Sprint(s) != want {
			t.Errorf("%s: %+v %v", object, s, err)
		}
		if s.Done != (len(f.log) == 1) {
			t.Errorf("the method of %s: %q", object, f.log)
		}
	}
}

func TestCharge(t *testing.T) {
	c, f := start(t)
	f.objects["/v1/customers/cus_1"] = card
	for _, x := range []struct{ answer, later, ref, err string }{
		{`{"id":"pi_1","status":"succeeded"}`, "", "pi_1", "<nil>"},
		{`{"id":"pi_1","status":"processing"}`, `{"id":"pi_1","status":"succeeded"}`, "pi_1", "<nil>"},
		{`{"id":"pi_1","status":"processing"}`, `{"id":"pi_1","status":"processing"}`, "", "stripe: the payment is being processed"},
		{`{"id":"pi_1","status":"processing"}`, `{"id":"pi_1","status":"requires_payment_method"}`, "", "payments: refused"},
		{`402 {"error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds","message":"declined"}}`, "", "", "refused"},
		{`402 {"error":{"type":"card_error","code":"authentication_required","message":"come back"}}`, "", "", "refused"},
	} {
		f.answer["/v1/payment_intents"], f.objects["/v1/payment_intents/pi_1"], f.log, f.kept = x.answer, x.later, nil, map[string]string{}
		f.lose = 1
		ref, err := c.Charge(t.Context(), payments.Charge{Key: "k#1", Owner: 7, Customer: "cus_1", Amount: 1150000000, Currency: "JPY", For: "Number"})
		if ref != x.ref || fmt.Sprint(err) != x.err && !(x.err == "refused" && errors.Is(err, payments.ErrRefused)) {
			t.Errorf("%s: %q %v", x.answer, ref, err)
		}
		if len(f.log) != 1 || !strings.Contains(f.log[0], "amount=12&confirm=true&currency=jpy&customer=cus_1&") || !strings.Contains(f.log[0], "off_session=true&payment_method=pm_1") {
			t.Errorf("%q", f.log)
		}
	}
	f.objects["/v1/customers/cus_1"] = `{"id":"cus_1","invoice_settings":{}}`
	if _, err := c.Charge(t.Context(), payments.Charge{Key: "k", Customer: "cus_1"}); !errors.Is(err, payments.ErrRefused) {
		t.Errorf("without a method: %v", err)
	}
	f.answer["/v1/refunds"] = `{"id":"re_1"}`
	if err := c.Refund(t.Context(), "k:refund", "pi_1"); err != nil || f.log[len(f.log)-1] != "/v1/refunds payment_intent=pi_1" {
		t.Error(err, f.log)
	}
}

// A platform that is away says so without the key.
func TestAway(t *testing.T) {
	c, _ := start(t)
	c.rest.Sign = rest.Bearer("sk_test_wrong")
	_, err := c.Customer(t.Context(), accounts.Account{ID: 7})
	if fl := fault.Of(err); fl.Kind != fault.Unavailable || fl.Message != "the payment platform refused the API key" {
		t.Error(err)
	}
}

func TestMinor(t *testing.T) {
	for currency, want := range map[string]int64{"USD": 1235, "jpy": 12, "KWD": 12346} {
		if got := minor(1234567890, currency); got != want {
			t.Errorf("%s: %d", currency, got)
		}
	}
}

// The vendor's own library made this signature.
func TestSignature(t *testing.T) {
	c, _ := start(t)
	body := []byte(`{"id":"evt_1","object":"event","type":"payment_intent.succeeded"}`)
	v1 := "v1=e8157a4447d16f68e3ce3f5bfbb1fafeb0acbb03b61903e2f64debc9422f78db"
	at := time.Unix(1760000000, 0)
	for _, x := range []struct {
		header string
		now    time.Time
		good   bool
	}{
		{"t=1760000000," + v1, at, true},
		{"t=1760000000," + v1, at.Add(300*time.Second + 900*time.Millisecond), true},
		{"t=1760000000," + v1, at.Add(301 * time.Second), false},
		{"t=1760000000," + v1, at.Add(-301 * time.Second), false},
		{"t=1760000000,v1=00," + v1 + ",v0=1", at, true},
		{"t=1760000001," + v1, at, false},
		{v1, at, false},
		{"", at, false},
	} {
		if c.signed(x.header, body, x.now) != x.good {
			t.Errorf("%s at %v", x.header, x.now)
		}
	}
	if c.signed("t=1760000000,"+v1, append(body, ' '), at) {
		t.Error("another body passes")
	}
	c.secret = ""
	if c.signed("t=1760000000,"+v1, body, at) {
		t.Error("without a secret everything passes")
	}
}

// Callbacks book what the vendor says when it is asked again, once, in whatever order and however often they come.
//
// Contract: 16.6
func TestCallbacks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c, f := start(t)
		people := accounts.New(d, accounts.Plan{MinutePrice: value.MoneyUnit / 10})
		a, err := people.Create(t.Context(), d, accounts.Draft{Name: "A", Email: "a@p.example"})
		if err != nil {
			t.Fatal(err)
		}
		books := billing.New(people, billing.Settings{Currency: "USD"})
		p := payments.New(payments.Deps{DB: d, Jobs: jobs.NewRunner(d), Accounts: people, Billing: books, Platform: func() (payments.Platform, string) { return c, Code }})
		f.answer["/v1/customers"], f.answer["/v1/customers/cus_1"] = `{"id":"cus_1"}`, card
		f.answer["/v1/checkout/sessions"] = `{"id":"cs_1","url":"https://checkout.example/cs_1"}`
		if _, err := p.TopUp(context.Background(), a.ID, 25*value.MoneyUnit, "https://p.example", "https://p.example/"); err != nil {
			t.Fatal(err)
		}
		f.objects["/v1/checkout/sessions/cs_1"] = `{"id":"cs_1","customer":"cus_1","status":"complete","payment_status":"paid","payment_intent":{"id":"pi_1","payment_method":"pm_1"}}`
		f.objects["/v1/charges/ch_1"] = `{"payment_intent":"pi_1","currency":"usd","amount_refunded":1000}`
		f.objects["/v1/disputes/dp_1"] = `{"payment_intent":"pi_1","currency":"usd","amount":500,"status":"needs_response"}`
		hooks := c.Hooks(p)
		tell := func(kind, id string) {
			t.Helper()
			body, _ := json.Marshal(map[string]any{"type": kind, "data": map[string]any{"object": map[string]any{"id": id}}})
			at := fmt.Sprint(time.Now().Unix())
			mac := hmac.New(sha256.New, []byte("whsec_test"))
			mac.Write([]byte(at + "." + string(body)))
			for header, want := range map[string]int{"t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil)): 200, "t=" + at + ",v1=00": 403} {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, "/hooks/stripe", strings.NewReader(string(body)))
				r.Header.Set("Stripe-Signature", header)
				if hooks.ServeHTTP(w, r); w.Code != want {
					t.Errorf("%s: %d", kind, w.Code)
				}
			}
		}
		for _, x := range [][3]string{
			{"checkout.session.completed", "cs_other", "0"}, {"checkout.session.completed", "cs_1", "250"}, {"checkout.session.completed", "cs_1", "250"},
			{"charge.refunded", "ch_1", "150"}, {"charge.refunded", "ch_1", "150"}, {"charge.dispute.created", "dp_1", "100"},
			{"charge.dispute.updated", "dp_1", "100"}, {"an.event.of.tomorrow", "x", "100"},
		} {
			if x[1] == "cs_other" {
				f.objects["/v1/checkout/sessions/cs_other"] = f.objects["/v1/checkout/sessions/cs_1"]
			}
			tell(x[0], x[1])
			if b, err := books.Balance(t.Context(), d, a.ID); err != nil || b.Total.String() != x[2] {
				t.Errorf("after %s of %s: %s %v", x[0], x[1], b.Total, err)
			}
		}
		f.objects["/v1/disputes/dp_1"] = strings.Replace(f.objects["/v1/disputes/dp_1"], "needs_response", "won", 1)
		tell("charge.dispute.closed", "dp_1")
		if b, _ := books.Balance(t.Context(), d, a.ID); b.Total.String() != "150" {
			t.Error("a dispute that was won:", b.Total)
		}
		w := httptest.NewRecorder()
		if hooks.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hooks/stripe", strings.NewReader(strings.Repeat("x", 2<<20)))); w.Code != 413 {
			t.Error("two megabytes:", w.Code)
		}
		w = httptest.NewRecorder()
		if hooks.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/hooks/stripe/else", nil)); w.Code != 403 {
			t.Error("an unknown address:", w.Code)
		}
	})
}
