package switchboard

import (
	"testing"
	"time"

	"parley/calllog"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/lines/linetest"
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
