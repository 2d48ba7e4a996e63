package accounts_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/secrets"

	"github.com/pquerna/otp/totp"
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

const horse, battery = "correct horse battery", "staple under the sea"

var from = accounts.Client{Address: "192.0.2.1", Agent: "test"}

func signIn(a *accounts.Accounts, t *testing.T, email, password, code string) (accounts.Opened, error) {
	return a.SignIn(t.Context(), accounts.Attempt{Email: email, Password: password, Code: code, From: from})
}

// withPassword is an account whose owner signs in by password.
func withPassword(t *testing.T, a *accounts.Accounts, d *db.DB, email, password string) (accounts.Account, accounts.User) {
	t.Helper()
	acc := create(t, a, d, accounts.Draft{Name: "Ada", Email: email})
	u, err := a.UserOf(t.Context(), d, email)
	if err == nil {
		err = a.SetPassword(t.Context(), u.ID, password, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return acc, u
}

func TestWelcomeLinkWorksOnceFor30Minutes(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc := create(t, a, d, accounts.Draft{Name: "Ada", Email: "Ada@p.example"})
		link := func() string {
			token, err := a.Welcome(ctx, d, acc.ID)
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		good, late := link(), link()
		advance(t, d, 30*time.Minute-time.Second)
		o, err := a.Redeem(ctx, good, from)
		if err != nil || o.Account != acc.ID {
			t.Error(o, err)
		}
		want := accounts.Caller{Account: acc.ID, User: o.User.ID, Name: "Ada", Email: "ada@p.example", Role: accounts.Owner, Scopes: "*", Recordings: true}
		if c, err := a.Session(ctx, o.Token); err != nil || c != want {
			t.Error(c, err)
		}
		if _, err := a.Redeem(ctx, good, from); err != accounts.ErrUnauthenticated {
			t.Error("twice:", err)
		}
		advance(t, d, time.Second)
		if _, err := a.Redeem(ctx, late, from); err != accounts.ErrUnauthenticated {
			t.Error("late:", err)
		}
		if err := a.Purge(ctx, d.Now()); err != nil {
			t.Fatal(err)
		}
		var links int
		if err := d.Get(ctx, &links, `SELECT count(*) FROM welcome_links`); err != nil || links != 0 {
			t.Error(links, err)
		}
		for range 3 { // its 30 days begin again with its use
			advance(t, d, 29*24*time.Hour)
			if _, err := accounts.New(d, plan).Session(ctx, o.Token); err != nil {
				t.Error("in use:", err)
			}
		}
		advance(t, d, 31*24*time.Hour)
		if _, err := accounts.New(d, plan).Session(ctx, o.Token); err != accounts.ErrUnauthenticated {
			t.Error("old session:", err)
		}
	})
}

func TestPasswordSignsIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc, u := withPassword(t, a, d, "ada@p.example", horse)
		o, err := signIn(a, t, " ADA@p.example", horse, "")
		if err != nil || o.Account != acc.ID {
			t.Error(o, err)
		}
		for _, bad := range [][2]string{{"ada@p.example", "wrong"}, {"ada@p.example", ""}, {"nobody@p.example", horse}} {
			if _, err := signIn(a, t, bad[0], bad[1], ""); err != accounts.ErrUnauthenticated {
				t.Error(bad, err)
			}
		}
		// A new password ends the other sessions.
		other, err := signIn(a, t, "ada@p.example", horse, "")
		if err != nil {
			t.Fatal(err)
		}
		if all, err := a.Sessions(ctx, d, u.ID, o.Token); err != nil || len(all) != 2 || all[0].Current || !all[1].Current {
			t.Error(all, err)
		}
		if err := a.SetPassword(ctx, u.ID, battery, o.Token); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Session(ctx, o.Token); err != nil {
			t.Error("own session:", err)
		}
		if _, err := a.Session(ctx, other.Token); err != accounts.ErrUnauthenticated {
			t.Error("other session:", err)
		}
		if err := a.SignOut(ctx, o.Token); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Session(ctx, o.Token); err != accounts.ErrUnauthenticated {
			t.Error("after signing out:", err)
		}
	})
}

func TestCommonPasswordsAreRefused(t *testing.T) {
	for _, bad := range []string{"", "short", "eleven char", "password1234", "Password123!", "123456789012", "qwertyuiopas", "letmeinletmein", "aaaaaaaaaaaa", "ada@p.example"} {
		if err := accounts.CheckPassword(bad, "ada@p.example", "Ada"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken: %v", bad, err)
		}
	}
	for _, good := range []string{horse, battery, "kz8Qm-2vPd_x7"} {
		if err := accounts.CheckPassword(good, "ada@p.example", "Ada"); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func TestWrongPasswordsAreCounted(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		a := accounts.New(d, plan)
		withPassword(t, a, d, "ada@p.example", horse)
		try := func(email, password, address string) error {
			_, err := a.SignIn(t.Context(), accounts.Attempt{Email: email, Password: password, From: accounts.Client{Address: address}})
			return err
		}
		for n := range 10 {
			if err := try("ada@p.example", "wrong", fmt.Sprint("192.0.2.", n)); err != accounts.ErrUnauthenticated {
				t.Error(n, err)
			}
		}
		if err := try("ada@p.example", horse, "192.0.2.99"); !fault.Is(err, fault.TooMany) {
			t.Error("the right one after ten wrong ones:", err)
		}
		advance(t, d, 15*time.Minute)
		for range 12 { // right ones do not count
			if err := try("ada@p.example", horse, "192.0.2.99"); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 30 {
			if err := try(fmt.Sprint("nobody", n), "wrong", "192.0.2.99"); err != accounts.ErrUnauthenticated {
				t.Error(n, err)
			}
		}
		if err := try("ada@p.example", horse, "192.0.2.99"); !fault.Is(err, fault.TooMany) {
			t.Error("after thirty from one address:", err)
		}
		if err := try("ada@p.example", horse, "192.0.2.98"); err != nil {
			t.Error("from another one:", err)
		}
	})
}

func TestSecondFactor(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		box, err := secrets.New(make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		a.Box = box
		_, u := withPassword(t, a, d, "ada@p.example", horse)
		secret, _, err := a.BeginTOTP(ctx, u.ID)
		if err != nil {
			t.Fatal(err)
		}
		code := func() string {
			c, err := totp.GenerateCode(secret, d.Now())
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if _, err := signIn(a, t, u.Email, horse, ""); err != nil {
			t.Error("before it is confirmed:", err)
		}
		if _, err := a.ConfirmTOTP(ctx, u.ID, "000000"); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		codes, err := a.ConfirmTOTP(ctx, u.ID, code())
		if err != nil || len(codes) != 10 {
			t.Fatal(codes, err)
		}
		if stored, err := a.User(ctx, d, u.ID); err != nil || stored.TOTP == nil || *stored.TOTP == secret {
			t.Error("not sealed:", stored.TOTP, err)
		}
		if _, err := signIn(a, t, u.Email, horse, ""); !errors.Is(err, accounts.ErrCodeNeeded) {
			t.Error("without a code:", err)
		}
		if _, err := signIn(a, t, u.Email, horse, code()); !fault.Is(err, fault.Invalid) {
			t.Error("a code that was used:", err)
		}
		advance(t, d, time.Minute)
		if _, err := signIn(a, t, u.Email, horse, code()); err != nil {
			t.Error(err)
		}
		for n, want := range []bool{true, false} {
			if _, err := signIn(a, t, u.Email, horse, codes[3]); (err == nil) != want {
				t.Error("recovery code,", n, err)
			}
		}
	})
}
