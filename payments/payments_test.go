package payments_test

import (
	"context"
	"errors"
	"fmt"
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
	"parley/numbers"
	"parley/payments"
	"parley/value"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// till is a payment platform as seen from outside: it remembers by key, and survives what happens to us.
type till struct {
	mu      sync.Mutex
	pages   map[string]payments.Page // by session
	paid    map[string]bool          // sessions
	charges map[string]value.Money   // by key
	refunds map[string]bool
	asked   int
	refuse  bool
	lose    int // answers that are lost after the effect
}

func newTill() *till {
	return &till{pages: map[string]payments.Page{}, paid: map[string]bool{}, charges: map[string]value.Money{}, refunds: map[string]bool{}}
}

var errLost = errors.New("the answer was lost")

func (t *till) lost() error {
	if t.lose > 0 {
		t.lose--
		return errLost
	}
	return nil
}

func (t *till) Customer(_ context.Context, a accounts.Account) (string, error) {
	return fmt.Sprint("cus_", a.ID), nil
}

func (t *till) Method(_ context.Context, _ accounts.ID, customer string) (*payments.Method, error) {
	if customer == "" {
		return nil, nil
	}
	return &payments.Method{Ready: true, Label: "Visa ending 4242"}, nil
}

func (t *till) Open(_ context.Context, p payments.Page) (payments.Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := "cs_" + p.Key
	t.pages[id] = p
	return payments.Session{ID: id, URL: "https://pay.example/" + id}, t.lost()
}

func (t *till) Session(_ context.Context, id string) (payments.Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return payments.Session{ID: id, Done: t.paid[id], Ref: "pi_" + id}, nil
}

func (t *till) Charge(_ context.Context, c payments.Charge) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
	if _, there := t.charges[c.Key]; !there && t.refuse {
		return "", payments.ErrRefused
	}
	t.charges[c.Key] = c.Amount
	return "pi_" + c.Key, t.lost()
}

func (t *till) Refund(_ context.Context, _, ref string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refunds[ref] = true
	return t.lost()
}

// shop is an installation with one account that pays 0.10 a minute.
type shop struct {
	*payments.Payments
	t     *testing.T
	d     *db.DB
	till  *till
	books *billing.Billing
	owner accounts.ID
	run   *jobs.Runner
}

func each(t *testing.T, fn func(t *testing.T, s shop)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		people := accounts.New(d, accounts.Plan{MinutePrice: value.MoneyUnit / 10})
		a, err := people.Create(t.Context(), d, accounts.Draft{Name: "A", Email: "a@p.example"})
		if err != nil {
			t.Fatal(err)
		}
		s := shop{t: t, d: d, till: newTill(), books: billing.New(people, billing.Settings{Currency: "USD"}), owner: a.ID, run: jobs.NewRunner(d)}
		s.Payments = payments.New(payments.Deps{DB: d, Jobs: s.run, Accounts: people, Billing: s.books,
			Platform: func() (payments.Platform, string) { return s.till, "till" }})
		fn(t, s)
	})
}

func (s shop) balance() string {
	b, err := s.books.Balance(s.t.Context(), s.d, s.owner)
	if err != nil {
		s.t.Fatal(err)
	}
	return b.Total.String()
}

func (s shop) page(amount value.Money) string {
	s.t.Helper()
	address, err := s.TopUp(s.t.Context(), s.owner, amount, "https://parley.example", "https://parley.example/settings")
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimPrefix(address, "https://pay.example/")
}

