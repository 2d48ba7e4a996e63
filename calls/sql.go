package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/ids"
	"parley/value"
)

// NewCall is a call to record.
type NewCall struct {
	Owner          accounts.ID
	Type           Type
	AssistantID    assistants.ID // 0 = none is known
	AssistantName  string
	AssistantPhone string // empty = null
	ClientPhone    string // empty = null
	NumberID       ids.Number
	TrunkID        ids.Number
	CampaignID     ids.Campaign
	CampaignName   string
	LeadID         ids.Lead
	DialNo         int64
	SignalID       string
	RequestID      string
	Snapshot       Snapshot
	Variables      value.Scalars // what was passed in
	Currency       string
	Ringing        bool          // the far end is alerted already
	Node           string        // who holds it from the start; empty = whoever claims it
	Lease          time.Duration // of that node
}

// Create records a call in status initiated.
func (c *Calls) Create(ctx context.Context, q db.Q, n NewCall) (Call, error) {
	var one Call
	err := db.Within(ctx, q, func(tx *db.Tx) error {
		now, real := db.At(tx.Now()), time.Now()
		by := Human
		if n.Type == Outbound {
			by = Unknown
		}
		var lease db.Time
		if n.Node != "" {
			lease = db.At(real.Add(n.Lease))
		}
		one = Call{Owner: n.Owner, UUID: uuid.NewString(), Type: n.Type, Status: Initiated, AssistantID: null(n.AssistantID),
			AssistantName:  n.AssistantName,
			AssistantPhone: null(n.AssistantPhone), ClientPhone: null(n.ClientPhone), NumberID: null(n.NumberID), TrunkID: null(n.TrunkID),
			CampaignID: null(n.CampaignID), CampaignName: null(n.CampaignName), LeadID: null(n.LeadID), DialNo: null(n.DialNo),
			SignalID: null(n.SignalID), RequestID: null(n.RequestID), AnsweredBy: by, Currency: n.Currency, Node: null(n.Node),
			LeaseReal: lease, CreatedReal: db.At(real), CreatedAt: now, UpdatedAt: now}
		one.Snapshot.V, one.InputVariables.V, one.Entries.V = n.Snapshot, n.Variables, []Entry{}
		err := tx.Get(ctx, &one.ID, `
			INSERT INTO calls (account_id, uuid, type, status, assistant_id, assistant_name, assistant_phone, client_phone,
				client_digits, number_id, trunk_id, campaign_id, campaign_name, lead_id, dial_no, signal_id, request_id, snapshot,
				input_variables, variables, evaluation, entries, answered_by, currency, node, lease_real, created_real, created_at, updated_at)
			VALUES ($1, $2, $3, 'initiated', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
				$18, '{}', '{}', '[]', $19, $20, $21, $22, $23, $24, $24)
			RETURNING id`,
			one.Owner, one.UUID, one.Type, one.AssistantID, one.AssistantName, one.AssistantPhone, one.ClientPhone,
			null(digits(n.ClientPhone)), one.NumberID, one.TrunkID, one.CampaignID, one.CampaignName, one.LeadID, one.DialNo, one.SignalID,
			one.RequestID, one.Snapshot, one.InputVariables, one.AnsweredBy, one.Currency, one.Node, int64(lease), one.CreatedReal, now)
		if err != nil {
			return fmt.Errorf("record call: %w", err)
		}
		if err := c.state(ctx, tx, one, real); err != nil {
			return err
		}
		if n.Ringing {
			one, err = c.move(ctx, tx, one.ID, `status = 'ringing'`, `status = 'initiated'`)
			return err
		}
		c.tell(tx, one)
		return nil
	})
	return one, err
}

