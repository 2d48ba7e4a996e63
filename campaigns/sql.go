package campaigns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
func (c *Campaigns) Get(ctx context.Context, q db.Q, owner int64, id ID) (Campaign, error) {
	var one Campaign
	err := q.Get(ctx, &one, `SELECT `+campaignColumns+` FROM campaigns WHERE id = $1 AND account_id = $2`, id, owner)
	if errors.Is(err, db.ErrNone) {
		return one, noCampaign()
	}
	return one, err
}

// List reads all campaigns of the owner, newest first.
func (c *Campaigns) List(ctx context.Context, q db.Q, owner int64) ([]Campaign, error) {
	all := []Campaign{}
	err := q.Select(ctx, &all, `SELECT `+campaignColumns+` FROM campaigns WHERE account_id = $1 ORDER BY id DESC`, owner)
	return all, err
}

// lock takes the campaign's row for the rest of the transaction, so that limits are counted by one at a time.
func lock(ctx context.Context, tx *db.Tx, id ID) (Campaign, error) {
	var one Campaign
	err := tx.Get(ctx, &one, `UPDATE campaigns SET turns = turns + 1 WHERE id = $1 RETURNING `+campaignColumns, id)
	if errors.Is(err, db.ErrNone) {
		return one, noCampaign()
	}
	return one, err
}

// Counts counts the leads of campaigns.
func (c *Campaigns) Counts(ctx context.Context, q db.Q, ids []ID) (map[ID]Counts, error) {
	out := make(map[ID]Counts, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	in, args := db.In(1, ids)
	var rows []struct {
		Campaign ID         `db:"campaign_id"`
		Status   LeadStatus `db:"status"`
		N        int        `db:"n"`
	}
	err := q.Select(ctx, &rows, `SELECT campaign_id, status, count(*) AS n FROM leads
		WHERE account_id IN (SELECT account_id FROM campaigns WHERE id IN `+in+`) AND parent_id IS NULL AND campaign_id IN `+in+`
		GROUP BY campaign_id, status`, args...) // the index leads_status has all of it
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

// Lead reads one lead or secondary contact of the owner, with its contacts.
func (c *Campaigns) Lead(ctx context.Context, q db.Q, owner int64, id LeadID) (Lead, error) {
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

// Leads reads a page of leads, newest first, and how many there are.
func (c *Campaigns) Leads(ctx context.Context, q db.Q, owner int64, f LeadFilter, limit, offset int) ([]Lead, int, error) {
	where, args := []string{"account_id = $1", "parent_id IS NULL"}, []any{owner}
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
	cond := strings.Join(where, " AND ")
	total, err := c.count(ctx, q, owner, f, cond, args)
	if err != nil || total <= offset {
		return []Lead{}, total, err
	}
	all := []Lead{}
	args = append(args, limit, offset)
	order := "id DESC"
	if !f.From.IsZero() || !f.To.IsZero() {
		order = "created_at DESC, id DESC" // as the index that has the span of time
	}
	page := fmt.Sprintf(" ORDER BY %s LIMIT $%d OFFSET $%d", order, len(args)-1, len(args))
	if err := q.Select(ctx, &all, `SELECT `+leadColumns+leadFrom+" WHERE l.id IN (SELECT id FROM leads WHERE "+cond+page+") ORDER BY l."+strings.Replace(order, ", ", ", l.", 1), args...); err != nil {
		return nil, 0, err
	}
	return all, total, c.contacts(ctx, q, all)
}

// count is the number of leads of a list. Status and number of a lead change; by the rest of a filter it is counted once.
func (c *Campaigns) count(ctx context.Context, q db.Q, owner int64, f LeadFilter, cond string, args []any) (n int, err error) {
	if f.Status == "" && f.Phone == "" {
		return c.tally.Count(ctx, q, owner, cond, args...)
	}
	err = q.Get(ctx, &n, `SELECT count(*) FROM leads WHERE `+cond, args...)
	return n, err
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
	err := q.Get(ctx, &n, `SELECT count(*) FROM leads WHERE campaign_id = $1 AND phone_number = $2 AND parent_id IS NULL AND id <> $3`, id, phone, but)
	return n > 0, err
}

// saveCampaign writes everything a verb may have changed.
func saveCampaign(ctx context.Context, q db.Q, c Campaign, now time.Time) error {
	_, err := q.Exec(ctx, `UPDATE campaigns SET name = $1, assistant_id = $2, status = $3, stop_reason = $4, settings = $5, completes = $6,
		next_number = $7, recent = $8, updated_at = $9 WHERE id = $10`,
		c.Name, c.Assistant, c.Status, c.StopReason, c.Settings, c.Settings.V.CompleteWhenDone, c.NextNumber, c.Recent, db.At(now), c.ID)
	return err
}
