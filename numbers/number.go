// Package numbers holds the phone numbers of an account: bought ones with their monthly subscription, SIP trunks, and
// Caller IDs that the account proved to own.
package numbers

import (
	"context"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/ids"
	"parley/jobs"
	"parley/ssrf"
	"parley/value"
)

// ID names a number. A trunk has the id of its number.
type ID = ids.Number

// Type says where a number comes from.
type Type string

// The types of numbers.
const (
	Dedicated Type = "normal" // bought here
	SIP       Type = "sip"    // of a trunk
	CallerID  Type = "caller_id"
)

// Label is the type in words.
func (t Type) Label() string {
	return map[Type]string{Dedicated: "Dedicated Number", SIP: "SIP", CallerID: "Caller ID"}[t]
}

// State of a number. Only active and scheduled ones are shown; the others are on their way in or out.
type State string

// The states of a number.
const (
	Buying    State = "buying"    // the purchase is under way
	Undoing   State = "undoing"   // it failed and is being taken back
	Failed    State = "failed"    // it failed and nothing is left of it
	Pending   State = "pending"   // a Caller ID waits for its code
	Active    State = "active"    //
	Scheduled State = "scheduled" // released at ReleaseAt
)

// Number is one phone number of an account.
type Number struct {
	ID           ID          `db:"id"`
	Owner        accounts.ID `db:"account_id"`
	Number       string      `db:"number"` // E.164, or the extension of a trunk
	Country      string      `db:"country_code"`
	Type         Type        `db:"type"`
	State        State       `db:"state"`
	SMS          bool        `db:"sms_capable"`
	Nickname     *string     `db:"nickname"`
	Region       *string     `db:"region"`
	Price        value.Money `db:"price"` // per month, to the payment method
	PriceID      string      `db:"price_id"`
	Key          *string     `db:"purchase_key"`
	Step         *string     `db:"step"`
	Failure      *string     `db:"failure"`
	CarrierRef   *string     `db:"carrier_ref"`
	Subscription *string     `db:"subscription"`
	Months       int         `db:"months"` // paid so far
	PaidUntil    db.Time     `db:"paid_until"`
	PastDueAt    db.Time     `db:"past_due_at"` // since when a renewal is refused
	Refusals     int         `db:"refusals"`
	ReleaseAt    db.Time     `db:"release_at"`
	CreatedAt    db.Time     `db:"created_at"`
	UpdatedAt    db.Time     `db:"updated_at"`
}

// Subscribed reports whether a paid subscription goes on.
func (n Number) Subscribed() bool {
	return n.Type == Dedicated && n.State == Active && n.PastDueAt.IsZero()
}

// Box seals secrets at rest.
type Box interface {
	Seal([]byte) (string, error)
	Open(string) ([]byte, error)
}

// Config is what the room needs beside the database. Roles may be nil: then nothing can be bought or verified.
type Config struct {
	Box       Box
	Jobs      *jobs.Runner
	Carrier   Carrier
	Payments  Payments
	CallerIDs CallerIDs
	Countries []string // where numbers may be bought, ISO 3166-1 alpha-2
	Node      string   // names this process among those that share the database
	Phones    Policy   // where codes may be sent

	Reach *ssrf.Guard // where trunks may be; nil = everywhere
	// Operator reports whether an account runs the installation; nil = none does.
	Operator func(ctx context.Context, q db.Q, id accounts.ID) (bool, error)

	// Detached lets go of a number that leaves its account, in the transaction that releases it; nil = nothing hangs on it.
	Detached func(ctx context.Context, tx *db.Tx, owner accounts.ID, number ID) error
}

// Numbers is the room.
type Numbers struct {
	db      *db.DB
	cfg     Config
	waiting time.Duration // how long a purchase may keep its buyer waiting
}

// New opens the room and registers its jobs.
func New(d *db.DB, cfg Config) *Numbers {
	if cfg.Carrier == nil {
		cfg.Carrier = nobody{}
	}
	if cfg.Payments == nil {
		cfg.Payments = nobody{}
	}
	if cfg.CallerIDs == nil {
		cfg.CallerIDs = nobody{}
	}
	n := &Numbers{db: d, cfg: cfg, waiting: 45 * time.Second}
	if cfg.Jobs != nil {
		n.register(cfg.Jobs)
	}
	return n
}

func (n *Numbers) detach(ctx context.Context, tx *db.Tx, x Number) error {
	if n.cfg.Detached != nil {
		if err := n.cfg.Detached(ctx, tx, x.Owner, x.ID); err != nil {
			return err
		}
	}
	return nil
}
