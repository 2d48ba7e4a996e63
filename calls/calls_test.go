package calls

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/db/dbtest"
	"parley/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func account(t *testing.T, d *db.DB) accounts.ID {
	t.Helper()
	var id accounts.ID
	err := d.Get(t.Context(), &id, `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
		VALUES ('A', 'a@p.example', 'direct', 'UTC', '{}', 'none', 1, 1) RETURNING id`)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A call from its beginning to its final state.
//
// Contract: 5.2 14.5
func TestLifeOfACall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var seen []Status
		ctx, c := t.Context(), New(d, Neighbours{Changed: func(one Call) { seen = append(seen, one.Status) }})
		owner := account(t, d)
		one := must[Call](t)(c.Create(ctx, d, NewCall{Owner: owner, Type: Outbound, AssistantName: "Desk", ClientPhone: "+491701234567",
			Snapshot:  Snapshot{Schema: []assistants.SchemaItem{{Name: "status", Type: "bool", Description: "Reached?"}, {Name: "sum", Type: "string", Description: "Short"}}},
			Variables: value.Scalars{{Name: "b", Value: 1.0}, {Name: "a", Value: "x"}}, Currency: "USD"}))
		if one.Status != Initiated || one.AnsweredBy != Unknown || one.InputVariables.V.String() != `{"b":1,"a":"x"}` || one.Answered() {
			t.Fatalf("%+v", one)
		}
		if ok := must[bool](t)(c.Claim(ctx, d, one.ID, "n1", time.Minute)); !ok {
			t.Fatal("not claimed")
		}
		if ok := must[bool](t)(c.Claim(ctx, d, one.ID, "n2", time.Minute)); ok {
			t.Fatal("claimed twice")
		}
		if err := c.Rings(ctx, d, one.ID); err != nil {
			t.Fatal(err)
		}
		one = must[Call](t)(c.Answers(ctx, d, one.ID))
		if one.Status != InProgress || !one.Answered() {
			t.Fatalf("%+v", one)
		}
		if got := one.Duration(one.AnsweredReal.Time().Add(2600 * time.Millisecond)); got != 3 {
			t.Errorf("duration during the call: %d", got)
		}
		entries := []Entry{{Text: "Hi there.", Assistant: true}, {Text: "call\n tomorrow"}}
		if err := c.SetTranscript(ctx, d, one.ID, entries, true); err != nil {
			t.Fatal(err)
		}
		end := one.AnsweredReal.Time().Add(34400 * time.Millisecond)
		one = must[Call](t)(c.End(ctx, d, one.ID, Over{Reason: CustomerHangup, At: end, Keypad: "12", AnsweredBy: Human, AISeconds: 35, Recording: "recordings/x.wav"}))
		if one.Status != EndedByCustomer || *one.EndedBy != ByCustomer || one.Seconds != 34 || !one.Spoke || one.Variables.V.String() != `{"keypad_input":"12"}` {
			t.Fatalf("%+v", one)
		}
		if _, err := c.End(ctx, d, one.ID, Over{Reason: APIHangup}); !errors.Is(err, db.ErrNone) {
			t.Errorf("ended twice: %v", err)
		}
		one.Evaluation.V, one.AICost, one.CarrierCost = value.Scalars{{Name: "status", Value: true}, {Name: "sum"}}, 5666667, 1000000
		finish := func() error {
			return d.Do(ctx, func(tx *db.Tx) error { _, err := c.Finish(ctx, tx, one); return err })
		}
		if err := finish(); err != nil {
			t.Fatal(err)
		}
		if err := finish(); !errors.Is(err, db.ErrNone) {
			t.Errorf("finished twice: %v", err)
		}
		got := must[Call](t)(c.Get(ctx, d, owner, value.Ref{UUID: one.UUID}))
		if got.Status != Completed || got.Transcript() != "Assistant: Hi there.\nCustomer: call tomorrow" || got.TotalCost() != 6666667 ||
			got.Formatted() != "AI: Hi there.\nCustomer: call tomorrow" || got.Duration(time.Now()) != 34 {
			t.Errorf("%+v", got)
		}
		if f := got.EvaluationFields(); len(f) != 2 || f[0].Value != true || f[1].Value != nil || f[1].Description != "Short" {
			t.Errorf("fields %+v", f)
		}
		events := must[[]Event](t)(c.Events(ctx, d, one.ID))
		var log string
		for i, e := range events {
			log += string(e.Data.V)
			if e.Seq != int64(i+1) {
				t.Errorf("seq %d at %d", e.Seq, i)
			}
		}
		if want := `{"status":"initiated","reason":null}{"status":"ringing","reason":null}{"status":"in-progress","reason":null}` +
			`{"status":"ended_by_customer","reason":"customer_hangup"}{"status":"completed","reason":"customer_hangup"}`; log != want {
			t.Errorf("log %s", log)
		}
		if fmt.Sprint(seen) != "[initiated ringing in-progress ended_by_customer completed]" {
			t.Errorf("told %v", seen)
		}
		if _, err := c.Get(ctx, d, owner+1, value.Ref{ID: int64(one.ID)}); !errors.Is(err, ErrNotFound) {
			t.Errorf("a stranger's call: %v", err)
		}
		if err := c.Remove(ctx, d, one.ID); err != nil {
			t.Fatal(err)
		}
		if n := must[[]Event](t)(c.Events(ctx, d, one.ID)); len(n) != 0 {
			t.Error("events stayed")
		}
	})
}

