package jobs_test

import (
	"context"
	"sync"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
)

// BenchmarkJobs is the life of a job that does nothing: added in a transaction of 100, claimed, done.
func BenchmarkJobs(b *testing.B) {
	for name, d := range map[string]*db.DB{
		"sqlite-full":   dbtest.SQLite(b, db.Synchronous("FULL")),
		"sqlite-normal": dbtest.SQLite(b, db.Synchronous("NORMAL")),
		"postgres":      dbtest.Postgres(b, db.Conns(20)),
	} {
		b.Run(name, func(b *testing.B) {
			r := jobs.NewRunner(d)
			r.Queue("bench", 64)
			var left sync.WaitGroup
			left.Add(b.N)
			r.Register("nothing", jobs.Options{Queue: "bench"}, func(context.Context, jobs.Job) error { left.Done(); return nil })
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			b.ResetTimer()
			for added := 0; added < b.N; {
				n := min(100, b.N-added)
				err := d.Do(ctx, func(tx *db.Tx) error {
					for range n {
						if err := r.Add(ctx, tx, jobs.New{Kind: "nothing"}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				added += n
			}
			left.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			stop()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}
