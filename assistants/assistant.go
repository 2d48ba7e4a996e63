// Package assistants keeps what customers configure: the settings of an assistant, their rules, its versions,
// and the folders and labels that order them.
package assistants

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/catalog"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// ID names an assistant.
type ID int64

// Assistant is a configured assistant.
type Assistant struct {
	ID     ID
	UUID   string
	Owner  accounts.ID
	Paused bool // switched off by the customer; a new inactive assistant is not paused
	Settings
	InboundWebhookURL string // empty = none
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// Conversation mode, and codes of the chosen language.
func (a Assistant) ModeOf() catalog.Mode { return catalog.Mode(a.Mode) }

// Language is the two-letter code of the primary language.
func (a Assistant) Language() string {
	l, _ := catalog.LanguageByID(a.LanguageID)
	return l.ISO2
}

// Location is the assistant's time zone.
func (a Assistant) Location() *time.Location {
	loc, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// Number is a phone number of the account as far as assistants are concerned with it.
type Number struct {
	ID        ids.Number
	E164      string
	Country   string // ISO 3166-1 alpha-2
	Type      string // "normal", "sip", "caller_id"
	TypeLabel string
	Scheduled bool // will be released at the end of its period
}

// CallerID reports a number that can be shown but not called.
func (n Number) CallerID() bool { return n.Type == "caller_id" }

// Sealer encrypts what must not stand readable in the database.
type Sealer interface {
	Seal(plain []byte) (string, error)
	Open(sealed string) ([]byte, error)
}

// Account is what other rooms tell about the things of an account, and what they do when an assistant changes. A nil func
// means that there are none.
type Account struct {
	// Numbers are the numbers with the given ids, or with nil all that can be attached, by id.
	Numbers func(ctx context.Context, q db.Q, owner accounts.ID, list []ids.Number) ([]Number, error)
	// Knowledgebases and Tools give those of the ids that the account owns.
	Knowledgebases func(ctx context.Context, q db.Q, owner accounts.ID, list []ids.Knowledgebase) ([]ids.Knowledgebase, error)
	Tools          func(ctx context.Context, q db.Q, owner accounts.ID, list []ids.Tool) ([]ids.Tool, error)
	// RunningCampaign reports whether an in-progress campaign uses the assistant.
	RunningCampaign func(ctx context.Context, q db.Q, id ID) (bool, error)
	// Most is how many assistants the plan allows, nil = any number. Others that ask wait until the transaction ends, so that
	// two creations cannot both count themselves in.
	Most func(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error)

	// Deleted lets go of what hangs on an assistant, in the transaction that deletes it.
	Deleted func(ctx context.Context, tx *db.Tx, a Assistant) error
	// Paused stops what must not run with a paused assistant, in the same transaction.
	Paused func(ctx context.Context, tx *db.Tx, a Assistant) error
	// Changed is told of a change after its commit.
	Changed func(owner accounts.ID, id ID)
}

// Assistants is the room.
type Assistants struct {
	db      *db.DB
	catalog *catalog.Catalog
	box     Sealer
	account Account
	memo    *memo
}

// New opens the room.
func New(d *db.DB, c *catalog.Catalog, box Sealer, account Account) *Assistants {
	return &Assistants{db: d, catalog: c, box: box, account: account, memo: newMemo(8 << 20)}
}

// ErrNotFound is the answer for a missing or foreign assistant.
var ErrNotFound = fault.New(fault.NotFound, "", "Assistant not found")

// By says who makes a change.
type By struct {
	KeyID int64  `json:"key_id,omitempty"`
	Name  string `json:"name"` // of the key or the person
}

// Change is a request to create or update an assistant.
type Change struct {
	Patch
	Unknown value.Unknown // what of the request means nothing here
	Failed  []fault.Field // rules that it breaks already; these fields are left out
	By      By
}

// Get finds an assistant of an account by id or uuid.
func (s *Assistants) Get(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) (Assistant, error) {
	if ref.ID != 0 {
		return s.one(ctx, q, `account_id = $1 AND id = $2`, owner, ref.ID)
	}
	return s.one(ctx, q, `account_id = $1 AND uuid = $2`, owner, ref.UUID)
}

// locked reads an assistant that nobody else changes until tx ends. The lists of tools and labels are read once it is held:
// a statement that waited for a row sees other tables as they were before.
func (s *Assistants) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, ref value.Ref) (Assistant, error) {
	var id ID
	err := tx.Get(ctx, &id, `SELECT id FROM assistants WHERE account_id = $1 AND (id = $2 OR uuid = $3) AND deleted_at IS NULL {{lock}}`,
		owner, ref.ID, ref.UUID)
	if errors.Is(err, db.ErrNone) {
		return Assistant{}, ErrNotFound
	}
	if err != nil {
		return Assistant{}, err
	}
	return s.ByID(ctx, tx, id)
}

// ByUUID finds an assistant whose uuid is known, whoever owns it.
func (s *Assistants) ByUUID(ctx context.Context, q db.Q, uuid string) (Assistant, error) {
	return s.one(ctx, q, `uuid = $1`, uuid)
}

// ByID finds an assistant for the server's own use, whoever owns it.
func (s *Assistants) ByID(ctx context.Context, q db.Q, id ID) (Assistant, error) {
	return s.one(ctx, q, `id = $1`, id)
}

// Recent are the active assistants changed last, whoever owns them.
func (s *Assistants) Recent(ctx context.Context, q db.Q, most int) ([]Assistant, error) {
	return s.load(ctx, q, `status = 'active' ORDER BY updated_at DESC, id DESC LIMIT $1`, most)
}

// ForNumber finds the inbound assistant that answers a number.
func (s *Assistants) ForNumber(ctx context.Context, q db.Q, number ids.Number) (Assistant, error) {
	return s.one(ctx, q, `phone_number_id = $1 AND type = 'inbound'`, number)
}

func (s *Assistants) one(ctx context.Context, q db.Q, where string, args ...any) (Assistant, error) {
	list, err := s.load(ctx, q, where, args...)
	if err != nil {
		return Assistant{}, err
	}
	if len(list) == 0 {
		return Assistant{}, ErrNotFound
	}
	return list[0], nil
}

// List gives assistants of an account, newest first: all, or with a type those of it.
func (s *Assistants) List(ctx context.Context, q db.Q, owner accounts.ID, typ string) ([]Assistant, error) {
	return s.load(ctx, q, `account_id = $1 AND ($2 = '' OR type = $2) ORDER BY id DESC`, owner, typ)
}

// Had reports whether the account has, or ever had, an assistant.
func (s *Assistants) Had(ctx context.Context, q db.Q, owner accounts.ID) (had bool, err error) {
	err = q.Get(ctx, &had, `SELECT EXISTS (SELECT 1 FROM assistants WHERE account_id = $1)`, owner)
	return had, err
}

// Page gives one page of an account's assistants, newest first, and how many there are.
func (s *Assistants) Page(ctx context.Context, q db.Q, owner accounts.ID, offset, limit int) ([]Assistant, int, error) {
	total, err := db.Count(ctx, q, "assistants", `account_id = $1`, false, owner)
	if err != nil || total <= offset {
		return nil, total, err
	}
	ids, args := pageOf(owner, total, offset, limit)
	list, err := s.load(ctx, q, `id IN (`+ids+`) ORDER BY id DESC`, args...)
	return list, total, err
}

// pageOf is the query of the ids of one page, of total assistants.
func pageOf(owner accounts.ID, total, offset, limit int) (string, []any) {
	order := `DESC`
	back, from, most := db.Span(total, offset, limit)
	if back {
		order = `ASC`
	}
	return `SELECT id FROM assistants WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id ` + order + ` LIMIT $2 OFFSET $3`,
		[]any{owner, most, from}
}

// Create saves a new assistant, or says everything that is wrong with it.
func (s *Assistants) Create(ctx context.Context, owner accounts.ID, c Change) (Assistant, []Warning, error) {
	var a Assistant
	var warned []Warning
	err := s.write(ctx, func(tx *db.Tx) error {
		j, err := s.judge(ctx, tx, owner, nil, c)
		if err != nil {
			return err
		}
		if err := fault.Input(append(c.Failed, j.bad...)...); err != nil {
			return err
		}
		if err := s.mayAdd(ctx, tx, owner); err != nil {
			return err
		}
		a, warned = Assistant{Owner: owner, Settings: j.settled()}, j.warned
		if a.PhoneNumberID != nil {
			a.Status = Active
		}
		if err := s.insert(ctx, tx, &a); err != nil {
			return err
		}
		tx.After(func() { s.tell(owner, a.ID) })
		return s.keepVersion(ctx, tx, a, c.By, nil)
	})
	if err != nil {
		return Assistant{}, nil, err
	}
	return a, warned, nil
}

func (s *Assistants) mayAdd(ctx context.Context, tx *db.Tx, owner accounts.ID) error {
	if s.account.Most == nil {
		return nil
	}
	most, err := s.account.Most(ctx, tx, owner)
	if most == nil || err != nil {
		return err
	}
	have, err := db.Count(ctx, tx, "assistants", `account_id = $1`, false, owner)
	if err == nil && accounts.Reached(most, int64(have)) {
		err = fault.New(fault.Forbidden, "", "You have reached the maximum number of assistants allowed by your plan.")
	}
	return err
}

// Update changes the fields that were sent, all of them or none.
func (s *Assistants) Update(ctx context.Context, owner accounts.ID, ref value.Ref, c Change) (Assistant, []Warning, error) {
	var a Assistant
	var warned []Warning
	err := s.write(ctx, func(tx *db.Tx) error {
		old, err := s.locked(ctx, tx, owner, ref)
		if err != nil {
			return err
		}
		j, err := s.judge(ctx, tx, owner, &old, c)
		if err != nil {
			return err
		}
		if err := fault.Input(append(c.Failed, j.bad...)...); err != nil {
			return err
		}
		a, warned = old, j.warned
		a.Settings = j.settled()
		a.move(old, j.in)
		return s.save(ctx, tx, old, &a, c.By)
	})
	if err != nil {
		return Assistant{}, nil, err
	}
	s.tell(owner, a.ID)
	return a, warned, nil
}

// move is the status machine: a number wakes a new assistant, the status itself pauses and wakes.
func (a *Assistant) move(old Assistant, in Patch) {
	a.Status = old.Status
	if in.Has("phone_number_id") && a.Status == Inactive && !a.Paused {
		a.Status = Active
	}
	switch {
	case in.To.Status == Active:
		a.Status, a.Paused = Active, false
	case in.To.Status == Inactive && a.Status == Active:
		a.Status, a.Paused = Inactive, true
	}
}

// save writes a changed assistant, its version, and what follows from a pause.
func (s *Assistants) save(ctx context.Context, tx *db.Tx, old Assistant, a *Assistant, by By) error {
	names := changed(old.Settings, a.Settings)
	if old.InboundWebhookURL != a.InboundWebhookURL {
		names = append(names, "inbound_webhook_url")
	}
	if len(names) == 0 && old.Paused == a.Paused {
		return nil
	}
	if err := s.update(ctx, tx, a); err != nil {
		return err
	}
	if a.Paused && !old.Paused && s.account.Paused != nil {
		if err := s.account.Paused(ctx, tx, *a); err != nil {
			return err
		}
	}
	return s.keepVersion(ctx, tx, *a, by, names)
}

// Hold keeps an assistant from being changed, paused or deleted until tx ends.
func (s *Assistants) Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) error {
	_, err := s.locked(ctx, tx, owner, value.Ref{ID: int64(id)})
	return err
}

