package numbers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/numbers"
	"parley/secrets"
	"parley/value"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "15") // more by hand: -rapid.checks=1000
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // they wait for leases of dead processes
	goleak.VerifyTestMain(m)
}

// world is a carrier, a payment platform and other people's phones, as seen from outside: it survives crashes of ours.
type world struct {
	mu      sync.Mutex
	now     func() time.Time
	offers  []numbers.Offer
	orders  map[string]string // key → number
	subs    map[string]*sub
	codes   map[string]string // number → last code
	allowed []string
	left    []string // trunks and Caller IDs given back

	method string // "", none or declined
	broken string // a step that fails: search, subscribe, order, release, cancel, code
	at     func(step string)
}

type sub struct {
	number    string
	charges   int
	refunded  bool
	cancelled bool
	until     time.Time
}

var errBroken = errors.New("the world is broken")

func newWorld() *world {
	w := &world{now: time.Now, orders: map[string]string{}, subs: map[string]*sub{}, codes: map[string]string{}}
	for i := range 30 {
		w.offers = append(w.offers, numbers.Offer{Number: fmt.Sprintf("+1415555%04d", 100+i), Country: "US", Region: "California",
			Price: 115 * value.MoneyUnit / 100, PriceID: "price_us_local", Address: "none", SMS: i%2 == 0})
	}
	w.offers = append(w.offers, numbers.Offer{Number: "+4930123456", Country: "DE", Address: "none"},
		numbers.Offer{Number: "+442079460958", Country: "GB", Address: "local"})
	return w
}

// step says that something is about to happen, or has just happened, and whether it fails.
func (w *world) step(name string, change func()) error {
	if w.at != nil {
		w.at("before " + name)
	}
	w.mu.Lock()
	broken := w.broken == name
	if !broken {
		change()
	}
	w.mu.Unlock()
	if w.at != nil {
		w.at("after " + name)
	}
	if broken {
		return errBroken
	}
	return nil
}

func (w *world) Search(_ context.Context, _ accounts.ID, country, contains string) (list []numbers.Offer, err error) {
	err = w.step("search", func() {
		for _, o := range w.offers {
			if o.Country == country && strings.Contains(o.Number, contains) {
				list = append(list, o)
			}
		}
	})
	return list, err
}

func (w *world) Offer(_ context.Context, _ accounts.ID, number string) (numbers.Offer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.offers {
		if o.Number == number {
			return o, nil
		}
	}
	return numbers.Offer{}, numbers.ErrNotOffered
}

func (w *world) Order(_ context.Context, o numbers.Order) (string, error) {
	return "ord-" + o.Key, w.step("order", func() { w.orders[o.Key] = o.Number })
}

func (w *world) Release(_ context.Context, l numbers.Leaving) error {
	return w.step("release", func() {
		delete(w.orders, l.Key)
		if l.Type != numbers.Dedicated {
			w.left = append(w.left, l.Number)
		}
	})
}

func (w *world) Ready(context.Context, accounts.ID) (bool, error) { return w.method != "none", nil }

func (w *world) Subscribe(_ context.Context, s numbers.Subscription) (paid numbers.Paid, err error) {
	refused := false
	err = w.step("subscribe", func() {
		if refused = w.method == "declined"; refused {
			return
		}
		if w.subs[s.Key] == nil {
			w.subs[s.Key] = &sub{number: s.Number, charges: 1, until: w.now().AddDate(0, 1, 0)}
		}
		paid = numbers.Paid{Ref: "sub-" + s.Key, Until: w.subs[s.Key].until}
	})
	if refused {
		err = numbers.ErrRefused
	}
	return paid, err
}

func (w *world) Renew(_ context.Context, _ accounts.ID, key string, month int) (paid numbers.Paid, err error) {
	refused := false
	err = w.step("renew", func() {
		s := w.subs[key]
		if s.charges < month {
			if refused = w.method != ""; refused {
				return
			}
			s.charges, s.until = month, s.until.AddDate(0, 1, 0)
		}
		paid = numbers.Paid{Until: s.until}
	})
	if refused {
		err = numbers.ErrRefused
	}
	return paid, err
}

func (w *world) Cancel(_ context.Context, _ accounts.ID, key string, refund bool) error {
	return w.step("cancel", func() {
		if s := w.subs[key]; s != nil {
			s.cancelled = true
			s.refunded = s.refunded || refund
		}
	})
}

func (w *world) SendCode(_ context.Context, _ accounts.ID, number, code string) error {
	return w.step("code", func() { w.codes[number] = code })
}

func (w *world) Allow(_ context.Context, _ accounts.ID, number string) error {
	return w.step("allow", func() { w.allowed = append(w.allowed, number) })
}

// holds is what the account has outside: orders and live, unrefunded subscriptions.
func (w *world) holds() (orders []string, paid []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.orders {
		orders = append(orders, n)
	}
	for _, s := range w.subs {
		if !s.refunded {
			paid = append(paid, s.number)
		}
	}
	slices.Sort(orders)
	slices.Sort(paid)
	return orders, paid
}

// process is one running installation on a database.
type process struct {
	*numbers.Numbers
	db    *db.DB
	jobs  *jobs.Runner
	owner accounts.ID
	other accounts.ID

	detached func(numbers.ID) // nil = nobody looks
}

func run(t *testing.T, d *db.DB, w *world, opts ...jobs.Option) *process {
	t.Helper()
	box, err := secrets.New(make([]byte, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	r := jobs.NewRunner(d, opts...)
	p := &process{db: d, jobs: r, owner: 1, other: 2}
	p.Numbers = numbers.New(d, numbers.Config{Box: box, Jobs: r, Carrier: w, Payments: w, CallerIDs: w, Countries: []string{"US", "GB"}, Node: "test",
		Detached: func(_ context.Context, _ *db.Tx, _ accounts.ID, id numbers.ID) error {
			if p.detached != nil {
				p.detached(id)
			}
			return nil
		}})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
	})
	for _, id := range []accounts.ID{1, 2} {
		if _, err := d.Exec(t.Context(), `INSERT INTO accounts (id, name, email, kind, timezone, plan, payment_method, created_at, updated_at)
			VALUES ($1, 'a', 'a@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0) ON CONFLICT DO NOTHING`, id); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// each runs fn on both databases, durable time standing still, with a world of its own.
func each(t *testing.T, fn func(t *testing.T, p *process, w *world)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, db.Manual())
			w := newWorld()
			w.now = d.Now
			fn(t, run(t, d, w), w)
		})
	}
}

// pass lets durable time go by.
func (p *process) pass(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	if _, settled, err := p.jobs.Advance(ctx, d); err != nil || !settled {
		t.Fatalf("settled %v, %v", settled, err)
	}
}

// says fails the test unless err has the sentence.
func says(t *testing.T, err error, sentence string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), sentence) {
		t.Errorf("got %v, want %s", err, sentence)
	}
}
