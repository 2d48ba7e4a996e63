package switchboard

import (
	"context"
	"testing"
	"time"

	"parley/assistants"
	"parley/audio"
	"parley/calls"
	"parley/fault"
	"parley/lines"
	"parley/lines/linetest"
	"parley/value"
)

// Whoever listens in hears a call, recorded or not, until it is over (contract 18.3).
func TestListen(t *testing.T) {
	each(t, func(l *lab) {
		l.listenTo(l.assistant("inbound", nil), true)
	})
	each(t, func(l *lab) {
		l.listenTo(l.assistant("inbound", func(f *assistants.Settings) { f.Record = false }), false)
	})
}

func (l *lab) listenTo(_ assistants.Assistant, recorded bool) {
	<-l.call(deskNumber).Answered()
	c := l.until(status(calls.InProgress))
	watched, _, stop, _ := l.watch(c.ID)
	defer stop()
	l.heard(watched, "turn.assistant") // the greeting is over
	listener := linetest.NewLeg(lines.Info{ID: "listener", Kind: "web"})
	l.must(l.Listen(c.ID, listener))
	<-listener.Answered()
	l.must(l.Type(l.t.Context(), c, "hello"))
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for audio.Level(listener.Line().Sent()) < -60 {
		select {
		case <-tick.C:
		case <-limit:
			l.t.Fatal("nothing was heard")
		}
	}
	l.must(l.HangUp(l.t.Context(), calls.APIHangup, c.ID))
	<-listener.Done()
	if c = l.until(status(calls.Completed)); (c.Recording != nil) != recorded {
		l.t.Errorf("recorded %v, want %v", c.Recording != nil, recorded)
	}
	late := linetest.NewLeg(lines.Info{ID: "late", Kind: "web"})
	if err := l.Listen(c.ID, late); !fault.Is(err, fault.Conflict) || <-late.Rejected() == 0 {
		l.t.Errorf("listened to a finished call: %v", err)
	}
}

// What a line said is kept with the call, answered or not.
func TestSignalling(t *testing.T) {
	each(t, func(l *lab) {
		a := l.assistant("outbound", nil)
		said := []lines.Message{{At: time.Now(), Sent: true, Remote: "UDP 192.0.2.1:5060", Title: "INVITE", Text: "INVITE sip:a SIP/2.0"}}
		answers := []func() (lines.Leg, error){
			func() (lines.Leg, error) { return nil, &lines.DialError{Code: 486, Trace: said} },
			func() (lines.Leg, error) {
				leg := linetest.NewLeg(lines.Info{ID: "1", Kind: "sip"})
				return traced{leg, said}, leg.Answer(t.Context())
			},
		}
		for i, want := range []calls.Status{calls.Busy, calls.Completed} {
			l.dial = func(context.Context, lines.Destination, func(int)) (lines.Leg, error) { return answers[i]() }
			c, err := l.Place(t.Context(), l.DB, Order{Owner: l.owner, Assistant: value.Ref{ID: int64(a.ID)}, Phone: "+491701234567"})
			l.must(err)
			if want == calls.Completed {
				l.until(status(calls.InProgress))
				if live, err := l.Signalling(t.Context(), c); err != nil || len(live) != 1 {
					l.t.Errorf("live %+v, %v", live, err)
				}
				l.must(l.HangUp(t.Context(), calls.APIHangup, c.ID))
			}
			l.until(status(want))
			kept, err := l.Calls.Signalling(t.Context(), l.DB, c.ID)
			l.must(err)
			if len(kept) != 1 || kept[0].Title != "INVITE" || !kept[0].Sent || !kept[0].At.Equal(said[0].At) {
				l.t.Errorf("%s kept %+v", want, kept)
			}
		}
	})
}

type traced struct {
	*linetest.Leg
	said []lines.Message
}

func (t traced) Trace() []lines.Message { return t.said }
