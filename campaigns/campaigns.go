package campaigns

import (
	"context"
	"errors"
	"slices"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// Attempt is one call a campaign wants placed.
type Attempt struct {
	Owner       accounts.ID
	CampaignID  ID
	Name        string // of the campaign
	AssistantID assistants.ID
	LeadID      LeadID
	DialNo      int64 // with LeadID unique: the same attempt is never placed twice
	Phone       string
	NumberID    ids.Number // caller number; 0 = the assistant's choice
	Variables   value.Scalars
}

// Errors of Caller.Place that the dialler understands.
var (
	ErrNoFunds   = errors.New("campaigns: hold refused")
	ErrNoNumber  = errors.New("campaigns: no number to call from")
	ErrInactive  = errors.New("campaigns: assistant inactive")
	ErrDoNotCall = errors.New("campaigns: number on the do-not-call list")

	ErrUnreachable = errors.New("campaigns: number may not be called")
	ErrBusy        = errors.New("campaigns: no line free")
)

// Caller places calls. Everything it stores is stored in the given transaction.
type Caller interface {
	// Place stores the call and queues its dialling; dialling starts after the commit.
	Place(ctx context.Context, tx *db.Tx, a Attempt) (callID calls.ID, err error)
	// Live counts the campaign's calls that are initiated, ringing or in progress.
	Live(ctx context.Context, q db.Q, id ID) (int, error)
	// Placing counts the campaign's calls that were placed an instant ago and do not ring yet.
	Placing(ctx context.Context, q db.Q, id ID) (int, error)
	// Room is how many outbound calls the account may add now: its ceilings, the inbound reserve, the daily limit.
	// Others that ask wait until the transaction ends.
	Room(ctx context.Context, tx *db.Tx, owner accounts.ID) (int, error)
	// HangUp ends the campaign's running calls with reason campaign_stopped.
	HangUp(ctx context.Context, id ID) error
	// Blocked tells which of the numbers are on the account's do-not-call list.
	Blocked(ctx context.Context, q db.Q, owner accounts.ID, phones []string) (map[string]bool, error)
}

// Assistant is what a campaign must know of its assistant.
type Assistant struct {
	ID        assistants.ID
	Outbound  bool
	Paused    bool
	CanCall   bool     // it, the account or the installation has a number to call from
	GoalNames []string // the bool names of its post-call schema
}

// Numbers knows what an account may call from.
type Numbers interface {
	// Own are those of the numbers that can be shown to whom the account calls.
	Own(ctx context.Context, q db.Q, owner accounts.ID, list []ids.Number) ([]ids.Number, error)
}

// Assistants looks assistants up; an unknown or foreign one is a fault.NotFound.
type Assistants interface {
	ForCampaign(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) (Assistant, error)
	// Hold keeps an assistant from being changed, paused or deleted until tx ends; one that is deleted needs no holding.
	Hold(ctx context.Context, tx *db.Tx, owner accounts.ID, id assistants.ID) error
	// Activate marks a new assistant as used.
	Activate(ctx context.Context, tx *db.Tx, id assistants.ID) error
}

// Funds tells whether the account may spend, and how many campaigns its plan allows.
type Funds interface {
	Positive(ctx context.Context, q db.Q, owner accounts.ID) (bool, error)
	// MostCampaigns is nil when there is no limit. Others that ask wait until the transaction ends, so that two creations
	// cannot both count themselves in.
	MostCampaigns(ctx context.Context, tx *db.Tx, owner accounts.ID) (*int64, error)
	Terms(ctx context.Context, q db.Q, owner accounts.ID) (Terms, error)
}

// Terms are what an account's campaigns begin with and are bound to.
type Terms struct {
	Timezone     string // IANA
	MostParallel int64  // calls at once of one campaign; below 1 = no limit of the plan's
}

// Campaigns is the room.
type Campaigns struct {
	db         *db.DB
	caller     Caller
	assistants Assistants
	funds      Funds
	numbers    Numbers
	changed    func(owner accounts.ID, id ID) // tells live views
}

// New joins the room to its neighbours. changed may be nil.
func New(d *db.DB, caller Caller, assistants Assistants, funds Funds, numbers Numbers, changed func(accounts.ID, ID)) *Campaigns {
	if changed == nil {
		changed = func(accounts.ID, ID) {}
	}
	return &Campaigns{db: d, caller: caller, assistants: assistants, funds: funds, numbers: numbers, changed: changed}
}

// Create stores a draft with the settings that judge lets through.
func (c *Campaigns) Create(ctx context.Context, owner accounts.ID, judge func(tx *db.Tx) (Settings, error)) (Campaign, error) {
	var one Campaign
	err := c.db.Do(ctx, func(tx *db.Tx) error {
		s, err := judge(tx)
		if err != nil {
			return err
		}
		if err := c.mayAdd(ctx, tx, owner); err != nil {
			return err
		}
		one = Campaign{Owner: owner, Name: s.Name, Assistant: &s.AssistantID, Status: Draft, Settings: db.JSON[Settings]{V: s}}
		one.CreatedAt = db.At(tx.Now())
		one.UpdatedAt = one.CreatedAt
		return tx.Get(ctx, &one.ID, `INSERT INTO campaigns (account_id, name, assistant_id, status, settings, completes, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id`, owner, one.Name, one.Assistant, one.Status, one.Settings, s.CompleteWhenDone,
			one.CreatedAt)
	})
	return one, err
}

func (c *Campaigns) mayAdd(ctx context.Context, tx *db.Tx, owner accounts.ID) error {
	most, err := c.funds.MostCampaigns(ctx, tx, owner)
	if most == nil || err != nil {
		return err
	}
	var n int64
	if err := tx.Get(ctx, &n, `SELECT count(*) FROM campaigns WHERE account_id = $1`, owner); err != nil {
		return err
	}
	if n >= *most {
		return fault.New(fault.Forbidden, "", "Your plan allows no further campaigns. Delete one, or change the plan.")
	}
	return nil
}

// Update replaces the settings by those that judge makes of them. The assistant of a running campaign cannot be changed.
func (c *Campaigns) Update(ctx context.Context, owner accounts.ID, id ID,
	judge func(*db.Tx, Settings) (Settings, error)) (Campaign, error) {
	var one Campaign
	err := c.db.Do(ctx, func(tx *db.Tx) (err error) {
		if one, err = c.locked(ctx, tx, owner, id); err != nil {
			return err
		}
		before := one.Settings.V.AssistantID
		if one.Settings.V, err = judge(tx, one.Settings.V); err != nil {
			return err
		}
		if after := one.Settings.V.AssistantID; after != before {
			if one.Status == InProgress {
				return fault.New(fault.Malformed, "", "This campaign is running already. Stop it first to change or restart it.")
			}
			one.Assistant = &after
		}
		one.Name, one.UpdatedAt = one.Settings.V.Name, db.At(tx.Now())
		tx.After(func() { c.changed(owner, id) })
		return saveCampaign(ctx, tx, one, tx.Now())
	})
	return one, err
}

// locked is a campaign of the owner that nobody else changes until tx ends, nor its leads.
func (c *Campaigns) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) (Campaign, error) {
	return campaign(ctx, tx, `id = $1 AND account_id = $2 {{lock}}`, id, owner)
}

