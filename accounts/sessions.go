package accounts

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"parley/db"
	"parley/fault"
)

const (
	welcomeLife = 30 * time.Minute
	sessionLife = 30 * 24 * time.Hour // since it was last used
	seenEvery   = 5 * time.Minute     // how exactly that is known
)

// Client is where a sign-in comes from.
type Client struct {
	Address string // of IPv6 the /64
	Agent   string // what the browser calls itself
}

// Opened is a session that was just opened.
type Opened struct {
	Token   string
	User    User
	Account ID
}

// Welcome makes the token of a link that signs the first owner of an account in once, within 30 minutes.
func (a *Accounts) Welcome(ctx context.Context, q db.Q, id ID) (token string, err error) {
	var who UserID
	if err = q.Get(ctx, &who, `SELECT user_id FROM members WHERE account_id = $1 AND role = 'owner' AND user_id IS NOT NULL
		ORDER BY id LIMIT 1`, id); err != nil {
		return "", err
	}
	return a.Link(ctx, q, who)
}

// Link makes the token of a link that signs a person in once, within 30 minutes, without password or second factor.
func (a *Accounts) Link(ctx context.Context, q db.Q, id UserID) (token string, err error) {
	token = rand.Text()
	_, err = q.Exec(ctx, `INSERT INTO welcome_links (token, user_id, expires_at) VALUES ($1, $2, $3)`,
		hash(token), id, db.At(a.db.Now().Add(welcomeLife)))
	return token, err
}

// Redeem turns the token of a link into a session; it works once.
func (a *Accounts) Redeem(ctx context.Context, token string, from Client) (o Opened, err error) {
	err = a.db.Do(ctx, func(tx *db.Tx) error {
		var id UserID
		err := tx.Get(ctx, &id, `DELETE FROM welcome_links WHERE token = $1 AND expires_at > $2 RETURNING user_id`, hash(token), db.At(tx.Now()))
		if err != nil {
			return err
		}
		u, err := a.User(ctx, tx, id)
		if err == nil {
			o, err = a.Enter(ctx, tx, u, from)
		}
		return err
	})
	if errors.Is(err, db.ErrNone) {
		err = ErrUnauthenticated
	}
	return o, err
}

// Enter opens a session for a person, in the account they used last; [ErrUnauthenticated] when they belong to none in
// good standing.
func (a *Accounts) Enter(ctx context.Context, tx *db.Tx, u User, from Client) (Opened, error) {
	var account ID
	err := tx.Get(ctx, &account, `SELECT m.account_id FROM members m JOIN accounts a ON a.id = m.account_id
		WHERE m.user_id = $1 AND a.suspended_at IS NULL ORDER BY coalesce(m.last_seen_at, 0) DESC, m.id LIMIT 1`, u.ID)
	if errors.Is(err, db.ErrNone) {
		return Opened{}, ErrUnauthenticated
	}
	if err != nil {
		return Opened{}, err
	}
	return a.enter(ctx, tx, u, account, from)
}

