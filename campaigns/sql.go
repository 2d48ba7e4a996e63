package campaigns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

const (
	campaignColumns = `id, account_id, name, assistant_id, status, stop_reason, settings, next_number, recent, created_at, updated_at`
	leadColumns     = `l.id, l.account_id, l.campaign_id, l.parent_id, l.phone_number, l.variables, l.status, l.attempts, l.round, l.dial_no,
		l.due_at, l.last_call_id, l.created_at, l.updated_at, c.name AS campaign_name`
	leadFrom = ` FROM leads l JOIN campaigns c ON c.id = l.campaign_id`
)

func noCampaign() error {
	return fault.New(fault.NotFound, "", "No campaign with this id exists in your account.")
}

func noLead() error {
	return fault.New(fault.NotFound, "", "No lead with this id exists in your account.")
}

// Get reads one campaign of the owner.
func (c *Campaigns) Get(ctx context.Context, q db.Q, owner accounts.ID, id ID) (Campaign, error) {
	return campaign(ctx, q, `id = $1 AND account_id = $2`, id, owner)
}

func campaign(ctx context.Context, q db.Q, where string, args ...any) (Campaign, error) {
	var one Campaign
	err := q.Get(ctx, &one, `SELECT `+campaignColumns+` FROM campaigns WHERE `+where, args...)
	if errors.Is(err, db.ErrNone) {
		return one, noCampaign()
	}
	return one, err
}

// List reads all campaigns of the owner, newest first.
func (c *Campaigns) List(ctx context.Context, q db.Q, owner accounts.ID) ([]Campaign, error) {
	all := []Campaign{}
	err := q.Select(ctx, &all, `SELECT `+campaignColumns+` FROM campaigns WHERE account_id = $1 ORDER BY id DESC`, owner)
	return all, err
}

// lock takes the campaign's row, whoever owns it, for the rest of the transaction, so that limits are counted by one at a time.
func lock(ctx context.Context, tx *db.Tx, id ID) (Campaign, error) {
	return campaign(ctx, tx, `id = $1 {{lock}}`, id)
}

// Counts counts the leads of campaigns.
func (c *Campaigns) Counts(ctx context.Context, q db.Q, ids []ID) (map[ID]Counts, error) {
	out := make(map[ID]Counts, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []struct {
		Campaign ID         `db:"campaign_id"`
		Status   LeadStatus `db:"status"`
		N        int        `db:"n"`
	}
	query, args := counts(ids)
	err := q.Select(ctx, &rows, query, args...)
	for _, r := range rows {
		n := out[r.Campaign]
		n.Total += r.N
		switch r.Status {
		case Created, Scheduled, Rescheduled, Processing:
			n.Open += r.N
		case Done:
			n.Completed += r.N
		case Exhausted, Blacklisted:
			n.Failed += r.N
		}
		out[r.Campaign] = n
	}
	return out, err
}

// counts is the query of how many leads campaigns have, by status.
func counts(ids []ID) (string, []any) {
	in, args := db.In(1, ids)
	return `SELECT campaign_id, status, CAST(sum(n) AS BIGINT) AS n FROM ` + db.Counted("leads",
			`account_id IN (SELECT account_id FROM campaigns WHERE id IN `+in+`) AND campaign_id IN `+in, false) + ` GROUP BY campaign_id, status`,
		args
}

// Lead reads one lead or secondary contact of the owner, with its contacts.
func (c *Campaigns) Lead(ctx context.Context, q db.Q, owner accounts.ID, id LeadID) (Lead, error) {
	var one Lead
	err := q.Get(ctx, &one, `SELECT `+leadColumns+leadFrom+` WHERE l.id = $1 AND l.account_id = $2`, id, owner)
	if errors.Is(err, db.ErrNone) {
		return one, noLead()
	}
	if err != nil {
		return one, err
	}
	all := []Lead{one}
	err = c.contacts(ctx, q, all)
	return all[0], err
}

// contacts fills in the secondary contacts of leads.
func (c *Campaigns) contacts(ctx context.Context, q db.Q, leads []Lead) error {
	if len(leads) == 0 {
		return nil
	}
	at := make(map[LeadID]int, len(leads))
	ids := make([]LeadID, len(leads))
	for i, l := range leads {
		at[l.ID], ids[i] = i, l.ID
	}
	in, args := db.In(1, ids)
	var all []Lead
	if err := q.Select(ctx, &all, `SELECT `+leadColumns+leadFrom+` WHERE l.parent_id IN `+in+` ORDER BY l.id`, args...); err != nil {
		return err
	}
	for _, k := range all {
		i := at[*k.ParentID]
		leads[i].Contacts = append(leads[i].Contacts, k)
	}
	return nil
}

// LeadFilter narrows a list; zero fields do not.
type LeadFilter struct {
	Status   LeadStatus
	Campaign ID
	Phone    string    // digits contained
	From, To time.Time // created in [From, To)
}

// where writes the filter as SQL with its arguments, owner first.
func (f LeadFilter) where(owner accounts.ID) (string, []any) {
	where, args := []string{"account_id = $1"}, []any{owner}
	add := func(cond string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(cond, len(args)))
	}
	if f.Status != "" {
		add("status = $%d", f.Status)
	}
	if f.Campaign != 0 {
		add("campaign_id = $%d", f.Campaign)
	}
	if f.Phone != "" {
		add("phone_number LIKE $%d", "%"+f.Phone+"%")
	}
	if !f.From.IsZero() {
		add("created_at >= $%d", db.At(f.From))
	}
	if !f.To.IsZero() {
		add("created_at < $%d", db.At(f.To))
	}
	return strings.Join(where, " AND "), args
}

