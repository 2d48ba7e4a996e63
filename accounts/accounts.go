package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/db"
	"parley/fault"
	"parley/value"
)

// Accounts keeps accounts and knows whose credential is whose.
type Accounts struct {
	Box Box // seals second factors; nil = nobody can have one

	db   *db.DB
	plan Plan

	mu      sync.Mutex
	callers map[string]known // what a credential was found to be, for a second
	revoked int              // counts what forget was told
	use     map[int64]*use   // keys whose last use is not written yet, or was written lately
}

// Box seals what is stored.
type Box interface {
	Seal(plain []byte) (string, error)
	Open(sealed string) ([]byte, error)
}

// New makes the room; plan is the default plan.
func New(d *db.DB, plan Plan) *Accounts {
	return &Accounts{db: d, plan: plan, callers: map[string]known{}, use: map[int64]*use{}}
}

const columns = `id, name, email, kind, timezone, plan, payment_method, suspended_at, is_first, created_at, updated_at`

// Draft is what a new account starts with.
type Draft struct {
	Name, Email   string
	Kind          Kind   // default Direct
	Timezone      string // default UTC
	Overrides     Overrides
	PaymentMethod Payment // default PaymentOK
}

// Create adds an account. The person with its e-mail address is its owner.
func (a *Accounts) Create(ctx context.Context, q db.Q, d Draft) (acc Account, err error) {
	err = db.Within(ctx, q, func(tx *db.Tx) (err error) {
		acc, err = a.create(ctx, tx, d, false)
		return err
	})
	return acc, err
}