// Activate turns a new assistant active; a paused one stays paused. To be called where it is first put to use.
func (s *Assistants) Activate(ctx context.Context, q db.Q, id ID) error {
	_, err := q.Exec(ctx, `UPDATE assistants SET status = 'active' WHERE id = $1 AND status = 'inactive' AND NOT paused`, id)
	return err
}

// Delete removes an assistant. Its row stays as the name that calls and conversations remember.
func (s *Assistants) Delete(ctx context.Context, owner accounts.ID, ref value.Ref) error {
	var a Assistant
	err := s.db.Do(ctx, func(tx *db.Tx) (err error) {
		if a, err = s.locked(ctx, tx, owner, ref); err != nil {
			return err
		}
		if s.account.Deleted != nil {
			if err := s.account.Deleted(ctx, tx, a); err != nil {
				return err
			}
		}
		return s.bury(ctx, tx, a.ID)
	})
	if err == nil {
		s.tell(owner, a.ID)
	}
	return err
}

// Hook is one of the three webhooks of an assistant.
type Hook string

// The webhooks that can be switched.
const (
	PostCall          Hook = "webhook"
	InboundCall       Hook = "inbound-webhook"
	ConversationEnded Hook = "conversation-ended-webhook"
)

// Switch sets a webhook's URL, or with an empty URL switches it off.
func (s *Assistants) Switch(ctx context.Context, owner accounts.ID, ref value.Ref, hook Hook, url string, by By) error {
	var a Assistant
	err := s.db.Do(ctx, func(tx *db.Tx) error {
		old, err := s.locked(ctx, tx, owner, ref)
		if err != nil {
			return err
		}
		var to *string
		if url != "" {
			to = &url
		}
		a = old
		switch hook {
		case PostCall:
			a.WebhookURL, a.IsWebhookActive = to, url != ""
		case InboundCall:
			a.InboundWebhookURL = url
		case ConversationEnded:
			a.ConversationEndedWebhookURL = to
		}
		return s.save(ctx, tx, old, &a, by)
	})
	if err == nil {
		s.tell(owner, a.ID)
	}
	return err
}

func (s *Assistants) tell(owner accounts.ID, id ID) {
	if s.account.Changed != nil {
		s.account.Changed(owner, id)
	}
}

// write runs fn in a transaction; when something it names was deleted in that moment, again, and then the rules say so.
func (s *Assistants) write(ctx context.Context, fn func(tx *db.Tx) error) error {
	err := s.db.Do(ctx, fn)
	if db.IsForeign(err) {
		err = s.db.Do(ctx, fn)
	}
	return taken(err)
}

// taken turns the race of two assistants for one number into the answer of the rule.
func taken(err error) error {
	if db.IsUniqueOf(err, "assistants_inbound_number", "assistants.phone_number_id") {
		return fault.Input(fault.Own("phone_number_id", sayTaken))
	}
	return err
}

// settled are the fields as they are stored.
func (j *judgement) settled() Settings {
	f := j.after
	if j.before == nil {
		f.Status = Inactive
	}
	f.Tools = f.Tools.Clone()
	for _, n := range needsOf(f.Tools) {
		if n.Assistant != nil {
			*n.Assistant = value.Ref{ID: int64(j.assistants[*n.Assistant])}
		}
	}
	return f
}
