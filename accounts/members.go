package accounts

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"parley/db"
	"parley/fault"
	"parley/value"
)

// Member is a person in an account, or one who is invited.
type Member struct {
	ID         int64   `db:"id"`
	UserID     *UserID `db:"user_id"` // nil while invited
	Email      string  `db:"email"`
	Name       string  `db:"name"` // empty while invited
	Role       Role    `db:"role"`
	Recordings bool    `db:"recordings"`
	TwoFactor  bool    `db:"two_factor"`
	LastSeenAt db.Time `db:"last_seen_at"`
}

// Invited reports that the person has not accepted yet.
func (m Member) Invited() bool { return m.UserID == nil }

const memberQuery = `SELECT m.id, m.user_id, coalesce(u.email, m.email) AS email, coalesce(u.name, '') AS name, m.role, m.recordings,
	u.totp IS NOT NULL AS two_factor, m.last_seen_at FROM members m LEFT JOIN users u ON u.id = m.user_id `

// ErrNoMember is the answer to an id that is nobody's in the account.
var ErrNoMember error = fault.New(fault.NotFound, "", "Member not found.")

// Members are the people of an account and those who are invited, the first one first.
func (a *Accounts) Members(ctx context.Context, q db.Q, owner ID) (all []Member, err error) {
	err = q.Select(ctx, &all, memberQuery+`WHERE m.account_id = $1 ORDER BY m.id`, owner)
	return all, err
}

// Member is one of an account; [ErrNoMember] when there is no such one.
func (a *Accounts) Member(ctx context.Context, q db.Q, owner ID, id int64) (m Member, err error) {
	err = q.Get(ctx, &m, memberQuery+`WHERE m.account_id = $1 AND m.id = $2`, owner, id)
	if errors.Is(err, db.ErrNone) {
		err = ErrNoMember
	}
	return m, err
}

const invitationLife = 72 * time.Hour

// Invite adds an address to an account; the token accepts the invitation once within 72 hours. An address that is invited
// already gets a new token, and the old one ends.
func (a *Accounts) Invite(ctx context.Context, owner ID, email string, role Role) (m Member, token string, err error) {
	token = rand.Text()
	err = a.db.Do(ctx, func(tx *db.Tx) error {
		var there int64
		err := tx.Get(ctx, &there, `SELECT m.id FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND u.email = $2`,
			owner, normal(email))
		if err == nil {
			return fault.New(fault.Conflict, "", "This person is a member already.")
		}
		if !errors.Is(err, db.ErrNone) {
			return err
		}
		now := tx.Now()
		if err := tx.Get(ctx, &there, `INSERT INTO members (account_id, email, role, invitation, invited_until, created_at)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, email) WHERE user_id IS NULL
			DO UPDATE SET role = excluded.role, invitation = excluded.invitation, invited_until = excluded.invited_until
			RETURNING id`, owner, normal(email), role, hash(token), db.At(now.Add(invitationLife)), db.At(now)); err != nil {
			return err
		}
		m, err = a.Member(ctx, tx, owner, there)
		return err
	})
	return m, token, err
}

// Invitation is what a person reads before accepting.
type Invitation struct {
	Account ID     `db:"account_id"`
	Name    string `db:"name"` // of the account
	Email   string `db:"email"`
	Role    Role   `db:"role"`
	Known   bool   `db:"known"` // the address belongs to somebody who signs in already
}

// ErrInvitation refuses an invitation that was used, replaced, or is older than 72 hours.
var ErrInvitation error = fault.New(fault.Invalid, "", "This invitation has been used, replaced or is older than 72 hours. Ask for a new one.")

// Invitation finds what a token invites to; [ErrInvitation] when it is over.
func (a *Accounts) Invitation(ctx context.Context, q db.Q, token string) (in Invitation, err error) {
	err = q.Get(ctx, &in, `SELECT m.account_id, a.name, m.email, m.role, u.id IS NOT NULL AS known FROM members m
		JOIN accounts a ON a.id = m.account_id LEFT JOIN users u ON u.email = m.email
		WHERE m.invitation = $1 AND m.invited_until > $2 AND m.user_id IS NULL`, hash(token), db.At(a.db.Now()))
	if errors.Is(err, db.ErrNone) {
		err = ErrInvitation
	}
	return in, err
}

