package campaigns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/assistants"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world plays the neighbours: it keeps placed calls in a table of the test's own, inside the same transaction.
type world struct {
	t       testing.TB
	db      *db.DB
	room    int
	funds   bool
	refuse  error
	blocked map[string]bool
	hungUp  []ID
	looks   int // at the account's numbers
	asst    Assistant
}

type placed struct {
	ID       calls.ID `db:"id"`
	Campaign ID       `db:"campaign_id"`
	Lead     LeadID   `db:"lead_id"`
	DialNo   int64    `db:"dial_no"`
	Number   int64    `db:"number_id"`
	Live     bool     `db:"live"`
}

func (w *world) Place(ctx context.Context, tx *db.Tx, a Attempt) (id calls.ID, err error) {
	if w.refuse != nil {
		return 0, w.refuse
	}
	if w.blocked[a.Phone] {
		return 0, ErrDoNotCall
	}
	err = tx.Get(ctx, &id, `INSERT INTO placed (campaign_id, lead_id, dial_no, number_id, live) VALUES ($1, $2, $3, $4, TRUE) RETURNING id`, a.CampaignID, a.LeadID, a.DialNo, a.NumberID)
	return id, err
}

func (w *world) Live(ctx context.Context, q db.Q, id ID) (n int, err error) {
	err = q.Get(ctx, &n, `SELECT count(*) FROM placed WHERE campaign_id = $1 AND live`, id)
	return n, err
}
func (w *world) Placing(context.Context, db.Q, ID) (int, error)         { return 0, nil }
func (w *world) Room(context.Context, *db.Tx, accounts.ID) (int, error) { return w.room, nil }
func (w *world) HangUp(_ context.Context, id ID) error                  { w.hungUp = append(w.hungUp, id); return nil }
func (w *world) Blocked(_ context.Context, _ db.Q, _ accounts.ID, phones []string) (map[string]bool, error) {
	return w.blocked, nil
}
func (w *world) Hold(context.Context, *db.Tx, accounts.ID, assistants.ID) error { return nil }

func (w *world) ForCampaign(context.Context, db.Q, accounts.ID, value.Ref) (Assistant, error) {
	return w.asst, nil
}
func (w *world) Activate(context.Context, *db.Tx, assistants.ID) error { return nil }
func (w *world) Own(_ context.Context, _ db.Q, _ accounts.ID, list []ids.Number) ([]ids.Number, error) {
	w.looks++
	return list[1:], nil
}
func (w *world) Terms(context.Context, db.Q, accounts.ID) (Terms, error)            { return Terms{"UTC", 5}, nil }
func (w *world) MostCampaigns(context.Context, *db.Tx, accounts.ID) (*int64, error) { return nil, nil }
func (w *world) judge(*db.Tx) (Settings, error)                                     { return w.settings(), nil }
func (w *world) Positive(context.Context, db.Q, accounts.ID) (bool, error)          { return w.funds, nil }

var always = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

func (w *world) settings() Settings {
	return Settings{Name: "Spring", AssistantID: 1, Timezone: "UTC", MaxParallel: 3, Start: "00:00", End: "23:59", Days: always, MaxRetries: 1, RetryInterval: 30, CompleteWhenDone: true}
}

// each runs fn on both databases with an account, an assistant and a draft campaign.
func each(t *testing.T, fn func(t *testing.T, w *world, c *Campaigns, id ID)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := New(d, w, w, w, w, nil)
		one, err := c.Create(t.Context(), 1, w.judge)
		if err != nil {
			t.Fatal(err)
		}
		fn(t, w, c, one.ID)
	})
}

