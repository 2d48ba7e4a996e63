package numbers_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/numbers"
)

const day = 24 * time.Hour

// TestSearch finds what is on offer.
//
// Contract: 10.2
func TestSearch(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		for _, c := range []struct {
			country, contains string
			want              int
		}{{"US", "", 20}, {"US", "5550103", 1}, {"US", "999", 0}, {"GB", "", 1}, {"DE", "", 0}} {
			list, err := p.Search(t.Context(), p.owner, c.country, c.contains)
			if err != nil || len(list) != c.want {
				t.Errorf("%s %q: %d, %v", c.country, c.contains, len(list), err)
			}
		}
		w.broken = "search"
		_, err := p.Search(t.Context(), p.owner, "US", "")
		says(t, err, "Failed to search phone numbers. Please try again.")
	})
}

// TestBuy buys a number, with its subscription.
//
// Contract: 10.3
func TestBuy(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		if x.Type != numbers.Dedicated || x.Country != "US" || !x.SMS || x.State != numbers.Active || !x.Subscribed() || *x.Region != "California" || x.Months != 1 {
			t.Errorf("%+v", x)
		}
		list, err := p.List(t.Context(), p.owner)
		if err != nil || len(list) != 1 || list[0].ID != x.ID {
			t.Errorf("%+v %v", list, err)
		}
		if list, _ := p.List(t.Context(), p.other); len(list) > 0 {
			t.Errorf("a stranger sees %+v", list)
		}
	})
}

// TestRefusedPurchases is refused for every reason, in order, and gets its money back.
//
// Contract: 10.3
func TestRefusedPurchases(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		if _, err := p.Buy(t.Context(), p.other, "+14155550100"); err != nil {
			t.Fatal(err)
		}
		orders, paid := w.holds()
		for _, c := range []struct{ number, method, broken, says string }{
			{"0301234567", "", "", "This phone number cannot be read. Send it in E.164 form."},
			{"+1", "", "", "This phone number cannot be read. Send it in E.164 form."},
			{"+14155550100", "none", "", "This phone number is taken. Choose another one."},
			{"+14155559999", "none", "", "This phone number cannot be bought here."},
			{"+4930123456", "none", "", "This phone number cannot be bought here."},   // country
			{"+442079460958", "none", "", "This phone number cannot be bought here."}, // address
			{"+14155550101", "none", "", "Your account has no payment method."},
			{"+14155550101", "declined", "", "The payment was refused."},
			{"+14155550101", "", "subscribe", "The carrier could not supply this phone number."},
			{"+14155550101", "", "order", "The carrier could not supply this phone number."},
		} {
			w.method, w.broken = c.method, c.broken
			_, err := p.Buy(t.Context(), p.owner, c.number)
			says(t, err, c.says)
			if o, s := w.holds(); fmt.Sprint(o, s) != fmt.Sprint(orders, paid) {
				t.Errorf("%+v leaves %v %v", c, o, s)
			}
			if list, _ := p.List(t.Context(), p.owner); len(list) > 0 {
				t.Errorf("%+v leaves %+v", c, list)
			}
		}
		w.method, w.broken = "", ""
		if _, err := p.Buy(t.Context(), p.owner, "+14155550101"); err != nil {
			t.Errorf("after the failures: %v", err)
		}
	})
}

// TestTwoBuyers lets one of two buyers win.
//
// Contract: 10.3
func TestTwoBuyers(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		var wg sync.WaitGroup
		errs := make(chan error, 8)
		for i := range 8 {
			wg.Go(func() {
				owner := p.owner
				if i%2 == 1 {
					owner = p.other
				}
				_, err := p.Buy(t.Context(), owner, "+14155550100")
				errs <- err
			})
		}
		wg.Wait()
		close(errs)
		bought := 0
		for err := range errs {
			if err == nil {
				bought++
				continue
			}
			says(t, err, "This phone number is taken.")
		}
		orders, paid := w.holds()
		if bought != 1 || len(orders) != 1 || len(paid) != 1 {
			t.Errorf("%d bought, %v, %v", bought, orders, paid)
		}
	})
}

