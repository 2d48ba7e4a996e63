package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parley/db"
	"parley/fault"
)

// Key is an API key without its secret.
type Key struct {
	ID         int64   `db:"id"`
	Name       string  `db:"name"`
	LastUsedAt db.Time `db:"last_used_at"`
	CreatedAt  db.Time `db:"created_at"`

	Scopes      string  `db:"scopes"`  // separated by blanks
	MadeBy      string  `db:"made_by"` // address of the person; empty: another key, or the command line
	LastAddress *string `db:"last_address"`
	ExpiresAt   db.Time `db:"expires_at"`
}

// KeyDraft is what a key is made of.
type KeyDraft struct {
	Name      string
	Scopes    []string  // empty = everything
	ExpiresAt time.Time // zero = never
	MadeBy    string
	Role      Role // what the key may at most; empty = Owner
}

const keyColumns = `id, name, last_used_at, created_at, scopes, made_by, last_address, expires_at`

// CreateKey makes a key that may do everything.
func (a *Accounts) CreateKey(ctx context.Context, q db.Q, owner ID, name string) (k Key, token string, err error) {
	return a.MakeKey(ctx, q, owner, KeyDraft{Name: name})
}

// MakeKey makes a key. The token is "<id>|<secret>" and cannot be had again.
func (a *Accounts) MakeKey(ctx context.Context, q db.Q, owner ID, d KeyDraft) (k Key, token string, err error) {
	if len(d.Scopes) == 0 {
		d.Scopes = []string{"*"}
	}
	if d.Role == "" {
		d.Role = Owner
	}
	secret := newSecret()
	err = q.Get(ctx, &k, `INSERT INTO api_keys (account_id, name, secret, created_at, scopes, role, made_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING `+keyColumns, owner, d.Name, hash(secret), db.At(a.db.Now()),
		strings.Join(d.Scopes, " "), d.Role, d.MadeBy, db.At(d.ExpiresAt))
	return k, strconv.FormatInt(k.ID, 10) + "|" + secret, err
}

// Keys lists an account's keys, the oldest first.
func (a *Accounts) Keys(ctx context.Context, q db.Q, owner ID) (keys []Key, err error) {
	err = q.Select(ctx, &keys, `SELECT `+keyColumns+` FROM api_keys WHERE account_id = $1 ORDER BY id`, owner)
	return keys, err
}

// DeleteKey ends a key: here at once, on other nodes with the message that tells them, within a second at most.
func (a *Accounts) DeleteKey(ctx context.Context, q db.Q, owner ID, id int64) error {
	n, err := q.Exec(ctx, `DELETE FROM api_keys WHERE id = $1 AND account_id = $2`, id, owner)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.New(fault.NotFound, "", "API key not found.")
	}
	after(q, func() { a.revoke(owner) })
	return nil
}

// after runs fn once q's transaction is committed; at once when q is none.
func after(q db.Q, fn func()) {
	if tx, ok := q.(*db.Tx); ok {
		tx.After(fn)
		return
	}
	fn()
}

var tokenForm = regexp.MustCompile(`^([0-9]{1,19})\|([A-Za-z0-9]{48})$`)

// Verify finds who a token belongs to and notes its use, from address. [ErrUnauthenticated] for anything that is not the token of
// a living key of an account in good standing.
func (a *Accounts) Verify(ctx context.Context, token, address string) (Caller, error) {
	m := tokenForm.FindStringSubmatch(token)
	if m == nil {
		return Caller{}, ErrUnauthenticated
	}
	id, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return Caller{}, ErrUnauthenticated
	}
	name := "key " + strconv.FormatInt(id, 10)
	k, revoked, ok := a.recall(name)
	if !ok {
		if k, err = a.findKey(ctx, id); err != nil {
			return Caller{}, err
		}
		a.remember(name, k, revoked)
	}
	if subtle.ConstantTimeCompare(hash(m[2]), k.secret) != 1 || k.ends != 0 && k.ends <= db.At(a.db.Now()) {
		return Caller{}, ErrUnauthenticated
	}
	a.used(id, address)
	return k.Caller, nil
}

func (a *Accounts) findKey(ctx context.Context, id int64) (known, error) {
	var row struct {
		AccountID ID
		Name      string
		Secret    []byte
		Role      Role
		Scopes    string
		ExpiresAt db.Time
	}
	err := a.db.Get(ctx, &row, `SELECT k.account_id, k.name, k.secret, k.role, k.scopes, k.expires_at FROM api_keys k JOIN accounts a ON a.id = k.account_id
		WHERE k.id = $1 AND a.suspended_at IS NULL`, id)
	if errors.Is(err, db.ErrNone) {
		return known{}, ErrUnauthenticated
	}
	c := Caller{Account: row.AccountID, Key: id, Name: row.Name, Role: row.Role, Scopes: row.Scopes}
	return known{Caller: c, secret: row.Secret, ends: row.ExpiresAt}, err
}

// use is when a key was last used.
type use struct {
	at      db.Time   // latest use not written yet; zero = none
	from    string    // the client's address
	written time.Time // when this process last wrote one
}

const (
	flushEvery = 400 * time.Millisecond // a first use shows within a second
	writeEvery = 30 * time.Second       // a later one within a minute
)

func (a *Accounts) used(id int64, address string) {
	at := db.At(a.db.Now())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.use[id] == nil {
		a.use[id] = &use{}
	}
	a.use[id].at, a.use[id].from = at, address
}

// Run writes the last uses of keys, many at a time, and hears of credentials that others revoke, until ctx ends.
func (a *Accounts) Run(ctx context.Context) error {
	defer a.db.Listen(channel, a.hear)()
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return a.flush(context.WithoutCancel(ctx), 0)
		case <-tick.C:
			if err := a.flush(ctx, writeEvery); err != nil && ctx.Err() == nil {
				slog.Error("the last use of API keys cannot be written", "err", err)
			}
		}
	}
}

// flush writes the uses of keys whose last write is longer ago than age.
func (a *Accounts) flush(ctx context.Context, age time.Duration) error {
	now := time.Now()
	due := map[int64]use{}
	a.mu.Lock()
	for id, u := range a.use {
		switch {
		case now.Sub(u.written) < age:
		case u.at != 0:
			due[id] = *u
			u.at, u.written = 0, now
		default:
			delete(a.use, id)
		}
	}
	a.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	err := a.db.Do(ctx, func(tx *db.Tx) error {
		for id, u := range due {
			if _, err := tx.Exec(ctx, `UPDATE api_keys SET last_used_at = $2, last_address = $3
				WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`, id, u.at, u.from); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // try again with the next flush
		a.mu.Lock()
		for id, missed := range due {
			if u := a.use[id]; u != nil {
				u.at, u.written = max(u.at, missed.at), time.Time{}
			}
		}
		a.mu.Unlock()
	}
	return err
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// newSecret is 48 random characters, 285 bits.
func newSecret() string {
	var b strings.Builder
	for b.Len() < 48 {
		var raw [64]byte
		rand.Read(raw[:])
		for _, r := range raw {
			if int(r) < 4*len(alphabet) && b.Len() < 48 { // no letter is likelier than another
				b.WriteByte(alphabet[int(r)%len(alphabet)])
			}
		}
	}
	return b.String()
}