// Calls that were never answered.
//
// Contract: 14.5
func TestUnanswered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		owner := account(t, d)
		for _, r := range []struct {
			reason Reason
			want   Status
		}{{NoAnswerReason, NoAnswer}, {BusyReason, Busy}, {InvalidNumber, Failed}, {APIHangup, Failed}, {CallerAbandoned, NoAnswer}, {ServerRestart, Failed}} {
			one := must[Call](t)(c.Create(ctx, d, NewCall{Owner: owner, Type: Inbound, AssistantName: "Desk", Currency: "USD"}))
			one = must[Call](t)(c.End(ctx, d, one.ID, Over{Reason: r.reason, AISeconds: 5}))
			if one.Status != r.want || one.Seconds != 0 || one.AISeconds != 0 || one.AnsweredBy != Human {
				t.Errorf("%s: %+v", r.reason, one)
			}
		}
	})
}

// Every filter of the list.
//
// Contract: 5.3
func TestListFilters(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		owner, other := account(t, d), account(t, d)
		add := func(n NewCall) Call {
			n.AssistantName, n.Currency = "Desk", "USD"
			return must[Call](t)(c.Create(ctx, d, n))
		}
		a := add(NewCall{Owner: owner, Type: Outbound, ClientPhone: "+491701234567", AssistantID: 7, CampaignID: 3})
		b := add(NewCall{Owner: owner, Type: Inbound, ClientPhone: "anonymous"})
		w := add(NewCall{Owner: owner, Type: Web, AssistantID: 7})
		add(NewCall{Owner: other, Type: Web})
		answered := must[Call](t)(c.Answers(ctx, d, b.ID))
		must[Call](t)(c.End(ctx, d, b.ID, Over{Reason: AssistantHangup}))
		answered.Status = EndedByAssistant
		if err := d.Do(ctx, func(tx *db.Tx) error { _, err := c.Finish(ctx, tx, answered); return err }); err != nil {
			t.Fatal(err)
		}
		day := d.Now()
		for name, f := range map[string]struct {
			Filter
			want []ID
		}{
			"all":                {Filter{}, []ID{w.ID, b.ID, a.ID}},
			"type":               {Filter{Type: Web}, []ID{w.ID}},
			"status":             {Filter{Status: Initiated}, []ID{w.ID, a.ID}},
			"how it ended":       {Filter{Status: EndedByAssistant}, []ID{b.ID}},
			"how it did not end": {Filter{Status: EndedByCustomer}, nil},
			"completed":          {Filter{Status: Completed}, []ID{b.ID}},
			"digits":             {Filter{Phone: "+49 170"}, []ID{a.ID}},
			"other digits":       {Filter{Phone: "999"}, nil},
			"no digits":          {Filter{Phone: "anonymous"}, nil},
			"assistant":          {Filter{AssistantID: 7}, []ID{w.ID, a.ID}},
			"both":               {Filter{AssistantID: 7, CampaignID: 3}, []ID{a.ID}},
			"from":               {Filter{From: day.Add(time.Hour)}, nil},
			"span":               {Filter{From: day.Add(-time.Hour), To: day.Add(time.Hour)}, []ID{w.ID, b.ID, a.ID}},
		} {
			list, total, err := c.List(ctx, d, owner, f.Filter, 0, 10)
			if err != nil {
				t.Fatal(name, err)
			}
			var got []ID
			for _, one := range list {
				got = append(got, one.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(f.want) || total != len(f.want) {
				t.Errorf("%s: %v of %d, want %v", name, got, total, f.want)
			}
		}
		list, total, err := c.List(ctx, d, owner, Filter{}, 2, 2)
		if err != nil || total != 3 || len(list) != 1 || list[0].ID != a.ID {
			t.Errorf("second page: %d of %d, %v", len(list), total, err)
		}
	})
}