// lockedWithAssistant holds the campaign's assistant too, and first, as whoever pauses or deletes one does.
func (c *Campaigns) lockedWithAssistant(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) (Campaign, error) {
	before, err := c.Get(ctx, tx, owner, id)
	if err != nil {
		return before, err
	}
	if before.Assistant != nil {
		if err := c.assistants.Hold(ctx, tx, owner, *before.Assistant); err != nil && !fault.Is(err, fault.NotFound) {
			return before, err
		}
	}
	now, err := c.locked(ctx, tx, owner, id)
	if err == nil && value.Or(now.Assistant, 0) != value.Or(before.Assistant, 0) {
		err = errOtherAssistant
	}
	return now, err
}

func refuse(one Campaign, sentence string) error {
	return fault.New(fault.Malformed, "", "%s", sentence).
		With("data", map[string]any{"campaign_id": one.ID, "status": one.Status})
}

// Start puts a campaign to work: its leads become due.
func (c *Campaigns) Start(ctx context.Context, owner accounts.ID, id ID) (Campaign, error) {
	for {
		one, err := c.start(ctx, owner, id)
		if !errors.Is(err, errOtherAssistant) {
			return one, err
		}
	}
}

// errOtherAssistant says that a campaign was given another assistant before its own was held.
var errOtherAssistant = errors.New("campaigns: the assistant changed")

