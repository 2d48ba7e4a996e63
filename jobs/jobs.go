// Package jobs runs work that must not be lost: a row with a due time, worked off by whichever node claims it.
//
// A job runs at least once. Its node holds a lease on it and renews it; when the node dies the lease runs out and
// another node claims the job. The attempt number fences: only the last claimant may finish a job.
package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"parley/db"
)

// Job is one claimed piece of work.
type Job struct {
	ID        int64
	Kind      string
	Queue     string
	Args      json.RawMessage
	Try       int // 1 for the first; a snooze is no try
	RunAt     time.Time
	CreatedAt time.Time

	attempt int64 // fencing token
	max     int
	node    string
}

// Decode reads the arguments into v.
func (j Job) Decode(v any) error { return json.Unmarshal(j.Args, v) }

// Priorities decide who goes first among the due jobs of a queue.
const (
	High   = -1
	Normal = 0
	Low    = 1
)

// New describes a job to add.
type New struct {
	Kind string
	Args any // stored as JSON

	// RunAt is the durable time before which it must not run; zero = now.
	RunAt time.Time

	// Unique names the work among all kinds ("dial:42"): while a job of this name waits, adding it again only brings it forward and
	// replaces the arguments; while it runs, it runs once more afterwards. Empty = not unique.
	Unique string

	Queue    string // empty = the queue of the kind
	Priority int    // High, Normal or Low
}

// Handler does a job. It must be able to start over: a job runs again after a crash.
// It returns nil, [Snooze], [Never] or an error to be tried again.
type Handler func(ctx context.Context, job Job) error

// Options say how jobs of a kind are run. The zero value is good for quick work.
type Options struct {
	Queue       string                           // default "default"
	Timeout     time.Duration                    // of one run; default 1 minute
	MaxAttempts int                              // tries before giving up; default 10
	Parallel    int                              // runs at once on one node; 0 = as the queue allows
	Backoff     func(failures int) time.Duration // default 1 s doubled up to 1 h
	// GaveUp, when set, is told in the transaction that records the final failure.
	GaveUp func(ctx context.Context, tx *db.Tx, job Job, cause error) error
}

// Runner adds and works jobs. Register everything before Run.
type Runner struct {
	db        *db.DB
	node      string
	lease     time.Duration
	heartbeat time.Duration
	poll      time.Duration
	grace     time.Duration
	parallel  map[string]int // queue → runs at once on this node
	only      []string       // queues this node works; nil = all
	never     []string       // queues it leaves to others

	kinds    map[string]kind
	periodic map[string]time.Duration
	pulses   []pulse
	outside  []Outside

	mu       sync.Mutex
	lanes    []*lane
	running  map[int64]*run
	finished map[outcome]int64
	goal     time.Time    // where the last Settle is going
	targets  chan *target // asked for by Settle

	success  chan Job
	ended    chan struct{}   // poked whenever a job has ended
	owing    atomic.Bool     // jobs are done and it is not recorded: nothing is claimed meanwhile, or they would be
	stopping <-chan struct{} // of Run
	tell     teller
}

type kind struct {
	Options
	handle Handler
}

type run struct {
	since time.Time
	job   Job
	stop  context.CancelCauseFunc
}

// Option changes a runner.
type Option func(*Runner)

// Queues restricts the node to some queues; none at all makes a node that only adds jobs.
func Queues(names ...string) Option {
	return func(r *Runner) { r.only = append([]string{}, names...) }
}

// Except leaves some queues to other nodes.
func Except(names ...string) Option {
	return func(r *Runner) { r.never = append(r.never, names...) }
}

// Node names the node, which by default has a new name at each start. One that comes back under its old name goes on with
// the jobs it had when it died, at once; no two may have one name at a time.
func Node(name string) Option { return func(r *Runner) { r.node = name } }

// Lease sets how long a silent node keeps its jobs (default 15 s); it renews three times as often.
func Lease(d time.Duration) Option {
	return func(r *Runner) { r.lease, r.heartbeat = d, d/3 }
}

// Poll sets how often an idle queue is looked at when no word of work comes (default 1 s).
func Poll(d time.Duration) Option { return func(r *Runner) { r.poll = d } }

