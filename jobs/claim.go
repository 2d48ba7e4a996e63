package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"parley/db"
	"parley/safe"
)

const channel = "jobs" // of db.Notify; the payload is a queue, empty for all

// lane is a set of kinds in one queue that share a number of parallel runs on this node:
// a whole queue, or one kind with a bound of its own.
type lane struct {
	queue    string
	kinds    []string
	parallel int
	wake     chan struct{}
}

func (r *Runner) makeLanes() []*lane {
	shared := map[string]*lane{}
	var lanes []*lane
	for _, name := range slices.Sorted(maps.Keys(r.kinds)) {
		k := r.kinds[name]
		if r.only != nil && !slices.Contains(r.only, k.Queue) || slices.Contains(r.never, k.Queue) {
			continue
		}
		l := shared[k.Queue]
		if k.Parallel > 0 {
			l = nil
		}
		if l == nil {
			l = &lane{queue: k.Queue, parallel: cmp.Or(k.Parallel, r.parallel[k.Queue], 16), wake: make(chan struct{}, 1)}
			lanes = append(lanes, l)
			if k.Parallel == 0 {
				shared[k.Queue] = l
			}
		}
		l.kinds = append(l.kinds, name)
	}
	return lanes
}

// Run works jobs until ctx ends, then waits for those that run: they may go on for the grace, then their contexts end.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.recover(ctx); err != nil {
		return err
	}
	r.stopping = ctx.Done()
	lanes := r.makeLanes()
	r.mu.Lock()
	r.lanes = lanes
	r.mu.Unlock()
	defer r.db.Listen(channel, r.poke)()

	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	bound := context.AfterFunc(ctx, func() {
		select {
		case <-work.Done():
		case <-time.After(r.grace):
			stop(errStopping)
		}
	})
	defer bound()

	var loops, jobs, tail safe.Group
	tail.Loop(context.WithoutCancel(ctx), "record of jobs", r.complete)
	tail.Loop(work, "leases of jobs", r.beat)
	loops.Loop(ctx, "periodic jobs", r.tick)
	loops.Loop(ctx, "clock of jobs", r.settle)
	for i := range r.pulses {
		loops.Loop(ctx, r.pulses[i].kind, func(ctx context.Context) { r.pulses[i].beat(ctx, r.db) })
	}
	for _, l := range lanes {
		loops.Loop(ctx, "lane of jobs", func(ctx context.Context) { r.work(ctx, work, l, &jobs) })
	}
	loops.Wait()
	jobs.Wait()
	stop(nil)
	close(r.success)
	tail.Wait()
	r.tell.wait()
	return nil
}

// recover ends the leases of earlier lives: whatever ran died with them.
func (r *Runner) recover(ctx context.Context) error {
	whose, args := `node = $1`, []any{r.node}
	if !r.db.Postgres() { // the only process on this file
		whose, args = `node IS NOT NULL`, nil
	}
	_, err := r.db.Exec(ctx, `UPDATE jobs SET lease_until = 1 WHERE done_at IS NULL AND `+whose, args...)
	return err
}

// work claims and starts the jobs of one lane.
func (r *Runner) work(ctx, work context.Context, l *lane, jobs *safe.Group) {
	slots := make(chan struct{}, l.parallel)
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}: // at least one is free
			<-slots
		case <-ctx.Done():
			return
		}
		if r.owing.Load() {
			r.idle(ctx, l)
			continue
		}
		claimed, err := r.claim(ctx, l, l.parallel-len(slots))
		if err != nil && ctx.Err() == nil {
			slog.Error("jobs cannot be claimed", "queue", l.queue, "err", err)
		}
		for _, j := range claimed {
			slots <- struct{}{}
			jobs.Go("job", func() {
				defer func() { <-slots }()
				r.do(work, j)
			})
		}
		if len(claimed) == 0 {
			r.idle(ctx, l)
		}
	}
}

// idle waits until a lane has something to claim: until word of work comes, or a look every poll finds a due job.
func (r *Runner) idle(ctx context.Context, l *lane) {
	least := 20 * time.Millisecond // what is due and yet was not claimed is locked by somebody
	for {
		wait := r.look(ctx, l)
		if wait <= 0 && least == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
			return
		case <-time.After(max(wait, least)):
		}
		least = 0
	}
}

