package switchboard

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"parley/asks"
	"parley/calllog"
	"parley/calls"
	"parley/db/dbtest"
	"parley/fault"
	"parley/lines"
	"parley/lines/linetest"
)

// second is another process on the lab's database.
func (l *lab) second(node string, url string) *Switchboard {
	d := l.Deps
	d.DB, d.Node = dbtest.Open(l.t, url), node
	d.Calls = calls.New(d.DB, calls.Neighbours{})
	d.Logs, d.Asks = calllog.New(d.DB, d.Calls, d.Log), asks.New(d.DB, node)
	s := &Switchboard{Deps: d, live: map[calls.ID]*live{}, byUUID: map[string]*live{}, seats: map[*seat]struct{}{}}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
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
	events, wanted, stop := afar.Logs.WatchElsewhere(c.ID)
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
	events, wanted, stop := afar.Logs.WatchElsewhere(c.ID)
	defer stop()
	wanted(t.Context())
	here := l.find(c.ID)
	for !here.relay.Watched() {
		time.Sleep(time.Millisecond)
	}
	close(pickUp)
	l.heard(events, "turn.assistant")
	l.must(afar.HangUp(t.Context(), calls.APIHangup, c.ID))
	l.until(status(calls.Completed))
}
