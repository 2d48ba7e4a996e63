package campaigns

import (
	"context"
	"strconv"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/value"
)

const duplicate = "A lead with this phone number already exists in this campaign."

// Limits of the variables of one lead or contact.
const (
	MostVariables = 100
	MostText      = 4000 // code points in a value
)

// Contact is a number of a new lead.
type Contact struct {
	Phone     string
	Variables value.Scalars
}

// NewLead is a lead to add.
type NewLead struct {
	Contact
	Campaign   ID
	Duplicates bool // the number may be in the campaign already
	Contacts   []Contact
}

// AddLead stores a lead with its contacts. In a running campaign it is due at once.
func (c *Campaigns) AddLead(ctx context.Context, owner accounts.ID, n NewLead) (Lead, error) {
	var id LeadID
	err := c.db.Do(ctx, func(tx *db.Tx) (err error) {
		id, err = c.addLead(ctx, tx, owner, n)
		return err
	})
	if err != nil {
		return Lead{}, err
	}
	return c.Lead(ctx, c.db, owner, id)
}

func (c *Campaigns) addLead(ctx context.Context, tx *db.Tx, owner accounts.ID, n NewLead) (LeadID, error) {
	one, err := c.locked(ctx, tx, owner, n.Campaign)
	if err != nil {
		return 0, err
	}
	if !n.Duplicates {
		if err := c.single(ctx, tx, n.Campaign, n.Phone, 0); err != nil {
			return 0, err
		}
	}
	phones := []string{n.Phone}
	for _, k := range n.Contacts {
		phones = append(phones, k.Phone)
	}
	blocked, err := c.caller.Blocked(ctx, tx, owner, phones)
	if err != nil {
		return 0, err
	}
	l := newLead(one, owner, n.Contact, blocked, tx.Now())
	if err := insertLead(ctx, tx, &l); err != nil {
		return 0, err
	}
	for _, k := range n.Contacts {
		contact := newContact(l, k, blocked)
		if err := insertLead(ctx, tx, &contact); err != nil {
			return 0, err
		}
	}
	tx.After(func() { c.changed(owner, n.Campaign) })
	return l.ID, nil
}

// newLead is a lead before it is stored. In a running campaign it is due at once.
func newLead(one Campaign, owner accounts.ID, n Contact, blocked map[string]bool, now time.Time) Lead {
	l := Lead{Owner: owner, CampaignID: one.ID, Phone: n.Phone, Status: Created}
	l.Variables.V = n.Variables
	switch {
	case blocked[n.Phone]:
		l.Status = Blacklisted
	case one.Status == InProgress:
		l.Status, l.DueAt = Scheduled, db.At(now)
	}
	return l
}

// newContact is a contact of a stored lead before it is stored itself.
func newContact(of Lead, n Contact, blocked map[string]bool) Lead {
	k := Lead{Owner: of.Owner, CampaignID: of.CampaignID, ParentID: &of.ID, Phone: n.Phone, Status: Created}
	k.Variables.V = n.Variables
	if blocked[n.Phone] {
		k.Status = Blacklisted
	}
	return k
}

func (c *Campaigns) single(ctx context.Context, tx *db.Tx, id ID, phone string, but LeadID) error {
	twice, err := known(ctx, tx, id, phone, but)
	if err == nil && twice {
		return &fault.Fault{Kind: fault.Invalid, Message: duplicate, Fields: []fault.Field{{Name: "phone_number", Sentence: duplicate}}}
	}
	return err
}

// LeadChange is what an update may change; nil leaves a thing alone.
type LeadChange struct {
	Campaign  *ID
	Phone     *string
	Status    *LeadStatus   // Created, Done or Exhausted
	Variables value.Scalars // merged; a nil value removes its key
}

