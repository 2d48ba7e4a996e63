// Package audit keeps who did what, when and from where. Entries are added and never changed.
package audit

import (
	"context"
	"slices"
	"time"

	"parley/accounts"
	"parley/db"
)

// Audit is the record of an installation.
type Audit struct{ db *db.DB }

// New makes the room.
func New(d *db.DB) *Audit { return &Audit{d} }

// Actions that are no operation of the API, which is named by its id in the OpenAPI document.
const (
	SignedIn      = "sign_in"
	SignInRefused = "sign_in.refused"
	SignedOut     = "sign_out"
	Joined        = "member.joined"
)

// Entry is one thing that was done.
type Entry struct {
	ID        int64            `db:"id"`
	At        db.Time          `db:"at"`
	Actor     string           `db:"actor"` // address of a person, or name of a key
	UserID    *accounts.UserID `db:"user_id"`
	KeyID     *int64           `db:"key_id"`
	Address   string           `db:"address"` // of the client, of IPv6 the /64
	Action    string           `db:"action"`
	Subject   string           `db:"subject"` // path of the record
	Changes   string           `db:"changes"` // JSON: {"field":{"before":…,"after":…}}, or {"field":"changed"}
	RequestID string           `db:"request_id"`
}

const columns = `id, at, actor, user_id, key_id, address, action, subject, changes, request_id`

// Add adds an entry, now; its id and time need not be set.
func (a *Audit) Add(ctx context.Context, q db.Q, owner accounts.ID, e Entry) error {
	if e.Changes == "" {
		e.Changes = "{}"
	}
	_, err := q.Exec(ctx, `INSERT INTO audit (account_id, at, actor, user_id, key_id, address, action, subject, changes, request_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, owner, db.At(a.db.Now()), e.Actor, e.UserID, e.KeyID, e.Address, e.Action,
		e.Subject, e.Changes, e.RequestID)
	return err
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Actor, Action string
	From, To      time.Time // To is the first moment after
}

// Place is where a page begins: before an entry, or after it, towards the newer ones. The zero Place is the newest.
type Place struct {
	Before int64 `json:"b,omitempty"`
	After  int64 `json:"a,omitempty"`
}

// List is a page of an account's entries, the newest first; more says that there are others beyond it.
func (a *Audit) List(ctx context.Context, owner accounts.ID, f Filter, at Place, most int) (list []Entry, more bool, err error) {
	to := f.To
	if to.IsZero() {
		to = a.db.Now().Add(time.Hour)
	}
	args := []any{owner, f.Actor, f.Action, int64(db.At(f.From)), int64(db.At(to)), at.Before, at.After, most + 1}
	if at.After != 0 {
		err = a.db.Select(ctx, &list, `SELECT `+columns+` FROM audit WHERE account_id = $1 AND ($2 = '' OR actor = $2)
			AND ($3 = '' OR action = $3) AND at >= $4 AND at < $5 AND ($6 = 0 OR id < $6) AND id > $7 ORDER BY id LIMIT $8`, args...)
	} else {
		err = a.db.Select(ctx, &list, `SELECT `+columns+` FROM audit WHERE account_id = $1 AND ($2 = '' OR actor = $2)
			AND ($3 = '' OR action = $3) AND at >= $4 AND at < $5 AND ($6 = 0 OR id < $6) AND id > $7 ORDER BY id DESC LIMIT $8`, args...)
	}
	if more = len(list) > most; more {
		list = list[:most]
	}
	if at.After != 0 {
		slices.Reverse(list)
	}
	return list, more, err
}

// Purge removes entries that are older than so many days; nil keeps all.
func (a *Audit) Purge(ctx context.Context, now time.Time, days *int) error {
	if days == nil {
		return nil
	}
	_, err := a.db.Exec(ctx, `DELETE FROM audit WHERE at < $1`, db.At(now.AddDate(0, 0, -*days)))
	return err
}
