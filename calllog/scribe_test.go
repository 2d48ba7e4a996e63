package calllog

import (
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/accounts"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What happens in many conversations is written together; one that cannot be written holds nobody up, and nothing is
// written twice.
func TestScribe(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		owner, err := accounts.New(d, accounts.Plan{}).Create(ctx, d, accounts.Draft{Name: "A", Email: "a@p.example"})
		must(err)
		room := calls.New(d, calls.Neighbours{})
		logs := New(d, room, slog.New(slog.DiscardHandler))
		var open []*Log
		for range together + 3 {
			call, err := room.Create(ctx, d, calls.NewCall{Owner: owner.ID, Type: calls.Inbound, Ringing: true, ClientPhone: "100",
				Node: "other", Lease: time.Hour, Currency: "USD"})
			must(err)
			_, err = room.Answers(ctx, d, call.ID)
			must(err)
			open = append(open, logs.Open(ctx, call.ID))
		}
		lost := logs.Open(ctx, 999999) // no such call
		said := func(l *Log, text string) {
			l.Observe(voice.Event{At: time.Now(), Type: "turn.user", Data: voice.UserTurn{Text: text, Language: "en", Source: "speech"}})
		}
		for _, text := range []string{"one", "two"} {
			for _, l := range append(open, lost) {
				said(l, text)
			}
			logs.scribe.round(true) // what it has begun by itself is done when this is
			for _, l := range open {
				call, err := room.ByID(ctx, d, l.call)
				must(err)
				if e := call.Entries.V; len(e) == 0 || e[len(e)-1].Text != text {
					t.Fatalf("call %d: %v, said %s", l.call, e, text)
				}
			}
		}
		for _, l := range open {
			events, err := room.Events(ctx, d, l.call)
			must(err)
			if left := l.Finish(); len(left) != 0 || len(events) != 5 || events[4].Type != "turn.user" {
				t.Fatalf("call %d: %d events, %d left", l.call, len(events), len(left))
			}
		}
		if left := lost.Finish(); len(left) != 2 {
			t.Errorf("%d events of the call that could not be written", len(left))
		}
	})
}