// A payment is credited once, by whoever tells of it and however often, the returning browser and the callback at once.
//
// Contract: 16.6
func TestTopUp(t *testing.T) {
	each(t, func(t *testing.T, s shop) {
		session := s.page(25 * value.MoneyUnit)
		if back, err := s.Settled(t.Context(), session); err != nil || back != "https://parley.example/settings" || s.balance() != "0" {
			t.Errorf("before it was paid: %q %v, %s", back, err, s.balance())
		}
		s.till.paid[session] = true
		var tellers sync.WaitGroup
		for range 4 {
			tellers.Go(func() {
				if _, err := s.Settled(t.Context(), session); err != nil {
					t.Error(err)
				}
			})
		}
		tellers.Wait()
		if s.balance() != "250" {
			t.Errorf("25 at 0.10 a minute are %s minutes", s.balance())
		}
		w := httptest.NewRecorder()
		s.Return(w, httptest.NewRequest(http.MethodGet, "/hooks/till/return?session_id="+session, nil))
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://parley.example/settings" {
			t.Error(w.Code, w.Header())
		}
		w = httptest.NewRecorder()
		if s.Return(w, httptest.NewRequest(http.MethodGet, "/hooks/till/return?session_id=other", nil)); w.Code != http.StatusForbidden {
			t.Error("a page of somebody else:", w.Code)
		}
	})
}

