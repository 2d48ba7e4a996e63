package switchboard

import (
	"testing"

	"parley/calls"
	"parley/fault"
	"parley/lines"
	"parley/lines/linetest"
)

// A line that is over is free, although what follows the call goes on: neither its engines nor its place among the account's
// parallel calls wait for the record to be closed.
//
// Contract: 5.1
func TestCapacityIsFreeWithTheLine(t *testing.T) {
	each(t, func(l *lab) {
		l.Engines().Most["fake"] = 1
		l.terms(parallel(1))
		a := l.assistant("inbound", nil)
		engines := []string{"fake"}
		open := func() (calls.Call, error) {
			return l.open(t.Context(), a, calls.NewCall{Owner: l.owner, Type: calls.Inbound, AssistantID: a.ID, Node: l.Node, Lease: lease, Currency: "USD"})
		}
		leg := linetest.NewLeg(lines.Info{ID: "1"})
		first, ok := l.reserve(engines, leg)
		call, err := open()
		l.must(err)
		live := l.begin(call, leg)
		if _, twice := l.reserve(engines, leg); !ok || twice {
			l.t.Errorf("reserved %v, and again %v", ok, twice)
		}
		if _, err := open(); !fault.Is(err, fault.TooMany) {
			l.t.Errorf("a second call at once: %v", err)
		}
		leg.FarHangup()
		second, ok := l.reserve(engines, linetest.NewLeg(lines.Info{ID: "2"}))
		if !ok {
			l.t.Error("the engines are kept by a call that is over")
		}
		next, err := open()
		if err != nil {
			l.t.Errorf("the account's line is kept by a call that is over: %v", err)
		}
		first.release() // late, and of nothing
		if _, ok := l.reserve(engines, leg); ok {
			l.t.Error("the seat of another call was given back")
		}
		second.release()
		l.wrapUp(live, calls.Over{Reason: calls.CustomerHangup})
		l.forget(live)
		if _, err := open(); !fault.Is(err, fault.TooMany) {
			l.t.Errorf("counted out twice: %v", err)
		}
		l.wrapUp(l.begin(next, nil), calls.Over{Reason: calls.CustomerHangup})
	})
}
