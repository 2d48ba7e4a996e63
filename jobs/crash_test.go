package jobs_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
)

// childMain is a process that claims the job of the test and never ends it.
func childMain() bool {
	url := os.Getenv("PARLEY_JOBS_CHILD")
	if url == "" {
		return false
	}
	d, err := db.Open(context.Background(), url)
	if err != nil {
		fmt.Println(err)
		return true
	}
	lease := jobs.Lease(300 * time.Millisecond)
	if name := os.Getenv("PARLEY_JOBS_NODE"); name != "" { // only its own next life takes the job over
		lease = func(r *jobs.Runner) { jobs.Node(name)(r); jobs.Lease(time.Hour)(r) }
	}
	r := jobs.NewRunner(d, lease)
	r.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
		fmt.Println("claimed")
		select {}
	})
	r.Run(context.Background())
	return true
}

func TestKilledNodeLosesNothing(t *testing.T) {
	for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t, url)
			r := jobs.NewRunner(d, jobs.Poll(50*time.Millisecond))
			tries := make(chan int, 2)
			r.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { tries <- j.Try; return nil })
			add(t, r, d, jobs.New{Kind: "work"})
			killChild(t, "PARLEY_JOBS_CHILD="+url)
			start(t, r)
			if try := <-tries; try != 2 {
				t.Error("try", try)
			}
			until(t, "done", func() bool { return states(t, d)[0].Done })
		})
	}
}

// killChild runs a process until it has claimed the job, and kills it.
func killChild(t *testing.T, env ...string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), env...)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "claimed\n" {
		t.Error(line, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
}

// A node that comes back under its name does not wait for the leases of its earlier life.
func TestKilledNodeComesBack(t *testing.T) {
	for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(t), "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t, url)
			r := jobs.NewRunner(d, jobs.Node("n1"))
			tries := make(chan int, 2)
			r.Register("work", jobs.Options{}, func(_ context.Context, j jobs.Job) error { tries <- j.Try; return nil })
			add(t, r, d, jobs.New{Kind: "work"})
			killChild(t, "PARLEY_JOBS_CHILD="+url, "PARLEY_JOBS_NODE=n1")
			start(t, r)
			if try := <-tries; try != 2 {
				t.Error("try", try)
			}
			until(t, "done", func() bool { return states(t, d)[0].Done })
		})
	}
}

func TestLostLeaseStopsTheRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d, jobs.Lease(60*time.Millisecond))
		began, ended := make(chan struct{}, 1), make(chan error, 1)
		r.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			began <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil
		})
		add(t, r, d, jobs.New{Kind: "work"})
		stop := start(t, r)
		<-began
		if _, err := d.Exec(t.Context(), `UPDATE jobs SET attempt = attempt + 1, node = 'thief', lease_until = $1 WHERE kind = 'work'`, db.At(time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != jobs.ErrLost {
			t.Error(err)
		}
		stop()
		if s := states(t, d); s[0].Done {
			t.Error("finished a job that belongs to another node")
		}
	})
}

func TestStopWaitsForRunningJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := jobs.NewRunner(d)
		began, goOn := make(chan struct{}), make(chan struct{})
		r.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error {
			close(began)
			<-goOn
			return ctx.Err()
		})
		add(t, r, d, jobs.New{Kind: "work"})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		<-began
		cancel()
		select {
		case <-done:
			t.Error("did not wait")
		default:
		}
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if s := states(t, d); !s[0].Done || s[0].Failed {
			t.Error(s)
		}
	})
}

func TestStopAfterGraceLeavesTheJobToTheNext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tries := make(chan int, 2)
		work := func(ctx context.Context, j jobs.Job) error {
			tries <- j.Try
			<-ctx.Done()
			return ctx.Err()
		}
		for range 2 {
			r := jobs.NewRunner(d, jobs.Grace(time.Millisecond))
			r.Register("work", jobs.Options{}, work)
			if len(states(t, d)) == 0 {
				add(t, r, d, jobs.New{Kind: "work"})
			}
			stop := start(t, r)
			if try := <-tries; try != 1 {
				t.Error("a stop counted as a failure: try", try)
			}
			stop()
		}
	})
}

func TestWordOfWorkCrossesProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	here, there := dbtest.Open(t, url), dbtest.Open(t, url)
	adds := jobs.NewRunner(here, jobs.Queues())
	works := jobs.NewRunner(there, jobs.Poll(time.Hour)) // only a notification can wake it
	ran := make(chan struct{}, 64)
	nobody := func(ctx context.Context, j jobs.Job) error { t.Error("ran on a node without queues"); return nil }
	adds.Register("work", jobs.Options{}, nobody)
	works.Register("work", jobs.Options{}, func(ctx context.Context, j jobs.Job) error { ran <- struct{}{}; return nil })
	start(t, adds)
	start(t, works)
	for heard := false; !heard; { // until the listening connection is up
		add(t, adds, here, jobs.New{Kind: "work"})
		select {
		case <-ran:
			heard = true
		case <-time.After(20 * time.Millisecond):
		}
	}
}