// null is nil for the zero value.
func null[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// Get finds a call of an account by id or uuid.
func (c *Calls) Get(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) (Call, error) {
	return one(ctx, q, `account_id = $1 AND (id = $2 OR uuid = $3)`, owner, ref.ID, ref.UUID)
}

// ByID finds a call for the server's own use, whoever owns it.
func (c *Calls) ByID(ctx context.Context, q db.Q, id ID) (Call, error) {
	return one(ctx, q, `id = $1`, id)
}

// ByUUID finds a call whose uuid is known, whoever owns it.
func (c *Calls) ByUUID(ctx context.Context, q db.Q, uuid string) (Call, error) {
	return one(ctx, q, `uuid = $1`, uuid)
}

func one(ctx context.Context, q db.Q, where string, args ...any) (Call, error) {
	var call Call
	err := q.Get(ctx, &call, `SELECT `+columns+` FROM calls WHERE `+where, args...)
	if errors.Is(err, db.ErrNone) {
		return call, ErrNotFound
	}
	return call, err
}

// Filter narrows a list of calls; zero fields take everything.
type Filter struct {
	Status      Status
	Type        Type
	Phone       string // the client's number contains its digits
	AssistantID assistants.ID
	CampaignID  ids.Campaign
	From, To    time.Time // created at or after From, before To
}

// where writes the filter as SQL with its arguments, owner first.
func (f Filter) where(owner accounts.ID) (string, []any) {
	sql, args := []string{`account_id = $1`}, []any{owner}
	add := func(cond string, v any) {
		args = append(args, v)
		sql = append(sql, strings.ReplaceAll(cond, "?", fmt.Sprintf("$%d", len(args))))
	}
	switch f.Status {
	case "":
	case EndedByCustomer, EndedByAssistant, Ended: // those states are short: completed calls that went through them count too
		add(`ended_by = ? AND status IN ('completed', 'ended', 'ended_by_customer', 'ended_by_assistant')`, // in the words of the index calls_ended
			map[Status]By{EndedByCustomer: ByCustomer, EndedByAssistant: ByAssistant, Ended: BySystem}[f.Status])
	case Completed, Busy, NoAnswer, Failed: // in the words of the index calls_status
		add(`status = ? AND status IN ('completed', 'busy', 'no-answer', 'failed')`, f.Status)
	default: // in those of calls_live
		add(`status = ? AND status IN ('initiated', 'ringing', 'in-progress')`, f.Status)
	}
	if f.Type != "" {
		add(`type = ?`, f.Type)
	}
	if f.Phone != "" {
		like := "%" + digits(f.Phone) + "%"
		if like == "%%" {
			like = "" // no digits: no number has them
		}
		add(`client_digits LIKE ?`, like)
	}
	if f.AssistantID != 0 {
		add(`assistant_id = ?`, f.AssistantID)
	}
	if f.CampaignID != 0 {
		add(`campaign_id = ?`, f.CampaignID)
	}
	if !f.From.IsZero() {
		add(`created_at >= ?`, db.At(f.From))
	}
	if !f.To.IsZero() {
		add(`created_at < ?`, db.At(f.To))
	}
	return strings.Join(sql, " AND "), args
}

// span reports that the filter names a span of time.
func (f Filter) span() bool { return !f.From.IsZero() || !f.To.IsZero() }

// openCalls are those that are not in the counts of lists, see [db.Counted], in the words of the index calls_open.
const openCalls = `SELECT id AS open_id FROM calls WHERE status IN ('initiated', 'ringing', 'in-progress', 'ended', 'ended_by_customer', 'ended_by_assistant')`

// total is the query of how many calls satisfy the filter. Only numbers are looked for among all of them.
func (f Filter) total(owner accounts.ID) (string, []any) {
	where, args := f.where(owner)
	if f.Phone != "" {
		return `SELECT count(*) FROM calls WHERE ` + where, args
	}
	return `SELECT (SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM ` + db.Counted("calls", where, f.span()) + `)
		+ (SELECT count(*) FROM (` + openCalls + `) open CROSS JOIN calls WHERE id = open_id AND ` + where + `)`, args
}

// page is the query of the ids of one page, of total calls. They are newest first, in the order of the index that has the
// span of time when there is one.
func (f Filter) page(owner accounts.ID, total, offset, limit int) (query, order string, args []any) {
	where, args := f.where(owner)
	order, turned := "id DESC", "id"
	if f.span() {
		order, turned = "created_at DESC, id DESC", "created_at, id"
	}
	back, from, most := db.Span(total, offset, limit)
	by := order
	if back {
		by = turned
	}
	n := len(args)
	return fmt.Sprintf(`SELECT id FROM calls WHERE %s ORDER BY %s LIMIT $%d OFFSET $%d`, where, by, n+1, n+2), order, append(args, most, from)
}

// List gives calls of an account, newest first, and how many there are.
func (c *Calls) List(ctx context.Context, q db.Q, owner accounts.ID, f Filter, offset, limit int) ([]Call, int, error) {
	query, args := f.total(owner)
	var total int
	if err := q.Get(ctx, &total, query, args...); err != nil {
		return nil, 0, fmt.Errorf("count calls: %w", err)
	}
	out := []Call{}
	if total <= offset {
		return out, total, nil
	}
	query, order, args := f.page(owner, total, offset, limit)
	if err := q.Select(ctx, &out, `SELECT `+columns+` FROM calls WHERE id IN (`+query+`) ORDER BY `+order, args...); err != nil {
		return nil, 0, fmt.Errorf("list calls: %w", err)
	}
	return out, total, nil
}

// Remove deletes a call that is over, with its transcript and events; ErrNotFound when there is none. Its recording is the
// caller's to delete first.
func (c *Calls) Remove(ctx context.Context, q db.Q, id ID) error {
	n, err := q.Exec(ctx, `DELETE FROM calls WHERE id = $1 AND status NOT IN ('initiated', 'ringing', 'in-progress')`, id)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// Recordings are calls created before a moment that still have a recording, oldest first.
func (c *Calls) Recordings(ctx context.Context, q db.Q, before time.Time, limit int) ([]Call, error) {
	var out []Call
	err := q.Select(ctx, &out, `SELECT `+columns+` FROM calls WHERE recording IS NOT NULL AND created_at < $1 ORDER BY created_at LIMIT $2`,
		db.At(before), limit)
	return out, err
}

// SetRecording notes where the recording is; an empty key says that there is none any more.
func (c *Calls) SetRecording(ctx context.Context, q db.Q, id ID, key string) error {
	_, err := q.Exec(ctx, `UPDATE calls SET recording = $1 WHERE id = $2`, null(key), id)
	return err
}

// BySignal finds a call by the id it has in signalling; ErrNotFound when there is none.
func (c *Calls) BySignal(ctx context.Context, q db.Q, signalID string) (ID, error) {
	var id ID
	err := q.Get(ctx, &id, `SELECT id FROM calls WHERE signal_id = $1 ORDER BY id DESC LIMIT 1`, signalID)
	if errors.Is(err, db.ErrNone) {
		err = ErrNotFound
	}
	return id, err
}
