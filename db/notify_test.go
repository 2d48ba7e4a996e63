package db_test

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

func TestNotifyReachesListeners(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got, wrong := make(chan string, 4), make(chan string, 4)
		stop := d.Listen("a", func(p string) { got <- p })
		d.Listen("b", func(p string) { wrong <- p })
		if err := d.Notify(t.Context(), "a", "hello there"); err != nil {
			t.Fatal(err)
		}
		if p := <-got; p != "hello there" {
			t.Error(p)
		}
		stop()
		if err := d.Notify(t.Context(), "a", "nobody"); err != nil || len(got)+len(wrong) != 0 {
			t.Error(len(got), len(wrong), err)
		}
	})
}

func TestNotifyCrossesProcessesOnce(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	gotA, gotB := make(chan string, 4), make(chan string, 4)
	b.Listen("x", func(p string) { gotB <- p })
	a.Listen("x", func(p string) { gotA <- p })
	if err := b.Notify(t.Context(), "x", "once"); err != nil {
		t.Fatal(err)
	}
	if err := b.Notify(t.Context(), "x", "end"); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]chan string{"a": gotA, "b": gotB} {
		if first, second := <-got, <-got; first != "once" || second != "end" {
			t.Errorf("%s heard %q, %q", name, first, second)
		}
	}
}

var _ db.Q = (*db.Tx)(nil)

func TestListenersHearThatTheConnectionWasLost(t *testing.T) {
	d := dbtest.Postgres(t)
	got := make(chan string, 4)
	d.Listen("x", func(p string) { got <- p })
	exec(t, d, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN parley'`)
	if p := <-got; p != "" {
		t.Errorf("heard %q", p)
	}
}
