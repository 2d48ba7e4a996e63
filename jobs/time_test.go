package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
)

// eachManual is dbtest.Each with a manual clock.
func eachManual(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) { fn(t, dbtest.SQLite(t, db.Manual())) })
	t.Run("postgres", func(t *testing.T) { fn(t, dbtest.Postgres(t, db.Manual())) })
}

func TestSettleWorksOffInDueOrderEachAtItsMoment(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		begin := d.Now()
		seen := make(chan string, 32)
		log := func(what string) { seen <- what + " " + d.Now().Sub(begin).String() }
		r.Register("plain", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { log("plain"); return nil })
		r.Register("adds", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			log("adds")
			return r.Add(ctx, d, jobs.New{Kind: "plain", RunAt: d.Now().Add(30 * time.Minute)})
		})
		r.Register("fails", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			log("fails")
			if j.Try < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		r.Register("snoozes", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			log("snoozes")
			if d.Now().Sub(begin) < 5*time.Hour {
				return jobs.Snooze(begin.Add(5 * time.Hour))
			}
			return nil
		})
		var periodic, pulses atomic.Int64
		r.Every("sync", 5*time.Minute, func(ctx context.Context, now time.Time) error { periodic.Add(1); return nil })
		r.Pulse("look", time.Hour, func(ctx context.Context, now time.Time) error { pulses.Add(1); return nil })
		add(t, r, d, jobs.New{Kind: "plain", RunAt: begin.Add(3 * time.Hour)})
		add(t, r, d, jobs.New{Kind: "adds", RunAt: begin.Add(1 * time.Hour)})
		add(t, r, d, jobs.New{Kind: "fails", RunAt: begin.Add(2 * time.Hour)})
		add(t, r, d, jobs.New{Kind: "snoozes", RunAt: begin.Add(4 * time.Hour)})
		add(t, r, d, jobs.New{Kind: "plain", RunAt: begin.Add(11 * time.Hour)})
		start(t, r)
		now, settled, err := r.Advance(t.Context(), 10*time.Hour)
		if !settled || err != nil || now.Sub(begin) != 10*time.Hour || !d.Now().Equal(now) {
			t.Fatal(now, settled, err)
		}
		want := []string{"adds 1h0m0s", "plain 1h30m0s", "fails 2h0m0s", "fails 2h0m1s", "fails 2h0m3s", "plain 3h0m0s", "snoozes 4h0m0s", "snoozes 5h0m0s"}
		var got []string
		for len(seen) > 0 {
			got = append(got, <-seen)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if p := periodic.Load(); p != 2 { // at the start and at the end of the advance
			t.Error("periodic ran", p)
		}
		if p := pulses.Load(); p != 1 {
			t.Error("pulse ran", p)
		}
	})
}

func TestSettleThatTakesTooLongGoesOn(t *testing.T) {
	d := dbtest.SQLite(t, db.Manual())
	r := jobs.NewRunner(d)
	goOn := make(chan struct{})
	r.Register("slow", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { <-goOn; return nil })
	begin := d.Now()
	add(t, r, d, jobs.New{Kind: "slow", RunAt: begin.Add(time.Hour)})
	start(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, settled, err := r.Advance(ctx, 2*time.Hour); settled || err != nil {
		t.Error(settled, err)
	}
	close(goOn)
	now, settled, err := r.Advance(t.Context(), time.Hour) // counts from where the first one is going
	if !settled || err != nil || now.Sub(begin) != 3*time.Hour || !d.Now().Equal(now) {
		t.Error(now.Sub(begin), settled, err)
	}
}

func TestRealClockDoesNotSettle(t *testing.T) {
	d := dbtest.SQLite(t)
	if _, err := jobs.NewRunner(d).Settle(t.Context(), time.Now().Add(time.Hour)); err != db.ErrRealClock {
		t.Error(err)
	}
}

func TestFutureJobRunsWhenDueNotAtTheNextPoll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d, jobs.Poll(time.Hour))
		at := make(chan time.Time, 1)
		r.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { at <- d.Now(); return nil })
		due := d.Now().Add(100 * time.Millisecond)
		start(t, r)
		add(t, r, d, jobs.New{Kind: "work", RunAt: due})
		if ran := <-at; ran.Before(due) {
			t.Error("too early by", due.Sub(ran))
		}
	})
}

func TestPeriodicRunsOncePerSlotOnAllNodes(t *testing.T) {
	url := dbtest.PostgresURL(t)
	const every = 50 * time.Millisecond
	runs := make(chan time.Time, 64)
	begin := time.Now()
	for range 3 {
		d := dbtest.Open(t, url, db.Conns(3))
		r := jobs.NewRunner(d)
		r.Every("beat", every, func(ctx context.Context, now time.Time) error { runs <- now; return nil })
		start(t, r)
	}
	for range 6 {
		<-runs
	}
	slots := int(time.Since(begin)/every) + 2
	if n := 6 + len(runs); n > slots {
		t.Errorf("%d runs in %d slots", n, slots)
	}
}

func TestPurgeForgetsWhatIsDone(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		r.Register("ok", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { return nil })
		r.Register("bad", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { return jobs.Never(errors.New("x")) })
		add(t, r, d, jobs.New{Kind: "ok"})
		add(t, r, d, jobs.New{Kind: "bad"})
		add(t, r, d, jobs.New{Kind: "ok", RunAt: d.Now().Add(1000 * time.Hour)})
		start(t, r)
		for _, want := range []string{"ok bad ok", "bad ok", "ok"} {
			var kinds []string
			for _, s := range states(t, d) {
				kinds = append(kinds, s.Kind)
			}
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			by := 25 * time.Hour
			if want == "bad ok" {
				by = 15 * 24 * time.Hour
			}
			if _, settled, err := r.Advance(t.Context(), by); !settled || err != nil {
				t.Fatal(settled, err)
			}
		}
	})
}

func TestMetrics(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		r.Register("a", jobs.Options{Queue: "q"}, func(ctx context.Context, j jobs.Job) error { return nil })
		add(t, r, d, jobs.New{Kind: "a", RunAt: d.Now().Add(-90 * time.Second)})
		add(t, r, d, jobs.New{Kind: "a", RunAt: d.Now().Add(time.Hour)})
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(r)
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				got[fmt.Sprintf("%s{%s}", f.GetName(), m.GetLabel()[0].GetValue())] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		want := map[string]float64{"parley_jobs_due{q}": 1, "parley_jobs_waiting{q}": 2, "parley_jobs_running{q}": 0, "parley_jobs_oldest_seconds{q}": 90}
		if !reflect.DeepEqual(got, want) {
			t.Error(got)
		}
	})
}
