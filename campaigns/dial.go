package campaigns

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/calls"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// The order is that of one index, so that no other way to the answer is tried, however many leads there are.
const (
	firstDue = `SELECT due_at FROM leads l WHERE l.campaign_id = c.id AND l.status IN ('scheduled', 'rescheduled') AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`
	openLead = `parent_id IS NULL AND status IN ('created', 'scheduled', 'rescheduled', 'processing')`

	firstOpen = `SELECT status FROM leads l WHERE l.campaign_id = c.id AND ` + openLead + ` ORDER BY status LIMIT 1`
)

// Tick dials what is due. It is cheap when nothing is: each running campaign costs two looks into an index.
func (c *Campaigns) Tick(ctx context.Context, now time.Time) error {
	var all []struct {
		Campaign
		Done bool `db:"done"`
	}
	err := c.db.Select(ctx, &all,
		`SELECT `+campaignColumns+`, done FROM (SELECT c.*, (`+firstDue+`) <= $1 AS due, completes AND (`+firstOpen+`) IS NULL AS done
		FROM campaigns c WHERE status = 'in-progress') running WHERE due OR done ORDER BY id`, db.At(now))
	if err != nil {
		return err
	}
	var failed error
	for _, one := range all {
		w, err := one.Settings.V.Window()
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if w.Open(now) || one.Done {
			failed = errors.Join(failed, c.work(ctx, one.Campaign, now))
		}
	}
	return failed
}

// work places the calls one campaign may place now, each in a transaction of its own, or completes it.
func (c *Campaigns) work(ctx context.Context, one Campaign, now time.Time) error {
	for {
		placed := false
		err := c.db.Do(ctx, func(tx *db.Tx) (err error) {
			placed, err = c.next(ctx, tx, one.ID, now)
			return err
		})
		if why, known := stopsOn(err); known {
			return c.db.Do(ctx, func(tx *db.Tx) error { return c.stopWhere(ctx, tx, why, `id = $1`, one.ID) })
		}
		if errors.Is(err, ErrBusy) {
			return nil
		}
		if err != nil || !placed {
			return err
		}
	}
}

// next places one call. The locked row makes it the only one that counts the campaign's calls.
func (c *Campaigns) next(ctx context.Context, tx *db.Tx, id ID, now time.Time) (placed bool, err error) {
	one, err := lock(ctx, tx, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil // deleted meanwhile
	}
	if err != nil || one.Status != InProgress {
		return false, err
	}
	w, err := one.Settings.V.Window()
	if err != nil {
		return false, err
	}
	if done, err := c.complete(ctx, tx, one, now); done || err != nil || !w.Open(now) {
		return false, err
	}
	free, err := c.free(ctx, tx, one)
	if err != nil || free <= 0 {
		return false, err
	}
	var l Lead
	err = tx.Get(ctx, &l, `SELECT `+leadColumns+leadFrom+` WHERE l.campaign_id = $1 AND l.status IN ('scheduled', 'rescheduled') AND l.due_at <= $2
		ORDER BY l.due_at, l.id LIMIT 1`, id, db.At(now))
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	if err == nil {
		err = c.place(ctx, tx, &one, l, now)
	}
	return err == nil, err
}

func (c *Campaigns) free(ctx context.Context, tx *db.Tx, one Campaign) (int, error) {
	live, err := c.caller.Live(ctx, tx, one.ID)
	if err != nil {
		return 0, err
	}
	room, err := c.caller.Room(ctx, tx, one.Owner)
	return min(one.Settings.V.MaxParallel-live, room), err
}

// stopsOn says which refusals of a call stop the whole campaign.
func stopsOn(err error) (StopReason, bool) {
	switch {
	case errors.Is(err, ErrNoFunds):
		return StopNoBalance, true
	case errors.Is(err, ErrNoNumber):
		return StopNoNumber, true
	case errors.Is(err, ErrInactive):
		return StopAssistantInactive, true
	}
	return "", false
}

