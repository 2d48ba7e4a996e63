package app_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"parley/accounts"
	"parley/agent"
	"parley/api/apitest"
	"parley/assistants"
	"parley/audio"
	"parley/billing"
	"parley/campaigns"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/lines"
	"parley/providers/builtin/responder"
	"parley/switchboard"
	"parley/value"
	"parley/voice"
)

// busy is a telephone network where nobody has time.
type busy struct{}

func (busy) Dial(context.Context, lines.Destination, func(int)) (lines.Leg, error) {
	return nil, &lines.DialError{Code: 486}
}

func deaf(context.Context, voice.Transcription) (voice.Transcriber, error) {
	return nil, errors.New("nobody is heard")
}

type mute struct{}

func (mute) Speak(context.Context, voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(func(audio.Frame, error) bool) {}
}

// slow lets others come between a call that ends and its campaign.
type slow struct{ *campaigns.Campaigns }

func (s slow) Settle(ctx context.Context, tx *db.Tx, e campaigns.Ended) error {
	if _, err := tx.Exec(ctx, `SELECT pg_sleep(0.01)`); err != nil {
		return err
	}
	return s.Campaigns.Settle(ctx, tx, e)
}

// Whoever needs several rows of an account takes them in one order: a call that ends, its campaign, the campaign's leads or
// the account, the balance. Here campaigns are dialled, stopped and deleted, calls are placed,
// refused and settled, money is paid in and set aside, terms change and counts are folded, all at once: PostgreSQL must not
// have to break a deadlock, and afterwards no money is set aside and no call goes on.
func TestLocksAreTakenInOneOrder(t *testing.T) {
	var broken atomic.Int32
	s := apitest.New(t, dbtest.Postgres(t, db.Again(func(err error) {
		broken.Add(1)
		t.Log(err)
	})))
	h, ctx := s.App, context.Background()
	h.Switchboard.Dialer, h.Switchboard.CallsPerMinute = busy{}, 0
	engines := switchboard.Engines{Default: "builtin", Transcribers: map[string]voice.OpenTranscriber{"builtin": deaf},
		Synthesizers: map[string]voice.Synthesizer{"builtin": mute{}},
		Models:       map[string]func(string) agent.Model{"builtin": func(string) agent.Model { return responder.Model{} }}}
	h.Switchboard.Engines = func() *switchboard.Engines { return &engines }
	h.Switchboard.Campaigns = slow{h.Campaigns}
	s.Work()
	owner := accounts.ID(1)
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	do := func(f func(tx *db.Tx) error) { must(s.DB.Do(ctx, f)) }
	_, err := s.DB.Exec(ctx, `INSERT INTO phone_numbers (id, account_id, number, country_code, type, state, created_at, updated_at)
		VALUES (7, 1, '+4930123456', 'DE', 'normal', 'active', 1, 1)`)
	must(err)
	desk := s.Send("POST /user/assistant", `{"name":"Desk","voice_id":1,"language_id":1,"type":"outbound","mode":"pipeline","timezone":"UTC","initial_message":"Hello.","system_prompt":"You sell maps.","llm_model_id":1,"phone_number_id":7}`).Want(201).ID("data.id")
	list := func(n int) campaigns.ID {
		one, err := h.Campaigns.Create(ctx, owner, func(*db.Tx) (campaigns.Settings, error) {
			return campaigns.Settings{Name: fmt.Sprint("C", n), AssistantID: assistants.ID(desk), Timezone: "UTC", MaxParallel: 5, Start: "00:00", End: "23:59",
				Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}}, nil
		})
		must(err)
		for i := range 10 {
			_, err := h.Campaigns.AddLead(ctx, owner, campaigns.NewLead{Contact: campaigns.Contact{Phone: fmt.Sprintf("+49170%06d", n*100+i)}, Campaign: one.ID})
			must(err)
		}
		_, err = h.Campaigns.Start(ctx, owner, one.ID)
		must(err)
		return one.ID
	}
	const rounds = 8
	var whole, beside sync.WaitGroup
	var done atomic.Bool
	many := func(f func(i int)) {
		whole.Go(func() {
			for i := range rounds {
				f(i)
			}
		})
	}
	meanwhile := func(f func(i int)) {
		beside.Go(func() {
			for i := 0; !done.Load(); i++ {
				f(i)
			}
		})
	}
	many(func(i int) {
		id := list(i)
		must(h.Campaigns.Tick(ctx, s.DB.Now()))
		must(h.Campaigns.Delete(ctx, owner, id))
	})
	many(func(i int) { list(1000 + i) })
	for range 2 {
		meanwhile(func(int) { must(h.Campaigns.Tick(ctx, s.DB.Now())) })
		meanwhile(func(int) { must(s.DB.FoldCounts(ctx)) })
	}
	many(func(i int) {
		_, err := h.Switchboard.Place(ctx, s.DB, switchboard.Order{Owner: owner, Assistant: value.Ref{ID: desk}, Phone: "+491701234567"})
		if err != nil && !fault.Is(err, fault.TooMany) {
			t.Error(err)
		}
	})
	many(func(i int) {
		do(func(tx *db.Tx) error {
			return h.Billing.Credit(ctx, tx, owner, "top_up", fmt.Sprint("t", i), value.MoneyUnit, "")
		})
	})
	many(func(i int) {
		ref := fmt.Sprint("message:", i)
		do(func(tx *db.Tx) error { return h.Billing.Hold(ctx, tx, owner, ref, value.MoneyUnit) })
		do(func(tx *db.Tx) error { return h.Billing.Release(ctx, tx, owner, ref) })
	})
	meanwhile(func(int) {
		_, err := h.Accounts.SetTerms(ctx, s.DB, owner, accounts.Terms{})
		must(err)
	})
	many(func(i int) {
		_, err := h.Calls.Block(ctx, owner, fmt.Sprintf("+49170%06d", 100000+i*100), "asked")
		must(err)
	})
	whole.Wait()
	done.Store(true)
	beside.Wait()
	if n := broken.Load(); n > 0 {
		t.Errorf("%d deadlocks", n)
	}
	all, err := h.Campaigns.List(ctx, s.DB, owner)
	must(err)
	for _, one := range all {
		_, _ = h.Campaigns.Stop(ctx, owner, one.ID, false) // some have stopped
	}
	h.Switchboard.Drain(ctx)
	for open := 1; open > 0 && !t.Failed(); runtime.Gosched() { // what has no holder is settled by a job
		must(s.DB.Get(ctx, &open, `SELECT count(*) FROM calls WHERE NOT settled`))
	}
	var bal billing.Balance
	must(s.DB.Get(ctx, &bal, `SELECT balance, held FROM balances WHERE account_id = 1`))
	if bal.Held != 0 {
		t.Errorf("%d is set aside for nothing", bal.Held)
	}
}
