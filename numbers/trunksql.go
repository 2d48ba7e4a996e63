package numbers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

type trunkRow struct {
	ID           ID                   `db:"id"`
	Owner        accounts.ID          `db:"account_id"`
	Number       string               `db:"number"`
	Country      string               `db:"country_code"`
	Nickname     *string              `db:"nickname"`
	Form         string               `db:"form"`
	Username     string               `db:"username"`
	Password     string               `db:"password"`
	Address      string               `db:"address"`
	Format       string               `db:"calling_format"`
	Auth         string               `db:"authorization_type"`
	Allowed      db.JSON[[]string]    `db:"allowed_ips"`
	Proxy        bool                 `db:"outbound_proxy"`
	Transport    string               `db:"transport"`
	Port         int64                `db:"port"`
	Codecs       db.JSON[[]string]    `db:"codecs"`
	InboundRef   string               `db:"inbound_ref"`
	OutboundRef  string               `db:"outbound_ref"`
	Line         db.JSON[LineOptions] `db:"line"`
	Registration string               `db:"registration"`
	Refusal      *string              `db:"registration_error"`
	Asked        int64                `db:"asked"`
	CreatedAt    db.Time              `db:"created_at"`
	UpdatedAt    db.Time              `db:"updated_at"`
}

func (n *Numbers) trunks(ctx context.Context, q db.Q, where string, args ...any) ([]Trunk, error) {
	var rows []trunkRow
	err := q.Select(ctx, &rows, `SELECT t.id, t.account_id, t.number, p.country_code, p.nickname, t.form, t.username, t.password, t.address,
		t.calling_format, t.authorization_type, t.allowed_ips, t.outbound_proxy, t.transport, t.port, t.codecs, t.inbound_ref, t.outbound_ref,
		t.line, t.registration, t.registration_error, t.asked, p.created_at, t.updated_at FROM sip_trunks t JOIN phone_numbers p ON p.id = t.id WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	list := make([]Trunk, len(rows))
	for i, r := range rows {
		password, err := n.cfg.Box.Open(r.Password)
		if err != nil {
			return nil, fmt.Errorf("trunk %d: %w", r.ID, err)
		}
		list[i] = Trunk{ID: r.ID, Owner: r.Owner, Form: r.Form, Number: r.Number, Nickname: r.Nickname, Username: r.Username,
			Password: string(password),
			Address:  r.Address, Format: r.Format, Auth: r.Auth, Allowed: r.Allowed.V, Country: r.Country, Proxy: r.Proxy, Transport: r.Transport,
			Port: r.Port, Codecs: r.Codecs.V, InboundRef: r.InboundRef, OutboundRef: r.OutboundRef, Line: r.Line.V,
			Registration: r.Registration, Refusal: r.Refusal, Asked: r.Asked,
			CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time()}
		if !list[i].Registers() {
			list[i].Registration, list[i].Refusal = "none", nil
		}
	}
	return list, nil
}

// Trunks are the account's trunks, newest first.
func (n *Numbers) Trunks(ctx context.Context, owner accounts.ID) ([]Trunk, error) {
	return n.trunks(ctx, n.db, `t.account_id = $1 ORDER BY t.id DESC`, owner)
}

// Trunk is one trunk of the account.
func (n *Numbers) Trunk(ctx context.Context, owner accounts.ID, id ID) (Trunk, error) {
	return n.trunk(ctx, n.db, `t.account_id = $1 AND t.id = $2`, owner, id)
}

func (n *Numbers) trunk(ctx context.Context, q db.Q, where string, args ...any) (Trunk, error) {
	list, err := n.trunks(ctx, q, where, args...)
	if err == nil && len(list) == 0 {
		err = ErrTrunkNotFound
	}
	if err != nil {
		return Trunk{}, err
	}
	return list[0], nil
}

// lockedTrunk is a trunk that nobody else changes until tx ends, nor its number.
func (n *Numbers) lockedTrunk(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) (Trunk, error) {
	return n.trunk(ctx, tx, `t.account_id = $1 AND t.id = $2 {{lock}}`, owner, id)
}

// judgeTrunk says everything that is wrong with a change of old; failed is what is wrong already.
func (n *Numbers) judgeTrunk(ctx context.Context, tx *db.Tx, owner accounts.ID, old Trunk, isNew bool, c TrunkChange,
	failed []fault.Field) error {
	wide := false
	if n.cfg.Operator != nil && len(c.Allowed.V)+len(c.MediaNetworks.V) > 0 {
		var err error
		if wide, err = n.cfg.Operator(ctx, tx, owner); err != nil {
			return err
		}
	}
	return fault.Input(append(failed, c.check(old, isNew, n.cfg.Reach, wide)...)...)
}

// CreateTrunk stores a new trunk and its number, or says everything that is wrong with it; failed are rules that it breaks
// already.
func (n *Numbers) CreateTrunk(ctx context.Context, owner accounts.ID, c TrunkChange, failed ...fault.Field) (Trunk, error) {
	t := c.over(blankTrunk())
	t.Owner, t.InboundRef, t.OutboundRef = owner, trunkRef(), trunkRef()
	t.CreatedAt = n.db.Now()
	t.UpdatedAt = t.CreatedAt
	err := n.db.Do(ctx, func(tx *db.Tx) error {
		if err := n.judgeTrunk(ctx, tx, owner, blankTrunk(), true, c, failed); err != nil {
			return err
		}
		if err := bump(ctx, tx); err != nil {
			return err
		}
		if err := unclaimed(ctx, tx, t); err != nil {
			return err
		}
		if err := n.unshaded(ctx, tx, t); err != nil {
			return err
		}
		if err := unlike(ctx, tx, t); err != nil {
			return err
		}
		if err := tx.Get(ctx, &t.ID, `INSERT INTO phone_numbers (account_id, number, country_code, type, state, nickname, created_at, updated_at)
			VALUES ($1, $2, $3, 'sip', 'active', $4, $5, $5) RETURNING id`, owner, t.Number, t.Country, t.Nickname, db.At(t.CreatedAt)); err != nil {
			return err
		}
		return n.store(ctx, tx, t, `INSERT INTO sip_trunks (id, number, digits, national, form, username, password, address, calling_format,
			authorization_type, allowed_ips, outbound_proxy, transport, port, codecs, registration, updated_at, line, registration_error,
			account_id, inbound_ref, outbound_ref)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
			t.Owner, t.InboundRef, t.OutboundRef)
	})
	return n.stored(t, err, "The SIP trunk could not be created. Try again, or ask support.")
}

