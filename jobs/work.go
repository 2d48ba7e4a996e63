package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"parley/db"
	"parley/safe"
)

// do runs one claimed job and records how it ended.
func (r *Runner) do(ctx context.Context, j Job) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.mu.Lock()
	r.running[j.ID] = &run{time.Now(), j, stop}
	r.mu.Unlock()
	err := r.call(ctx, j)
	if err != nil && context.Cause(ctx) == errStopping {
		err = Snooze(r.db.Now()) // not its fault: the next process takes it at once
	}
	r.record(context.WithoutCancel(ctx), j, err)
}

// call runs the handler within its time; a panic is an error.
func (r *Runner) call(ctx context.Context, j Job) error {
	k := r.kinds[j.Kind]
	if j.Try > j.max {
		return never{errors.New("its node died at the last try")}
	}
	ctx, cancel := context.WithTimeout(db.Patient(ctx), k.Timeout)
	defer cancel()
	return safe.Do("job "+j.Kind, func() error { return k.handle(ctx, j) })
}

// record writes the end of a run: at once, but for successes, which are written together.
func (r *Runner) record(ctx context.Context, j Job, err error) {
	if err == nil {
		r.success <- j
		return
	}
	defer r.leave(j)
	result := "retry"
	for try := 1; ; try++ {
		werr := safe.Do("end of job "+j.Kind, func() error {
			return r.db.Do(ctx, func(tx *db.Tx) (err2 error) {
				result, err2 = r.fail(ctx, tx, j, err)
				return err2
			})
		})
		if werr == nil {
			break
		}
		slog.Error("the end of a job cannot be recorded", "kind", j.Kind, "job", j.ID, "err", werr)
		if try == 3 { // the lease brings the job back
			return
		}
		time.Sleep(time.Second)
	}
	r.count(j.Kind, result)
}

// fail reschedules the job or gives it up.
func (r *Runner) fail(ctx context.Context, tx *db.Tx, j Job, cause error) (result string, err error) {
	k, now := r.kinds[j.Kind], tx.Now()
	const mine = ` WHERE id = $1 AND attempt = $2 AND node = $3 AND done_at IS NULL`
	const free = `node = NULL, lease_until = 0, again_at = NULL`
	if s, ok := errors.AsType[snooze](cause); ok {
		_, err = tx.Exec(ctx, `UPDATE jobs SET `+free+`, run_at = CASE WHEN again_at < $4 THEN again_at ELSE $4 END`+mine, j.ID, j.attempt,
			j.node, db.At(s.at))
		tx.After(func() { r.wake(j.Queue) })
		return "snoozed", err
	}
	failures := j.Try
	text := strings.ReplaceAll(strings.ToValidUTF8(cause.Error(), "\uFFFD"), "\x00", "") // what TEXT can hold
	if _, hopeless := errors.AsType[never](cause); !hopeless && failures < j.max {
		slog.Warn("job failed, will be tried again", "kind", j.Kind, "job", j.ID, "try", j.Try, "err", cause)
		_, err = tx.Exec(ctx, `UPDATE jobs SET `+free+`, failures = $4, error = $5, run_at = CASE WHEN again_at < $6 THEN again_at ELSE $6 END`+mine,
			j.ID, j.attempt, j.node, failures, text, db.At(now.Add(k.Backoff(failures))))
		tx.After(func() { r.wake(j.Queue) })
		return "retry", err
	}
	slog.Error("job given up", "kind", j.Kind, "job", j.ID, "try", j.Try, "err", cause)
	// Added again while it failed: that is new work, with its own tries.
	if n, err := tx.Exec(ctx, `UPDATE jobs SET node = NULL, lease_until = 0, failures = 0, error = $4, run_at = again_at, again_at = NULL`+mine+` AND again_at IS NOT NULL`,
		j.ID, j.attempt, j.node, text); n > 0 || err != nil {
		tx.After(func() { r.wake(j.Queue) })
		return "failed", err
	}
	n, err := tx.Exec(ctx, `UPDATE jobs SET node = NULL, lease_until = 0, failures = $4, error = $5, done_at = $6, failed = TRUE`+mine,
		j.ID, j.attempt, j.node, failures, text, db.At(now))
	if err == nil && n == 1 && k.GaveUp != nil {
		err = k.GaveUp(ctx, tx, j, cause)
	}
	return "failed", err
}

