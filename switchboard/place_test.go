package switchboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/lines"
	"parley/value"
	"parley/webhooks"
)

func busyEverywhere(context.Context, lines.Destination, func(int)) (lines.Leg, error) {
	return nil, &lines.DialError{Code: 486}
}

// An attempt that nobody answers is two transactions: it is recorded before it is dialled, and ended and settled at once.
func TestStatementsOfAnAttempt(t *testing.T) {
	const attempts, most = 40, 21
	var mu sync.Mutex
	var sent []string
	l := newLab(t, dbtest.Postgres(t, db.Statements(func(sql string) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, strings.Join(strings.Fields(sql), " "))
	})))
	l.keepBooks()
	l.CallsPerMinute = 1000
	l.dial = busyEverywhere
	order := Order{Owner: l.owner, Assistant: value.Ref{ID: int64(l.quiet().ID)}, Phone: "+491701234567"}
	one := func() {
		_, err := l.Place(t.Context(), l.DB, order)
		l.must(err)
		l.until(status(calls.Busy))
		<-l.settled
	}
	one()
	var least []string // of one attempt: others have what runs beside
	for range attempts {
		mu.Lock()
		sent = nil
		mu.Unlock()
		one()
		mu.Lock()
		if least == nil || len(sent) < len(least) {
			least = sent
		}
		mu.Unlock()
	}
	commits := 0
	for _, s := range least {
		if s == "commit" {
			commits++
		}
	}
	if len(least) > most || commits > 2 {
		t.Errorf("an attempt sent %d statements in %d transactions, want %d in 2:\n%s", len(least), commits, most, strings.Join(least, "\n"))
	}
}

// A process that is to stop leaves a call it has recorded to others: nobody holds it, and its dialling is queued.
//
// Contract: 5.1
func TestOrderedWhileStopping(t *testing.T) {
	each(t, func(l *lab) {
		l.dial = busyEverywhere
		a := l.assistant("outbound", nil)
		l.locked(func() { l.draining = true })
		c, err := l.Place(t.Context(), l.DB, Order{Owner: l.owner, Assistant: value.Ref{ID: int64(a.ID)}, Phone: "+491701234567"})
		l.must(err)
		if got := l.stored(c.ID); got.Status != calls.Initiated || got.Node != nil {
			t.Errorf("%+v", got)
		}
		l.locked(func() { l.draining = false }) // now it is the other process
		if got := l.until(func(one calls.Call) bool { return one.Status.Final() }); got.ID != c.ID || got.Status != calls.Busy || *got.Node != l.Node {
			t.Errorf("%+v", got)
		}
	})
}

func (l *lab) locked(f func()) {
	l.Switchboard.mu.Lock()
	defer l.Switchboard.mu.Unlock()
	f()
}

// A process without a telephone line leaves its orders to one that has one.
//
// Contract: 5.1
func TestOrderedWithoutALine(t *testing.T) {
	each(t, func(l *lab) {
		l.dial = busyEverywhere
		a := l.assistant("outbound", nil)
		office := &Switchboard{Deps: l.Deps, seats: map[*seat]struct{}{}}
		office.Dialer, office.Node = nil, "office"
		c, err := office.Place(t.Context(), l.DB, Order{Owner: l.owner, Assistant: value.Ref{ID: int64(a.ID)}, Phone: "+491701234567"})
		l.must(err)
		if got := l.until(func(one calls.Call) bool { return one.Status.Final() }); got.ID != c.ID || got.Status != calls.Busy || *got.Node != l.Node {
			t.Errorf("%+v", got)
		}
	})
}

// late books fail the first time.
type late struct {
	*lab
	failed chan calls.Call
}

func (b late) ChargeCall(ctx context.Context, tx *db.Tx, c calls.Call) (ai, carrier value.Money, err error) {
	select {
	case b.failed <- c:
		return 0, 0, errors.New("not now")
	default:
		return b.lab.ChargeCall(ctx, tx, c)
	}
}

