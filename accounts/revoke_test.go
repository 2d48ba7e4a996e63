package accounts

import (
	"context"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// trusting makes a room believe what it knows for an hour instead of a second, so that only a revocation ends it.
func (a *Accounts) trusting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, k := range a.callers {
		k.until = time.Now().Add(time.Hour)
		a.callers[name] = k
	}
}

// Two nodes on PostgreSQL: what one revokes the other hears of, and does not wait out its trust.
func TestRevocationIsHeardOnOtherNodes(t *testing.T) {
	here := dbtest.Postgres(t)
	there := dbtest.Open(t, here.URL())
	a, b := New(here, Plan{}), New(there, Plan{})
	ctx, stop := context.WithCancel(t.Context())
	told := make(chan struct{})
	defer there.Listen(channel, func(string) { told <- struct{}{} })()
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()
	defer func() { stop(); <-done }()
	acc, err := a.Create(ctx, here, Draft{})
	if err != nil {
		t.Fatal(err)
	}
	for listens := false; !listens; { // Run is on its way
		b.mu.Lock()
		b.callers["probe"] = known{Caller: Caller{Account: 99}, until: time.Now().Add(time.Hour)}
		b.mu.Unlock()
		for range 2 { // one message is through with all listeners before the next
			if err := here.Notify(ctx, channel, "99"); err != nil {
				t.Fatal(err)
			}
			<-told
		}
		_, _, knows := b.recall("probe")
		listens = !knows
	}
	for name, revoke := range map[string]func(Key) error{
		"delete": func(k Key) error { return a.DeleteKey(ctx, here, acc.ID, k.ID) },
		"suspend": func(Key) error {
			yes := true
			_, err := a.SetTerms(ctx, here, acc.ID, Terms{Suspended: &yes})
			return err
		},
	} {
		no := false
		if _, err := a.SetTerms(ctx, here, acc.ID, Terms{Suspended: &no}); err != nil {
			t.Fatal(err)
		}
		<-told
		k, token, err := a.CreateKey(ctx, here, acc.ID, name)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // asked of the database, then remembered
			if _, err := b.Verify(ctx, token, "192.0.2.1"); err != nil {
				t.Fatal(name, err)
			}
			b.trusting()
		}
		if err := revoke(k); err != nil {
			t.Fatal(name, err)
		}
		<-told
		if err := here.Notify(ctx, channel, "0"); err != nil {
			t.Fatal(err)
		}
		<-told
		if _, err := b.Verify(ctx, token, "192.0.2.1"); err != ErrUnauthenticated {
			t.Error(name, err)
		}
	}
}

// A key that is deleted while another request has just read it from the database is not remembered.
func TestWhatWasReadBeforeARevocationIsNotRemembered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := New(d, Plan{}), t.Context()
		acc, err := a.Create(ctx, d, Draft{})
		if err != nil {
			t.Fatal(err)
		}
		k, token, err := a.CreateKey(ctx, d, acc.ID, "k")
		if err != nil {
			t.Fatal(err)
		}
		_, revoked, _ := a.recall("key 1")
		found, err := a.findKey(ctx, k.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.DeleteKey(ctx, d, acc.ID, k.ID); err != nil {
			t.Fatal(err)
		}
		a.remember("key 1", found, revoked)
		if _, err := a.Verify(ctx, token, "192.0.2.1"); err != ErrUnauthenticated {
			t.Error(err)
		}
	})
}
