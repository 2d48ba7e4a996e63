package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
)

// start runs r until the end of the test.
func start(t *testing.T, r *jobs.Runner) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func add(t *testing.T, r *jobs.Runner, q db.Q, n jobs.New) {
	t.Helper()
	if err := r.Add(context.Background(), q, n); err != nil {
		t.Fatal(err)
	}
}

type state struct {
	Kind     string
	Done     bool
	Failed   bool
	Failures int
	Error    *string
}

func states(t *testing.T, d *db.DB) []state {
	t.Helper()
	var out []state
	if err := d.Select(context.Background(), &out, `SELECT kind, done_at IS NOT NULL AS done, failed, failures, error FROM jobs WHERE queue <> 'periodic' ORDER BY id`); err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits for a state of the database that a job brings about just after its handler has returned.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(20 * time.Second); !ok(); {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal("never seen:", what)
		}
	}
}

func TestJobExistsWhenItsTransactionCommits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		got := make(chan string, 4)
		r.Register("greet", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			var args struct{ Name string }
			if err := j.Decode(&args); err != nil {
				return err
			}
			got <- args.Name
			return nil
		})
		start(t, r)
		no := errors.New("no")
		for name, result := range map[string]error{"dropped": no, "kept": nil} {
			err := d.Do(t.Context(), func(tx *db.Tx) error {
				add(t, r, tx, jobs.New{Kind: "greet", Args: map[string]string{"Name": name}})
				return result
			})
			if err != result {
				t.Fatal(err)
			}
		}
		if name := <-got; name != "kept" {
			t.Error(name)
		}
		until(t, "done", func() bool { s := states(t, d); return len(s) == 1 && s[0].Done && !s[0].Failed })
		if err := r.Add(t.Context(), d, jobs.New{Kind: "unheard of"}); err == nil {
			t.Error("an unknown kind was added")
		}
	})
}

func TestManyNodesRunEachJobOnce(t *testing.T) {
	url := dbtest.PostgresURL(t)
	const n = 400
	var mu sync.Mutex
	seen := map[int]int{}
	var all sync.WaitGroup
	all.Add(n)
	var runners []*jobs.Runner
	for range 4 {
		d := dbtest.Open(t, url, db.Conns(4))
		r := jobs.NewRunner(d)
		r.Register("count", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			var i int
			if err := j.Decode(&i); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[i]++; seen[i] == 1 {
				all.Done()
			}
			return nil
		})
		runners = append(runners, r)
		start(t, r)
	}
	d := dbtest.Open(t, url)
	for i := range 8 {
		err := d.Do(t.Context(), func(tx *db.Tx) error {
			for k := range n / 8 {
				add(t, runners[i%4], tx, jobs.New{Kind: "count", Args: i*n/8 + k})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	until(t, "all done", func() bool {
		return !slices.ContainsFunc(states(t, d), func(s state) bool { return !s.Done })
	})
	for i, times := range seen {
		if times != 1 {
			t.Errorf("job %d ran %d times", i, times)
		}
	}
}

func TestEndings(t *testing.T) {
	boom := errors.New("boom \x00\xff")
	for _, c := range []struct {
		name string
		do   func(j jobs.Job) error
		runs int
		want state
	}{
		{"success", func(j jobs.Job) error { return nil }, 1, state{Done: true}},
		{"second try", func(j jobs.Job) error {
			if j.Try < 2 {
				return boom
			}
			return nil
		}, 2, state{Done: true}},
		{"given up", func(j jobs.Job) error { return boom }, 3, state{Done: true, Failed: true, Failures: 3}},
		{"hopeless", func(j jobs.Job) error { return fmt.Errorf("read: %w", jobs.Never(boom)) }, 1, state{Done: true, Failed: true, Failures: 1}},
		{"panic", func(j jobs.Job) error {
			if j.Try < 3 {
				panic("ouch")
			}
			return nil
		}, 3, state{Done: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				r := jobs.NewRunner(d)
				var gaveUp []error
				o := jobs.Options{MaxAttempts: 3, Backoff: func(int) time.Duration { return 0 },
					GaveUp: func(ctx context.Context, tx *db.Tx, j jobs.Job, cause error) error {
						gaveUp = append(gaveUp, cause)
						return nil
					}}
				runs := 0
				r.Register("work", o, func(ctx context.Context, j jobs.Job) error {
					runs++
					return c.do(j)
				})
				add(t, r, d, jobs.New{Kind: "work"})
				stop := start(t, r)
				until(t, "the end", func() bool { return states(t, d)[0].Done })
				stop()
				got := states(t, d)[0]
				if (got.Error != nil) != c.want.Failed {
					t.Error("error:", got.Error)
				}
				got.Error, c.want.Kind = nil, "work"
				if got != c.want || runs != c.runs || (len(gaveUp) == 1) != c.want.Failed {
					t.Errorf("%+v after %d runs, gave up %v", got, runs, gaveUp)
				}
			})
		})
	}
}

func TestTimeoutEndsTheContext(t *testing.T) {
	d := dbtest.SQLite(t)
	r := jobs.NewRunner(d)
	got := make(chan error, 1)
	r.Register("slow", jobs.Options{Timeout: time.Millisecond, MaxAttempts: 1}, func(ctx context.Context, j jobs.Job) error {
		<-ctx.Done()
		got <- ctx.Err()
		return ctx.Err()
	})
	start(t, r)
	add(t, r, d, jobs.New{Kind: "slow"})
	if err := <-got; err != context.DeadlineExceeded {
		t.Error(err)
	}
}

func TestUniqueWaitsOnceAndRunsAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		began, goOn := make(chan int), make(chan error)
		r.Register("u", jobs.Options{Backoff: func(int) time.Duration { return 0 }}, func(ctx context.Context, j jobs.Job) error {
			var i int
			if err := j.Decode(&i); err != nil {
				return err
			}
			began <- i
			return <-goOn
		})
		later := d.Now().Add(time.Hour)
		add(t, r, d, jobs.New{Kind: "u", Args: 1, Unique: "u", RunAt: later})
		add(t, r, d, jobs.New{Kind: "u", Args: 2, Unique: "u", RunAt: later.Add(time.Hour)}) // no later than before
		var at db.Time
		if err := d.Get(t.Context(), &at, `SELECT run_at FROM jobs`); err != nil || at != db.At(later) {
			t.Error(at.Time(), err)
		}
		add(t, r, d, jobs.New{Kind: "u", Args: 3, Unique: "u"}) // brought forward
		stop := start(t, r)
		if i := <-began; i != 3 {
			t.Error("began", i)
		}
		add(t, r, d, jobs.New{Kind: "u", Args: 4, Unique: "u"}) // while it runs: once more
		add(t, r, d, jobs.New{Kind: "u", Args: 5, Unique: "u"})
		goOn <- nil
		if i := <-began; i != 5 {
			t.Error("again", i)
		}
		add(t, r, d, jobs.New{Kind: "u", Args: 6, Unique: "u"})
		goOn <- jobs.Never(errors.New("given up, but asked again meanwhile"))
		if i := <-began; i != 6 {
			t.Error("after giving up", i)
		}
		goOn <- nil
		until(t, "done", func() bool { s := states(t, d); return s[0].Done })
		stop()
		if s := states(t, d); len(s) != 1 || s[0].Failed {
			t.Error(s)
		}
		add(t, r, d, jobs.New{Kind: "u", Args: 7, Unique: "u"}) // done ones are no obstacle
		if s := states(t, d); len(s) != 2 {
			t.Error(s)
		}
	})
}

func TestOrderIsPriorityThenDueTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		r.Queue("q", 1)
		got := make(chan string, 4)
		r.Register("k", jobs.Options{Queue: "q"}, func(ctx context.Context, j jobs.Job) error { got <- string(j.Args); return nil })
		now := d.Now()
		add(t, r, d, jobs.New{Kind: "k", Args: 4, RunAt: now.Add(-3 * time.Second), Priority: jobs.Low})
		add(t, r, d, jobs.New{Kind: "k", Args: 3, RunAt: now.Add(-1 * time.Second)})
		add(t, r, d, jobs.New{Kind: "k", Args: 2, RunAt: now.Add(-2 * time.Second)})
		add(t, r, d, jobs.New{Kind: "k", Args: 1, Priority: jobs.High})
		start(t, r)
		for want := 1; want <= 4; want++ {
			if i := <-got; i != fmt.Sprint(want) {
				t.Errorf("got %s, want %d", i, want)
			}
		}
	})
}

func TestParallelBoundsAKind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		began, goOn := make(chan int64, 8), make(chan struct{})
		r.Register("bounded", jobs.Options{Parallel: 2}, func(ctx context.Context, j jobs.Job) error {
			began <- j.ID
			<-goOn
			return nil
		})
		free := make(chan struct{}, 1)
		r.Register("free", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { free <- struct{}{}; return nil })
		for range 5 {
			add(t, r, d, jobs.New{Kind: "bounded"})
		}
		add(t, r, d, jobs.New{Kind: "free"})
		start(t, r)
		<-began
		<-began
		<-free // the bounded ones do not block the queue
		var running int
		if err := d.Get(t.Context(), &running, `SELECT count(*) FROM jobs WHERE kind = 'bounded' AND node IS NOT NULL`); err != nil || running != 2 || len(began) != 0 {
			t.Error(running, len(began), err)
		}
		close(goOn)
		for range 3 {
			<-began
		}
	})
}

func TestCompleteIsExactlyOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), `CREATE TABLE effects (n BIGINT)`); err != nil {
			t.Fatal(err)
		}
		r := jobs.NewRunner(d)
		results := make(chan error, 2)
		r.Register("fx", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			effect := func() error {
				return d.Do(ctx, func(tx *db.Tx) error {
					if _, err := tx.Exec(ctx, `INSERT INTO effects VALUES (1)`); err != nil {
						return err
					}
					return j.Complete(ctx, tx)
				})
			}
			results <- effect()
			results <- effect() // as a node would that has lost the job
			return nil
		})
		start(t, r)
		add(t, r, d, jobs.New{Kind: "fx"})
		if err := <-results; err != nil {
			t.Error(err)
		}
		if err := <-results; err != jobs.ErrLost {
			t.Error(err)
		}
		var n int
		if err := d.Get(t.Context(), &n, `SELECT count(*) FROM effects`); err != nil || n != 1 {
			t.Error(n, err)
		}
	})
}

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // failures are on purpose here
	goleak.VerifyTestMain(m)
}
