package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/accounts"
	"parley/db"
	"parley/once"
	"parley/value"

	"github.com/google/uuid"
)

// payment is one row: a page that a customer was sent to, or a charge of a method on file.
type payment struct {
	ID       int64       `db:"id"`
	Owner    accounts.ID `db:"account_id"`
	Vendor   string      `db:"vendor"`
	Key      string      `db:"key_"`
	Kind     string      `db:"kind"`
	State    string      `db:"state"`
	Amount   value.Money `db:"amount"`
	Session  *string     `db:"session"`
	Ref      *string     `db:"ref"`
	Return   string      `db:"return_url"`
	Tries    int         `db:"tries"`
	Credited value.Money `db:"credited"`
	Returned value.Money `db:"returned"`
	Until    *db.Time    `db:"until"`
}

const columns = `id, account_id, vendor, key_, kind, state, amount, session, ref, return_url, tries, credited, returned, until`

// Kinds and states of payments.
const (
	setup = "setup"
	topup = "topup"
	auto  = "auto"
	month = "month"

	open    = "open"
	paid    = "paid"
	refused = "refused"
)

// Setup opens the platform's page for a method on file and returns its address. home is this installation's own, without a
// slash at its end; the browser comes back there, and then to back, which must be below it.
func (p *Payments) Setup(ctx context.Context, owner accounts.ID, home, back string) (string, error) {
	return p.page(ctx, home, payment{Owner: owner, Kind: setup, Return: back})
}

// TopUp opens the platform's page for one payment, of Least to Most, and returns its address.
func (p *Payments) TopUp(ctx context.Context, owner accounts.ID, amount value.Money, home, back string) (string, error) {
	return p.page(ctx, home, payment{Owner: owner, Kind: topup, Amount: amount, Return: back})
}

func (p *Payments) page(ctx context.Context, home string, x payment) (string, error) {
	_, vendor, err := p.till()
	if err != nil {
		return "", err
	}
	if err := ours(home, x.Return); err != nil {
		return "", err
	}
	key, again := once.Ref(ctx)
	x.Vendor, x.Key = vendor, cmp.Or(key, uuid.NewString())
	if !again {
		err := p.DB.Do(ctx, func(tx *db.Tx) error {
			if _, err := p.begin(ctx, tx, x); err != nil {
				return err
			}
			return once.Begun(ctx, tx)
		})
		if err != nil {
			return "", err
		}
	}
	return p.opened(ctx, home, x.Owner, x.Key)
}

// begin writes an open payment down, before anybody is asked for money.
func (p *Payments) begin(ctx context.Context, tx *db.Tx, x payment) (id int64, err error) {
	err = tx.Get(ctx, &id, `INSERT INTO payments (account_id, vendor, key_, kind, state, amount, return_url, tries, credited, returned, until, created_at)
		VALUES ($1, $2, $3, $4, 'open', $5, $6, 0, 0, 0, $7, $8) RETURNING id`,
		x.Owner, x.Vendor, x.Key, x.Kind, x.Amount, x.Return, x.Until, db.At(tx.Now()))
	return id, err
}

// opened asks the platform for the page of a payment; asked again it gives the same one.
func (p *Payments) opened(ctx context.Context, home string, owner accounts.ID, key string) (string, error) {
	till, customer, err := p.customer(ctx, owner)
	if err != nil {
		return "", err
	}
	x, err := p.find(ctx, p.DB, `account_id = $1 AND key_ = $2`, owner, key)
	if err != nil {
		return "", err
	}
	s, err := till.Open(ctx, Page{Key: key, Owner: owner, Customer: customer, Amount: x.Amount, Currency: p.Billing.Currency,
		Back: home + "/hooks/" + x.Vendor + "/return", Cancel: x.Return})
	if err != nil {
		return "", err
	}
	_, err = p.DB.Exec(ctx, `UPDATE payments SET session = $2 WHERE id = $1 AND session IS NULL`, x.ID, s.ID)
	return s.URL, err
}

func (p *Payments) find(ctx context.Context, q db.Q, where string, args ...any) (x payment, err error) {
	err = q.Get(ctx, &x, `SELECT `+columns+` FROM payments WHERE `+where, args...)
	return x, err
}

// Settled looks at what has become of a page, and books a payment that was made there; once, whoever tells of it first and
// however often. It returns where the browser goes next.
func (p *Payments) Settled(ctx context.Context, session string) (back string, err error) {
	till, vendor, err := p.till()
	if err != nil {
		return "", err
	}
	x, err := p.find(ctx, p.DB, `vendor = $1 AND session = $2`, vendor, session)
	if err != nil || x.State != open {
		return x.Return, err
	}
	s, err := till.Session(ctx, session)
	if err != nil {
		return x.Return, err
	}
	switch {
	case s.Done:
		err = p.book(ctx, x.ID, s.Ref)
	case s.Over:
		_, err = p.DB.Exec(ctx, `UPDATE payments SET state = 'expired' WHERE id = $1 AND state = 'open'`, x.ID)
	}
	return x.Return, err
}

// book ends an open payment that was made, and credits it.
func (p *Payments) book(ctx context.Context, id int64, ref string) error {
	return p.DB.Do(ctx, func(tx *db.Tx) error {
		x, err := p.locked(ctx, tx, `id = $1`, id)
		if err != nil || x.State != open {
			return err
		}
		if x.Kind == topup || x.Kind == auto {
			if x.Credited, err = p.Billing.Units(ctx, tx, x.Owner, x.Amount); err != nil {
				return err
			}
			if err := p.Billing.Credit(ctx, tx, x.Owner, "topup", x.Key, x.Credited, ""); err != nil {
				return err
			}
		}
		var name *string // a method alone has none
		if ref != "" {
			name = &ref
		}
		_, err = tx.Exec(ctx, `UPDATE payments SET state = 'paid', ref = $2, credited = $3 WHERE id = $1`, id, name, x.Credited)
		return err
	})
}

// locked reads a payment and keeps other transactions off it until this one ends.
func (p *Payments) locked(ctx context.Context, tx *db.Tx, where string, args ...any) (payment, error) {
	return p.find(ctx, tx, where+` {{lock}}`, args...)
}

// Return answers the browser that comes back from the platform's page. A page that is not ours is forbidden.
func (p *Payments) Return(w http.ResponseWriter, r *http.Request) {
	back, err := p.Settled(r.Context(), r.URL.Query().Get("session_id"))
	if errors.Is(err, db.ErrNone) {
		http.Error(w, "Forbidden.", http.StatusForbidden)
		return
	}
	if back == "" { // the database is away; the platform's callback will settle it
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// vendorKey is what the platform knows a charge by: a refused one is another when it is tried again.
func (x payment) vendorKey() string {
	if x.Tries == 0 {
		return x.Key
	}
	return fmt.Sprintf("%s#%d", x.Key, x.Tries)
}

// plainKey is the key of the payment that a platform's key stands for.
func plainKey(vendorKey string) string {
	key, _, _ := strings.Cut(vendorKey, "#")
	return key
}
