package accounts_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
)

func key(t *testing.T, a *accounts.Accounts, d *db.DB, owner accounts.ID, name string) (accounts.Key, string) {
	t.Helper()
	k, token, err := a.CreateKey(t.Context(), d, owner, name)
	if err != nil {
		t.Fatal(err)
	}
	return k, token
}

func TestTokenOpensItsAccountOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		one, two := create(t, a, d, accounts.Draft{}), create(t, a, d, accounts.Draft{})
		k1, token1 := key(t, a, d, one.ID, "first")
		_, token2 := key(t, a, d, two.ID, "second")
		if !regexp.MustCompile(`^1\|[A-Za-z0-9]{48}$`).MatchString(token1) || k1.ID != 1 || k1.Name != "first" || !k1.LastUsedAt.IsZero() {
			t.Error(token1, k1)
		}
		var stored []byte
		if err := d.Get(ctx, &stored, `SELECT secret FROM api_keys WHERE id = 1`); err != nil || len(stored) != 32 || strings.Contains(token1, string(stored)) {
			t.Error(stored, err)
		}
		for range 2 { // asked of the database, then remembered
			c, err := a.Verify(ctx, token1, "192.0.2.1")
			if err != nil || c != (accounts.Caller{Account: one.ID, Key: 1, Name: "first", Role: accounts.Owner, Scopes: "*"}) {
				t.Error(c, err)
			}
		}
		secret2 := strings.TrimPrefix(token2, "2|")
		for _, bad := range []string{"", "1", "1|", "|" + secret2, "1|" + secret2, "3|" + secret2, "x|" + secret2, token2 + "x", " " + token2,
			"99999999999999999999|" + secret2, "9999999999999999999|" + secret2, strings.Replace(token2, "2|", "02|x", 1)} {
			if c, err := a.Verify(ctx, bad, "192.0.2.1"); err != accounts.ErrUnauthenticated {
				t.Errorf("%q: %v %v", bad, c, err)
			}
		}
	})
}

func TestDeletedKeyIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		one, two := create(t, a, d, accounts.Draft{}), create(t, a, d, accounts.Draft{})
		k, token := key(t, a, d, one.ID, "k")
		keep, _ := key(t, a, d, one.ID, "keep")
		if err := a.DeleteKey(ctx, d, two.ID, k.ID); !fault.Is(err, fault.NotFound) {
			t.Error("a stranger's key:", err)
		}
		if _, err := a.Verify(ctx, token, "192.0.2.1"); err != nil {
			t.Error(err)
		}
		if err := d.Do(ctx, func(tx *db.Tx) error { return a.DeleteKey(ctx, tx, one.ID, k.ID) }); err != nil {
			t.Error(err)
		}
		if _, err := a.Verify(ctx, token, "192.0.2.1"); err != accounts.ErrUnauthenticated {
			t.Error("at once:", err)
		}
		if err := a.DeleteKey(ctx, d, one.ID, k.ID); !fault.Is(err, fault.NotFound) {
			t.Error("twice:", err)
		}
		if keys, err := a.Keys(ctx, d, one.ID); err != nil || len(keys) != 1 || keys[0] != keep {
			t.Error(keys, err)
		}
	})
}

// Another process deletes the key, or suspends the account: a verified credential is believed for a second.
func TestRevocationBitesWithinASecondElsewhere(t *testing.T) {
	for name, revoke := range map[string]string{"delete": `DELETE FROM api_keys`, "suspend": `UPDATE accounts SET suspended_at = 1`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dbtest.SQLite(t)
				a, ctx := accounts.New(d, plan), t.Context()
				_, token := key(t, a, d, create(t, a, d, accounts.Draft{}).ID, "k")
				if _, err := a.Verify(ctx, token, "192.0.2.1"); err != nil {
					t.Fatal(err)
				}
				if _, err := d.Exec(ctx, revoke); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if _, err := a.Verify(ctx, token, "192.0.2.1"); err != accounts.ErrUnauthenticated {
					t.Error(err)
				}
			})
		})
	}
}

func TestSuspendedAccountIsRefusedAtOnceHere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc := create(t, a, d, accounts.Draft{})
		_, token := key(t, a, d, acc.ID, "k")
		for _, suspended := range []bool{false, true, false} {
			if _, err := a.SetTerms(ctx, d, acc.ID, accounts.Terms{Suspended: &suspended}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Verify(ctx, token, "192.0.2.1"); (err == accounts.ErrUnauthenticated) != suspended {
				t.Error(suspended, err)
			}
		}
	})
}

func TestLastUseIsWrittenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t)
		a := accounts.New(d, plan)
		acc := create(t, a, d, accounts.Draft{})
		_, token := key(t, a, d, acc.ID, "k")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- a.Run(ctx) }()
		lastUse := func() time.Time {
			keys, err := a.Keys(t.Context(), d, acc.ID)
			if err != nil {
				t.Fatal(err)
			}
			return keys[0].LastUsedAt.Time()
		}
		verify := func() time.Time {
			if _, err := a.Verify(t.Context(), token, "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
			return d.Now()
		}
		at := verify()
		time.Sleep(time.Second)
		if !lastUse().Equal(at) {
			t.Error("first use not written within a second:", lastUse(), at)
		}
		first := at
		at = verify()
		time.Sleep(time.Second)
		if !lastUse().Equal(first) {
			t.Error("each use is written on its own")
		}
		time.Sleep(59 * time.Second)
		if !lastUse().Equal(at) {
			t.Error("later use not written within a minute:", lastUse(), at)
		}
		time.Sleep(time.Hour)
		verify()
		at = verify()
		stop()
		if err := <-done; err != nil || !lastUse().Equal(at) {
			t.Error("not written at the end:", lastUse(), at, err)
		}
	})
}
