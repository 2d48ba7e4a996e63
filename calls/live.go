package calls

import (
	"context"
	"fmt"
	"time"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// Claim makes a node the holder of a call that nobody holds; false when somebody does, or the call is over.
func (c *Calls) Claim(ctx context.Context, q db.Q, id ID, node string, lease time.Duration) (bool, error) {
	n, err := q.Exec(ctx, `UPDATE calls SET node = $1, lease_real = $2 WHERE id = $3 AND node IS NULL AND stop IS NULL AND status = 'initiated'`,
		node, int64(db.At(time.Now().Add(lease))), id)
	return n > 0, err
}

// Free lets go of a call that its holder has not placed; false when it is over, or somebody asked for its end.
func (c *Calls) Free(ctx context.Context, q db.Q, id ID, node string) (bool, error) {
	n, err := q.Exec(ctx, `UPDATE calls SET node = NULL, lease_real = 0 WHERE id = $1 AND node = $2 AND stop IS NULL AND status = 'initiated'`,
		id, node)
	return n > 0, err
}

// Renew extends the leases of the live calls that a node holds and returns those among held that are not its own any
// more. A call that is only recorded as the node's is left to lapse: nobody there would ever end it.
func (c *Calls) Renew(ctx context.Context, q db.Q, node string, lease time.Duration, held []ID) (lost []ID, err error) {
	in, ids := db.In(3, held)
	var own []ID
	err = q.Select(ctx, &own, `UPDATE calls SET lease_real = $1 WHERE node = $2 AND status IN ('initiated', 'ringing', 'in-progress') AND id IN `+in+` RETURNING id`,
		append([]any{int64(db.At(time.Now().Add(lease))), node}, ids...)...)
	if err != nil {
		return nil, err
	}
	mine := map[ID]bool{}
	for _, id := range own {
		mine[id] = true
	}
	for _, id := range held {
		if !mine[id] {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// Orphans are live calls whose holder has been silent past its lease, and calls that nobody ever took within a minute.
func (c *Calls) Orphans(ctx context.Context, q db.Q, limit int) ([]Call, error) {
	var out []Call
	now := time.Now()
	err := q.Select(ctx, &out, `SELECT `+columns+` FROM calls
		WHERE status IN ('initiated', 'ringing', 'in-progress') AND lease_real < $1 AND (node IS NOT NULL OR created_real < $2)
		ORDER BY id LIMIT $3`, int64(db.At(now)), db.At(now.Add(-time.Minute)), limit)
	return out, err
}

// HeldBy are the live calls of a node.
func (c *Calls) HeldBy(ctx context.Context, q db.Q, node string) ([]Call, error) {
	var out []Call
	err := q.Select(ctx, &out, `SELECT `+columns+` FROM calls WHERE node = $1 AND status IN ('initiated', 'ringing', 'in-progress')`, node)
	return out, err
}

// Rings notes that the far end is alerting.
func (c *Calls) Rings(ctx context.Context, q db.Q, id ID) error {
	_, err := c.move(ctx, q, id, `status = 'ringing'`, `status = 'initiated'`)
	return err
}

// Answers notes that the far end picked up; the duration starts.
func (c *Calls) Answers(ctx context.Context, q db.Q, id ID) (Call, error) {
	return c.move(ctx, q, id, `status = 'in-progress', answered_at = $2, answered_real = $3`, `status IN ('initiated', 'ringing')`,
		db.At(time.Now()))
}

// Covers notes how many seconds the hold of a call covers.
func (c *Calls) Covers(ctx context.Context, q db.Q, id ID, seconds int64) error {
	_, err := q.Exec(ctx, `UPDATE calls SET paid = $1 WHERE id = $2`, seconds, id)
	return err
}

// Signal notes the id the call has in signalling.
func (c *Calls) Signal(ctx context.Context, q db.Q, id ID, signalID string) error {
	_, err := q.Exec(ctx, `UPDATE calls SET signal_id = $1 WHERE id = $2`, signalID, id)
	return err
}

// move changes the status when the call is in a state that allows it; $2 is the durable time. A call that is not is left
// alone: db.ErrNone.
func (c *Calls) move(ctx context.Context, q db.Q, id ID, set, from string, args ...any) (Call, error) {
	var one Call
	err := db.Within(ctx, q, func(tx *db.Tx) error {
		err := tx.Get(ctx, &one, `UPDATE calls SET `+set+`, updated_at = $2 WHERE id = $1 AND `+from+` RETURNING `+columns,
			append([]any{id, db.At(tx.Now())}, args...)...)
		if err != nil {
			return err
		}
		c.tell(tx, one)
		at := time.Now()
		if one.Status == InProgress {
			at = one.AnsweredReal.Time()
		}
		return c.state(ctx, tx, one, at)
	})
	return one, err
}

// Over is how a call ended.
type Over struct {
	Reason     Reason
	At         time.Time // on the wall clock; zero = now
	Entries    []Entry   // nil = as stored
	Keypad     string
	Spoke      bool
	AISeconds  int64
	AnsweredBy AnsweredBy // empty = as stored
	Recording  string
	Log        []Event // what its log lacks
	Legs       []Leg   // the further ones as they ended; those left open end with the call
	Settled    bool    // a call that nobody answered is settled with this: it costs nothing
}

// End closes a live call: its transcript, duration and the state it ends in. A call that has ended already is left as
// it is, and that is db.ErrNone.
func (c *Calls) End(ctx context.Context, q db.Q, id ID, o Over) (Call, error) {
	var call Call
	err := db.Within(ctx, q, func(tx *db.Tx) error {
		real := o.At
		if real.IsZero() {
			real = time.Now()
		}
		var entries *db.JSON[[]Entry]
		if o.Entries != nil {
			entries = &db.JSON[[]Entry]{V: o.Entries}
		}
		err := tx.Get(ctx, &call, `
			UPDATE calls SET status = CASE WHEN answered_real IS NULL THEN $2 ELSE $3 END, reason = $4, ended_by = $5,
				entries = coalesce($6, entries), spoke = spoke OR $7, answered_by = coalesce($8, answered_by), recording = coalesce($9, recording),
				duration = CASE WHEN answered_real < $10 THEN ($10 - answered_real + 500000) / 1000000 ELSE 0 END,
				ai_seconds = CASE WHEN answered_real IS NULL THEN 0 ELSE $11 END,
				settled = settled OR ($13 AND answered_real IS NULL), ended_at = $12, ended_real = $10, updated_at = $12, lease_real = 0
			WHERE id = $1 AND status IN ('initiated', 'ringing', 'in-progress') RETURNING `+columns,
			id, o.Reason.end(false), o.Reason.end(true), o.Reason, o.Reason.Info().By, entries, o.Spoke, null(o.AnsweredBy), null(o.Recording),
			int64(db.At(real)), o.AISeconds, int64(db.At(tx.Now())), o.Settled)
		if err != nil {
			return fmt.Errorf("end call: %w", err)
		}
		for _, l := range o.Legs {
			if err := c.SaveLeg(ctx, tx, l); err != nil {
				return fmt.Errorf("end leg: %w", err)
			}
		}
		if call.Answered() {
			if err := endLegs(ctx, tx, id, real); err != nil {
				return fmt.Errorf("end legs: %w", err)
			}
		}
		if o.Keypad != "" {
			call.Variables.V = call.Variables.V.With(value.Scalar{Name: "keypad_input", Value: o.Keypad})
			if _, err := tx.Exec(ctx, `UPDATE calls SET variables = $1 WHERE id = $2`, call.Variables, id); err != nil {
				return fmt.Errorf("end call: %w", err)
			}
		}
		c.tell(tx, call)
		return c.state(ctx, tx, call, real, o.Log...)
	})
	return call, err
}

// Finish stores what the work after the call found out. A call in a short state becomes completed; one in a final
// state keeps it. The evaluation goes over what was collected. db.ErrNone when the call is settled already or still goes on.
func (c *Calls) Finish(ctx context.Context, tx *db.Tx, call Call) (Call, error) {
	var now db.JSON[value.Scalars] // more may have been collected since call was read
	if err := tx.Get(ctx, &now, `SELECT variables FROM calls WHERE id = $1 {{lock}}`, call.ID); err != nil {
		return call, err
	}
	call.Variables.V = call.Variables.V.With(now.V...).With(call.Evaluation.V...)
	before := call.Status
	if !call.Status.Final() {
		call.Status = Completed
	}
	call.UpdatedAt = db.At(tx.Now())
	n, err := tx.Exec(ctx, `UPDATE calls SET status = $2, evaluation = $3, variables = $4, ai_cost = $5, carrier_cost = $6, currency = $7,
			updated_at = $8, settled = TRUE
		WHERE id = $1 AND status = $9 AND NOT settled`,
		call.ID, call.Status, call.Evaluation, call.Variables, call.AICost, call.CarrierCost, call.Currency, call.UpdatedAt, before)
	if err != nil {
		return call, fmt.Errorf("finish call: %w", err)
	}
	if n == 0 {
		return call, db.ErrNone
	}
	call.Settled = true
	c.tell(tx, call)
	if before == call.Status {
		return call, nil
	}
	return call, c.state(ctx, tx, call, time.Now())
}

// SetVariables keeps what was collected during the call, such as a booking.
func (c *Calls) SetVariables(ctx context.Context, id ID, values ...value.Scalar) error {
	return c.db.Do(ctx, func(tx *db.Tx) error {
		call, err := one(ctx, tx, `id = $1 {{lock}}`, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE calls SET variables = $1 WHERE id = $2`, db.JSON[value.Scalars]{V: call.Variables.V.With(values...)}, id)
		return err
	})
}

// AskStop asks whoever holds a live call to end it. A call that nobody holds yet ends here and now: ended is then true.
func (c *Calls) AskStop(ctx context.Context, tx *db.Tx, id ID, r Reason) (ended bool, err error) {
	n, err := tx.Exec(ctx, `UPDATE calls SET stop = $1 WHERE id = $2 AND status IN ('initiated', 'ringing', 'in-progress') AND stop IS NULL`,
		r, id)
	if err != nil || n == 0 {
		return false, err
	}
	call, err := c.ByID(ctx, tx, id)
	if err != nil || call.Node != nil {
		return false, err
	}
	_, err = c.End(ctx, tx, id, Over{Reason: r})
	return err == nil, err
}

// Stops are the live calls of a node that must end, with the reason: somebody asked for it, or the account was suspended.
func (c *Calls) Stops(ctx context.Context, q db.Q, node string) (map[ID]Reason, error) {
	var rows []struct {
		ID   ID     `db:"id"`
		Stop Reason `db:"stop"`
	}
	err := q.Select(ctx, &rows, `SELECT id, stop FROM calls WHERE node = $1 AND stop IS NOT NULL AND status IN ('initiated', 'ringing', 'in-progress')
		UNION ALL SELECT c.id, 'account_suspended' FROM calls c JOIN accounts a ON a.id = c.account_id
		WHERE c.node = $1 AND c.stop IS NULL AND c.status IN ('initiated', 'ringing', 'in-progress') AND a.suspended_at IS NOT NULL`, node)
	out := make(map[ID]Reason, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Stop
	}
	return out, err
}

// LiveOfCampaign are the ids of a campaign's calls that go on.
func (c *Calls) LiveOfCampaign(ctx context.Context, q db.Q, campaign ids.Campaign) ([]ID, error) {
	var ids []ID
	err := q.Select(ctx, &ids, `SELECT id FROM calls WHERE campaign_id = $1 AND status IN ('initiated', 'ringing', 'in-progress') ORDER BY id`,
		campaign)
	return ids, err
}

// PlacingOfCampaign counts a campaign's calls of which the far end has not been heard yet.
func (c *Calls) PlacingOfCampaign(ctx context.Context, q db.Q, campaign ids.Campaign) (int, error) {
	var n int
	err := q.Get(ctx, &n, `SELECT count(*) FROM calls WHERE campaign_id = $1 AND status = 'initiated'`, campaign)
	return n, err
}

// LiveOfAssistant reports whether calls of an assistant go on.
func (c *Calls) LiveOfAssistant(ctx context.Context, q db.Q, id assistants.ID) (int, error) {
	var n int
	err := q.Get(ctx, &n, `SELECT count(*) FROM calls WHERE assistant_id = $1 AND status IN ('initiated', 'ringing', 'in-progress')`, id)
	return n, err
}

// Live counts the calls that go on: of an account (0 = of all), of a type (empty = of any), without those whose line is over.
func (c *Calls) Live(ctx context.Context, q db.Q, owner accounts.ID, t Type, over ...ID) (int, error) {
	query, args := `SELECT count(*) FROM calls WHERE status IN ('initiated', 'ringing', 'in-progress')`, []any{}
	if owner != 0 {
		args = append(args, owner)
		query += ` AND account_id = $1`
	}
	if t != "" {
		args = append(args, t)
		query += fmt.Sprintf(` AND type = $%d`, len(args))
	}
	if len(over) > 0 {
		in, ids := db.In(len(args)+1, over)
		query, args = query+` AND id NOT IN `+in, append(args, ids...)
	}
	var n int
	err := q.Get(ctx, &n, query, args...)
	return n, err
}

// Errors of the control routes.
var (
	ErrOver = fault.New(fault.Conflict, "", "Call is not in progress.")
	ErrLive = fault.New(fault.Conflict, "", "Call is still in progress.")
)