func (c *Campaigns) start(ctx context.Context, owner accounts.ID, id ID) (one Campaign, err error) {
	err = c.db.Do(ctx, func(tx *db.Tx) (err error) {
		if one, err = c.lockedWithAssistant(ctx, tx, owner, id); err != nil {
			return err
		}
		if one.Status == InProgress {
			return refuse(one, "This campaign is running already. Stop it first to change or restart it.")
		}
		if err := c.startable(ctx, tx, one); err != nil {
			return err
		}
		now := db.At(tx.Now())
		if _, err := tx.Exec(ctx, `UPDATE leads SET status = 'scheduled', due_at = $1, updated_at = $1 WHERE campaign_id = $2 AND parent_id IS NULL AND status = 'created'`, now, id); err != nil {
			return err
		}
		one.Status, one.StopReason, one.Recent.V = InProgress, nil, nil
		if err := c.assistants.Activate(ctx, tx, *one.Assistant); err != nil {
			return err
		}
		tx.After(func() { c.changed(owner, id) })
		return saveCampaign(ctx, tx, one, tx.Now())
	})
	return one, err
}

// startable checks what contract 6.4 asks, in its order.
func (c *Campaigns) startable(ctx context.Context, tx *db.Tx, one Campaign) error {
	ok, err := c.funds.Positive(ctx, tx, one.Owner)
	if err != nil {
		return err
	}
	if !ok {
		return refuse(one, "Your balance is too low to start this campaign. Add funds, then try again.")
	}
	if one.Settings.V.CompleteWhenDone {
		var open LeadStatus
		err := tx.Get(ctx, &open, `SELECT status FROM leads WHERE campaign_id = $1 AND `+openLead+` AND status <> 'processing' ORDER BY status LIMIT 1`, one.ID)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return err
		}
		if err != nil {
			return refuse(one, "This campaign has no open leads. Add some before starting it.")
		}
	}
	if one.Assistant == nil {
		return refuse(one, "Assistant is inactive.")
	}
	a, err := c.assistants.ForCampaign(ctx, tx, one.Owner, value.Ref{ID: int64(*one.Assistant)})
	switch {
	case fault.Is(err, fault.NotFound): // deleted
		return refuse(one, "Assistant is inactive.")
	case err != nil:
		return err
	case len(one.Settings.V.NumberIDs) == 0 && !a.CanCall:
		return refuse(one, "Your assistant does not have a phone number set up.")
	case a.Paused:
		return refuse(one, "Assistant is inactive.")
	}
	return nil
}

// Stop ends dialling at the customer's wish; without drain the running calls are hung up too.
func (c *Campaigns) Stop(ctx context.Context, owner accounts.ID, id ID, drain bool) (Campaign, error) {
	var one Campaign
	err := c.db.Do(ctx, func(tx *db.Tx) (err error) {
		if one, err = c.locked(ctx, tx, owner, id); err != nil {
			return err
		}
		if one.Status != InProgress {
			return refuse(one, "Only a running campaign can be stopped.")
		}
		one, err = c.stop(ctx, tx, one, StopUser)
		return err
	})
	if err == nil && !drain {
		err = c.caller.HangUp(ctx, id)
	}
	return one, err
}