// What cannot be settled with the end of a call is settled later; the end is recorded all the same.
//
// Contract: 14.5
func TestSettledLater(t *testing.T) {
	each(t, func(l *lab) {
		failed := make(chan calls.Call, 1)
		l.Billing = late{l, failed}
		c := l.place(busyEverywhere)
		<-l.settled
		if got := l.stored(c.ID); got.Status != calls.Busy || !got.Settled {
			t.Errorf("%+v", got)
		}
		var jobs int
		l.must(l.DB.Get(t.Context(), &jobs, `SELECT count(*) FROM jobs WHERE kind = $1 AND args = $2`, kindSettle, fmt.Sprintf(`{"id":%d}`, c.ID)))
		if len(failed) != 1 || jobs != 1 {
			t.Errorf("%d tries with the end, %d later", len(failed), jobs)
		}
	})
}

// What follows from a call follows once, however often it is asked for.
//
// Contract: 14.5
func TestSettledWithItsEndOnce(t *testing.T) {
	each(t, func(l *lab) {
		c := l.place(busyEverywhere)
		<-l.settled
		l.must(l.settleJob(t.Context(), jobs.Job{Args: []byte(fmt.Sprintf(`{"id":%d}`, c.ID))}))
		if n := len(l.settled); n > 0 {
			t.Errorf("settled %d times more", n)
		}
	})
}

// told keeps the webhooks of calls in the transaction that adds them.
type told struct{}

func (told) Add(ctx context.Context, q db.Q, e webhooks.Event) error {
	_, err := q.Exec(ctx, `INSERT INTO told (call_id, event) VALUES ($1, $2)`, e.CallID, e.Name)
	return err
}

// A call is told of once: by one of several that settle it at once, by none that comes later, and not by one that fails.
//
// Contract: 14.5 15.1
func TestToldOnce(t *testing.T) {
	each(t, func(l *lab) {
		ctx := l.t.Context()
		_, err := l.DB.Exec(ctx, `CREATE TABLE told (call_id BIGINT NOT NULL, event TEXT NOT NULL)`)
		l.must(err)
		l.Webhooks = told{}
		c, err := l.Calls.Create(ctx, l.DB, calls.NewCall{Owner: l.owner, Type: calls.Web, AssistantName: "D", Currency: "USD", Node: "n2", Lease: time.Minute,
			Snapshot: calls.Snapshot{Webhook: calls.Webhook{Active: true, URL: "https://p.example/calls"}}})
		l.must(err)
		c, err = l.Calls.End(ctx, l.DB, c.ID, calls.Over{Reason: calls.APIHangup})
		l.must(err)
		settle := func(after error) error {
			return l.DB.Do(ctx, func(tx *db.Tx) error { return cmp.Or(l.settle(ctx, tx, c, nil, nil), after) })
		}
		want := func(when string, want ...string) {
			l.t.Helper()
			var got []string
			l.must(l.DB.Select(ctx, &got, `SELECT event FROM told WHERE call_id = $1`, c.ID))
			if !slices.Equal(got, want) {
				l.t.Errorf("%s: told %q, want %q", when, got, want)
			}
		}
		lost := errors.New("the job is somebody else's")
		if err := settle(lost); !errors.Is(err, lost) {
			l.t.Error(err)
		}
		want("after a run that failed")
		var all sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			all.Go(func() { errs[i] = settle(nil) })
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else if !errors.Is(err, db.ErrNone) {
				l.t.Error(err)
			}
		}
		if done != 1 {
			l.t.Errorf("settled %d times", done)
		}
		want("settled by many at once", webhooks.CallCompleted)
		l.must(l.settleJob(ctx, jobs.Job{Args: fmt.Appendf(nil, `{"id":%d}`, c.ID)}))
		want("settled again", webhooks.CallCompleted)
	})
}
