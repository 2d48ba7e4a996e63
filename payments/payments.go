// Package payments is how customers pay in: a method on file, top-ups on a page of the payment platform, automatic
// top-ups, and the monthly charges of numbers where the platform has no subscriptions of its own.
package payments

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"parley/accounts"
	"parley/billing"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/value"
)

// Deps are what the room stands on.
type Deps struct {
	DB       *db.DB
	Jobs     *jobs.Runner
	Accounts *accounts.Accounts
	Billing  *billing.Billing
	// Platform is who takes money now, and its code; nil = nobody can pay in.
	Platform func() (p Platform, code string)
}

// Payments is the room.
type Payments struct{ Deps }

// New makes the room.
func New(d Deps) *Payments {
	p := &Payments{d}
	d.Jobs.Register(jobCharge, jobs.Options{Queue: "payments", MaxAttempts: 1000, Backoff: func(n int) time.Duration {
		return min(time.Minute<<min(n, 6), time.Hour)
	}}, p.chargeJob)
	d.Jobs.Pulse("payments.auto", 5*time.Second, p.look)
	return p
}

// Limits of what is paid in at once, in currency.
const (
	Least = 5 * value.MoneyUnit
	Most  = 5000 * value.MoneyUnit
)

// What can be wrong.
var (
	errNobody   = fault.New(fault.Unavailable, "", "No payment platform is configured.")
	errNoMethod = fault.Input(fault.Own("enabled", "There is no payment method on file. Add one first."))
)

// State is what an account's owner sees of paying in.
type State struct {
	Method *Method // nil = none
	Auto   Auto
}

// State reads it.
func (p *Payments) State(ctx context.Context, owner accounts.ID) (s State, err error) {
	if s.Auto, err = p.auto(ctx, p.DB, owner); err == nil {
		s.Method, err = p.method(ctx, owner)
	}
	return s, err
}

// till is who takes money now, or a refusal.
func (p *Payments) till() (Platform, string, error) {
	t, code := p.Platform()
	if t == nil {
		return nil, "", errNobody
	}
	return t, code, nil
}

func (p *Payments) method(ctx context.Context, owner accounts.ID) (*Method, error) {
	till, vendor := p.Platform()
	if till == nil {
		return nil, nil
	}
	customer, err := p.known(ctx, owner, vendor)
	if err != nil {
		return nil, err
	}
	return till.Method(ctx, owner, customer)
}

// known is the platform's name for an account, empty when it has none yet.
func (p *Payments) known(ctx context.Context, owner accounts.ID, vendor string) (ref string, err error) {
	err = p.DB.Get(ctx, &ref, `SELECT ref FROM payment_customers WHERE account_id = $1 AND vendor = $2`, owner, vendor)
	if errors.Is(err, db.ErrNone) {
		err = nil
	}
	return ref, err
}

// customer is the platform's name for an account, which is made known there if it is not.
func (p *Payments) customer(ctx context.Context, owner accounts.ID) (till Platform, ref string, err error) {
	till, vendor, err := p.till()
	if err != nil {
		return nil, "", err
	}
	ref, err = p.known(ctx, owner, vendor)
	if ref != "" || err != nil {
		return till, ref, err
	}
	acc, err := p.Accounts.Get(ctx, p.DB, owner)
	if err != nil {
		return nil, "", err
	}
	if ref, err = till.Customer(ctx, acc); err != nil {
		return nil, "", err
	}
	_, err = p.DB.Exec(ctx, `INSERT INTO payment_customers (account_id, vendor, ref) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, vendor) DO NOTHING`, owner, vendor, ref)
	return till, ref, err
}

// ours refuses an address to return to that is not below home: the platform's page must not lead elsewhere.
func ours(home, address string) error {
	u, err := url.Parse(address)
	base, baseErr := url.Parse(home)
	if err != nil || baseErr != nil || u.User != nil || u.Scheme != base.Scheme || !sameHost(u, base) {
		return fault.Input(fault.Own("return_url", "The return url must be an address of this installation."))
	}
	return nil
}

// sameHost also takes the usual names of this machine for each other, port by port.
func sameHost(a, b *url.URL) bool {
	local := func(u *url.URL) bool {
		h := u.Hostname()
		return h == "localhost" || h == "127.0.0.1" || h == "::1" || h == "" || h == "0.0.0.0" || h == "::"
	}
	return strings.EqualFold(a.Host, b.Host) || local(a) && local(b) && a.Port() == b.Port()
}