// A call recorded as a node's that the node does not have, because the answer to its commit was lost, lapses beside those
// that it holds.
func TestRenewWhatIsHeld(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		owner := account(t, d)
		add := func() Call {
			return must[Call](t)(c.Create(ctx, d, NewCall{Owner: owner, Type: Outbound, AssistantName: "D", Currency: "USD", Node: "n1", Lease: -time.Minute}))
		}
		held, missed := add(), add()
		if lost := must[[]ID](t)(c.Renew(ctx, d, "n1", time.Minute, []ID{held.ID})); len(lost) != 0 {
			t.Errorf("lost %v", lost)
		}
		if left := must[[]Call](t)(c.Orphans(ctx, d, 10)); len(left) != 1 || left[0].ID != missed.ID {
			t.Errorf("orphans %+v, want call %d", left, missed.ID)
		}
	})
}

func TestLeasesAndStops(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		owner := account(t, d)
		add := func(node string) Call {
			return must[Call](t)(c.Create(ctx, d, NewCall{Owner: owner, Type: Outbound, AssistantName: "D", Currency: "USD", CampaignID: 3, Node: node, Lease: time.Minute}))
		}
		held, dead, free := add("n1"), add("n2"), add("")
		if _, err := d.Exec(ctx, `UPDATE calls SET lease_real = 1 WHERE id = $1`, dead.ID); err != nil {
			t.Fatal(err)
		}
		orphans := must[[]Call](t)(c.Orphans(ctx, d, 10))
		if len(orphans) != 1 || orphans[0].ID != dead.ID {
			t.Errorf("orphans %+v", orphans)
		}
		must[Call](t)(c.End(ctx, d, dead.ID, Over{Reason: ServerRestart}))
		if lost := must[[]ID](t)(c.Renew(ctx, d, "n2", time.Minute, []ID{dead.ID})); len(lost) != 1 {
			t.Errorf("a node keeps a call that was ended for it: %v", lost)
		}
		if lost := must[[]ID](t)(c.Renew(ctx, d, "n1", time.Minute, []ID{held.ID})); len(lost) != 0 {
			t.Errorf("lost %v", lost)
		}
		if n := must[int](t)(c.Live(ctx, d, owner, Outbound)); n != 2 {
			t.Errorf("%d live", n)
		}
		stop := func(id ID) (ended bool) {
			if err := d.Do(ctx, func(tx *db.Tx) (err error) { ended, err = c.AskStop(ctx, tx, id, CampaignStopped); return err }); err != nil {
				t.Fatal(err)
			}
			return ended
		}
		for _, id := range must[[]ID](t)(c.LiveOfCampaign(ctx, d, 3)) {
			if ended := stop(id); ended != (id == free.ID) {
				t.Errorf("call %d ended: %v", id, ended)
			}
		}
		if s := must[map[ID]Reason](t)(c.Stops(ctx, d, "n1")); len(s) != 1 || s[held.ID] != CampaignStopped {
			t.Errorf("stops %v", s)
		}
		if got := must[Call](t)(c.ByID(ctx, d, free.ID)); got.Status != Failed || *got.Reason != CampaignStopped {
			t.Errorf("%+v", got)
		}
		if ok := must[bool](t)(c.Claim(ctx, d, free.ID, "n1", time.Minute)); ok {
			t.Error("a stopped call was claimed")
		}
	})
}

