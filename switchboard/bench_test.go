package switchboard

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/assistants"
	"parley/billing"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/lines"
	"parley/lines/media"
	"parley/lines/sip"
	"parley/value"
)

// diallers are the databases that calls are placed from.
var diallers = []struct {
	name string
	open func(testing.TB) *db.DB
}{
	{"sqlite-normal", func(b testing.TB) *db.DB { return dbtest.SQLite(b, db.Synchronous("NORMAL")) }},
	{"sqlite-full", func(b testing.TB) *db.DB { return dbtest.SQLite(b, db.Synchronous("FULL")) }},
	{"postgres", func(b testing.TB) *db.DB { return dbtest.Postgres(b, db.Conns(20)) }},
}

// atOnce is how many attempts are in flight.
const atOnce = 64

// BenchmarkDial is the life of an outbound attempt that is busy, over real signalling on loopback: checked, recorded with its
// hold, INVITE, 486, ended, the hold freed, settled. The record is committed before the INVITE leaves. Targets on two cores: 200
// attempts/s with SQLite at NORMAL and with PostgreSQL.
func BenchmarkDial(b *testing.B) {
	for _, on := range diallers {
		b.Run(on.name, func(b *testing.B) {
			d := newDialler(b, on.open(b), sip.Config{Route: func(context.Context, sip.Inbound) sip.Decision { return sip.Decision{Code: 486} }})
			gate := make(chan struct{}, atOnce)
			d.done = func(c calls.Call) { <-gate }
			used, there := cpu(), d.databaseCPU()
			b.ResetTimer()
			var placing sync.WaitGroup
			for i := range b.N {
				gate <- struct{}{}
				placing.Go(func() { d.order(i) })
			}
			placing.Wait()
			for range atOnce {
				gate <- struct{}{}
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "attempts/s(≥200)")
			b.ReportMetric(milliseconds(cpu()-used)/float64(b.N), "cpu-ms/attempt")
			if d.DB.Postgres() {
				b.ReportMetric(milliseconds(d.databaseCPU()-there)/float64(b.N), "postgres-cpu-ms/attempt")
			}
		})
	}
}

// BenchmarkFirstAudio is the time from the callee's 200 to the first packet with the assistant's voice, whose greeting was
// made while it rang. Target: 15 ms for 95 of 100.
func BenchmarkFirstAudio(b *testing.B) {
	for _, on := range diallers {
		b.Run(on.name, func(b *testing.B) {
			var took []time.Duration
			sent, hangUp := make(chan time.Time, 1), make(chan struct{})
			answered := make(chan time.Time, 1)
			d := newDialler(b, on.open(b), sip.Config{OnCall: func(leg lines.Leg) {
				answered <- time.Now()
				if leg.Answer(context.Background()) == nil {
					<-hangUp
					_ = leg.Hangup(context.Background())
				}
			}})
			dial := d.dial
			d.dial = func(ctx context.Context, to lines.Destination, progress func(int)) (lines.Leg, error) {
				leg, err := dial(ctx, to, progress)
				if err == nil {
					leg = watchedLeg{leg, watch(leg.Media(), sent)}
				}
				return leg, err
			}
			over := make(chan struct{}, 1)
			d.done = func(calls.Call) { over <- struct{}{} }
			b.ResetTimer()
			for i := range b.N {
				d.order(i)
				from := <-answered
				took = append(took, (<-sent).Sub(from))
				hangUp <- struct{}{}
				<-over
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(milliseconds(took[len(took)/2]), "ms-p50")
			b.ReportMetric(milliseconds(took[len(took)*95/100]), "ms-p95(≤15)")
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpu is the processor time of this process so far, the callee's included; that of PostgreSQL is not.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// databaseCPU is the processor time of the PostgreSQL processes that serve this one so far; 0 where they are not to be seen.
func (d *dialler) databaseCPU() (sum time.Duration) {
	var pids []int
	if !d.DB.Postgres() || d.DB.Select(d.t.Context(), &pids, `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`) != nil {
		return 0
	}
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0
		}
		_, rest, _ := strings.Cut(string(stat), ") ")       // the name may hold blanks
		for _, ticks := range strings.Fields(rest)[11:13] { // user and system, in 10 ms
			n, _ := strconv.Atoi(ticks)
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

// watchedLeg tells when its first sample was sent.
type watchedLeg struct {
	lines.Leg
	media lines.Media
}

func (l watchedLeg) Media() lines.Media { return l.media }

type watchedMedia struct {
	lines.Media
	events chan lines.Event
}

func (m watchedMedia) Events() <-chan lines.Event { return m.events }

func watch(m lines.Media, sent chan<- time.Time) lines.Media {
	w := watchedMedia{m, make(chan lines.Event, 64)}
	go func() {
		defer close(w.events)
		for e := range m.Events() {
			if e.Kind == lines.FirstOut {
				sent <- e.At
			}
			w.events <- e
		}
	}()
	return w
}

// dialler is a switchboard with a telephone network behind it.
type dialler struct {
	*lab
	assistant value.Ref
	done      func(calls.Call) // a call is settled
}

func newDialler(b *testing.B, d *db.DB, far sip.Config) *dialler {
	plane, err := media.New(media.Options{PortMin: 30000, PortMax: 39999})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(plane.Close)
	start := func(c sip.Config) *sip.Server {
		c.Listen, c.Media, c.SessionExpires = []string{"udp://127.0.0.1:0"}, plane, -1
		s, err := sip.Start(c)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close(context.Background()) })
		return s
	}
	far.Open = true
	network := start(far)
	var port int
	if _, err := fmt.Sscanf(network.Addrs()[0], "udp://127.0.0.1:%d", &port); err != nil {
		b.Fatal(err)
	}
	ours := start(sip.Config{Default: &sip.Trunk{Address: "127.0.0.1", Port: port, Transport: "udp", Format: "+e164", Auth: "ip"}})
	l := newLab(b, d)
	l.keepBooks()
	l.CallsPerMinute = 1 << 30
	l.dial = ours.Dial
	l.Engines().Most = nil
	l.terms(parallel(1000))
	out := &dialler{lab: l}
	out.assistant = value.Ref{ID: int64(l.quiet().ID)}
	over := make(chan struct{})
	b.Cleanup(func() { close(over) })
	go func() {
		for {
			select {
			case <-l.states:
			case c := <-l.settled:
				out.done(c)
			case <-over:
				return
			}
		}
	}()
	return out
}

// keepBooks has calls held and charged for real, from a balance that lasts.
func (l *lab) keepBooks() {
	b := billing.New(l.people, billing.Settings{Enforce: true, StartingBalance: 1e7 * value.MoneyUnit})
	l.must(l.DB.Do(l.t.Context(), func(tx *db.Tx) error { return b.Begin(l.t.Context(), tx, l.owner) }))
	l.Billing = b
}

// quiet is an assistant whose calls leave no recording and no evaluation.
func (l *lab) quiet() assistants.Assistant {
	return l.assistant("outbound", func(f *assistants.Settings) { f.Record, f.PostCallEvaluation = false, false })
}

func (d *dialler) order(n int) {
	if _, err := d.Place(d.t.Context(), d.DB, Order{Owner: d.owner, Assistant: d.assistant, Phone: fmt.Sprintf("+4917%08d", n)}); err != nil {
		d.t.Error(err)
	}
}
