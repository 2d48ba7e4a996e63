package switchboard

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"parley/agent"
	"parley/assistants"
	"parley/calendar"
	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/toolbox"
	"parley/voice"
)

// TestCalendarInCalls books during a call; the booking stays with its record.
//
// Contract: 4.4 5.2
func TestCalendarInCalls(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d)
		a := l.assistant("outbound", func(f *assistants.Settings) {
			l.must(json.Unmarshal([]byte(`[{"type":"calendar_integration","calendar_api_key":"k","calendar_event_slug":"intro"}]`), &f.Tools))
		})
		call, err := l.Calls.Create(t.Context(), d, calls.NewCall{Owner: l.owner, Type: calls.Web, AssistantName: "Desk", Currency: "USD"})
		l.must(err)
		offered := func() (book func(context.Context, json.RawMessage) agent.Result) {
			m, err := l.thinker(a, &live{call: call}, nil, agent.Engine{})
			l.must(err)
			all := m.turn(voice.Thinking{}, (&transfer{thinker: m}).channel()).Functions
			if i := slices.IndexFunc(all, func(f agent.Function) bool { return f.Name == "book_appointment" }); i >= 0 {
				return all[i].Run
			}
			return nil
		}
		if offered() != nil {
			t.Error("offered without a calendar")
		}
		l.Mind.Calendar = func(_ context.Context, _ assistants.Assistant, b *toolbox.CalendarIntegration, function string, args map[string]any) (any, error) {
			if b.APIKey != "k" || function != "book_appointment" || args["name"] != "Mia" {
				t.Errorf("%+v %s %v", b, function, args)
			}
			return calendar.Booked{Status: "accepted", UID: "b7", Start: "2027-03-02T10:00:00+01:00"}, nil
		}
		offered()(t.Context(), json.RawMessage(`{"start":"2027-03-02T10:00:00+01:00","name":"Mia","email":"mia@x.example"}`))
		got, err := l.Calls.End(t.Context(), d, call.ID, calls.Over{Reason: calls.CustomerHangup, Keypad: "12"})
		if want := `{"booking_uid":"b7","booking_start":"2027-03-02T10:00:00+01:00","booking_status":"accepted","keypad_input":"12"}`; err != nil || got.Variables.V.String() != want {
			t.Error(got.Variables.V, err)
		}
	})
}

// menu is a model that presses keys as soon as it hears something, and then says so.
type menu struct{ parrot }

func (m menu) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	if r.Purpose != agent.PurposeTurn || r.Messages[len(r.Messages)-1].Role != agent.RoleUser {
		return m.parrot.Reply(ctx, r)
	}
	return func(yield func(agent.Chunk, error) bool) {
		yield(agent.Chunk{Call: &agent.ToolCall{ID: "1", Name: "send_dtmf", Arguments: json.RawMessage(`{"digits":"1w2#"}`)}}, nil)
	}
}

// TestKeysInCalls presses keys in an automated menu; the log says which.
//
// Contract: 4.4
func TestKeysInCalls(t *testing.T) {
	each(t, func(l *lab) {
		l.Engines().Models["fake"] = func(string) agent.Model { return menu{} }
		l.assistant("inbound", func(f *assistants.Settings) {
			l.must(json.Unmarshal([]byte(`[{"type":"dtmf_input"}]`), &f.Tools))
		})
		leg := l.call(deskNumber)
		<-leg.Answered()
		c := l.until(status(calls.InProgress))
		watched, _, stop, _ := l.watch(c.ID)
		defer stop()
		l.heard(watched, "turn.assistant")
		say(leg.Line())
		if e := l.heard(watched, "dtmf.out"); e.Data != (voice.KeysSent{Digits: "1w2#"}) {
			l.t.Errorf("%+v", e.Data)
		}
		leg.FarHangup()
		l.until(status(calls.Completed))
		if pressed := leg.Line().Digits; !slices.Equal(pressed, []string{"1w2#"}) {
			l.t.Errorf("pressed %q", pressed)
		}
	})
}
