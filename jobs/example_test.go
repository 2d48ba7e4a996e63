package jobs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"parley/db"
	"parley/jobs"
)

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d, err := db.Open(ctx, "sqlite:"+filepath.Join(dir, "example.db"))
	if err != nil {
		panic(err)
	}
	defer d.Close()

	r := jobs.NewRunner(d)
	r.Register("greet", jobs.Options{MaxAttempts: 3}, func(ctx context.Context, j jobs.Job) error {
		var name string
		if err := j.Decode(&name); err != nil {
			return jobs.Never(err)
		}
		fmt.Println("hello", name)
		stop()
		return nil
	})
	err = d.Do(ctx, func(tx *db.Tx) error { // the job exists when this commits
		return r.Add(ctx, tx, jobs.New{Kind: "greet", Args: "Ada", Unique: "greet:ada"})
	})
	if err != nil {
		panic(err)
	}
	if err := r.Run(ctx); err != nil { // until ctx ends and what runs is done
		panic(err)
	}
	// Output: hello Ada
}
