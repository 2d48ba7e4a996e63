package numbers_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/numbers"
)

// TestBooks lets two accounts buy, release and wait in any order while carrier and payment platform fail now and then.
// Whatever happened, once all is settled: an order stands behind every number and a number behind every order; every month
// was charged once; what is paid for is there, and what is not is refunded or over.
//
// Contract: 10.3 14.7 16.2
func TestBooks(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, db.Manual())
			w := newWorld()
			w.now = d.Now
			p := run(t, d, w)
			rapid.Check(t, func(r *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(r, "steps") {
					act(t, r, p, w)
				}
				w.method, w.broken = "", ""
				p.pass(t, 2*time.Hour) // what failed is tried again
				balanced(t, r, p, w)
			})
		})
	}
}

// act does one thing at random.
func act(t *testing.T, r *rapid.T, p *process, w *world) {
	owner := rapid.SampledFrom([]accounts.ID{p.owner, p.other}).Draw(r, "owner")
	w.method = rapid.SampledFrom([]string{"", "", "", "none", "declined"}).Draw(r, "method")
	w.broken = rapid.SampledFrom([]string{"", "", "", "", "order", "subscribe", "release"}).Draw(r, "broken")
	switch rapid.SampledFrom([]string{"buy", "buy", "release", "wait"}).Draw(r, "what") {
	case "buy":
		_, _ = p.Buy(t.Context(), owner, fmt.Sprintf("+1415555%04d", rapid.IntRange(100, 104).Draw(r, "number")))
	case "release":
		if list, err := p.List(t.Context(), owner); err == nil && len(list) > 0 {
			_, _ = p.Release(t.Context(), owner, rapid.SampledFrom(list).Draw(r, "which").ID, false)
		}
	case "wait":
		p.pass(t, time.Duration(rapid.IntRange(1, 40).Draw(r, "days"))*day)
	}
}

func balanced(t *testing.T, r *rapid.T, p *process, w *world) {
	owned := map[string]numbers.Number{}
	for _, owner := range []accounts.ID{p.owner, p.other} {
		list, err := p.List(t.Context(), owner)
		if err != nil {
			r.Fatal(err)
		}
		for _, x := range list {
			owned[*x.Key] = x
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, number := range w.orders {
		if owned[key].Number != number {
			r.Errorf("order of %s without a number", number)
		}
	}
	for key, x := range owned {
		s := w.subs[key]
		switch {
		case w.orders[key] == "":
			r.Errorf("number %s without an order", x.Number)
		case s == nil || s.refunded || s.charges != x.Months || s.cancelled != (x.State == numbers.Scheduled):
			r.Errorf("number %+v with subscription %+v", x, s)
		}
	}
	for key, s := range w.subs {
		if _, ok := owned[key]; !ok && !s.cancelled {
			r.Errorf("subscription %+v without a number", s)
		}
	}
	var stuck int
	if err := p.db.Get(t.Context(), &stuck, `SELECT count(*) FROM phone_numbers WHERE state NOT IN ('active', 'scheduled')`); err != nil || stuck > 0 {
		r.Errorf("%d purchases are stuck, %v", stuck, err)
	}
}