// Grace sets how long running jobs may go on after Run's context has ended (default 30 s).
func Grace(d time.Duration) Option { return func(r *Runner) { r.grace = d } }

// NewRunner makes a runner on d.
func NewRunner(d *db.DB, opts ...Option) *Runner {
	r := &Runner{
		db: d, node: rand.Text(), lease: 15 * time.Second, heartbeat: 5 * time.Second, poll: time.Second, grace: 30 * time.Second,
		parallel: map[string]int{}, kinds: map[string]kind{}, periodic: map[string]time.Duration{},
		running: map[int64]*run{}, finished: map[outcome]int64{},
		success: make(chan Job, 256), ended: make(chan struct{}, 1), targets: make(chan *target, 16),
	}
	r.tell.send = func(queue string) { d.Notify(context.Background(), channel, queue) } // a hint: the poll is the net
	for _, o := range opts {
		o(r)
	}
	r.Every("jobs.purge", time.Hour, r.purge)
	return r
}

// Queue sets how many jobs of a queue run at once on this node; default 16.
func (r *Runner) Queue(name string, parallel int) { r.parallel[name] = parallel }

// Register names the handler of a kind of job.
func (r *Runner) Register(name string, o Options, h Handler) {
	if _, twice := r.kinds[name]; twice {
		panic("jobs: " + name + " is registered twice")
	}
	if o.Queue == "" {
		o.Queue = "default"
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 10
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	r.kinds[name] = kind{o, h}
}

func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 12), time.Hour)
}

// Add stores a job; in a transaction it exists exactly when the transaction commits.
func (r *Runner) Add(ctx context.Context, q db.Q, n New) error {
	k, ok := r.kinds[n.Kind]
	if !ok {
		return fmt.Errorf("jobs: no kind %q", n.Kind)
	}
	args, err := json.Marshal(n.Args)
	if err != nil {
		return err
	}
	now := r.db.Now()
	if n.RunAt.IsZero() {
		n.RunAt = now
	}
	if n.Queue == "" {
		n.Queue = k.Queue
	}
	var unique *string
	if n.Unique != "" {
		unique = &n.Unique
	}
	_, err = q.Exec(ctx, `INSERT INTO jobs (queue, kind, args, unique_key, priority, run_at, max_attempts, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (unique_key) WHERE done_at IS NULL AND unique_key IS NOT NULL DO UPDATE SET
			args = excluded.args,
			run_at = CASE WHEN jobs.node IS NULL AND excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END,
			again_at = CASE WHEN jobs.node IS NULL THEN NULL
				WHEN jobs.again_at < excluded.run_at THEN jobs.again_at ELSE excluded.run_at END`,
		n.Queue, n.Kind, string(args), unique, n.Priority, db.At(n.RunAt), k.MaxAttempts, db.At(now))
	if err != nil {
		return err
	}
	if n.RunAt.Sub(now) >= r.poll {
		return nil // every node looks again before that
	}
	if tx, ok := q.(*db.Tx); ok {
		tx.After(func() { r.wake(n.Queue) })
	} else {
		r.wake(n.Queue)
	}
	return nil
}

// Complete marks the job done inside the transaction of its effects: they happen exactly once. Return soon after it
// has committed. [ErrLost] says that the job belongs to another node by now; the transaction must be rolled back.
func (j Job) Complete(ctx context.Context, tx *db.Tx) error {
	n, err := finish(ctx, tx, []Job{j}, tx.Now())
	if err == nil && n == 0 {
		return ErrLost
	}
	return err
}

// ErrLost says that a job's lease ran out and another node may have it.
var ErrLost = errors.New("jobs: the lease is lost")

// errStopping is why a handler's context ends when the grace of a shutdown is over.
var errStopping = errors.New("jobs: the server is stopping")

type snooze struct{ at time.Time }

func (s snooze) Error() string { return "snoozed until " + s.at.Format(time.RFC3339) }

// Snooze ends a run without success or failure: the job runs again at the given durable time.
func Snooze(at time.Time) error { return snooze{at} }

type never struct{ error }

func (n never) Unwrap() error { return n.error }

// Never marks an error that no retry will mend: the job has failed for good.
func Never(err error) error { return never{err} }