// stop is every way a running campaign stops. Its row is locked.
func (c *Campaigns) stop(ctx context.Context, tx *db.Tx, one Campaign, why StopReason) (Campaign, error) {
	now := tx.Now()
	// A lead whose next contact was waiting for its turn has no call that would move it on.
	_, err := tx.Exec(ctx, `UPDATE leads SET status = 'rescheduled', due_at = $1, updated_at = $1 WHERE campaign_id = $2 AND status = 'processing' AND id IN
		(SELECT parent_id FROM leads WHERE campaign_id = $2 AND parent_id IS NOT NULL AND status = 'scheduled')`, db.At(now), one.ID)
	if err != nil {
		return one, err
	}
	if _, err := tx.Exec(ctx, `UPDATE leads SET status = 'created', due_at = NULL, updated_at = $1 WHERE campaign_id = $2 AND status = 'scheduled'`, db.At(now), one.ID); err != nil {
		return one, err
	}
	one.Status, one.StopReason = Stopped, &why
	tx.After(func() { c.changed(one.Owner, one.ID) })
	return one, saveCampaign(ctx, tx, one, now)
}

// StopFor stops the running campaigns of an assistant that was deleted or paused.
func (c *Campaigns) StopFor(ctx context.Context, tx *db.Tx, assistant assistants.ID, why StopReason) error {
	return c.stopWhere(ctx, tx, why, `assistant_id = $1`, assistant)
}

func (c *Campaigns) stopWhere(ctx context.Context, tx *db.Tx, why StopReason, cond string, args ...any) error {
	var ids []ID
	if err := tx.Select(ctx, &ids, `SELECT id FROM campaigns WHERE status = 'in-progress' AND `+cond+` ORDER BY id`, args...); err != nil {
		return err
	}
	for _, id := range ids {
		one, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if one.Status != InProgress {
			continue
		}
		if _, err := c.stop(ctx, tx, one, why); err != nil {
			return err
		}
	}
	return nil
}

// Uses reports whether a running campaign uses the assistant.
func (c *Campaigns) Uses(ctx context.Context, q db.Q, assistant assistants.ID) (bool, error) {
	var n int
	err := q.Get(ctx, &n, `SELECT count(*) FROM campaigns WHERE status = 'in-progress' AND assistant_id = $1`, assistant)
	return n > 0, err
}

// ForgetNumber takes a released number out of every rotation; a running campaign that loses its last one stops.
func (c *Campaigns) ForgetNumber(ctx context.Context, tx *db.Tx, owner accounts.ID, number ids.Number) error {
	var all []ID
	if err := tx.Select(ctx, &all, `SELECT id FROM campaigns WHERE account_id = $1 ORDER BY id`, owner); err != nil { // the order in which everybody locks
		return err
	}
	for _, id := range all {
		one, err := lock(ctx, tx, id)
		if fault.Is(err, fault.NotFound) || err == nil && !slices.Contains(one.Settings.V.NumberIDs, number) {
			continue
		}
		if err != nil {
			return err
		}
		one.Settings.V.NumberIDs = slices.DeleteFunc(one.Settings.V.NumberIDs, func(id ids.Number) bool { return id == number })
		if err := saveCampaign(ctx, tx, one, tx.Now()); err != nil {
			return err
		}
		if one.Status == InProgress && len(one.Settings.V.NumberIDs) == 0 {
			if _, err := c.stop(ctx, tx, one, StopNoNumber); err != nil {
				return err
			}
		}
	}
	return nil
}

// Delete stops the campaign as without drain and removes it with its leads.
func (c *Campaigns) Delete(ctx context.Context, owner accounts.ID, id ID) error {
	one, err := c.Get(ctx, c.db, owner, id)
	if err != nil {
		return err
	}
	if one.Status == InProgress {
		if _, err := c.Stop(ctx, owner, id, false); err != nil && !fault.Is(err, fault.Malformed) {
			return err
		}
	}
	err = c.db.Do(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM campaigns WHERE id = $1 AND account_id = $2`, id, owner)
		if err == nil && n == 0 {
			return noCampaign()
		}
		return err
	})
	c.changed(owner, id)
	return err
}