// span reports that the filter names a span of time.
func (f LeadFilter) span() bool { return !f.From.IsZero() || !f.To.IsZero() }

// total is the number of leads that satisfy the filter. Only numbers are looked for among all of them.
func (c *Campaigns) total(ctx context.Context, q db.Q, owner accounts.ID, f LeadFilter) (n int, err error) {
	where, args := f.where(owner)
	if f.Phone == "" {
		return db.Count(ctx, q, "leads", where, f.span(), args...)
	}
	err = q.Get(ctx, &n, `SELECT count(*) FROM leads WHERE parent_id IS NULL AND `+where, args...)
	return n, err
}

// page is the query of the ids of one page, of total leads. They are newest first, in the order of the index that has the
// span of time when there is one.
func (f LeadFilter) page(owner accounts.ID, total, offset, limit int) (query, order string, args []any) {
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
	return fmt.Sprintf(`SELECT id FROM leads WHERE parent_id IS NULL AND %s ORDER BY %s LIMIT $%d OFFSET $%d`, where, by, n+1, n+2), order,
		append(args, most, from)
}

// Leads reads a page of leads, newest first, and how many there are.
func (c *Campaigns) Leads(ctx context.Context, q db.Q, owner accounts.ID, f LeadFilter, limit, offset int) ([]Lead, int, error) {
	all := []Lead{}
	total, err := c.total(ctx, q, owner, f)
	if err != nil || total <= offset {
		return all, total, err
	}
	query, order, args := f.page(owner, total, offset, limit)
	order = "l." + strings.Replace(order, ", ", ", l.", 1)
	if err := q.Select(ctx, &all, `SELECT `+leadColumns+leadFrom+` WHERE l.id IN (`+query+`) ORDER BY `+order, args...); err != nil {
		return nil, 0, err
	}
	return all, total, c.contacts(ctx, q, all)
}

// insertLead stores a lead or contact and fills in its id.
func insertLead(ctx context.Context, tx *db.Tx, l *Lead) error {
	now := db.At(tx.Now())
	l.CreatedAt, l.UpdatedAt = now, now
	return tx.Get(ctx, &l.ID, `INSERT INTO leads (account_id, campaign_id, parent_id, phone_number, variables, status, attempts, round, dial_no, due_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, $7, $8, $8) RETURNING id`,
		l.Owner, l.CampaignID, l.ParentID, l.Phone, l.Variables, l.Status, l.DueAt, now)
}

// known reports whether the campaign has a lead with this number, other than the one named.
func known(ctx context.Context, q db.Q, id ID, phone string, but LeadID) (bool, error) {
	var n int
	err := q.Get(ctx, &n, `SELECT count(*) FROM leads WHERE campaign_id = $1 AND phone_number = $2 AND parent_id IS NULL AND id <> $3`,
		id, phone, but)
	return n > 0, err
}

// saveCampaign writes everything a verb may have changed.
func saveCampaign(ctx context.Context, q db.Q, c Campaign, now time.Time) error {
	_, err := q.Exec(ctx, `UPDATE campaigns SET name = $1, assistant_id = $2, status = $3, stop_reason = $4, settings = $5, completes = $6,
		next_number = $7, recent = $8, updated_at = $9 WHERE id = $10`,
		c.Name, c.Assistant, c.Status, c.StopReason, c.Settings, c.Settings.V.CompleteWhenDone, c.NextNumber, c.Recent, db.At(now), c.ID)
	return err
}