// unclaimed refuses a number that another account has, whatever it is there: whoever calls it would reach one or the other.
// That includes an extension that reads as another account's number as a far end may dial it. Whoever asks holds the row of
// the registrar, as everybody does who takes a number.
func unclaimed(ctx context.Context, tx *db.Tx, t Trunk) error {
	var foreign int
	err := tx.Get(ctx, &foreign, `SELECT count(*) FROM phone_numbers WHERE number = $1 AND account_id <> $2
		AND state IN ('buying', 'undoing', 'active', 'scheduled')`, t.Number, t.Owner)
	if err == nil && foreign > 0 {
		err = errSameTrunk
	}
	if err != nil {
		return err
	}
	digits, national := parts(t.Number)
	if t.Form == "extension" {
		if digits = strings.TrimLeft(t.Number, "0"); digits == "" || strings.Trim(digits, "0123456789") != "" {
			return nil
		}
		err = tx.Get(ctx, &foreign, `SELECT count(*) FROM sip_trunks WHERE form = 'number' AND account_id <> $1 AND (digits = $2 OR national = $2)`,
			t.Owner, digits)
	} else {
		err = tx.Get(ctx, &foreign, `SELECT count(*) FROM sip_trunks WHERE form = 'extension' AND account_id <> $1 AND number IN ($2, $3, $4, $5)`,
			t.Owner, digits, "00"+digits, national, "0"+national)
	}
	if err == nil && foreign > 0 {
		err = errSameTrunk
	}
	return err
}

// unshaded refuses addresses that would let calls in here which prove themselves to another account's trunk: one whose number
// a far end may dial alike, and which lists such an address too or expects a password from it. Behind one carrier's address
// any accounts may be, as long as the dialled number tells them apart.
func (n *Numbers) unshaded(ctx context.Context, tx *db.Tx, t Trunk) error {
	digits, national := parts(t.Number)
	if t.Auth != "ip" || t.Form != "number" {
		return nil // an extension is nobody else's in any form
	}
	others, err := n.trunks(ctx, tx, `t.account_id <> $1 AND t.form = 'number' AND (t.digits IN ($2, $3) OR t.national IN ($2, $3))`,
		t.Owner, digits, cmp.Or(national, digits))
	if err != nil {
		return err
	}
	var bad []fault.Field
	for i, mine := range t.Prefixes() {
		if slices.ContainsFunc(others, func(o Trunk) bool { return o.expects(mine) }) {
			bad = append(bad, fault.Own("allowed_inbound_ips."+strconv.Itoa(i), "This address cannot be allowed for this phone number."))
		}
	}
	return fault.Input(bad...)
}

