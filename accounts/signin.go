package accounts

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/db"
	"parley/fault"

	"github.com/nbutton23/zxcvbn-go"
)

// Attempt is a sign-in by password.
type Attempt struct {
	Email, Password string
	Code            string // of the second factor, or a recovery code; empty = none
	From            Client
}

// What refuses a sign-in beside [ErrUnauthenticated].
var (
	ErrCodeNeeded error = fault.New(fault.Invalid, "CODE_REQUIRED", "Enter the code of your authenticator app, or a recovery code.").
			With("two_factor", true)
	errCode error = fault.New(fault.Invalid, "CODE_WRONG", "This code is wrong or has been used.").With("two_factor", true)
)

// SignIn opens a session by password, and by the second factor of a person who has one.
func (a *Accounts) SignIn(ctx context.Context, t Attempt) (o Opened, err error) {
	u, err := a.Prove(ctx, t)
	if err != nil {
		return Opened{}, err
	}
	err = a.db.Do(ctx, func(tx *db.Tx) (err error) {
		o, err = a.Enter(ctx, tx, u, t.From)
		return err
	})
	return o, err
}

// Prove finds the person that an attempt proves to be. Wrong ones are counted.
func (a *Accounts) Prove(ctx context.Context, t Attempt) (User, error) {
	giveBack, err := a.try(ctx, t)
	if err != nil {
		return User{}, err
	}
	u, err := a.UserOf(ctx, a.db, t.Email)
	if err != nil && !errors.Is(err, db.ErrNone) {
		return User{}, err
	}
	if u.Password == nil { // the answer takes as long as for an address that exists
		if _, err := hashPassword(ctx, t.Password); err != nil {
			return User{}, err
		}
		return User{}, ErrUnauthenticated
	}
	ok, err := checkPassword(ctx, t.Password, *u.Password)
	if err == nil && !ok {
		err = ErrUnauthenticated
	}
	if err != nil {
		return User{}, err
	}
	if u.TOTP != nil {
		if t.Code == "" {
			return User{}, errors.Join(giveBack(), ErrCodeNeeded)
		}
		if err := a.checkCode(ctx, u, t.Code); err != nil {
			return User{}, err
		}
	}
	return u, giveBack()
}

// How many wrong passwords are answered before further ones are refused unread.
const (
	tryWindow     = 15 * time.Minute
	triesPerName  = 10
	triesPerPlace = 30
)

// try counts an attempt before it is judged, so that many at once are no more than one after the other; giveBack takes
// the count back from one that was right.
func (a *Accounts) try(ctx context.Context, t Attempt) (giveBack func() error, err error) {
	subjects := []struct {
		name string
		most int64
	}{{"name " + normal(t.Email), triesPerName}, {"place " + t.From.Address, triesPerPlace}}
	for _, s := range subjects {
		var row struct{ Since, N int64 }
		now := a.db.Now()
		if err := a.db.Get(ctx, &row, `INSERT INTO sign_in_tries (subject, since, n) VALUES ($1, $2, 1)
			ON CONFLICT (subject) DO UPDATE SET n = CASE WHEN sign_in_tries.since <= $3 THEN 1 ELSE sign_in_tries.n + 1 END,
			since = CASE WHEN sign_in_tries.since <= $3 THEN $2 ELSE sign_in_tries.since END RETURNING since, n`,
			s.name, db.At(now), db.At(now.Add(-tryWindow))); err != nil {
			return nil, err
		}
		if row.N > s.most {
			return nil, fault.Exceeded(int(s.most), time.Now().Add(db.Time(row.Since).Time().Add(tryWindow).Sub(now)))
		}
	}
	return func() error {
		for _, s := range subjects {
			if _, err := a.db.Exec(ctx, `UPDATE sign_in_tries SET n = n - 1 WHERE subject = $1 AND n > 0`, s.name); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// leastPassword is how short a password may be, in characters.
const leastPassword = 12

// CheckPassword refuses a password that is short or easily guessed; known are words that belong to the person.
func CheckPassword(password string, known ...string) error {
	refuse := func(sentence string) error { return fault.Input(fault.Field{Name: "password", Sentence: sentence}) }
	runes := []rune(password)
	if len(runes) < leastPassword {
		return refuse("The password field must be at least 12 characters.")
	}
	for _, word := range known {
		if normal(word) != "" && strings.EqualFold(strings.TrimSpace(password), strings.TrimSpace(word)) {
			return refuse("The password must not be your name or e-mail address.")
		}
	}
	if zxcvbn.PasswordStrength(string(runes[:min(len(runes), 64)]), known).Score < 2 {
		return refuse("This password is common or easily guessed. Choose another one.")
	}
	return nil
}

// SetPassword sets a person's password and ends their other sessions; keep is the token of the session that stays.
func (a *Accounts) SetPassword(ctx context.Context, id UserID, password, keep string) error {
	u, err := a.User(ctx, a.db, id)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, u.Email, u.Name); err != nil {
		return err
	}
	h, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return a.db.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE users SET password = $2 WHERE id = $1`, id, h); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM welcome_links WHERE user_id = $1`, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND token <> $2`, id, hash(keep))
		tx.After(a.revokeAll)
		return err
	})
}

// Newcomer is who accepts an invitation: with a name and a new password, or as somebody who signs in already.
type Newcomer struct {
	Token, Name string
	As          UserID // who is signed in; 0 = nobody
	Attempt
}

// Accept accepts an invitation and opens a session in its account. An address that signs in already has to prove itself
// with its password; another one gets the password given.
func (a *Accounts) Accept(ctx context.Context, n Newcomer) (o Opened, err error) {
	in, err := a.Invitation(ctx, a.db, n.Token)
	if err != nil {
		return Opened{}, err
	}
	n.Email = in.Email
	var u User
	var h string
	if n.As != 0 {
		u, err = a.User(ctx, a.db, n.As)
	}
	if err == nil && u.Email == in.Email {
		in.Known = true
	} else if err == nil && in.Known {
		u, err = a.Prove(ctx, n.Attempt)
	} else if err != nil {
		return Opened{}, err
	} else if err = CheckPassword(n.Password, in.Email, n.Name); err == nil {
		h, err = hashPassword(ctx, n.Password)
	}
	if err != nil {
		return Opened{}, err
	}
	err = a.db.Do(ctx, func(tx *db.Tx) (err error) {
		if !in.Known {
			if u, err = a.newcomer(ctx, tx, in.Email, n.Name, h); err != nil {
				return err
			}
		}
		account, err := a.Join(ctx, tx, n.Token, u.ID)
		if err == nil {
			o, err = a.enter(ctx, tx, u, account, n.From)
		}
		return err
	})
	return o, err
}

func (a *Accounts) newcomer(ctx context.Context, tx *db.Tx, email, name, password string) (u User, err error) {
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	err = tx.Get(ctx, &u, `INSERT INTO users (email, name, password, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (email) DO NOTHING
		RETURNING `+userColumns, email, name, password, db.At(tx.Now()))
	if errors.Is(err, db.ErrNone) { // came into being meanwhile: they have to prove themselves
		err = ErrInvitation
	}
	return u, err
}