func (a *Accounts) create(ctx context.Context, q *db.Tx, d Draft, first bool) (Account, error) {
	if d.Kind == "" {
		d.Kind = Direct
	}
	if d.Timezone == "" {
		d.Timezone = "UTC"
	}
	if d.PaymentMethod == "" {
		d.PaymentMethod = PaymentOK
	}
	var acc Account
	err := q.Get(ctx, &acc, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, is_first, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING `+columns,
		d.Name, d.Email, d.Kind, d.Timezone, db.JSON[Overrides]{V: d.Overrides}, d.PaymentMethod, first, db.At(a.db.Now()))
	if err == nil {
		err = a.found(ctx, q, acc)
	}
	return acc, err
}

// EnsureFirst returns the installation's first account, and makes it at the first start; begin, when not nil, then
// runs in the same transaction. Processes that start together make one.
func (a *Accounts) EnsureFirst(ctx context.Context, d Draft,
	begin func(tx *db.Tx, acc Account) error) (acc Account, created bool, err error) {
	acc, err = a.First(ctx, a.db)
	if !errors.Is(err, db.ErrNone) {
		return acc, false, err
	}
	err = a.db.Do(ctx, func(tx *db.Tx) (err error) {
		if acc, err = a.create(ctx, tx, d, true); err != nil || begin == nil {
			return err
		}
		return begin(tx, acc)
	})
	if db.IsUniqueOf(err, "accounts_first", "accounts.is_first") { // another process was faster
		acc, err = a.First(ctx, a.db)
		return acc, false, err
	}
	return acc, err == nil, err
}

// First is the installation's first account; [db.ErrNone] before it exists.
func (a *Accounts) First(ctx context.Context, q db.Q) (acc Account, err error) {
	err = q.Get(ctx, &acc, `SELECT `+columns+` FROM accounts WHERE is_first`)
	return acc, err
}

// Get is the account with an id; [db.ErrNone] when there is none.
func (a *Accounts) Get(ctx context.Context, q db.Q, id ID) (acc Account, err error) {
	err = q.Get(ctx, &acc, `SELECT `+columns+` FROM accounts WHERE id = $1`, id)
	return acc, err
}

// List is every account, the oldest first.
func (a *Accounts) List(ctx context.Context, q db.Q) (all []Account, err error) {
	err = q.Select(ctx, &all, `SELECT `+columns+` FROM accounts ORDER BY id`)
	return all, err
}

// Find is the account an operator means: by id, by e-mail address, or, for an empty string, the first one.
func (a *Accounts) Find(ctx context.Context, q db.Q, who string) (Account, error) {
	if who == "" {
		return a.First(ctx, q)
	}
	if id, err := strconv.ParseInt(who, 10, 64); err == nil {
		return a.Get(ctx, q, ID(id))
	}
	all, err := byEmail(ctx, q, who)
	switch {
	case err != nil:
		return Account{}, err
	case len(all) == 0:
		return Account{}, db.ErrNone
	case len(all) > 1:
		return Account{}, fmt.Errorf("%d accounts have the e-mail address %s: name one by its id", len(all), who)
	}
	return all[0], nil
}

func byEmail(ctx context.Context, q db.Q, email string) (all []Account, err error) {
	err = q.Select(ctx, &all, `SELECT `+columns+` FROM accounts WHERE lower(email) = $1 ORDER BY id`,
		strings.ToLower(strings.TrimSpace(email)))
	return all, err
}

// Plan is what an account may have: the default plan under its own limits.
func (a *Accounts) Plan(ctx context.Context, q db.Q, id ID) (Plan, error) {
	var own db.JSON[Overrides]
	err := q.Get(ctx, &own, `SELECT plan FROM accounts WHERE id = $1`, id)
	return a.plan.With(own.V), err
}

// LockPlan reads the plan and keeps others that lock it waiting until the transaction ends.
func (a *Accounts) LockPlan(ctx context.Context, tx *db.Tx, id ID) (Plan, error) {
	var own db.JSON[Overrides]
	err := tx.Get(ctx, &own, `SELECT plan FROM accounts WHERE id = $1 {{lock}}`, id)
	return a.plan.With(own.V), err
}

// PlanOf is the plan of an account at hand.
func (a *Accounts) PlanOf(acc Account) Plan { return a.plan.With(acc.Overrides.V) }

// Profile is what customers change about their account; fields left out stay.
type Profile struct {
	Name, Email, Timezone value.Opt[string]
}

// Update changes the profile.
func (a *Accounts) Update(ctx context.Context, q db.Q, id ID, p Profile) (acc Account, err error) {
	err = q.Get(ctx, &acc, `UPDATE accounts SET name = coalesce($2, name), email = coalesce($3, email),
		timezone = coalesce($4, timezone), updated_at = $5 WHERE id = $1 RETURNING `+columns,
		id, p.Name.Ptr(), p.Email.Ptr(), p.Timezone.Ptr(), db.At(a.db.Now()))
	return acc, err
}

// Terms are what operators change about an account; nil fields stay.
type Terms struct {
	Kind          *Kind
	PaymentMethod *Payment
	Plan          *Overrides // merged key by key
	Suspended     *bool
}

// SetTerms changes the terms. A suspended account's keys and sessions are refused within a second.
func (a *Accounts) SetTerms(ctx context.Context, q db.Q, id ID, t Terms) (acc Account, err error) {
	err = db.Within(ctx, q, func(tx *db.Tx) error {
		now := db.At(a.db.Now())
		// The write comes first: on PostgreSQL it keeps others off the row.
		if err := tx.Get(ctx, &acc, `UPDATE accounts SET kind = coalesce($2, kind), payment_method = coalesce($3, payment_method),
			updated_at = $4 WHERE id = $1 RETURNING `+columns, id, t.Kind, t.PaymentMethod, now); err != nil {
			return err
		}
		if t.Plan != nil {
			acc.Overrides.V = acc.Overrides.V.Merge(*t.Plan)
		}
		if t.Suspended != nil && *t.Suspended != acc.Suspended() {
			acc.SuspendedAt = 0
			if *t.Suspended {
				acc.SuspendedAt = now
			}
		}
		_, err := tx.Exec(ctx, `UPDATE accounts SET plan = $2, suspended_at = $3 WHERE id = $1`, id, acc.Overrides, acc.SuspendedAt)
		tx.After(func() { a.revoke(id) })
		return err
	})
	return acc, err
}

// ErrUnauthenticated refuses a credential without saying why.
var ErrUnauthenticated error = fault.New(fault.Unauthorized, "", "Unauthenticated.")

// Caller is who a credential belongs to.
type Caller struct {
	Account    ID
	User       UserID // who signed in; 0 for a key
	Key        int64  // API key; 0 for a console session
	Name       string // of the key or the person
	Email      string // of the person
	Role       Role   // in the account; of a key that of who made it
	Scopes     string // of a key, separated by blanks
	Recordings bool   // may hear recordings as a viewer
	Operator   bool   // of the installation
}

// known is a verified credential. Its secret is compared on every use.
type known struct {
	Caller
	secret []byte  // SHA-256
	ends   db.Time // when the credential is over; zero = never
	until  time.Time
}

// trust is how long a verified credential is believed without asking the database: the most that a revocation can
// take to be known where neither the process nor a message told of it.
const trust = time.Second

// recall finds a credential verified within the last second, or else says how many revocations are known so far.
func (a *Accounts) recall(name string) (k known, revoked int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok = a.callers[name]
	return k, a.revoked, ok && time.Now().Before(k.until)
}

// remember keeps what the database said of a credential, unless one was revoked since the question: it may be this one.
func (a *Accounts) remember(name string, k known, revoked int) {
	k.until = time.Now().Add(trust)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.revoked != revoked {
		return
	}
	if len(a.callers) > 10000 { // all but the last second's are dead weight
		clear(a.callers)
	}
	a.callers[name] = k
}

// channel tells the processes on one database that an account's credentials changed; the payload is its id.
const channel = "credentials"

// revoke drops what is known of an account's credentials, here and in the other processes that listen.
func (a *Accounts) revoke(id ID) {
	a.forget(id)
	if err := a.db.Notify(context.Background(), channel, strconv.FormatInt(int64(id), 10)); err != nil {
		slog.Warn("other nodes learn of revoked credentials a second late", "err", err)
	}
}

// hear is told of revocations; without an id some may have been missed.
func (a *Accounts) hear(id string) {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		a.forget(ID(n))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.revoked++
	clear(a.callers)
}

// everybody stands for all accounts where credentials are revoked.
const everybody ID = -1

// forget drops what is known of an account's credentials.
func (a *Accounts) forget(id ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.revoked++
	for name, k := range a.callers {
		if k.Account == id || id == everybody {
			delete(a.callers, name)
		}
	}
}
