package switchboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/assistants"
	"parley/calls"
	"parley/db/dbtest"
	"parley/lines"
	"parley/lines/linetest"
	"parley/numbers"
	"parley/value"
	"parley/voice"
)

// referrer is a leg whose far end calls others itself.
type referrer struct {
	*linetest.Leg
	asked  chan string
	answer error
}

func (r referrer) Refer(_ context.Context, to string) error {
	r.asked <- to
	return r.answer
}

// Where the line says so the caller's own side calls the other one: no leg of ours, and the call is over once that is answered.
// A refusal brings the assistant back.
//
// Contract: 4.4 14.5
func TestRefer(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		want   calls.Reason
		result string
	}{
		"answered": {nil, calls.Transferred, "connected"},
		"busy":     {&lines.DialError{Code: 486, Err: errors.New("busy")}, calls.CustomerHangup, "busy"},
		"refused":  {&lines.DialError{Code: 405, Err: errors.New("not allowed")}, calls.CustomerHangup, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, dbtest.SQLite(t))
			x := newConnecting(l, callTool, blindly)
			l.Refers = func(_ context.Context, trunk numbers.ID) (bool, error) { return trunk == 9, nil }
			leg := referrer{linetest.NewLeg(lines.Info{ID: "1", Kind: "sip", From: "+491701234567", To: deskNumber, TrunkID: 9}), make(chan string, 1), c.answer}
			l.Inbound(leg)
			<-leg.Answered()
			x.call = l.until(status(calls.InProgress))
			watched, _, stop, _ := l.watch(x.call.ID)
			defer stop()
			l.heard(watched, "turn.assistant")
			say(leg.Line())
			if to := <-leg.asked; to != supervisor {
				t.Errorf("referred to %s", to)
			}
			if c.answer != nil {
				l.heard(watched, "turn.assistant")
				leg.FarHangup()
			}
			<-leg.Done()
			x.ended(c.want)
			if log := l.log(x.call.ID); !strings.Contains(log, `"result":"`+c.result+`"`) {
				t.Error(log)
			}
			if legs := x.legs(); len(legs) != 0 || len(x.dialed) != 0 {
				t.Errorf("legs of ours %+v", legs)
			}
		})
	}
}

// Another assistant takes over with its own voice, greeting and tools; the call stays the first one's. A sixth time is an error
// that the model reads.
//
// Contract: 4.4 4.9
func TestSwitches(t *testing.T) {
	each(t, func(l *lab) {
		tool := func(to assistants.ID) string {
			return fmt.Sprintf(`[{"type":"assistant_transfer","assistant_id":%d,"message_before_transfer":"One moment.","speak_transfer_greeting":true}]`, to)
		}
		second := l.assistant("outbound", func(f *assistants.Settings) {
			f.Name, f.InitialMessage, f.PhoneNumberID = "Second", "Second here.", nil
		})
		c := newConnecting(l, tool(second.ID), agent.ToolCall{ID: "1", Name: "transfer_to_assistant", Arguments: json.RawMessage(`{}`)})
		first, err := l.Assistants.ForNumber(t.Context(), l.DB, numberID)
		l.must(err)
		var back assistants.Settings
		l.must(json.Unmarshal([]byte(tool(first.ID)), &back.Tools))
		_, _, err = l.Assistants.Update(t.Context(), l.owner, value.Ref{ID: int64(second.ID)}, assistants.Change{Patch: value.Filled(back)})
		l.must(err)

		c.begin()
		watched, _, stop, _ := l.watch(c.call.ID)
		defer stop()
		turns := func(want string) {
			for e := l.heard(watched, "turn.assistant"); !strings.Contains(e.Data.(voice.AssistantTurn).Text, want); {
				e = l.heard(watched, "turn.assistant")
			}
		}
		for i := range mostSwitches {
			turns([]string{"Second here.", "Hi Mia."}[i%2])
			say(c.caller.Line())
		}
		turns("handed over too often")
		c.caller.FarHangup()
		call := c.ended(calls.CustomerHangup)
		if *call.AssistantID != first.ID || call.AssistantName != "Desk" {
			t.Errorf("the call is %s's", call.AssistantName)
		}
		if n := strings.Count(l.log(call.ID), `transfer {"kind":"assistant_transfer","phase":"connected"`); n != mostSwitches {
			t.Errorf("%d switches in\n%s", n, l.log(call.ID))
		}
	})
}
