package accounts_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func limit(n int64) *int64 { return &n }

var plan = accounts.Plan{MaxTools: limit(5), ParallelPerCampaign: 10, ParallelPerAccount: 100, MinutePrice: value.MoneyUnit / 10}

func create(t *testing.T, a *accounts.Accounts, d *db.DB, draft accounts.Draft) accounts.Account {
	t.Helper()
	acc, err := a.Create(t.Context(), d, draft)
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

func TestFirstAccountIsMadeOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := accounts.New(d, plan)
		if _, err := a.First(t.Context(), d); err != db.ErrNone {
			t.Error("before:", err)
		}
		var mu sync.Mutex
		made, begun := 0, 0
		ids := map[accounts.ID]bool{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				acc, created, err := a.EnsureFirst(t.Context(), accounts.Draft{Name: "Owner", Email: "owner@example.com"},
					func(tx *db.Tx, acc accounts.Account) error {
						mu.Lock()
						defer mu.Unlock()
						begun++
						return nil
					})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if created {
					made++
				}
				ids[acc.ID] = true
			})
		}
		wg.Wait()
		if made != 1 || begun < 1 || len(ids) != 1 {
			t.Error(made, begun, ids)
		}
		failed := errors.New("no money")
		if _, _, err := a.EnsureFirst(t.Context(), accounts.Draft{}, func(*db.Tx, accounts.Account) error { return failed }); err != nil {
			t.Error("an existing account was begun again:", err)
		}
	})
}

func TestFirstAccountNeedsItsBeginning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := accounts.New(d, plan)
		failed := errors.New("no money")
		if _, created, err := a.EnsureFirst(t.Context(), accounts.Draft{}, func(*db.Tx, accounts.Account) error { return failed }); err != failed || created {
			t.Error(created, err)
		}
		if _, err := a.First(t.Context(), d); err != db.ErrNone {
			t.Error("half an account was left:", err)
		}
	})
}

func TestProfileAndTerms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc := create(t, a, d, accounts.Draft{Name: "Ada", Email: "ada@p.example"})
		if acc.Kind != accounts.Direct || acc.Timezone != "UTC" || acc.PaymentMethod != accounts.PaymentOK || acc.First || acc.Kind.Unit() != "minutes" {
			t.Errorf("defaults %+v", acc)
		}
		got, err := a.Update(ctx, d, acc.ID, accounts.Profile{Timezone: value.Some("Europe/Berlin")})
		if err != nil || got.Name != "Ada" || got.Timezone != "Europe/Berlin" || got.Location().String() != "Europe/Berlin" {
			t.Errorf("%+v %v", got, err)
		}
		tenant, none := accounts.Tenant, accounts.PaymentNone
		yes := true
		first := accounts.Overrides{MaxTools: value.Opt[int64]{Set: true, Null: true}, MaxCampaigns: value.Some[int64](2)}
		if _, err := a.SetTerms(ctx, d, acc.ID, accounts.Terms{Kind: &tenant, PaymentMethod: &none, Plan: &first}); err != nil {
			t.Fatal(err)
		}
		second := accounts.Overrides{MinutePrice: value.Some(value.MoneyUnit / 5), ParallelPerAccount: value.Opt[int64]{Set: true, Null: true}}
		got, err = a.SetTerms(ctx, d, acc.ID, accounts.Terms{Plan: &second, Suspended: &yes})
		if err != nil || got.Kind != accounts.Tenant || got.Kind.Unit() != "credits" || got.PaymentMethod != none || !got.Suspended() {
			t.Errorf("%+v %v", got, err)
		}
		stored, err := a.Get(ctx, d, acc.ID)
		if err != nil || !reflect.DeepEqual(stored, got) {
			t.Errorf("stored %+v\nanswer %+v\n%v", stored, got, err)
		}
		want := accounts.Plan{MaxCampaigns: limit(2), ParallelPerCampaign: 10, ParallelPerAccount: 100, MinutePrice: value.MoneyUnit / 5}
		if p, err := a.Plan(ctx, d, acc.ID); err != nil || !reflect.DeepEqual(p, want) || !reflect.DeepEqual(a.PlanOf(got), want) {
			t.Errorf("%+v %v", p, err)
		}
		if _, err := a.Plan(ctx, d, 999); err != db.ErrNone {
			t.Error("unknown account:", err)
		}
		if _, err := a.SetTerms(ctx, d, 999, accounts.Terms{Suspended: &yes}); err != db.ErrNone {
			t.Error("unknown account:", err)
		}
	})
}

func TestOverridesKeepWhatIsLeftOut(t *testing.T) {
	var o accounts.Overrides
	in := `{"max_tools":null,"minute_price":0.125}`
	if err := json.Unmarshal([]byte(in), &o); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(o); err != nil || string(b) != in {
		t.Error(string(b), err)
	}
}

func TestReached(t *testing.T) {
	for _, c := range []struct {
		limit *int64
		n     int64
		want  bool
	}{{nil, 1e9, false}, {limit(2), 1, false}, {limit(2), 2, true}, {limit(2), 3, true}, {limit(0), 0, true}} {
		if accounts.Reached(c.limit, c.n) != c.want {
			t.Error(c)
		}
	}
}

func TestFind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		first, _, err := a.EnsureFirst(ctx, accounts.Draft{Email: "one@p.example"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		two := create(t, a, d, accounts.Draft{Email: "Two@P.example"})
		create(t, a, d, accounts.Draft{Email: "twin@p.example"})
		create(t, a, d, accounts.Draft{Email: "TWIN@p.example"})
		for who, want := range map[string]accounts.ID{"": first.ID, "2": two.ID, " two@p.EXAMPLE": two.ID} {
			if acc, err := a.Find(ctx, d, who); err != nil || acc.ID != want {
				t.Errorf("%q: %d %v", who, acc.ID, err)
			}
		}
		if _, err := a.Find(ctx, d, "nobody@p.example"); err != db.ErrNone {
			t.Error(err)
		}
		if _, err := a.Find(ctx, d, "twin@p.example"); err == nil || err == db.ErrNone {
			t.Error("an ambiguous address was accepted:", err)
		}
		if all, err := a.List(ctx, d); err != nil || len(all) != 4 || !all[0].First {
			t.Error(all, err)
		}
	})
}
