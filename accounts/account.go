// Package accounts knows who is asking: accounts, their plans, API keys and console sessions.
package accounts

import (
	"time"

	"parley/db"
)

// ID names an account. Every customer's row carries one.
type ID int64

// Kind decides the unit an account is billed in.
type Kind string

// The two kinds of account.
const (
	Direct Kind = "direct" // billed in minutes
	Tenant Kind = "tenant" // billed in credits
)

// Unit is what the balance of this kind counts.
func (k Kind) Unit() string {
	if k == Tenant {
		return "credits"
	}
	return "minutes"
}

// Payment tells what the account's payment method does when it is charged.
type Payment string

// What a payment method can be.
const (
	PaymentOK       Payment = "ok"
	PaymentNone     Payment = "none"     // none on file
	PaymentDeclined Payment = "declined" // every charge is refused
)

// Account is a customer of the installation.
type Account struct {
	ID            ID                 `db:"id"`
	Name          string             `db:"name"`
	Email         string             `db:"email"`
	Kind          Kind               `db:"kind"`
	Timezone      string             `db:"timezone"` // IANA identifier
	Overrides     db.JSON[Overrides] `db:"plan"`     // what differs from the default plan
	PaymentMethod Payment            `db:"payment_method"`
	SuspendedAt   db.Time            `db:"suspended_at"`
	First         bool               `db:"is_first"` // the installation's first account
	CreatedAt     db.Time            `db:"created_at"`
	UpdatedAt     db.Time            `db:"updated_at"`
}

// Suspended reports whether the account may do nothing at present.
func (a Account) Suspended() bool { return !a.SuspendedAt.IsZero() }

// Location is the account's time zone; UTC should the zone have left the database of zones.
func (a Account) Location() *time.Location {
	loc, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return loc
}