// newWorld fills a database with an account, an assistant and the table of placed calls.
func newWorld(t testing.TB, d *db.DB) *world {
	t.Helper()
	w := &world{t: t, db: d, room: 100, funds: true, blocked: map[string]bool{}, asst: Assistant{ID: 1, Outbound: true, CanCall: true}}
	w.exec(`CREATE TABLE placed (id {{id}}, campaign_id BIGINT, lead_id BIGINT, dial_no BIGINT, number_id BIGINT, live BOOLEAN, UNIQUE (lead_id, dial_no))`)
	w.exec(`INSERT INTO accounts (id, name, email, kind, timezone, plan, payment_method, is_first, created_at, updated_at) VALUES (1, 'a', 'a@x', 'direct', 'UTC', '{}', 'ok', TRUE, 0, 0)`)
	w.exec(`INSERT INTO assistants (id, account_id, uuid, name, type, mode, status, settings, created_at, updated_at) VALUES (1, 1, 'u', 'Desk', 'outbound', 'pipeline', 'inactive', '{}', 0, 0)`)
	return w
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Exec(context.Background(), query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) calls() (all []placed) {
	w.t.Helper()
	if err := w.db.Select(context.Background(), &all, `SELECT * FROM placed ORDER BY id`); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// finish ends a call with an ended_reason.
func (w *world) finish(c *Campaigns, call placed, reason string) {
	w.t.Helper()
	w.exec(`UPDATE placed SET live = FALSE WHERE id = $1`, call.ID)
	err := w.db.Do(context.Background(), func(tx *db.Tx) error {
		return c.Settle(context.Background(), tx, Ended{LeadID: call.Lead, CallID: call.ID, Reason: reason, AnsweredBy: "human", Spoke: true, At: w.db.Now()})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lead(c *Campaigns, id ID, phone string, contacts ...string) LeadID {
	w.t.Helper()
	n := NewLead{Contact: Contact{Phone: phone}, Campaign: id}
	for _, k := range contacts {
		n.Contacts = append(n.Contacts, Contact{Phone: k})
	}
	l, err := c.AddLead(context.Background(), 1, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return l.ID
}

func (w *world) start(c *Campaigns, id ID) {
	w.t.Helper()
	if _, err := c.Start(context.Background(), 1, id); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tick(c *Campaigns, later time.Duration) {
	w.t.Helper()
	if err := c.Tick(context.Background(), w.db.Now().Add(later)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) state(c *Campaigns, id ID) string {
	w.t.Helper()
	one, err := c.Get(context.Background(), w.db, 1, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if one.StopReason != nil {
		return string(one.Status) + " " + string(*one.StopReason)
	}
	return string(one.Status)
}

func (w *world) leadState(c *Campaigns, id LeadID) string {
	w.t.Helper()
	l, err := c.Lead(context.Background(), w.db, 1, id)
	if err != nil {
		w.t.Fatal(err)
	}
	s := fmt.Sprint(l.Status, " ", l.Attempts)
	for _, k := range l.Contacts {
		s += " | " + string(k.Status)
	}
	return s
}

func (w *world) want(got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("got %q, want %q", got, want)
	}
}

// TestParallelLimitIsReachedAndKept dials as many calls at once as allowed and never one more, from several processes.
//
// Contract: 6.2 6.6
func TestParallelLimitIsReachedAndKept(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		for i := range 10 {
			w.lead(c, id, fmt.Sprintf("+4917000000%02d", i))
		}
		w.start(c, id)
		var wg sync.WaitGroup
		for range 4 { // as several processes would
			wg.Go(func() { w.tick(c, time.Second) })
		}
		wg.Wait()
		if n := len(w.calls()); n != 3 {
			t.Fatalf("%d calls at once, want 3", n)
		}
		for done := 0; done < 10; {
			for _, call := range w.calls() {
				if call.Live {
					w.finish(c, call, "customer_hangup")
					done++
				}
			}
			w.tick(c, time.Second)
			if n, _ := w.Live(t.Context(), w.db, id); n > 3 {
				t.Fatalf("%d calls at once", n)
			}
		}
		if n := len(w.calls()); n != 10 {
			t.Errorf("%d calls for 10 leads", n)
		}
		w.want(w.state(c, id), "completed")
	})
}

// TestRetriesEndAtTheLimit tries again after the interval, not before, and ends with the last retry.
//
// Contract: 6.2 14.3 14.4
func TestRetriesEndAtTheLimit(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		lead := w.lead(c, id, "+491700000001")
		w.start(c, id)
		w.tick(c, time.Second)
		w.finish(c, w.calls()[0], "no_answer")
		w.want(w.leadState(c, lead), "rescheduled 1")
		w.tick(c, 29*time.Minute)
		if n := len(w.calls()); n != 1 {
			t.Fatalf("dialled again after 29 minutes (%d calls)", n)
		}
		w.tick(c, 31*time.Minute)
		w.finish(c, w.calls()[1], "busy")
		w.want(w.leadState(c, lead), "reached-max-retries 2")
		w.want(w.state(c, id), "completed")
	})
}

// TestSecondaryContactsAreDialledInTheSameRound dials the contacts of a lead in turn.
//
// Contract: 14.4
func TestSecondaryContactsAreDialledInTheSameRound(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		lead := w.lead(c, id, "+491700000001", "+491700000002", "+491700000003")
		w.start(c, id)
		w.tick(c, time.Second)
		w.finish(c, w.calls()[0], "busy")
		w.want(w.leadState(c, lead), "processing 1 | scheduled | created")
		w.tick(c, 2*time.Second)
		w.finish(c, w.calls()[1], "no_answer")
		w.want(w.leadState(c, lead), "processing 1 | rescheduled | scheduled")
		w.tick(c, 3*time.Second)
		w.finish(c, w.calls()[2], "customer_hangup")
		w.want(w.leadState(c, lead), "completed 1 | completed | completed")
		w.want(w.state(c, id), "completed")
	})
}

// TestStop gives scheduled leads back and attempts that were cut off.
//
// Contract: 6.4 14.3 14.4
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		first := w.lead(c, id, "+491700000001", "+491700000009")
		second := w.lead(c, id, "+491700000002")
		for i := 3; i < 6; i++ {
			w.lead(c, id, fmt.Sprintf("+49170000000%d", i))
		}
		w.start(c, id)
		w.tick(c, time.Second)
		w.finish(c, w.calls()[0], "busy") // its contact now waits for a tick
		if _, err := c.Stop(t.Context(), 1, id, false); err != nil {
			t.Fatal(err)
		}
		if len(w.hungUp) != 1 {
			t.Error("running calls were not hung up")
		}
		w.finish(c, w.calls()[1], "campaign_stopped")
		w.want(w.state(c, id), "stopped user")
		w.want(w.leadState(c, first), "rescheduled 1 | created")
		w.want(w.leadState(c, second), "rescheduled 0")
		w.tick(c, time.Hour)
		if n := len(w.calls()); n != 3 {
			t.Errorf("%d calls, a stopped campaign dialled", n)
		}
		w.start(c, id)
		w.finish(c, w.calls()[2], "customer_hangup")
		w.tick(c, time.Hour)
		if n := len(w.calls()); n != 6 {
			t.Errorf("%d calls after the restart, want 6", n)
		}
	})
}