// place puts one lead into processing with its call, both or neither.
func (c *Campaigns) place(ctx context.Context, tx *db.Tx, one *Campaign, l Lead, now time.Time) error {
	if one.Assistant == nil {
		return ErrInactive
	}
	at := Attempt{Owner: one.Owner, CampaignID: one.ID, Name: one.Name, AssistantID: *one.Assistant, LeadID: l.ID, DialNo: l.DialNo + 1,
		Phone: l.Phone, Variables: l.Variables.V}
	if from := one.Settings.V.NumberIDs; len(from) > 0 {
		at.NumberID = ids.Number(from[one.NextNumber%int64(len(from))])
	}
	call, err := c.caller.Place(ctx, tx, at)
	switch {
	case errors.Is(err, ErrDoNotCall):
		return c.refused(ctx, tx, *one, l, Blocked, now)
	case errors.Is(err, ErrUnreachable):
		return c.refused(ctx, tx, *one, l, NumberWrong, now)
	case err != nil:
		return err
	}
	one.NextNumber++
	if err := saveCampaign(ctx, tx, *one, now); err != nil {
		return err
	}
	attempts := l.Attempts
	if l.ParentID == nil {
		attempts++
	}
	_, err = tx.Exec(ctx, `UPDATE leads SET status = 'processing', attempts = $1, dial_no = $2, due_at = NULL, last_call_id = $3, updated_at = $4 WHERE id = $5`,
		attempts, at.DialNo, call, db.At(now), l.ID)
	return err
}

// refused moves a lead on whose number, or whose contact's, is never called.
func (c *Campaigns) refused(ctx context.Context, tx *db.Tx, one Campaign, l Lead, r Result, now time.Time) error {
	lead, err := c.Lead(ctx, tx, l.Owner, l.ID)
	if err == nil && l.ParentID != nil {
		lead, err = c.Lead(ctx, tx, l.Owner, *l.ParentID)
	}
	if err != nil {
		return err
	}
	o := Outcome{Result: r, EndAt: now}
	return c.move(ctx, tx, one, lead, l, after(one.Settings.V, lead.Attempts, false, o), o)
}

// complete ends a campaign whose leads are all dealt with.
func (c *Campaigns) complete(ctx context.Context, tx *db.Tx, one Campaign, now time.Time) (bool, error) {
	if !one.Settings.V.CompleteWhenDone {
		return false, nil
	}
	var open LeadStatus
	err := tx.Get(ctx, &open, `SELECT status FROM leads WHERE campaign_id = $1 AND `+openLead+` ORDER BY status LIMIT 1`, one.ID)
	if !errors.Is(err, db.ErrNone) {
		return false, err
	}
	one.Status = Completed
	tx.After(func() { c.changed(one.Owner, one.ID) })
	return true, saveCampaign(ctx, tx, one, now)
}

// Ended is a finished call as its campaign sees it.
type Ended struct {
	LeadID     LeadID
	CallID     calls.ID
	Reason     string // ended_reason of contract 14.5
	AnsweredBy string
	Spoke      bool // the callee said something
	Talked     time.Duration
	At         time.Time
	Evaluation value.Scalars
	Bools      []string // bool names of the schema the call ran with
}

// Settle moves the lead of a finished call on. A call that was settled before, or is not the lead's last, changes nothing.
func (c *Campaigns) Settle(ctx context.Context, tx *db.Tx, e Ended) error {
	var l Lead
	err := tx.Get(ctx, &l, `SELECT `+leadColumns+leadFrom+` WHERE l.id = $1`, e.LeadID)
	if errors.Is(err, db.ErrNone) {
		return nil // removed with its campaign
	}
	if err != nil {
		return err
	}
	one, err := lock(ctx, tx, l.CampaignID)
	if fault.Is(err, fault.NotFound) {
		return nil // removed in this moment
	}
	if err != nil {
		return err
	}
	if l, err = c.Lead(ctx, tx, l.Owner, l.ID); err != nil {
		return err
	}
	if l.Status != Processing || l.LastCallID == nil || *l.LastCallID != e.CallID {
		return nil
	}
	lead := l // the primary; l itself when it is one
	if l.ParentID != nil {
		if lead, err = c.Lead(ctx, tx, l.Owner, *l.ParentID); err != nil {
			return err
		}
	}
	o := outcomeOf(one.Settings.V, e)
	next := after(one.Settings.V, lead.Attempts, untried(lead, l.ID) != nil, o)
	if err := c.move(ctx, tx, one, lead, l, next, o); err != nil {
		return err
	}
	tx.After(func() { c.changed(one.Owner, one.ID) })
	if one.Status != InProgress || o.Result == NotCounted {
		return nil
	}
	var trip bool
	one.Recent.V, trip = recent(one.Recent.V, Finish{At: db.At(o.EndAt), Failed: o.Failed})
	if trip {
		_, err := c.stop(ctx, tx, one, StopFailureRate)
		return err
	}
	if err := saveCampaign(ctx, tx, one, tx.Now()); err != nil {
		return err
	}
	_, err = c.complete(ctx, tx, one, tx.Now())
	return err
}

