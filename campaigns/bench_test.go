package campaigns

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
)

// sizes are numbers of leads of one campaign.
var sizes = []int{10, 10_000, 1_000_000}

// BenchmarkTick measures a look at a running campaign when nothing is due, and one that places three calls, with more and
// more leads that are due some other day. The ratios are to the smallest campaign: they stay near one, because the cost
// follows the leads that are due.
func BenchmarkTick(b *testing.B) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			var worlds []*tickWorld
			for _, n := range sizes {
				worlds = append(worlds, newTickWorld(b, open(b), n))
			}
			for b.Loop() {
				for range 20 { // in turns, so that a busy moment of the machine hits all alike
					for _, w := range worlds {
						w.round(b)
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, due := range []int{0, 3} {
				base := worlds[0].median(due)
				b.ReportMetric(float64(base.Microseconds()), fmt.Sprintf("µs/tick-%d-due", due))
				for i, w := range worlds[1:] {
					b.ReportMetric(float64(w.median(due))/float64(base), fmt.Sprintf("×-%d-due-%d-leads", due, sizes[i+1]))
				}
			}
		})
	}
}

// tickWorld is a running campaign with many leads, and the time its ticks took by the number of leads due.
type tickWorld struct {
	*world
	room  *Campaigns
	id    ID
	due   []LeadID
	times map[int][]time.Duration
}

func newTickWorld(b *testing.B, d *db.DB, leads int) *tickWorld {
	b.Helper()
	w := newWorld(b, d)
	c := New(d, w, w, w, w, nil)
	one, err := c.Create(b.Context(), 1, w.judge)
	if err != nil {
		b.Fatal(err)
	}
	t := &tickWorld{w, c, one.ID, nil, map[int][]time.Duration{}}
	for i := range 3 {
		t.due = append(t.due, w.lead(c, one.ID, fmt.Sprintf("+49170000000%d", i)))
	}
	w.start(c, one.ID)
	w.exec(`INSERT INTO leads (account_id, campaign_id, phone_number, variables, status, attempts, round, dial_no, due_at, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT))
		SELECT 1, CAST($2 AS BIGINT), '+4917' || CAST(10000000 + i AS TEXT), '{}', CASE WHEN i % 3 = 0 THEN 'completed' ELSE 'rescheduled' END, 1, 0, 1,
			CASE WHEN i % 3 = 0 THEN NULL ELSE CAST($3 AS BIGINT) + i END, 0, 0 FROM n`, leads, int64(one.ID), db.At(d.Now().AddDate(1, 0, 0)))
	w.exec(`ANALYZE`)
	return t
}

// round ticks twice: three leads are due, then none.
func (w *tickWorld) round(b *testing.B) {
	b.Helper()
	in, args := db.In(1, w.due)
	w.exec(`UPDATE leads SET status = 'rescheduled', due_at = 1 WHERE id IN `+in, args...)
	w.exec(`DELETE FROM placed`)
	for _, due := range []int{len(w.due), 0} {
		begin := time.Now()
		if err := w.room.Tick(b.Context(), w.db.Now()); err != nil {
			b.Fatal(err)
		}
		w.times[due] = append(w.times[due], time.Since(begin))
	}
	if n := len(w.calls()); n != len(w.due) {
		b.Fatalf("%d calls, want %d", n, len(w.due))
	}
}

func (w *tickWorld) median(due int) time.Duration {
	t := slices.Sorted(slices.Values(w.times[due]))
	return t[len(t)/2]
}