// unlike refuses a trunk that another one is the same as; two at once meet at the index.
func unlike(ctx context.Context, tx *db.Tx, t Trunk) error {
	var same int
	err := tx.Get(ctx, &same, `SELECT count(*) FROM sip_trunks WHERE number = $1 AND username = $2 AND address = $3`,
		t.Number, t.Username, t.Address)
	if err == nil && same > 0 {
		return errSameTrunk
	}
	return err
}

// UpdateTrunk changes a trunk, or says everything that is wrong with the change; failed are rules that it breaks already. New
// calls and registrations follow within seconds; running calls stay.
func (n *Numbers) UpdateTrunk(ctx context.Context, owner accounts.ID, id ID, c TrunkChange, failed ...fault.Field) (Trunk, error) {
	var t Trunk
	err := n.db.Do(ctx, func(tx *db.Tx) error {
		if err := bump(ctx, tx); err != nil {
			return err
		}
		old, err := n.lockedTrunk(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if err := n.judgeTrunk(ctx, tx, owner, old, false, c, failed); err != nil {
			return err
		}
		t = c.over(old)
		if t.Number != old.Number {
			if err := unclaimed(ctx, tx, t); err != nil {
				return err
			}
		}
		if t.Number != old.Number || c.Auth.Set || c.Allowed.Set {
			if err := n.unshaded(ctx, tx, t); err != nil {
				return err
			}
		}
		t.UpdatedAt = n.db.Now()
		if !t.sameRegistrar(old) {
			t.Registration, t.Refusal = "none", nil
		}
		if _, err := tx.Exec(ctx, `UPDATE phone_numbers SET number = $2, country_code = $3, nickname = $4, updated_at = $5 WHERE id = $1`,
			id, t.Number, t.Country, t.Nickname, db.At(t.UpdatedAt)); err != nil {
			return err
		}
		return n.store(ctx, tx, t, `UPDATE sip_trunks SET number = $2, digits = $3, national = $4, form = $5, username = $6, password = $7,
			address = $8, calling_format = $9, authorization_type = $10, allowed_ips = $11, outbound_proxy = $12, transport = $13, port = $14,
			codecs = $15, registration = $16, updated_at = $17, line = $18, registration_error = $19 WHERE id = $1`)
	})
	return n.stored(t, err, "The SIP trunk could not be saved. Try again, or ask support.")
}

// store writes everything of a trunk that may change, with a statement that takes it in this order.
func (n *Numbers) store(ctx context.Context, tx *db.Tx, t Trunk, statement string, more ...any) error {
	password, err := n.cfg.Box.Seal([]byte(t.Password))
	if err != nil {
		return err
	}
	digits, national := parts(t.Number)
	_, err = tx.Exec(ctx, statement, append([]any{
		t.ID, t.Number, digits, national, t.Form, t.Username, password, t.Address, t.Format, t.Auth, db.JSON[[]string]{V: t.Allowed}, t.Proxy,
		t.Transport, t.Port, db.JSON[[]string]{V: t.Codecs}, t.Registration, db.At(t.UpdatedAt),
		db.JSON[LineOptions]{V: t.Line}, t.Refusal}, more...)...)
	return err
}

func (n *Numbers) stored(t Trunk, err error, outage string) (Trunk, error) {
	switch {
	case err == nil:
		return t, nil
	case db.IsUniqueOf(err, "sip_trunks_number_username_address_key", "sip_trunks.number, sip_trunks.username, sip_trunks.address"):
		return Trunk{}, errSameTrunk
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Conflict), fault.Is(err, fault.Invalid), db.Away(err):
		return Trunk{}, err
	}
	return Trunk{}, fault.Wrap(err, "", outage)
}

// trunkRef is an opaque name that a far end may be configured with.
func trunkRef() string { return "trk_" + strings.ToLower(rand.Text()) }

