package switchboard

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"parley/calls"
	"parley/db/dbtest"
	"parley/fault"
	"parley/lines"
	"parley/lines/linetest"
)

// second is another process on the lab's database.
func (l *lab) second(node string, url string) *Switchboard {
	d := l.Deps
	d.DB, d.Node, d.Scratch = dbtest.Open(l.t, url), node, l.t.TempDir()
	d.Calls = calls.New(d.DB)
	s := &Switchboard{Deps: d, live: map[calls.ID]*live{}, byUUID: map[string]*live{}, using: map[string]int{}, answers: map[string]Answerer{}}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.answerCalls()
	return s
}

// What is asked of a call in one process reaches the process that holds it: events as they happen, hints, typed words,
// hang-up and a browser's leave-taking.
func TestCallsOfOtherProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	l := newLab(t, dbtest.Open(t, url))
	afar := l.second("n2", url)
	a := l.assistant("inbound", nil)
	leg := l.call(deskNumber)
	<-leg.Answered()
	c := l.until(status(calls.InProgress))
	c = l.stored(c.ID)
	events, wanted, stop := afar.WatchElsewhere(c.ID)
	defer stop()
	for heard := false; !heard; { // until the holder has taken the conversation up
		wanted(t.Context())
		select {
		case <-events:
			heard = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	l.must(afar.Whisper(t.Context(), c, "be kind"))
	l.must(afar.Type(t.Context(), c, "typed words"))
	e := l.heard(events, "turn.user")
	if b, _ := json.Marshal(e.Data); string(b) != `{"text":"typed words","language":"en","source":"chat"}` || e.Seq == 0 {
		t.Errorf("%d %s", e.Seq, b)
	}
	l.must(afar.HangUp(t.Context(), calls.APIHangup, c.ID))
	c = l.until(status(calls.Completed))
	if *c.Reason != calls.APIHangup {
		t.Errorf("%+v", c)
	}
	if err := afar.Type(t.Context(), c, "too late"); !fault.Is(err, fault.Conflict) {
		t.Errorf("typed into a finished call: %v", err)
	}

	web := linetest.NewLeg(lines.Info{Kind: "web", SignalID: "w"})
	w, err := l.Web(t.Context(), a, web, nil, "req")
	l.must(err)
	<-web.Answered()
	if err := afar.EndWeb(t.Context(), w.Call.UUID, "wrong"); !fault.Is(err, fault.NotFound) {
		t.Errorf("ended by a stranger: %v", err)
	}
	l.must(afar.EndWeb(t.Context(), w.Call.UUID, w.Token))
	l.until(func(c calls.Call) bool { return c.Status == calls.Completed && c.ID == w.Call.ID })
}

// Whoever watched a call in another process before it was answered has its events from the first on: one sign is enough.
func TestWatchedBeforeTheAnswer(t *testing.T) {
	url := dbtest.PostgresURL(t)
	l := newLab(t, dbtest.Open(t, url))
	afar := l.second("n2", url)
	pickUp := make(chan struct{})
	c := l.place(func(_ context.Context, _ lines.Destination, progress func(int)) (lines.Leg, error) {
		progress(180)
		<-pickUp
		leg := linetest.NewLeg(lines.Info{SignalID: "out"})
		return leg, leg.Answer(t.Context())
	})
	l.until(status(calls.Ringing))
	events, wanted, stop := afar.WatchElsewhere(c.ID)
	defer stop()
	wanted(t.Context())
	here := l.find(c.ID)
	for known := false; !known; {
		here.mu.Lock()
		known = !here.relayUntil.IsZero()
		here.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	close(pickUp)
	l.heard(events, "turn.assistant")
	l.must(afar.HangUp(t.Context(), calls.APIHangup, c.ID))
	l.until(status(calls.Completed))
}

// A question is answered once, by one process; a refusal arrives as what it is; nobody's answer is awaited for ever.
func TestAsk(t *testing.T) {
	url := dbtest.PostgresURL(t)
	l := newLab(t, dbtest.Open(t, url))
	afar := l.second("n2", url)
	var mu sync.Mutex
	asked := map[string]int{}
	l.Answer("echo", func(_ context.Context, body json.RawMessage) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[string(body)]++
		if string(body) == "13" {
			return nil, fault.New(fault.Conflict, "BAD", "No %s", body)
		}
		return map[string]any{"n": body}, nil
	})
	var wg sync.WaitGroup
	for n := range 30 {
		wg.Go(func() {
			var out struct{ N int }
			err := afar.Ask(t.Context(), []string{"", "n1"}[n%2], "echo", n, &out)
			if f := fault.Of(err); n == 13 && (err == nil || f.Kind != fault.Conflict || f.Code != "BAD" || f.Message != "No 13") {
				t.Errorf("refusal %v", err)
			} else if n != 13 && (err != nil || out.N != n) {
				t.Errorf("%d: %d %v", n, out.N, err)
			}
		})
	}
	wg.Wait()
	for n, times := range asked {
		if times != 1 {
			t.Errorf("%s asked %d times", n, times)
		}
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := afar.Ask(short, "gone", "echo", 1, nil); err == nil {
		t.Error("an answer of nobody")
	}
	var left int
	l.must(l.DB.Get(t.Context(), &left, `SELECT count(*) FROM asks`))
	if left != 0 {
		t.Errorf("%d questions left over", left)
	}
}