// UpdateLead changes a lead. While it is being called only its variables can change.
func (c *Campaigns) UpdateLead(ctx context.Context, owner accounts.ID, id LeadID, ch LeadChange) (Lead, error) {
	err := c.db.Do(ctx, func(tx *db.Tx) error {
		l, err := c.Lead(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if _, err := lock(ctx, tx, l.CampaignID); err != nil {
			return err
		}
		if l, err = c.Lead(ctx, tx, owner, id); err != nil {
			return err
		}
		if ch.Campaign != nil || ch.Phone != nil || ch.Status != nil {
			if err := c.idle(ctx, tx, l); err != nil {
				return err
			}
		}
		return c.changeLead(ctx, tx, l, ch)
	})
	if err != nil {
		return Lead{}, err
	}
	return c.Lead(ctx, c.db, owner, id)
}

// idle refuses what must not change while a lead, or the lead of a contact, is being called.
func (c *Campaigns) idle(ctx context.Context, tx *db.Tx, l Lead) (err error) {
	if l.ParentID != nil {
		if l, err = c.Lead(ctx, tx, l.Owner, *l.ParentID); err != nil {
			return err
		}
	}
	if l.Status == Processing {
		return fault.New(fault.Conflict, "", "Lead is being called.")
	}
	return nil
}

func (c *Campaigns) changeLead(ctx context.Context, tx *db.Tx, l Lead, ch LeadChange) error {
	moved := ch.Campaign != nil && *ch.Campaign != l.CampaignID && l.ParentID == nil
	if moved {
		l.CampaignID = *ch.Campaign
	}
	if moved || ch.Status != nil {
		one, err := c.locked(ctx, tx, l.Owner, l.CampaignID)
		if err != nil {
			return err
		}
		if ch.Status != nil {
			l.Status, l.DueAt = *ch.Status, 0
		}
		open := l.Status == Created || l.Status == Scheduled || l.Status == Rescheduled
		switch {
		case l.ParentID != nil: // its lead says when it is dialled
		case open && one.Status == InProgress:
			l.Status, l.DueAt = Scheduled, db.At(tx.Now())
		case l.Status == Scheduled:
			l.Status, l.DueAt = Created, 0
		}
		if ch.Status != nil && *ch.Status == Created {
			l.Attempts, l.Round = 0, 0
			if err := again(ctx, tx, l.ID); err != nil {
				return err
			}
		}
	}
	renamed := ch.Phone != nil && *ch.Phone != l.Phone
	if renamed {
		l.Phone = *ch.Phone
	}
	if (moved || renamed) && l.ParentID == nil {
		if err := c.single(ctx, tx, l.CampaignID, l.Phone, l.ID); err != nil {
			return err
		}
	}
	if moved || renamed || ch.Status != nil && *ch.Status == Created {
		blocked, err := c.caller.Blocked(ctx, tx, l.Owner, []string{l.Phone})
		if err != nil {
			return err
		}
		if blocked[l.Phone] {
			l.Status, l.DueAt = Blacklisted, 0
		}
	}
	before := len(l.Variables.V)
	for _, v := range ch.Variables {
		if v.Value == nil {
			l.Variables.V = l.Variables.V.Without(v.Name)
		} else {
			l.Variables.V = l.Variables.V.With(v)
		}
	}
	if n := len(l.Variables.V); n > MostVariables && n > before {
		return fault.Input(fault.Bad("variables", "max.items", strconv.Itoa(MostVariables)))
	}
	_, err := tx.Exec(ctx, `UPDATE leads SET campaign_id = $1, phone_number = $2, status = $3, due_at = $4, attempts = $5, round = $6, variables = $7, updated_at = $8 WHERE id = $9`,
		l.CampaignID, l.Phone, l.Status, l.DueAt, l.Attempts, l.Round, l.Variables, db.At(tx.Now()), l.ID)
	if err == nil && moved {
		_, err = tx.Exec(ctx, `UPDATE leads SET campaign_id = $1 WHERE parent_id = $2`, l.CampaignID, l.ID)
	}
	tx.After(func() { c.changed(l.Owner, l.CampaignID) })
	return err
}

// again has the contacts of a lead that starts afresh dialled again.
func again(ctx context.Context, tx *db.Tx, lead LeadID) error {
	_, err := tx.Exec(ctx, `UPDATE leads SET round = 0, status = 'created', updated_at = $1 WHERE parent_id = $2 AND status <> 'blacklisted'`,
		db.At(tx.Now()), lead)
	return err
}

// DeleteLead removes a lead and its contacts, unless it is being called.
func (c *Campaigns) DeleteLead(ctx context.Context, owner accounts.ID, id LeadID) error {
	return c.db.Do(ctx, func(tx *db.Tx) error {
		l, err := c.Lead(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if _, err := lock(ctx, tx, l.CampaignID); err != nil {
			return err
		}
		if l, err = c.Lead(ctx, tx, owner, id); err != nil {
			return err
		}
		if err := c.idle(ctx, tx, l); err != nil {
			return err
		}
		tx.After(func() { c.changed(owner, l.CampaignID) })
		_, err = tx.Exec(ctx, `DELETE FROM leads WHERE id = $1`, id)
		return err
	})
}

// Block marks the leads and contacts with this number, after it was put on the do-not-call list, those in a call left out.
func (c *Campaigns) Block(ctx context.Context, tx *db.Tx, owner accounts.ID, phone string) error {
	var waiting []Lead // contacts whose turn has come: their leads must move on
	err := tx.Select(ctx, &waiting,
		`SELECT `+leadColumns+leadFrom+` WHERE l.account_id = $1 AND l.phone_number = $2 AND l.parent_id IS NOT NULL
		AND l.status = 'scheduled' ORDER BY l.campaign_id, l.id`, owner, phone)
	if err != nil {
		return err
	}
	for _, k := range waiting {
		one, err := lock(ctx, tx, k.CampaignID)
		if err != nil {
			return err
		}
		if k, err = c.Lead(ctx, tx, owner, k.ID); err != nil {
			return err
		}
		if k.Status != Scheduled {
			continue
		}
		if err := c.refused(ctx, tx, one, k, Blocked, tx.Now()); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE leads SET status = 'blacklisted', due_at = NULL, updated_at = $1
		WHERE account_id = $2 AND phone_number = $3 AND status <> 'processing'`, db.At(tx.Now()), owner, phone)
	return err
}
