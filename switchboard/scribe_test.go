package switchboard

import (
	"testing"
	"time"

	"parley/calls"
	"parley/db"
	"parley/voice"
)

// What happens in many conversations is written together; one that cannot be written holds nobody up, and nothing is
// written twice.
func TestScribe(t *testing.T) {
	each(t, func(l *lab) {
		t, ctx := l.t, l.t.Context()
		a := l.assistant("inbound", nil)
		var open []*recorder
		for range together + 3 {
			var call calls.Call
			l.must(l.DB.Do(ctx, func(tx *db.Tx) (err error) {
				call, err = l.Calls.Create(ctx, tx, calls.NewCall{Owner: l.owner, Type: calls.Inbound, Ringing: true, AssistantID: a.ID, ClientPhone: "100",
					Node: "other", Lease: time.Hour, Snapshot: snapshot(a), Currency: "USD"})
				return err
			}))
			call, err := l.Calls.Answers(ctx, l.DB, call.ID)
			l.must(err)
			open = append(open, l.newRecorder(call))
		}
		lost := l.newRecorder(calls.Call{ID: 999999}) // no such call
		said := func(r *recorder, text string) {
			r.observe(voice.Event{At: time.Now(), Type: "turn.user", Data: voice.UserTurn{Text: text, Language: "en", Source: "speech"}})
		}
		for _, text := range []string{"one", "two"} {
			for _, r := range append(open, lost) {
				said(r, text)
			}
			l.scribe.round(true) // what it has begun by itself is done when this is
			for _, r := range open {
				if e := l.stored(r.call).Entries.V; len(e) == 0 || e[len(e)-1].Text != text {
					t.Fatalf("call %d: %v, said %s", r.call, e, text)
				}
			}
		}
		for _, r := range open {
			events, err := l.Calls.Events(ctx, l.DB, r.call)
			l.must(err)
			if left := r.finish(); len(left) != 0 || len(events) != 5 || events[4].Type != "turn.user" {
				t.Fatalf("call %d: %d events, %d left", r.call, len(events), len(left))
			}
		}
		if left := lost.finish(); len(left) != 2 {
			t.Errorf("%d events of the call that could not be written", len(left))
		}
	})
}