// Join accepts an invitation as a person, once.
func (a *Accounts) Join(ctx context.Context, tx *db.Tx, token string, id UserID) (account ID, err error) {
	err = tx.Get(ctx, &account, `UPDATE members SET user_id = $2, invitation = NULL, invited_until = NULL
		WHERE invitation = $1 AND invited_until > $3 AND user_id IS NULL RETURNING account_id`, hash(token), id, db.At(tx.Now()))
	switch {
	case errors.Is(err, db.ErrNone):
		err = ErrInvitation
	case db.IsUniqueOf(err, "members_person", "members.account_id, members.user_id"):
		err = fault.New(fault.Conflict, "", "You are a member already.")
	}
	return account, err
}

// MemberChange is what can be changed of a member; fields left out stay.
type MemberChange struct {
	Role       value.Opt[Role]
	Recordings value.Opt[bool]
}

// ChangeMember sets a member's role and whether they may hear recordings. by is the role of who asks: only owners make
// and change owners. The last owner stays one.
func (a *Accounts) ChangeMember(ctx context.Context, owner ID, id int64, by Role, c MemberChange) (m Member, err error) {
	err = a.db.Do(ctx, func(tx *db.Tx) (err error) {
		if m, err = a.hold(ctx, tx, owner, id, by); err != nil {
			return err
		}
		if c.Role.Set && c.Role.V == Owner && by != Owner {
			return ErrRole
		}
		if m.Role == Owner && !m.Invited() && c.Role.Set && c.Role.V != Owner {
			if err = a.another(ctx, tx, owner, *m.UserID); err != nil {
				return err
			}
		}
		if _, err = tx.Exec(ctx, `UPDATE members SET role = coalesce($3, role), recordings = coalesce($4, recordings)
			WHERE id = $1 AND account_id = $2`, id, owner, c.Role.Ptr(), c.Recordings.Ptr()); err != nil {
			return err
		}
		tx.After(func() { a.revoke(owner) })
		m, err = a.Member(ctx, tx, owner, id)
		return err
	})
	return m, err
}

// RemoveMember takes a person, or an invitation, out of an account and ends their sessions in it.
func (a *Accounts) RemoveMember(ctx context.Context, owner ID, id int64, by Role) error {
	return a.db.Do(ctx, func(tx *db.Tx) error {
		m, err := a.hold(ctx, tx, owner, id, by)
		if err != nil {
			return err
		}
		if m.Role == Owner && !m.Invited() {
			if err := a.another(ctx, tx, owner, *m.UserID); err != nil {
				return err
			}
		}
		if !m.Invited() {
			if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND account_id = $2`, *m.UserID, owner); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM members WHERE id = $1 AND account_id = $2`, id, owner)
		tx.After(func() { a.revoke(owner) })
		return err
	})
}

// hold reads a member for a change; others that change members of the account wait until the transaction ends.
func (a *Accounts) hold(ctx context.Context, tx *db.Tx, owner ID, id int64, by Role) (Member, error) {
	var locked ID
	if err := tx.Get(ctx, &locked, `SELECT id FROM accounts WHERE id = $1 {{lock}}`, owner); err != nil {
		return Member{}, err
	}
	m, err := a.Member(ctx, tx, owner, id)
	if err == nil && m.Role == Owner && by != Owner {
		err = ErrRole
	}
	return m, err
}

// Membership is an account that a person belongs to.
type Membership struct {
	Account ID     `db:"account_id"`
	Name    string `db:"name"`
	Role    Role   `db:"role"`
}

// Memberships are the accounts that a person belongs to, the first one first.
func (a *Accounts) Memberships(ctx context.Context, q db.Q, id UserID) (all []Membership, err error) {
	err = q.Select(ctx, &all, `SELECT m.account_id, a.name, m.role FROM members m JOIN accounts a ON a.id = m.account_id
		WHERE m.user_id = $1 AND a.suspended_at IS NULL ORDER BY m.id`, id)
	return all, err
}