// bump counts a change of the trunks, for the process that keeps them registered. It comes first in a transaction: from
// then on numbers are taken one after the other.
func bump(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE sip_registrar SET changes = changes + 1 WHERE id = 1`)
	return err
}

// TrunksFor are the trunks that a called user part may mean: by the number itself, its digits, or its national form.
func (n *Numbers) TrunksFor(ctx context.Context, user string) ([]Trunk, error) {
	digits := strings.TrimPrefix(user, "+")
	bare := strings.TrimLeft(digits, "0")
	return n.trunks(ctx, n.db, `t.number = $1 OR t.form = 'number' AND (t.digits IN ($2, $3) OR t.national IN ($2, $3)) ORDER BY t.id LIMIT 100`,
		user, digits, bare)
}

// TrunkByID finds a trunk whoever owns it.
func (n *Numbers) TrunkByID(ctx context.Context, id ID) (Trunk, error) {
	return n.trunk(ctx, n.db, `t.id = $1`, id)
}

// registrarLease is how long a process that went silent keeps the registrations.
const registrarLease = 20 * time.Second

// Registrations lists the trunks that this process is to keep registered: all of them in one process at a time, none
// in the others. stamp is what the last call gave; while nothing changed it stays the same and the list is nil.
func (n *Numbers) Registrations(ctx context.Context, stamp string) (list []Trunk, next string, err error) {
	changes, mine, err := n.registrar(ctx)
	switch {
	case err != nil:
		return nil, stamp, err
	case !mine:
		return nil, "another process", nil
	}
	if next = fmt.Sprint(changes); next == stamp {
		return nil, next, nil
	}
	list, err = n.trunks(ctx, n.db, `TRUE ORDER BY t.id`)
	return list, next, err
}

// registrar says whether this process keeps the registrations, and how often trunks have changed. It takes the task
// over from a process that went silent.
func (n *Numbers) registrar(ctx context.Context) (changes int64, mine bool, err error) {
	now := time.Now() // a lease is about processes: real time
	var is struct {
		Node    string `db:"node"`
		Until   int64  `db:"until"` // µs; 0 = nobody yet
		Changes int64  `db:"changes"`
	}
	if err := n.db.Get(ctx, &is, `SELECT node, until, changes FROM sip_registrar WHERE id = 1`); err != nil {
		return 0, false, err
	}
	left := time.UnixMicro(is.Until).Sub(now)
	if is.Node == n.cfg.Node && left > registrarLease/2 {
		return is.Changes, true, nil
	}
	if is.Node != n.cfg.Node && left > 0 {
		return 0, false, nil
	}
	count, err := n.db.Exec(ctx, `UPDATE sip_registrar SET node = $1, until = $2 WHERE id = 1 AND node = $3 AND until = $4`,
		n.cfg.Node, db.At(now.Add(registrarLease)), is.Node, is.Until)
	return is.Changes, count > 0, err
}

// sameRegistrar reports whether the registration of old is still that of t.
func (t Trunk) sameRegistrar(old Trunk) bool {
	return t.Username == old.Username && t.Password == old.Password && t.Address == old.Address && t.Port == old.Port &&
		t.Transport == old.Transport && t.Proxy == old.Proxy && t.Registers() == old.Registers() &&
		t.Line.TLSCA == old.Line.TLSCA && t.Line.TLSFingerprint == old.Line.TLSFingerprint
}

// SetRegistration records how the registration of a trunk stands (registered, failed or none), why it failed, and which
// asking for one it answers.
func (n *Numbers) SetRegistration(ctx context.Context, id ID, state string, refusal *string, asked int64) error {
	_, err := n.db.Exec(ctx, `UPDATE sip_trunks SET registration = $2, registration_error = $3, answered = $4 WHERE id = $1
		AND (registration <> $2 OR coalesce(registration_error, '') <> coalesce($3, '') OR answered < $4)`, id, state, refusal, asked)
	return err
}

// Times of a registration at once: how long somebody waits for it, and how often is looked.
const (
	registerWait = 4500 * time.Millisecond
	registerLook = 100 * time.Millisecond
)

// RegisterNow asks the process that keeps trunks registered to do so at once, and waits for the outcome for up to 4.5 s:
// then the trunk is answered as it stands.
func (n *Numbers) RegisterNow(ctx context.Context, owner accounts.ID, id ID) (Trunk, error) {
	var asked int64
	t, err := n.Trunk(ctx, owner, id)
	if err != nil || !t.Registers() {
		return t, err
	}
	err = n.db.Do(ctx, func(tx *db.Tx) error {
		if err := bump(ctx, tx); err != nil {
			return err
		}
		err := tx.Get(ctx, &asked, `UPDATE sip_trunks SET asked = asked + 1 WHERE id = $1 AND account_id = $2 RETURNING asked`, id, owner)
		if errors.Is(err, db.ErrNone) {
			return ErrTrunkNotFound
		}
		return err
	})
	if err != nil {
		return Trunk{}, err
	}
	wait := time.NewTimer(registerWait)
	defer wait.Stop()
	look := time.NewTicker(registerLook)
	defer look.Stop()
	for answered := int64(-1); answered < asked; {
		select {
		case <-look.C:
		case <-wait.C:
			answered = asked // it takes longer than anybody waits
			continue
		case <-ctx.Done():
			return Trunk{}, ctx.Err()
		}
		err := n.db.Get(ctx, &answered, `SELECT answered FROM sip_trunks WHERE id = $1`, id)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return Trunk{}, err
		} else if err != nil {
			break // the trunk was deleted meanwhile
		}
	}
	return n.Trunk(ctx, owner, id)
}