// What was given back is taken off once, in steps and in all; what a bank takes back, too, until it gives it back.
//
// Contract: 16.6
func TestGivenBack(t *testing.T) {
	each(t, func(t *testing.T, s shop) {
		session := s.page(25 * value.MoneyUnit)
		s.till.paid[session] = true
		if _, err := s.Settled(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		told := func(err error, want string) {
			t.Helper()
			if err != nil || s.balance() != want {
				t.Errorf("%s, not %s: %v", s.balance(), want, err)
			}
		}
		ref := "pi_" + session
		told(s.Refunded(t.Context(), ref, 10*value.MoneyUnit), "150")
		told(s.Refunded(t.Context(), ref, 10*value.MoneyUnit), "150")
		told(s.Refunded(t.Context(), ref, 25*value.MoneyUnit), "0")
		told(s.Refunded(t.Context(), ref, 10*value.MoneyUnit), "0")
		told(s.Refunded(t.Context(), "pi_other", 25*value.MoneyUnit), "0")
		told(s.Disputed(t.Context(), ref, "dp_1", 5*value.MoneyUnit, false), "-50")
		told(s.Disputed(t.Context(), ref, "dp_1", 5*value.MoneyUnit, false), "-50")
		told(s.Disputed(t.Context(), ref, "dp_1", 5*value.MoneyUnit, true), "0")
	})
}

// A customer is only ever sent back to this installation.
//
// Contract: 16.6
func TestReturnAddress(t *testing.T) {
	each(t, func(t *testing.T, s shop) {
		for address, ours := range map[string]bool{"https://parley.example/a?b=c": true, "https://parley.example": true, "https://evil.example/": false,
			"http://parley.example/": false, "https://parley.example@evil.example/": false, "https://parley.example.evil.example/": false,
			"https://parley.example:444/": false, "javascript:alert(1)": false, "//evil.example": false} {
			_, err := s.Setup(t.Context(), s.owner, "https://parley.example", address)
			if ours != (err == nil) || err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
}

// An account tops itself up when its balance is low: one attempt at a time, three a day, whatever answers are lost.
//
// Contract: 16.6
func TestAutomatic(t *testing.T) {
	each(t, func(t *testing.T, s shop) {
		ctx := t.Context()
		on := payments.AutoPatch{Enabled: value.Some(true), Below: value.Some[value.Money](100 * value.MoneyUnit), Amount: value.Some[value.Money](5 * value.MoneyUnit)}
		if err := s.SetAuto(ctx, s.owner, on); !fault.Is(err, fault.Invalid) {
			t.Errorf("without a method: %v", err)
		}
		s.page(5 * value.MoneyUnit) // makes the customer known
		if err := s.SetAuto(ctx, s.owner, on); err != nil {
			t.Fatal(err)
		}
		s.till.lose = 1
		now := s.d.Now()
		charge := func(n int) {
			t.Helper()
			for range 2 { // two processes look at once, or one twice
				if err := s.Look(ctx, now); err != nil {
					t.Fatal(err)
				}
			}
			var due []int64
			if err := s.d.Select(ctx, &due, `SELECT id FROM payments WHERE kind = 'auto' AND state = 'open'`); err != nil || len(due) != n {
				t.Fatalf("%d attempts, not %d: %v", len(due), n, err)
			}
			for _, id := range due {
				err := s.ChargeNow(ctx, id)
				if errors.Is(err, errLost) { // the job comes again
					err = s.ChargeNow(ctx, id)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
		charge(1)
		charge(1) // 50 minutes are still below 100
		if s.balance() != "100" || len(s.till.charges) != 2 {
			t.Errorf("%s after %v", s.balance(), s.till.charges)
		}
		charge(0)
		if err := s.SetAuto(ctx, s.owner, payments.AutoPatch{Below: value.Some[value.Money](1000 * value.MoneyUnit)}); err != nil {
			t.Fatal(err)
		}
		charge(1)
		charge(0) // a fourth in a day
		now = now.Add(25 * time.Hour)
		s.till.refuse = true
		charge(1)
		state, err := s.State(ctx, s.owner)
		if err != nil || state.Auto.Enabled || state.Auto.LastError == nil || !strings.Contains(*state.Auto.LastError, "refused") {
			t.Errorf("after a refusal: %+v %v", state.Auto, err)
		}
		charge(0)
	})
}

// Months are charged once each, whatever answers are lost; a refused one is tried anew under another name.
//
// Contract: 14.7
func TestMonths(t *testing.T) {
	each(t, func(t *testing.T, s shop) {
		ctx, m := t.Context(), payments.Months{Payments: s.Payments}
		ask := numbers.Subscription{Owner: s.owner, Key: "n1", Number: "+15550100", Price: value.MoneyUnit}
		s.till.lose = 1
		if _, err := m.Subscribe(ctx, ask); !errors.Is(err, errLost) {
			t.Error(err)
		}
		first, err := m.Subscribe(ctx, ask)
		if err != nil || len(s.till.charges) != 1 {
			t.Fatal(err, s.till.charges)
		}
		s.till.refuse = true
		for range 2 {
			if _, err := m.Renew(ctx, s.owner, "n1", 1); !errors.Is(err, numbers.ErrRefused) {
				t.Error(err)
			}
		}
		s.till.refuse = false
		second, err := m.Renew(ctx, s.owner, "n1", 1)
		if err != nil || !second.Until.Equal(first.Until.AddDate(0, 1, 0)) {
			t.Errorf("%v after %v: %v", second.Until, first.Until, err)
		}
		if again, err := m.Renew(ctx, s.owner, "n1", 1); err != nil || !again.Until.Equal(second.Until) || len(s.till.charges) != 2 {
			t.Errorf("%v %v %v", again, err, s.till.charges)
		}
		if _, there := s.till.charges["n1:1#2"]; !there {
			t.Errorf("a refused charge under its old name: %v", s.till.charges)
		}
		s.till.lose = 1
		if err := m.Cancel(ctx, s.owner, "n1", true); !errors.Is(err, errLost) {
			t.Error(err)
		}
		if err := m.Cancel(ctx, s.owner, "n1", true); err != nil || !s.till.refunds["pi_n1:0"] || len(s.till.refunds) != 1 {
			t.Error(err, s.till.refunds)
		}
		// Called off before anybody knew whether it was charged: it is asked about, and given back.
		ask.Key, s.till.lose = "n2", 1
		if _, err := m.Subscribe(ctx, ask); !errors.Is(err, errLost) {
			t.Error(err)
		}
		if err := m.Cancel(ctx, s.owner, "n2", true); err != nil || !s.till.refunds["pi_n2:0"] || s.balance() != "0" {
			t.Error(err, s.till.refunds, s.balance())
		}
	})
}
