package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/db"
)

type outcome struct{ kind, result string }

func (r *Runner) count(kind, result string) {
	r.mu.Lock()
	r.finished[outcome{kind, result}]++
	r.mu.Unlock()
}

// Depth is the state of one queue, of all nodes together.
type Depth struct {
	Queue   string  `db:"queue"`
	Due     int64   `db:"due"`     // waiting and due
	Waiting int64   `db:"waiting"` // waiting, due or not
	Running int64   `db:"running"`
	Oldest  db.Time `db:"oldest"` // since when the longest waiting due job has been due
}

// Depths reads the state of all queues with unfinished jobs.
func (r *Runner) Depths(ctx context.Context) ([]Depth, error) {
	var out []Depth
	err := r.db.Select(ctx, &out, `SELECT queue,
			count(*) FILTER (WHERE node IS NULL AND run_at <= $1) AS due,
			count(*) FILTER (WHERE node IS NULL) AS waiting,
			count(*) FILTER (WHERE node IS NOT NULL) AS running,
			min(CASE WHEN node IS NULL AND run_at <= $1 THEN run_at END) AS oldest
		FROM jobs WHERE done_at IS NULL GROUP BY queue ORDER BY queue`, db.At(r.db.Now()))
	return out, err
}

var (
	descDue      = prometheus.NewDesc("parley_jobs_due", "Jobs that are due and wait.", []string{"queue"}, nil)
	descWaiting  = prometheus.NewDesc("parley_jobs_waiting", "Jobs that wait, due or not.", []string{"queue"}, nil)
	descRunning  = prometheus.NewDesc("parley_jobs_running", "Jobs that run.", []string{"queue"}, nil)
	descOldest   = prometheus.NewDesc("parley_jobs_oldest_seconds", "How long the oldest due job has been due.", []string{"queue"}, nil)
	descFinished = prometheus.NewDesc("parley_jobs_finished_total", "Runs that ended on this node.", []string{"kind", "result"}, nil)
)

// Describe makes the runner a prometheus.Collector.
func (r *Runner) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descDue, descWaiting, descRunning, descOldest, descFinished} {
		ch <- d
	}
}

// Collect reads the queues and the counters of this node.
func (r *Runner) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	gauge := func(d *prometheus.Desc, v float64, label string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, label)
	}
	depths, err := r.Depths(ctx)
	if err != nil { // the other figures do not need the database
		slog.Warn("no figures of the queues", "err", err)
	}
	for _, q := range depths {
		gauge(descDue, float64(q.Due), q.Queue)
		gauge(descWaiting, float64(q.Waiting), q.Queue)
		gauge(descRunning, float64(q.Running), q.Queue)
		age := 0.0
		if !q.Oldest.IsZero() {
			age = r.db.Now().Sub(q.Oldest.Time()).Seconds()
		}
		gauge(descOldest, age, q.Queue)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for o, n := range r.finished {
		ch <- prometheus.MustNewConstMetric(descFinished, prometheus.CounterValue, float64(n), o.kind, o.result)
	}
}
