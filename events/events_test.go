package events

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/db"
	"parley/db/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEventsReachTheirAccountOnEveryNode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		near := New(d)
		defer near.Close()
		far := near
		if d.Postgres() { // SQLite has one process
			far = New(dbtest.Open(t, d.URL()))
			defer far.Close()
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		mine, others := far.Subscribe(ctx, 1, 0), far.Subscribe(ctx, 2, 0)
		for _, account := range []int64{2, 1} {
			if err := near.Publish(ctx, account, "call", map[string]int64{"id": account}); err != nil {
				t.Fatal(err)
			}
		}
		first := <-mine
		if first.Account != 1 || string(first.Data) != `{"id":1}` {
			t.Errorf("got %+v", first)
		}
		if e := <-others; e.Account != 2 {
			t.Errorf("account 2 got %+v", e)
		}
		if err := near.Publish(ctx, 1, "call", 2); err != nil {
			t.Fatal(err)
		}
		second := <-mine
		if second.ID <= first.ID {
			t.Error("ids do not rise")
		}
		if e := <-far.Subscribe(ctx, 1, first.ID); e.ID != second.ID {
			t.Errorf("after %d came %d, want %d", first.ID, e.ID, second.ID)
		}
		stop()
		if _, open := <-mine; open {
			t.Error("a subscription outlives its context")
		}
	})
}

func TestSlowClientIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{recent: map[int64][]Event{}, watchers: map[int64]map[chan Event]struct{}{}}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w := h.Subscribe(ctx, 1, 0)
		for i := range remember + backlog + 1 {
			h.take(Event{ID: int64(i + 1), Account: 1})
		}
		n := 0
		for range w {
			n++
		}
		if n != remember+backlog {
			t.Errorf("%d events were waiting, want %d", n, remember+backlog)
		}
	})
}

func TestLostConnectionSendsClientsAway(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the loss is on purpose
	d := dbtest.Postgres(t)
	h := New(d)
	defer h.Close()
	w := h.Subscribe(t.Context(), 1, 0)
	if _, err := d.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN parley'`); err != nil {
		t.Fatal(err)
	}
	if e, open := <-w; open {
		t.Errorf("got %+v", e)
	}
}

func TestQuietAccountsAreForgotten(t *testing.T) {
	h := &Hub{recent: map[int64][]Event{}, watchers: map[int64]map[chan Event]struct{}{}}
	old := time.Now().Add(-time.Hour).UnixMicro()
	for i := range int64(accountsKept) {
		h.take(Event{ID: old + i, Account: i})
	}
	h.take(Event{ID: time.Now().UnixMicro(), Account: -1})
	if len(h.recent) != 1 {
		t.Errorf("%d accounts are kept", len(h.recent))
	}
}
