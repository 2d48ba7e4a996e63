package accounts

import (
	"context"
	"errors"
	"strings"

	"parley/db"
	"parley/fault"
	"parley/value"
)

// UserID names a person.
type UserID int64

// User is a person who signs in.
type User struct {
	ID        UserID  `db:"id"`
	Email     string  `db:"email"` // lower case
	Name      string  `db:"name"`
	Password  *string `db:"password"` // hash; nil: signs in by one-time links only
	Operator  bool    `db:"operator"` // of the installation
	TOTP      *string `db:"totp"`     // sealed secret of the second factor; nil = none
	TOTPNew   *string `db:"totp_new"` // one that no code has confirmed yet
	CreatedAt db.Time `db:"created_at"`
}

const userColumns = `id, email, name, password, operator, totp, totp_new, created_at`

func normal(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// User is the person with an id; [db.ErrNone] when there is none.
func (a *Accounts) User(ctx context.Context, q db.Q, id UserID) (u User, err error) {
	err = q.Get(ctx, &u, `SELECT `+userColumns+` FROM users WHERE id = $1`, id)
	return u, err
}

// UserOf is the person with an e-mail address; [db.ErrNone] when there is none.
func (a *Accounts) UserOf(ctx context.Context, q db.Q, email string) (u User, err error) {
	err = q.Get(ctx, &u, `SELECT `+userColumns+` FROM users WHERE email = $1`, normal(email))
	return u, err
}

// Users are all people, the first one first.
func (a *Accounts) Users(ctx context.Context, q db.Q) (all []User, err error) {
	err = q.Select(ctx, &all, `SELECT `+userColumns+` FROM users ORDER BY id`)
	return all, err
}

// person is the user with an address, made when there is none.
func (a *Accounts) person(ctx context.Context, tx *db.Tx, email, name string) (u User, err error) {
	if _, err = tx.Exec(ctx, `INSERT INTO users (email, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (email) DO NOTHING`,
		normal(email), name, db.At(tx.Now())); err != nil {
		return u, err
	}
	return a.UserOf(ctx, tx, email)
}

// found gives a new account its owner. The first account's is an operator of the installation.
func (a *Accounts) found(ctx context.Context, tx *db.Tx, acc Account) error {
	if normal(acc.Email) == "" {
		return nil
	}
	u, err := a.person(ctx, tx, acc.Email, acc.Name)
	if err == nil && acc.First {
		err = a.SetOperator(ctx, tx, u.ID, true)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO members (account_id, user_id, email, role, recordings, created_at)
			VALUES ($1, $2, $3, 'owner', TRUE, $4)`, acc.ID, u.ID, u.Email, db.At(tx.Now()))
	}
	return err
}

// SetOperator makes a person an operator of the installation, or no operator.
func (a *Accounts) SetOperator(ctx context.Context, q db.Q, id UserID, operator bool) error {
	_, err := q.Exec(ctx, `UPDATE users SET operator = $2 WHERE id = $1`, id, operator)
	after(q, a.revokeAll)
	return err
}

// Person is what people change about themselves; fields left out stay.
type Person struct {
	Name, Email value.Opt[string]
}

// UpdateUser changes a person's name and the address they sign in with.
func (a *Accounts) UpdateUser(ctx context.Context, q db.Q, id UserID, p Person) (u User, err error) {
	email := p.Email.Ptr()
	if email != nil {
		*email = normal(*email)
	}
	err = q.Get(ctx, &u, `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email) WHERE id = $1 RETURNING `+userColumns,
		id, p.Name.Ptr(), email)
	if db.IsUniqueOf(err, "users_email", "users.email") {
		err = fault.Input(fault.Field{Name: "email", Sentence: "The email has already been taken."})
	}
	after(q, a.revokeAll)
	return u, err
}

// ErrLastOwner refuses to leave an account without an owner.
var ErrLastOwner error = fault.New(fault.Conflict, "", "An account needs an owner: make somebody else one first.")

// RemoveUser removes a person from the installation, and so from every account; [ErrLastOwner] while one has no other.
func (a *Accounts) RemoveUser(ctx context.Context, id UserID) error {
	return a.db.Do(ctx, func(tx *db.Tx) error {
		var owned []ID
		if err := tx.Select(ctx, &owned, `SELECT account_id FROM members WHERE user_id = $1 AND role = 'owner' ORDER BY account_id`, id); err != nil {
			return err
		}
		for _, account := range owned {
			if err := a.another(ctx, tx, account, id); err != nil {
				return err
			}
		}
		n, err := tx.Exec(ctx, `DELETE FROM users WHERE id = $1`, id)
		if err == nil && n == 0 {
			err = db.ErrNone
		}
		tx.After(a.revokeAll)
		return err
	})
}

// another makes sure that the account has an owner beside a person, and keeps other changes of its owners waiting until
// the transaction ends.
func (a *Accounts) another(ctx context.Context, tx *db.Tx, account ID, beside UserID) error {
	var locked ID
	if err := tx.Get(ctx, &locked, `SELECT id FROM accounts WHERE id = $1 {{lock}}`, account); err != nil {
		return err
	}
	var other int64
	err := tx.Get(ctx, &other, `SELECT id FROM members WHERE account_id = $1 AND role = 'owner' AND user_id <> $2 LIMIT 1`, account, beside)
	if errors.Is(err, db.ErrNone) {
		err = ErrLastOwner
	}
	return err
}

// revokeAll drops what is known of every credential.
func (a *Accounts) revokeAll() { a.revoke(everybody) }