func outcomeOf(s Settings, e Ended) Outcome {
	o := Outcome{Result: resultOf(e.Reason, e.AnsweredBy, e.Spoke, e.Talked), Failed: carrierFailed(e.Reason), EndAt: e.At}
	if name, ok := goal(s.GoalVariable, e.Bools); ok {
		o.Tested = true
		if v, _ := e.Evaluation.Get(name); v == true || v == false {
			met := v == true
			o.Goal = &met
		}
	}
	return o
}

// untried is the next secondary contact of a lead not dialled in this round.
func untried(lead Lead, but LeadID) *Lead {
	for i, k := range lead.Contacts {
		if k.ID != but && k.Round < lead.Attempts && !k.Status.over() {
			return &lead.Contacts[i]
		}
	}
	return nil
}

// move writes where the lead goes, and with it the contacts that were tried.
func (c *Campaigns) move(ctx context.Context, tx *db.Tx, one Campaign, lead, dialled Lead, next Next, o Outcome) error {
	if (o.Result == Blocked || o.Result == NumberWrong) && dialled.ID != lead.ID { // the contact's fault: go on as if not reached
		if err := saveLead(ctx, tx, dialled, next.Status, time.Time{}); err != nil {
			return err
		}
		lead.Contacts = slices.DeleteFunc(slices.Clone(lead.Contacts), func(k Lead) bool { return k.ID == dialled.ID })
		o.Result = NotReached
		next = after(one.Settings.V, lead.Attempts, untried(lead, lead.ID) != nil, o)
		dialled = lead
	}
	if dialled.ID != lead.ID {
		dialled.Round = lead.Attempts
	}
	if next.Contact && one.Status == InProgress {
		return c.dialContact(ctx, tx, lead, dialled)
	}
	if next.Contact { // stopped meanwhile: the lead waits for the next start
		next = Next{Status: Rescheduled, DueAt: o.EndAt}
	}
	if next.Uncount {
		lead.Attempts--
		dialled.Round--
	}
	if err := saveLead(ctx, tx, lead, next.Status, next.DueAt); err != nil {
		return err
	}
	for _, k := range lead.Contacts {
		if k.ID == dialled.ID {
			k.Round = dialled.Round
		} else if k.Round == 0 {
			continue
		}
		if k.Status.over() {
			continue
		}
		if err := saveLead(ctx, tx, k, next.Status, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// dialContact makes the next untried contact due at once; the lead stays in processing.
func (c *Campaigns) dialContact(ctx context.Context, tx *db.Tx, lead, dialled Lead) error {
	if dialled.ID != lead.ID {
		if err := saveLead(ctx, tx, dialled, Rescheduled, time.Time{}); err != nil {
			return err
		}
	}
	k := untried(lead, dialled.ID)
	k.Round = lead.Attempts
	return saveLead(ctx, tx, *k, Scheduled, tx.Now())
}

// saveLead writes a lead's state; a zero due time is none.
func saveLead(ctx context.Context, tx *db.Tx, l Lead, s LeadStatus, due time.Time) error {
	var at db.Time
	if !due.IsZero() {
		at = db.At(due)
	}
	_, err := tx.Exec(ctx, `UPDATE leads SET status = $1, due_at = $2, attempts = $3, round = $4, updated_at = $5 WHERE id = $6`,
		s, at, l.Attempts, l.Round, db.At(tx.Now()), l.ID)
	return err
}
