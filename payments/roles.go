package payments

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/value"
)

// Platform is a vendor that takes customers' money. Whatever is asked under a key happens there once.
type Platform interface {
	// Customer makes an account known to the vendor and returns its name for it; the same account has the same.
	Customer(ctx context.Context, a accounts.Account) (ref string, err error)
	// Method is what an account pays with, nil when there is nothing. It asks nobody when customer is empty and the vendor
	// knows accounts by that name alone.
	Method(ctx context.Context, owner accounts.ID, customer string) (*Method, error)
	// Open makes a page of the vendor's own where a person pays or leaves a method on file.
	Open(ctx context.Context, p Page) (Session, error)
	// Session says how far the page has come. A method that was left there is the customer's from then on.
	Session(ctx context.Context, id string) (Session, error)
	// Charge takes money by the method on file, with nobody there, or gives ErrRefused.
	Charge(ctx context.Context, c Charge) (ref string, err error)
	// Refund gives a payment back.
	Refund(ctx context.Context, key, ref string) error
}

// Method is what an account pays with, as far as it may be shown.
type Method struct {
	Ready   bool   // it has not expired
	Label   string // "Visa ending 4242"
	Expires string // YYYY-MM; empty = it does not, or nobody knows
}

// Page asks for a page of the vendor.
type Page struct {
	Key      string
	Owner    accounts.ID
	Customer string
	Amount   value.Money // 0: only a method is put on file
	Currency string      // ISO 4217
	Back     string      // where the browser goes afterwards; the vendor adds session_id to it
	Cancel   string      // where it goes when the person changes their mind
}

// Session is a page of the vendor, and how far it has come.
type Session struct {
	ID, URL string
	Done    bool   // paid, or the method is there
	Over    bool   // it can be used no more
	Ref     string // of the payment; empty for a method alone
}

// Charge takes money off a method on file.
type Charge struct {
	Key      string
	Owner    accounts.ID
	Customer string
	Amount   value.Money
	Currency string
	For      string // what a customer reads on the bill
}

// ErrRefused says that a payment method did not pay.
var ErrRefused = errors.New("payments: refused")