func (a *Accounts) enter(ctx context.Context, tx *db.Tx, u User, account ID, from Client) (Opened, error) {
	o, now := Opened{Token: rand.Text(), User: u, Account: account}, tx.Now()
	agent := strings.ToValidUTF8(strings.ReplaceAll(from.Agent[:min(len(from.Agent), 255)], "\x00", ""), "")
	_, err := tx.Exec(ctx, `INSERT INTO sessions (token, user_id, account_id, address, agent, seen_at, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`, hash(o.Token), u.ID, account, from.Address, agent,
		db.At(now), db.At(now.Add(sessionLife)))
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE members SET last_seen_at = $3 WHERE account_id = $1 AND user_id = $2
			AND (last_seen_at IS NULL OR last_seen_at < $3)`, account, u.ID, db.At(now))
	}
	return o, err
}

// Session finds who a session's token belongs to. Its 30 days begin again with its use.
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
	var row struct {
		Caller
		SeenAt db.Time
	}
	now := a.db.Now()
	err := a.db.Get(ctx, &row, `SELECT s.account_id AS account, s.user_id AS "user", 0 AS key, u.name, u.email, m.role, '*' AS scopes, m.recordings,
		u.operator, s.seen_at FROM sessions s JOIN accounts a ON a.id = s.account_id JOIN users u ON u.id = s.user_id
		JOIN members m ON m.account_id = s.account_id AND m.user_id = s.user_id
		WHERE s.token = $1 AND s.expires_at > $2 AND a.suspended_at IS NULL`, h, db.At(now))
	if errors.Is(err, db.ErrNone) {
		return Caller{}, ErrUnauthenticated
	}
	if err == nil && now.Sub(row.SeenAt.Time()) >= seenEvery {
		err = a.seen(ctx, h, row.Caller, now)
	}
	if err == nil {
		a.remember(name, known{Caller: row.Caller}, revoked)
	}
	return row.Caller, err
}

func (a *Accounts) seen(ctx context.Context, token []byte, c Caller, now time.Time) error {
	return a.db.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE sessions SET seen_at = $2, expires_at = $3 WHERE token = $1 AND seen_at < $2`,
			token, db.At(now), db.At(now.Add(sessionLife)))
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE members SET last_seen_at = $3 WHERE account_id = $1 AND user_id = $2
				AND (last_seen_at IS NULL OR last_seen_at < $3)`, c.Account, c.User, db.At(now))
		}
		return err
	})
}

// Switch moves a session into another account that its person belongs to.
func (a *Accounts) Switch(ctx context.Context, token string, account ID) error {
	n, err := a.db.Exec(ctx, `UPDATE sessions SET account_id = $2 WHERE token = $1
		AND user_id IN (SELECT m.user_id FROM members m JOIN accounts a ON a.id = m.account_id
			WHERE m.account_id = $2 AND m.user_id IS NOT NULL AND a.suspended_at IS NULL)`, hash(token), account)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "", "Account not found.")
	}
	a.revokeAll()
	return err
}

// Session is one of a person's.
type Session struct {
	ID        int64   `db:"id"`
	Address   string  `db:"address"` // of the sign-in
	Agent     string  `db:"agent"`
	Current   bool    `db:"current"` // the one that asks
	SeenAt    db.Time `db:"seen_at"`
	CreatedAt db.Time `db:"created_at"`
}

// Sessions are a person's open sessions, the latest sign-in first; token is the one that asks.
func (a *Accounts) Sessions(ctx context.Context, q db.Q, id UserID, token string) (all []Session, err error) {
	err = q.Select(ctx, &all, `SELECT id, address, agent, token = $2 AS current, seen_at, created_at FROM sessions
		WHERE user_id = $1 AND expires_at > $3 ORDER BY id DESC`, id, hash(token), db.At(a.db.Now()))
	return all, err
}

// EndSession ends one of a person's sessions.
func (a *Accounts) EndSession(ctx context.Context, id UserID, session int64) error {
	n, err := a.db.Exec(ctx, `DELETE FROM sessions WHERE id = $1 AND user_id = $2`, session, id)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "", "Session not found.")
	}
	a.revokeAll()
	return err
}

// SignOut ends a session.
func (a *Accounts) SignOut(ctx context.Context, token string) error {
	_, err := a.db.Exec(ctx, `DELETE FROM sessions WHERE token = $1`, hash(token))
	a.revokeAll()
	return err
}

// Purge forgets links, sessions and tries whose time is over.
func (a *Accounts) Purge(ctx context.Context, now time.Time) error {
	for _, table := range []string{"welcome_links", "sessions"} {
		if _, err := a.db.Exec(ctx, `DELETE FROM `+table+` WHERE expires_at <= $1`, db.At(now)); err != nil {
			return err
		}
	}
	_, err := a.db.Exec(ctx, `DELETE FROM sign_in_tries WHERE since <= $1`, db.At(now.Add(-tryWindow)))
	return err
}