type claimed struct {
	ID          int64
	Kind        string
	Queue       string
	Args        string
	Attempt     int64
	Failures    int
	MaxAttempts int
	RunAt       db.Time
	CreatedAt   db.Time
}

// claim takes up to n due jobs of a lane, the most urgent first. One index range per priority keeps it cheap
// however many jobs wait for a later time.
func (r *Runner) claim(ctx context.Context, l *lane, n int) (out []Job, err error) {
	kinds, args := db.In(8, l.kinds)
	err = r.db.Do(ctx, func(tx *db.Tx) error {
		out = nil
		now, real := r.db.Now(), time.Now()
		for priority := High; priority <= Low && len(out) < n; priority++ {
			var rows []claimed
			err := tx.Select(ctx, &rows, `UPDATE jobs SET attempt = attempt + 1, node = $1, lease_until = $2,
				failures = failures + CASE WHEN node IS NULL THEN 0 ELSE 1 END
				WHERE id IN (SELECT id FROM jobs WHERE done_at IS NULL AND queue = $3 AND priority = $4 AND run_at <= $5
					AND lease_until < $6 AND kind IN `+kinds+` ORDER BY run_at LIMIT $7 {{skip locked}})
				RETURNING id, kind, queue, args, attempt, failures, max_attempts, run_at, created_at`,
				append([]any{r.node, db.At(real.Add(r.lease)), l.queue, priority, db.At(now), db.At(real), n - len(out)}, args...)...)
			if err != nil {
				return err
			}
			slices.SortFunc(rows, func(a, b claimed) int { return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID)) })
			for _, c := range rows {
				out = append(out, Job{ID: c.ID, Kind: c.Kind, Queue: c.Queue, Args: json.RawMessage(c.Args), Try: c.Failures + 1,
					RunAt: c.RunAt.Time(), CreatedAt: c.CreatedAt.Time(), attempt: c.Attempt, max: c.MaxAttempts, node: r.node})
			}
		}
		return nil
	})
	return out, err
}

// look tells how long until a job of the lane may be claimed, at most a poll.
func (r *Runner) look(ctx context.Context, l *lane) time.Duration {
	wait := r.poll/2 + rand.N(r.poll/2) // nodes do not poll in step
	kinds, args := db.In(3, l.kinds)
	first := func(priority string) string { // an index range of its own
		return `SELECT min(run_at) AS due FROM jobs WHERE done_at IS NULL AND queue = $1 AND priority = ` + priority +
			` AND (node IS NULL OR lease_until < $2) AND kind IN ` + kinds
	}
	var due db.Time
	err := r.db.Get(ctx, &due, `SELECT min(due) FROM (`+first("-1")+` UNION ALL `+first("0")+` UNION ALL `+first("1")+`) AS first`,
		append([]any{l.queue, db.At(time.Now())}, args...)...)
	now := r.db.Now()
	if err != nil || due.IsZero() || r.db.IsManual() && due.Time().After(now) { // whoever moves the clock wakes the lanes
		return wait
	}
	return min(wait, due.Time().Sub(now))
}

// wake tells this process at once, and the others soon, that a queue (empty: every queue) has work.
func (r *Runner) wake(queue string) {
	r.poke(queue)
	if r.db.Postgres() {
		r.tell.say(queue)
	}
}

func (r *Runner) poke(queue string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if queue == "" || l.queue == queue {
			select {
			case l.wake <- struct{}{}:
			default:
			}
		}
	}
}

// teller sends each word at most once per 20 ms: a NOTIFY per job would cut the rate of commits to a fraction.
type teller struct {
	send func(string)
	mu   sync.Mutex
	said map[string]*saying
	wg   safe.Group
}

type saying struct{ again bool }

const quiet = 20 * time.Millisecond

func (t *teller) say(word string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.said[word]; s != nil {
		s.again = true
		return
	}
	if t.said == nil {
		t.said = map[string]*saying{}
	}
	t.said[word] = &saying{}
	t.wg.Go("word of jobs", func() { t.repeat(word) })
}

// repeat sends, and again after the quiet time, as long as the word was said meanwhile.
func (t *teller) repeat(word string) {
	for {
		t.send(word)
		time.Sleep(quiet)
		t.mu.Lock()
		s := t.said[word]
		if !s.again {
			delete(t.said, word)
			t.mu.Unlock()
			return
		}
		s.again = false
		t.mu.Unlock()
	}
}

func (t *teller) wait() { t.wg.Wait() }
