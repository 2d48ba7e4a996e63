package switchboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/calllog"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/lines/linetest"
	"parley/recordings"
)

// While the database hangs a call goes on and its end waits, a new one hears no within three seconds, and afterwards
// everything is recorded, once.
func TestDatabaseHangsDuringACall(t *testing.T) {
	server := dbtest.Own(t)
	l := newLab(t, dbtest.Open(t, server.URL(), db.Conns(4)))
	l.assistant("inbound", nil)
	greeted := func() (*linetest.Leg, <-chan calllog.Watched) {
		leg := l.call(deskNumber)
		<-leg.Answered()
		watched, _, stop, ok := l.watch(l.until(status(calls.InProgress)).ID)
		if !ok {
			t.Fatal("nothing to watch")
		}
		t.Cleanup(stop)
		l.heard(watched, "turn.assistant")
		return leg, watched
	}
	leg, watched := greeted()

	server.Freeze()
	say(leg.Line())
	l.heard(watched, "turn.assistant")
	began := time.Now()
	second := l.call(deskNumber)
	<-second.Done()
	if took := time.Since(began); second.End().Code != 503 || took > 3*time.Second {
		t.Errorf("%+v after %s", second.End(), took)
	}
	leg.FarHangup()
	for range watched { // the conversation is over, its record is not
	}
	server.Thaw()
	c := l.until(status(calls.Completed))
	if done := <-l.settled; done.ID != c.ID || *c.Reason != calls.CustomerHangup {
		t.Errorf("%+v", done)
	}
	if got := l.stored(c.ID).Transcript(); got != "Assistant: Hi Mia.\nCustomer: hello there\nAssistant: You said hello there." {
		t.Error(got)
	}
	l.log(c.ID) // every event has its number
	third, _ := greeted()
	third.FarHangup()
	l.until(status(calls.Completed))
}

// The database hangs for longer than the lease of a call that goes on and has a recording. When it is back another process
// finds the call lapsed: it leaves it alone if the holder was first to renew; otherwise it ends it, and then the holder hangs
// up and adds nothing. Either way the call ends, is settled and charged once, and no recording is kept that no call has.
func TestLeaseLapsesWhileTheDatabaseHangs(t *testing.T) {
	for name, taken := range map[string]bool{"the holder is first": false, "the other is first": true} {
		t.Run(name, func(t *testing.T) {
			server := dbtest.Own(t)
			l := newLab(t, dbtest.Open(t, server.URL(), db.Conns(4)))
			l.assistant("inbound", nil)
			beside := dbtest.Open(t, server.URL(), db.Conns(4))
			other := &Switchboard{Deps: l.Deps, live: map[calls.ID]*live{}, began: time.Now()}
			other.DB, other.Node, other.Recordings = beside, "n2", recordings.New(beside, l.Calls, l, t.TempDir(), l.Log)
			leg := l.call(deskNumber)
			<-leg.Answered()
			c := l.until(status(calls.InProgress))
			watched, _, stop, _ := l.watch(c.ID)
			defer stop()
			l.heard(watched, "turn.assistant")

			server.Freeze()
			say(leg.Line())
			l.heard(watched, "turn.assistant") // it goes on
			if err := other.reap(t.Context()); !db.Away(err) {
				t.Error("reaped from a database that hangs:", err)
			}
			server.Thaw()
			lapse := func() {
				_, err := beside.Exec(db.Patient(t.Context()), `UPDATE calls SET lease_real = 1 WHERE id = $1 AND lease_real > 0`, c.ID)
				l.must(err)
			}
			if lapse(); taken {
				for ; l.stored(c.ID).Status.Live(); lapse() { // the holder's own renewal may come between
					l.must(other.reap(t.Context()))
				}
				<-leg.Done() // within a renewal
			} else {
				l.must(l.renew(db.Patient(t.Context())))
				l.must(other.reap(t.Context()))
				if now := l.stored(c.ID); now.Status != calls.InProgress || *now.Node != l.Node {
					t.Fatalf("taken over: %+v", now)
				}
				leg.FarHangup()
			}
			for range watched {
			}
			l.once(c.ID, map[bool]calls.Reason{false: calls.CustomerHangup, true: calls.ServerRestart}[taken])
		})
	}
}

// once waits until a call is settled and let go of: that, its end and its charge have happened once.
func (l *lab) once(id calls.ID, why calls.Reason) {
	l.t.Helper()
	<-l.settled
	over, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	l.Drain(over)
	l.must(l.settleJob(over, jobs.Job{Args: fmt.Appendf(nil, `{"id":%d}`, id)})) // a late one
	c, log := l.stored(id), l.log(id)
	if len(l.settled) != 0 || strings.Count(log, `"completed"`) != 1 || c.Status != calls.Completed || *c.Reason != why {
		l.t.Errorf("settled %d times more, %+v\n%s", len(l.settled), c, log)
	}
	kept := 0
	if c.Recording != nil {
		kept = 1
	}
	if len(l.files) != kept {
		l.t.Errorf("%d recordings, the call has %d", len(l.files), kept)
	}
}
