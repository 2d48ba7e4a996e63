package accounts_test

import (
	"testing"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
)

// eachManual is dbtest.Each with a manual clock.
func eachManual(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) { fn(t, dbtest.SQLite(t, db.Manual())) })
	t.Run("postgres", func(t *testing.T) { fn(t, dbtest.Postgres(t, db.Manual())) })
}

func advance(t *testing.T, d *db.DB, by time.Duration) {
	t.Helper()
	if _, err := d.Advance(t.Context(), by); err != nil {
		t.Fatal(err)
	}
}

func TestWelcomeLinkWorksOnceFor30Minutes(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc := create(t, a, d, accounts.Draft{Name: "Ada"})
		link := func() string {
			token, err := a.Welcome(ctx, d, acc.ID)
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		good, late := link(), link()
		advance(t, d, 30*time.Minute-time.Second)
		session, id, err := a.Redeem(ctx, good)
		if err != nil || id != acc.ID {
			t.Error(id, err)
		}
		if c, err := a.Session(ctx, session); err != nil || c != (accounts.Caller{Account: acc.ID, Name: "Ada"}) {
			t.Error(c, err)
		}
		if _, _, err := a.Redeem(ctx, good); err != accounts.ErrUnauthenticated {
			t.Error("twice:", err)
		}
		advance(t, d, time.Second)
		if _, _, err := a.Redeem(ctx, late); err != accounts.ErrUnauthenticated {
			t.Error("late:", err)
		}
		if err := a.Purge(ctx, d.Now()); err != nil {
			t.Fatal(err)
		}
		var links int
		if err := d.Get(ctx, &links, `SELECT count(*) FROM welcome_links`); err != nil || links != 0 {
			t.Error(links, err)
		}
		advance(t, d, 31*24*time.Hour)
		if _, err := accounts.New(d, plan).Session(ctx, session); err != accounts.ErrUnauthenticated {
			t.Error("old session:", err)
		}
	})
}

func TestPasswordSignsIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		ada := create(t, a, d, accounts.Draft{Email: "ada@p.example"})
		twin := create(t, a, d, accounts.Draft{Email: "Ada@p.example"})
		for id, password := range map[accounts.ID]string{ada.ID: "correct horse", twin.ID: "battery staple"} {
			if err := a.SetPassword(ctx, id, password, ""); err != nil {
				t.Fatal(err)
			}
		}
		session, id, err := a.SignIn(ctx, "ADA@p.example", "battery staple")
		if err != nil || id != twin.ID {
			t.Error(id, err)
		}
		for _, bad := range [][2]string{{"ada@p.example", "wrong"}, {"ada@p.example", ""}, {"nobody@p.example", "correct horse"}} {
			if _, _, err := a.SignIn(ctx, bad[0], bad[1]); err != accounts.ErrUnauthenticated {
				t.Error(bad, err)
			}
		}
		if err := a.SetPassword(ctx, twin.ID, "short", ""); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		// A new password ends the other sessions.
		other, _, err := a.SignIn(ctx, "ada@p.example", "battery staple")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.SetPassword(ctx, twin.ID, "a third one", session); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Session(ctx, session); err != nil {
			t.Error("own session:", err)
		}
		if _, err := a.Session(ctx, other); err != accounts.ErrUnauthenticated {
			t.Error("other session:", err)
		}
		if err := a.SignOut(ctx, session); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Session(ctx, session); err != accounts.ErrUnauthenticated {
			t.Error("after signing out:", err)
		}
	})
}