// TestStartRefusals refuses a start for each reason, in order.
//
// Contract: 6.4 14.3
func TestStartRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		start := func() string {
			_, err := c.Start(t.Context(), 1, id)
			if err == nil {
				return ""
			}
			if !fault.Is(err, fault.Malformed) {
				t.Errorf("not a 400: %v", err)
			}
			return fault.Of(err).Message
		}
		w.want(start(), "This campaign has no open leads. Add some before starting it.")
		w.lead(c, id, "+491700000001")
		w.funds = false
		w.want(start(), "Your balance is too low to start this campaign. Add funds, then try again.")
		w.funds, w.asst.CanCall = true, false
		w.want(start(), "Your assistant does not have a phone number set up.")
		w.asst.CanCall, w.asst.Paused = true, true
		w.want(start(), "Assistant is inactive.")
		w.asst.Paused = false
		w.want(start(), "")
		w.want(start(), "This campaign is running already. Stop it first to change or restart it.")
	})
}

// TestWhatStopsACampaign stops for funds, numbers and assistants, and for nothing else.
//
// Contract: 14.3
func TestWhatStopsACampaign(t *testing.T) {
	for err, want := range map[error]string{ErrNoFunds: "stopped insufficient_balance", ErrNoNumber: "stopped no_number", ErrInactive: "stopped assistant_inactive"} {
		each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
			lead := w.lead(c, id, "+491700000001")
			w.start(c, id)
			w.refuse = fmt.Errorf("placing: %w", err)
			w.tick(c, time.Second)
			w.want(w.state(c, id), want)
			w.want(w.leadState(c, lead), "created 0")
		})
	}
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		lead := w.lead(c, id, "+491700000001")
		w.start(c, id)
		w.refuse = errors.New("disk full")
		if err := c.Tick(t.Context(), w.db.Now().Add(time.Second)); err == nil {
			t.Error("an outage is silent")
		}
		w.want(w.state(c, id), "in-progress")
		w.want(w.leadState(c, lead), "scheduled 0")
	})
}

// TestBreakerStopsTheCampaign stops a campaign whose carrier fails.
//
// Contract: 6.6 14.3
func TestBreakerStopsTheCampaign(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		for i := range 12 {
			w.lead(c, id, fmt.Sprintf("+4917000000%02d", i))
		}
		w.start(c, id)
		for i := range 10 {
			w.tick(c, time.Second)
			w.finish(c, w.calls()[i], "carrier_error")
		}
		w.want(w.state(c, id), "stopped failure_rate")
	})
}