// TestCrash kills the process at every step of a purchase, good or bad, and looks at what the next one makes of it:
// never charged without a number, never a number without a record.
//
// Contract: 10.3
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"", "order", "declined"} {
		for _, point := range []string{"before subscribe", "after subscribe", "before order", "after order", "before release", "after release", "before cancel", "after cancel"} {
			for name, url := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
				if broken == "" && (point[len(point)-4:] == "ease" || point[len(point)-4:] == "ncel") {
					continue // a good purchase takes nothing back
				}
				t.Run(fmt.Sprintf("%s %s broken=%s", name, point, broken), func(t *testing.T) {
					t.Parallel()
					crash(t, url(t), point, broken)
				})
			}
		}
	}
}

func crash(t *testing.T, url, point, broken string) {
	w := newWorld()
	if broken == "declined" {
		w.method = broken
	} else {
		w.broken = broken
	}
	dead, died := make(chan struct{}), make(chan struct{})
	first, err := db.Open(t.Context(), url, db.Synchronous("OFF"), db.Conns(3))
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	w.at = func(step string) {
		if step != point {
			return
		}
		once.Do(func() {
			close(died)
			first.Close() // from here on this process can change nothing any more
			<-dead
		})
	}
	p := run(t, first, w, jobs.Lease(300*time.Millisecond), jobs.Poll(50*time.Millisecond), jobs.Grace(0))
	ctx, stop := context.WithCancel(t.Context())
	buying := make(chan error, 1)
	go func() {
		_, err := p.Buy(ctx, p.owner, "+14155550100")
		buying <- err
	}()
	reached := true
	select {
	case <-died:
	case err := <-buying: // this purchase never comes to that point
		reached = false
		if (err == nil) != (broken == "") {
			t.Errorf("%v", err)
		}
	}
	stop()
	close(dead)
	if reached {
		<-buying
	} else {
		first.Close()
	}

	second := dbtest.Open(t, url, db.Conns(3))
	p = run(t, second, w, jobs.Lease(300*time.Millisecond), jobs.Poll(50*time.Millisecond))
	limit, tick := time.After(20*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		var open int
		if err := second.Get(t.Context(), &open, `SELECT count(*) FROM phone_numbers WHERE state IN ('buying', 'undoing')`); err != nil {
			t.Fatal(err)
		}
		if open == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the purchase is not repaired")
		}
	}
	list, err := p.List(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	orders, paid := w.holds()
	if len(list) != len(orders) || len(list) != len(paid) {
		t.Errorf("records %+v, orders %v, paid %v", list, orders, paid)
	}
	if broken != "" && len(list) > 0 {
		t.Errorf("bought although %s failed", broken)
	}
	if broken == "" && len(list) == 0 {
		t.Error("lost")
	}
}

// TestRenewal renews month after month, and gives up after a week of refusals.
//
// Contract: 14.7 16.2
func TestRenewal(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		p.pass(t, 95*day) // three renewals
		x, err = p.Get(t.Context(), p.db, p.owner, x.ID)
		if err != nil || x.Months != 4 || w.subs[*x.Key].charges != 4 || !x.PaidUntil.Time().After(p.db.Now()) {
			t.Fatalf("%+v %v", x, err)
		}
		w.method = "declined"
		due := x.PaidUntil.Time()
		p.pass(t, due.Sub(p.db.Now()))
		for _, c := range []struct {
			after    time.Duration
			refusals int
		}{{0, 1}, {day, 2}, {3 * day, 3}} {
			p.pass(t, due.Add(c.after).Sub(p.db.Now())+time.Second)
			x, err = p.Get(t.Context(), p.db, p.owner, x.ID)
			if err != nil || x.Refusals != c.refusals || x.State != numbers.Active || x.Subscribed() {
				t.Fatalf("after %v: %+v %v", c.after, x, err)
			}
		}
		detached := 0
		p.detached = func(numbers.ID) { detached++ }
		p.pass(t, due.Add(7*day).Sub(p.db.Now())+time.Second)
		if _, err = p.Get(t.Context(), p.db, p.owner, x.ID); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("still there: %v", err)
		}
		if orders, _ := w.holds(); len(orders) > 0 || !w.subs[*x.Key].cancelled || w.subs[*x.Key].charges != 4 || detached == 0 {
			t.Errorf("%v %+v %d", orders, w.subs[*x.Key], detached)
		}
	})
}