// complete records successes, as many at once as have gathered: one commit for all of them.
func (r *Runner) complete(ctx context.Context) {
	for j := range r.success {
		batch := []Job{j}
	gather:
		for len(batch) < 500 {
			select {
			case j, ok := <-r.success:
				if !ok {
					break gather
				}
				batch = append(batch, j)
			default:
				break gather
			}
		}
		err := r.finishAll(ctx, batch)
		if err != nil { // the leases bring the jobs back
			slog.Error("finished jobs cannot be recorded", "count", len(batch), "err", err)
		}
		for _, j := range batch {
			r.count(j.Kind, "done")
			r.leave(j)
		}
	}
}

// finishAll records successes. While the database is away it tries again, unless the process stops: done again they would
// cost more than a wait.
func (r *Runner) finishAll(ctx context.Context, batch []Job) error {
	defer r.owing.Store(false)
	for {
		err := safe.Do("record of jobs", func() error {
			return r.db.Do(ctx, func(tx *db.Tx) error {
				_, err := finish(ctx, tx, batch, r.db.Now())
				return err
			})
		})
		if !db.Away(err) {
			return err
		}
		r.owing.Store(true)
		select {
		case <-r.stopping:
			return err
		case <-time.After(r.poll / 4):
		}
	}
}

// finish marks jobs done, or due again when they were added again while they ran. It tells how many were still ours.
func finish(ctx context.Context, tx *db.Tx, jobs []Job, now time.Time) (int64, error) {
	args := []any{db.At(now), jobs[0].node}
	var in strings.Builder
	for _, j := range jobs {
		args = append(args, j.ID, j.attempt)
		in.WriteString(",(CAST($" + strconv.Itoa(len(args)-1) + " AS BIGINT),CAST($" + strconv.Itoa(len(args)) + " AS BIGINT))")
	}
	return tx.Exec(ctx, `UPDATE jobs SET node = NULL, lease_until = 0, error = NULL, failures = 0,
		done_at = CASE WHEN again_at IS NULL THEN CAST($1 AS BIGINT) END,
		run_at = coalesce(again_at, run_at), again_at = NULL
		WHERE done_at IS NULL AND node = $2 AND (id, attempt) IN (VALUES `+in.String()[1:]+`)`, args...)
}

// leave forgets a run and wakes who waits for quiet, and the lane in case the job is due again.
func (r *Runner) leave(j Job) {
	r.mu.Lock()
	if cur := r.running[j.ID]; cur != nil && cur.job.attempt == j.attempt {
		delete(r.running, j.ID)
	}
	r.mu.Unlock()
	r.poke(j.Queue)
	select {
	case r.ended <- struct{}{}:
	default:
	}
}

// beat renews the leases of running jobs; whose lease cannot be renewed is told to stop.
func (r *Runner) beat(ctx context.Context) {
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.heartbeat):
		}
		start := time.Now()
		kept, err := r.renew(ctx, start)
		if err != nil {
			if ctx.Err() == nil {
				slog.Error("leases of jobs cannot be renewed", "err", err)
			}
			if time.Since(renewed) < r.lease-r.heartbeat/2 {
				continue
			}
		} else {
			renewed = start
		}
		r.mu.Lock()
		for id, run := range r.running {
			if run.since.Before(start) && !kept[id] {
				run.stop(ErrLost)
			}
		}
		r.mu.Unlock()
	}
}

// renew moves the leases of this node's running jobs on and tells which it still has.
func (r *Runner) renew(ctx context.Context, now time.Time) (map[int64]bool, error) {
	r.mu.Lock()
	var ids []int64
	for id := range r.running {
		ids = append(ids, id)
	}
	r.mu.Unlock()
	kept := map[int64]bool{}
	if len(ids) == 0 {
		return kept, nil
	}
	ctx, stop := context.WithTimeout(ctx, r.heartbeat)
	defer stop()
	in, args := db.In(3, ids)
	var still []int64
	err := r.db.Select(ctx, &still, `UPDATE jobs SET lease_until = $1 WHERE done_at IS NULL AND node = $2 AND id IN `+in+` RETURNING id`,
		append([]any{db.At(now.Add(r.lease)), r.node}, args...)...)
	for _, id := range still {
		kept[id] = true
	}
	return kept, err
}