// TestNumbersTakeTurns rotates the caller numbers and stops when the last one is gone.
//
// Contract: 6.2 14.3
func TestNumbersTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		_, err := c.Update(t.Context(), 1, id, func(_ *db.Tx, s Settings) (Settings, error) { s.NumberIDs = []ids.Number{7, 8}; return s, nil })
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			w.lead(c, id, fmt.Sprintf("+4917000000%02d", i))
		}
		w.start(c, id)
		w.tick(c, time.Second)
		var got []int64
		for _, p := range w.calls() {
			got = append(got, p.Number)
		}
		w.want(fmt.Sprint(got), "[7 8 7]")
		err = w.db.Do(t.Context(), func(tx *db.Tx) error {
			return errors.Join(c.ForgetNumber(t.Context(), tx, 1, 7), c.ForgetNumber(t.Context(), tx, 1, 8))
		})
		if err != nil {
			t.Fatal(err)
		}
		w.want(w.state(c, id), "stopped no_number")
	})
}

// TestIdleCampaignDialsNewLeads keeps an idle campaign running and its lead from changes while it is called.
//
// Contract: 6.2 7.4 7.5 14.3
func TestIdleCampaignDialsNewLeads(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		_, err := c.Update(t.Context(), 1, id, func(_ *db.Tx, s Settings) (Settings, error) { s.CompleteWhenDone = false; return s, nil })
		if err != nil {
			t.Fatal(err)
		}
		w.start(c, id)
		w.tick(c, time.Second)
		w.want(w.state(c, id), "in-progress")
		lead := w.lead(c, id, "+491700000001")
		w.want(w.leadState(c, lead), "scheduled 0")
		w.tick(c, 2*time.Second)
		w.want(w.leadState(c, lead), "processing 1")
		if _, err := c.UpdateLead(t.Context(), 1, lead, LeadChange{Phone: ptr("+491700000002")}); fault.Of(err).Message != "Lead is being called." {
			t.Errorf("changing a lead in a call: %v", err)
		}
		if err := c.DeleteLead(t.Context(), 1, lead); fault.Of(err).Message != "Lead is being called." {
			t.Errorf("deleting a lead in a call: %v", err)
		}
	})
}

func ptr[T any](v T) *T { return &v }

// TestLeads adds, changes, finds and imports leads.
//
// Contract: 7.2 7.3 7.4 7.5
func TestLeads(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		ctx := t.Context()
		first := w.lead(c, id, "+491700000001")
		if _, err := c.AddLead(ctx, 1, NewLead{Contact: Contact{Phone: "+491700000001"}, Campaign: id}); fault.Of(err).Message != duplicate {
			t.Errorf("a second lead with the number: %v", err)
		}
		if _, err := c.AddLead(ctx, 1, NewLead{Contact: Contact{Phone: "+491700000001"}, Campaign: id, Duplicates: true}); err != nil {
			t.Errorf("an allowed duplicate: %v", err)
		}
		w.blocked["+491700000005"] = true
		w.want(w.leadState(c, w.lead(c, id, "+491700000005")), "blacklisted 0")
		l, err := c.UpdateLead(ctx, 1, first, LeadChange{Variables: value.Scalars{{Name: "d", Value: "y"}, {Name: "a", Value: "x"}, {Name: "b", Value: 2.0}}})
		if err != nil {
			t.Fatal(err)
		}
		l, err = c.UpdateLead(ctx, 1, first, LeadChange{Variables: value.Scalars{{Name: "c", Value: true}, {Name: "a"}, {Name: "d", Value: "z"}}})
		if err != nil || fmt.Sprint(l.Variables.V) != `{"d":"z","b":2,"c":true}` {
			t.Errorf("merged variables %v, %v", l.Variables.V, err)
		}
		if _, err := c.Lead(ctx, w.db, 2, first); !fault.Is(err, fault.NotFound) {
			t.Errorf("a stranger's lead: %v", err)
		}
		if err := c.DeleteLead(ctx, 2, first); !fault.Is(err, fault.NotFound) {
			t.Errorf("deleting a stranger's lead: %v", err)
		}
		all, total, err := c.Leads(ctx, w.db, 1, LeadFilter{Phone: "00001"}, 10, 0)
		if err != nil || total != 2 || len(all) != 2 || all[0].ID < all[1].ID {
			t.Errorf("filtered: %d of %d, %v", len(all), total, err)
		}
		file := strings.NewReader("phone\n+491700000001\n+491700000077\n")
		imported, err := c.Import(ctx, 1, file, Sheet{Campaign: id, Phone: "phone"})
		w.want(fmt.Sprint(imported, err), "{1 1 []} <nil>")
		if err := c.Delete(ctx, 1, id); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Lead(ctx, w.db, 1, first); !fault.Is(err, fault.NotFound) {
			t.Errorf("a lead outlives its campaign: %v", err)
		}
	})
}

