package db_test

import (
	"testing"

	"parley/db"
	"parley/db/dbtest"
)

func TestNotifyReachesListeners(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got := make(chan string, 4)
		stop := d.Listen("a", func(p string) { got <- p })
		d.Listen("b", func(p string) { t.Errorf("b heard %q", p) })
		if err := d.Notify(t.Context(), "a", "hello there"); err != nil {
			t.Fatal(err)
		}
		if p := <-got; p != "hello there" {
			t.Error(p)
		}
		stop()
		if err := d.Notify(t.Context(), "a", "nobody"); err != nil || len(got) != 0 {
			t.Error(len(got), err)
		}
	})
}

func TestNotifyCrossesProcessesOnce(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	got := make(chan string, 64)
	b.Listen("x", func(p string) { got <- "b " + p })
	a.Listen("x", func(p string) { got <- "a " + p })
	// The listening connection comes up in its own time: ring until it answers.
	for heard := false; !heard; {
		if err := a.Notify(t.Context(), "x", "warm"); err != nil {
			t.Fatal(err)
		}
		for drained := false; !drained; {
			select {
			case m := <-got:
				heard = heard || m == "b warm"
			default:
				drained = true
			}
		}
	}
	if err := b.Notify(t.Context(), "x", "once"); err != nil {
		t.Fatal(err)
	}
	if err := b.Notify(t.Context(), "x", "end"); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for count["a end"] == 0 || count["b end"] == 0 {
		count[<-got]++
	}
	if count["a once"] != 1 || count["b once"] != 1 {
		t.Error(count)
	}
}

var _ db.Q = (*db.Tx)(nil)
