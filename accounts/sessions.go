package accounts

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"parley/db"
	"parley/fault"
)

const (
	welcomeLife = 30 * time.Minute
	sessionLife = 30 * 24 * time.Hour
)

// Welcome makes the token of a link that signs into the console once, within 30 minutes.
func (a *Accounts) Welcome(ctx context.Context, q db.Q, id ID) (token string, err error) {
	token = rand.Text()
	_, err = q.Exec(ctx, `INSERT INTO welcome_links (token, account_id, expires_at) VALUES ($1, $2, $3)`,
		hash(token), id, db.At(a.db.Now().Add(welcomeLife)))
	return token, err
}

// Redeem turns the token of a link into a session; it works once.
func (a *Accounts) Redeem(ctx context.Context, token string) (session string, id ID, err error) {
	err = a.db.Do(ctx, func(tx *db.Tx) error {
		err := tx.Get(ctx, &id, `DELETE FROM welcome_links WHERE token = $1 AND expires_at > $2
			AND account_id IN (SELECT id FROM accounts WHERE suspended_at IS NULL) RETURNING account_id`, hash(token), db.At(tx.Now()))
		if err != nil {
			return err
		}
		session, err = a.newSession(ctx, tx, id)
		return err
	})
	if errors.Is(err, db.ErrNone) {
		err = ErrUnauthenticated
	}
	return session, id, err
}

func (a *Accounts) newSession(ctx context.Context, q db.Q, id ID) (token string, err error) {
	token = rand.Text()
	now := a.db.Now()
	_, err = q.Exec(ctx, `INSERT INTO sessions (token, account_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`,
		hash(token), id, db.At(now), db.At(now.Add(sessionLife)))
	return token, err
}

// SignIn opens a session by password. Accounts that share an e-mail address are told apart by their passwords.
func (a *Accounts) SignIn(ctx context.Context, email, password string) (session string, id ID, err error) {
	all, err := byEmail(ctx, a.db, email)
	if err != nil {
		return "", 0, err
	}
	checked := false
	for _, acc := range all {
		if acc.Password == nil || acc.Suspended() {
			continue
		}
		checked = true
		ok, err := checkPassword(ctx, password, *acc.Password)
		if err != nil {
			return "", 0, err
		}
		if ok {
			session, err = a.newSession(ctx, a.db, acc.ID)
			return session, acc.ID, err
		}
	}
	if !checked { // the answer takes as long as for an address that exists
		if _, err := hashPassword(ctx, password); err != nil {
			return "", 0, err
		}
	}
	return "", 0, ErrUnauthenticated
}

// SetPassword sets the password of an account, 8 characters at least, and ends its other sessions;
// keep is the token of the session that stays.
func (a *Accounts) SetPassword(ctx context.Context, id ID, password, keep string) error {
	if len([]rune(password)) < 8 {
		return fault.New(fault.Invalid, "", "The password field must be at least 8 characters.")
	}
	h, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return a.db.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE accounts SET password = $2 WHERE id = $1`, id, h); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE account_id = $1 AND token <> $2`, id, hash(keep))
		tx.After(func() { a.revoke(id) })
		return err
	})
}

// Session finds who a session's token belongs to.
func (a *Accounts) Session(ctx context.Context, token string) (Caller, error) {
	if len(token) != len(rand.Text()) {
		return Caller{}, ErrUnauthenticated
	}
	h := hash(token)
	name := "session " + string(h)
	k, revoked, ok := a.recall(name)
	if ok {
		return k.Caller, nil
	}
	var c Caller
	err := a.db.Get(ctx, &c, `SELECT s.account_id AS account, 0 AS key, a.name FROM sessions s JOIN accounts a ON a.id = s.account_id
		WHERE s.token = $1 AND s.expires_at > $2 AND a.suspended_at IS NULL`, h, db.At(a.db.Now()))
	if errors.Is(err, db.ErrNone) {
		return Caller{}, ErrUnauthenticated
	}
	if err == nil {
		a.remember(name, known{Caller: c}, revoked)
	}
	return c, err
}

// SignOut ends a session.
func (a *Accounts) SignOut(ctx context.Context, token string) error {
	var id ID
	err := a.db.Get(ctx, &id, `DELETE FROM sessions WHERE token = $1 RETURNING account_id`, hash(token))
	switch {
	case errors.Is(err, db.ErrNone):
		return nil
	case err == nil:
		a.revoke(id)
	}
	return err
}

// Purge forgets links and sessions whose time is over.
func (a *Accounts) Purge(ctx context.Context, now time.Time) error {
	for _, table := range []string{"welcome_links", "sessions"} {
		if _, err := a.db.Exec(ctx, `DELETE FROM `+table+` WHERE expires_at <= $1`, db.At(now)); err != nil {
			return err
		}
	}
	return nil
}