// One attempt is one call, whoever asks for it again.
func TestAttemptOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		n := NewCall{Owner: account(t, d), Type: Outbound, AssistantName: "D", Currency: "USD", LeadID: 5, DialNo: 1}
		must[Call](t)(c.Create(ctx, d, n))
		if _, err := c.Create(ctx, d, n); !db.IsUnique(err) {
			t.Errorf("the second: %v", err)
		}
		n.DialNo = 2
		must[Call](t)(c.Create(ctx, d, n))
	})
}

// Numbers that are never called.
//
// Contract: 18.1
func TestDoNotCall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		owner, other := account(t, d), account(t, d)
		told := ""
		ctx, c := t.Context(), New(d, Neighbours{Blocked: func(_ context.Context, _ *db.Tx, o accounts.ID, phone string) error {
			told += fmt.Sprint(o == owner, phone, " ")
			return nil
		}})
		b := must[Blocked](t)(c.Block(ctx, owner, "+491701", "asked"))
		again := must[Blocked](t)(c.Block(ctx, owner, "+491701", ""))
		if again.ID != b.ID || *again.Reason != "asked" || told != "true+491701 true+491701 " {
			t.Errorf("%+v %+v %q", b, again, told)
		}
		got := must[map[string]bool](t)(c.IsBlocked(ctx, d, owner, "+491701", "+491702"))
		if !got["+491701"] || got["+491702"] {
			t.Errorf("%v", got)
		}
		if got := must[map[string]bool](t)(c.IsBlocked(ctx, d, other, "+491701")); len(got) != 0 {
			t.Errorf("a stranger's list: %v", got)
		}
		if err := c.Unblock(ctx, other, b.ID); err == nil {
			t.Error("a stranger took it off")
		}
		if err := c.Unblock(ctx, owner, b.ID); err != nil {
			t.Error(err)
		}
		if l := must[[]Blocked](t)(c.BlockedList(ctx, d, owner)); len(l) != 0 {
			t.Errorf("%v", l)
		}
	})
}

// Events stay in order whoever writes them.
//
// Contract: 4.9
func TestLogInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, c := t.Context(), New(d, Neighbours{})
		one := must[Call](t)(c.Create(ctx, d, NewCall{Owner: account(t, d), Type: Web, AssistantName: "D", Currency: "USD"}))
		var events []Event
		for i := range 250 {
			events = append(events, must[Event](t)(MakeEvent(time.UnixMicro(int64(i+1)), "turn.user", map[string]any{"text": fmt.Sprintf("<%d>", i)})))
		}
		if err := d.Do(ctx, func(tx *db.Tx) error { return c.Log(ctx, tx, one.ID, events) }); err != nil {
			t.Fatal(err)
		}
		got := must[[]Event](t)(c.Events(ctx, d, one.ID))
		if len(got) != 251 || string(got[250].Data.V) != `{"text":"<249>"}` || got[250].Seq != 251 {
			t.Errorf("%d events, last %+v", len(got), got[len(got)-1])
		}
	})
}