// A call that is settled twice, as after a crash between two jobs, moves its lead once.
func TestSettleTwice(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		lead := w.lead(c, id, "+491700000001")
		w.start(c, id)
		w.tick(c, time.Second)
		w.finish(c, w.calls()[0], "busy")
		w.finish(c, w.calls()[0], "busy")
		w.want(w.leadState(c, lead), "rescheduled 1")
	})
}

// TestContactsThatAreNeverCalled blocks and refuses contacts whose turn has come: their lead moves on, and starts afresh
// with those that are left.
//
// Contract: 6.6 7.4 14.4
func TestContactsThatAreNeverCalled(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		lead := w.lead(c, id, "+491700000001", "+491700000002", "+491700000003")
		w.start(c, id)
		w.tick(c, time.Second)
		w.finish(c, w.calls()[0], "busy")
		w.want(w.leadState(c, lead), "processing 1 | scheduled | created")
		if err := w.db.Do(t.Context(), func(tx *db.Tx) error { return c.Block(t.Context(), tx, 1, "+491700000002") }); err != nil {
			t.Fatal(err)
		}
		w.want(w.leadState(c, lead), "processing 1 | blacklisted | scheduled")
		w.refuse = ErrUnreachable
		w.tick(c, time.Second)
		w.want(w.leadState(c, lead), "rescheduled 1 | blacklisted | reached-max-retries")
		w.refuse = nil
		afresh := Created
		if _, err := c.UpdateLead(t.Context(), 1, lead, LeadChange{Status: &afresh}); err != nil {
			t.Fatal(err)
		}
		w.want(w.leadState(c, lead), "scheduled 0 | blacklisted | created")
		w.tick(c, time.Second)
		w.finish(c, w.calls()[1], "busy")
		w.want(w.leadState(c, lead), "processing 1 | blacklisted | scheduled")
		w.tick(c, time.Second)
		w.finish(c, w.calls()[2], "voicemail_detected")
		w.want(w.leadState(c, lead), "completed 1 | blacklisted | completed")
	})
}

// TestMachinesAndGoals retries machines and talks without their goal when it is asked to.
//
// Contract: 6.2 14.4
func TestMachinesAndGoals(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		_, err := c.Update(t.Context(), 1, id, func(_ *db.Tx, s Settings) (Settings, error) {
			s.RetryVoicemail, s.RetryGoal = true, true
			return s, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		machine, missed, reached, untold := w.lead(c, id, "+491700000001"), w.lead(c, id, "+491700000002"), w.lead(c, id, "+491700000003"), w.lead(c, id, "+491700000004")
		w.start(c, id)
		w.tick(c, time.Second)
		settle := func(call placed, reason, answeredBy string, found any) {
			t.Helper()
			w.exec(`UPDATE placed SET live = FALSE WHERE id = $1`, call.ID)
			err := w.db.Do(t.Context(), func(tx *db.Tx) error {
				return c.Settle(t.Context(), tx, Ended{LeadID: call.Lead, CallID: call.ID, Reason: reason, AnsweredBy: answeredBy, Spoke: true, At: w.db.Now(), Evaluation: value.Scalars{{Name: "status", Value: found}}, Bools: []string{"status"}})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		settle(w.calls()[0], "customer_hangup", "machine", true)
		settle(w.calls()[1], "customer_hangup", "human", false)
		settle(w.calls()[2], "customer_hangup", "human", true)
		w.tick(c, time.Second)
		settle(w.calls()[3], "assistant_hangup", "human", nil)
		for id, want := range map[LeadID]string{machine: "rescheduled 1", missed: "rescheduled 1", reached: "completed 1", untold: "rescheduled 1"} {
			w.want(w.leadState(c, id), want)
		}
	})
}