// TestRenewalRecovers pays a refused renewal later.
//
// Contract: 14.7
func TestRenewalRecovers(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		w.method = "declined"
		p.pass(t, 32*day)
		w.method = ""
		p.pass(t, 2*day)
		x, err = p.Get(t.Context(), p.db, p.owner, x.ID)
		if err != nil || x.Refusals != 0 || !x.Subscribed() || x.Months != 2 || w.subs[*x.Key].charges != 2 {
			t.Errorf("%+v %v", x, err)
		}
	})
}

// TestRelease lets every type of number go, with what hangs on it.
//
// Contract: 10.4 14.7
func TestRelease(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		var detached []numbers.ID
		p.detached = func(id numbers.ID) { detached = append(detached, id) }
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Release(t.Context(), p.other, x.ID, false); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("a stranger: %v", err)
		}
		if _, err := p.Release(t.Context(), p.owner, x.ID, true); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("not a trunk: %v", err)
		}
		scheduled, err := p.Release(t.Context(), p.owner, x.ID, false)
		if err != nil || !scheduled {
			t.Fatal(scheduled, err)
		}
		_, err = p.Release(t.Context(), p.owner, x.ID, false)
		says(t, err, "This phone number is cancelled already.")
		y, err := p.Get(t.Context(), p.db, p.owner, x.ID)
		if err != nil || y.State != numbers.Scheduled || y.Subscribed() || y.ReleaseAt != x.PaidUntil || len(detached) != 1 {
			t.Errorf("%+v %v %v", y, err, detached)
		}
		if !w.subs[*x.Key].cancelled || w.subs[*x.Key].refunded {
			t.Errorf("%+v", w.subs[*x.Key])
		}
		_, err = p.Buy(t.Context(), p.other, x.Number)
		says(t, err, "This phone number is taken.")

		w.broken = "release"
		p.pass(t, y.ReleaseAt.Time().Sub(p.db.Now()))
		if _, err := p.Get(t.Context(), p.db, p.owner, x.ID); err != nil {
			t.Errorf("the carrier refused: %v", err)
		}
		w.broken = ""
		p.pass(t, time.Hour)
		if _, err := p.Get(t.Context(), p.db, p.owner, x.ID); !errors.Is(err, numbers.ErrNotFound) || len(detached) != 2 {
			t.Errorf("%v %v", err, detached)
		}
		if orders, _ := w.holds(); len(orders) > 0 || w.subs[*x.Key].charges != 1 {
			t.Errorf("%v %+v", orders, w.subs[*x.Key])
		}
		if _, err := p.Buy(t.Context(), p.other, x.Number); err != nil {
			t.Errorf("on sale again: %v", err)
		}
	})
}

// TestReleaseAfterTheRenewal keeps the month that was just paid.
//
// Contract: 14.7
func TestReleaseAfterTheRenewal(t *testing.T) {
	each(t, func(t *testing.T, p *process, w *world) {
		x, err := p.Buy(t.Context(), p.owner, "+14155550100")
		if err != nil {
			t.Fatal(err)
		}
		p.pass(t, 40*day)
		if _, err := p.Release(t.Context(), p.owner, x.ID, false); err != nil {
			t.Fatal(err)
		}
		p.pass(t, 15*day)
		if _, err := p.Get(t.Context(), p.db, p.owner, x.ID); err != nil {
			t.Errorf("gone before the second month is over: %v", err)
		}
		p.pass(t, 10*day)
		if _, err := p.Get(t.Context(), p.db, p.owner, x.ID); !errors.Is(err, numbers.ErrNotFound) {
			t.Errorf("stays: %v", err)
		}
		if c := w.subs[*x.Key].charges; c != 2 {
			t.Errorf("charged %d times", c)
		}
	})
}
