package numbers

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/value"
)

// Offer is a number that a carrier would supply.
type Offer struct {
	Number  string // E.164
	Country string // ISO 3166-1 alpha-2
	Region  string // may be empty
	Price   value.Money
	PriceID string // names the price at the payment platform
	Address string // what the carrier wants to know of the buyer's address: none, local, foreign or inventory
	SMS     bool
}

// Order asks a carrier for a number. Key names the order: the same key again is the same order.
type Order struct {
	Owner       accounts.ID
	Key, Number string
}

// Leaving is a number to be given back: a dedicated one by the key of its order, a trunk's or a Caller ID by its number.
type Leaving struct {
	Owner       accounts.ID
	Type        Type
	Key, Number string
}

// Carrier supplies numbers.
type Carrier interface {
	// Search lists at most 20 numbers on offer whose digits contain contains, in the carrier's order.
	Search(ctx context.Context, owner accounts.ID, country, contains string) ([]Offer, error)
	// Offer finds one number on offer, or ErrNotOffered.
	Offer(ctx context.Context, owner accounts.ID, number string) (Offer, error)
	// Order takes the number and returns the carrier's name for it.
	Order(ctx context.Context, o Order) (ref string, err error)
	// Release gives a number back. One that the carrier does not have, or an order that never was, is no error.
	Release(ctx context.Context, l Leaving) error
}

// ErrNotOffered says that a carrier cannot supply a number.
var ErrNotOffered = errors.New("numbers: not on offer")

// Subscription asks for a monthly charge, the first one now. Key names it: the same key again is the same subscription.
type Subscription struct {
	Owner       accounts.ID
	Key, Number string
	PriceID     string
	Price       value.Money
}

// Paid is a month that was charged.
type Paid struct {
	Ref   string // the payment platform's name for the subscription
	Until time.Time
}

// Payments charges an account's payment method.
type Payments interface {
	// Ready reports whether the account has a payment method.
	Ready(ctx context.Context, owner accounts.ID) (bool, error)
	// Subscribe begins a subscription, or gives ErrRefused and charges nothing.
	Subscribe(ctx context.Context, s Subscription) (Paid, error)
	// Renew charges month number month (the first is 1) of the subscription with that key, once however often it is called.
	Renew(ctx context.Context, owner accounts.ID, key string, month int) (Paid, error)
	// Cancel ends the subscription with that key; refund also returns its first charge. One that never was, or is
	// cancelled already, is no error.
	Cancel(ctx context.Context, owner accounts.ID, key string, refund bool) error
}

// ErrRefused says that a payment method did not pay.
var ErrRefused = errors.New("numbers: the payment was refused")

// CallerIDs proves that an account may show a number.
type CallerIDs interface {
	// SendCode speaks or texts a code to the number.
	SendCode(ctx context.Context, owner accounts.ID, number, code string) error
	// Allow tells the carrier that the account may show the number; again is no error.
	Allow(ctx context.Context, owner accounts.ID, number string) error
}

// errNoVendor says that the installation has nobody for a role.
var errNoVendor = errors.New("numbers: no carrier or payment platform is configured")

// nobody fills the roles of an installation without vendors: nothing is on offer, and what was bought with vendors
// that are gone waits for their return.
type nobody struct{}

func (nobody) Search(context.Context, accounts.ID, string, string) ([]Offer, error) { return nil, nil }
func (nobody) Offer(context.Context, accounts.ID, string) (Offer, error) {
	return Offer{}, ErrNotOffered
}
func (nobody) Order(context.Context, Order) (string, error)          { return "", errNoVendor }
func (nobody) Ready(context.Context, accounts.ID) (bool, error)      { return false, nil }
func (nobody) Subscribe(context.Context, Subscription) (Paid, error) { return Paid{}, errNoVendor }
func (nobody) Renew(context.Context, accounts.ID, string, int) (Paid, error) {
	return Paid{}, errNoVendor
}
func (nobody) Cancel(context.Context, accounts.ID, string, bool) error     { return errNoVendor }
func (nobody) SendCode(context.Context, accounts.ID, string, string) error { return errNoVendor }
func (nobody) Allow(context.Context, accounts.ID, string) error            { return errNoVendor }

func (nobody) Release(_ context.Context, l Leaving) error {
	if l.Type == Dedicated {
		return errNoVendor
	}
	return nil
}
