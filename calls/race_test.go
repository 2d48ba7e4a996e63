package calls

import (
	"context"
	"fmt"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/value"
)

// Two things collected at once are both kept.
func TestVariablesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		room := New(d, Neighbours{})
		call, err := room.Create(t.Context(), d, NewCall{Owner: account(t, d), Type: Outbound})
		if err != nil {
			t.Fatal(err)
		}
		set := func(name string) func(context.Context, int) {
			return func(ctx context.Context, round int) {
				if err := room.SetVariables(ctx, call.ID, value.Scalar{Name: name, Value: fmt.Sprint(name, round)}); err != nil {
					t.Error(err)
				}
			}
		}
		dbtest.Race(t, d, set("a"), set("b"), func(round int) {
			got, err := room.ByID(t.Context(), d, call.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				if v, _ := got.Variables.V.Get(name); v != fmt.Sprint(name, round) {
					t.Errorf("round %d: %s is %v: lost", round, name, v)
				}
			}
		})
	})
}

// The work after a call read it a while ago: what was collected since stays, and the evaluation goes over all.
func TestCollectedDuringTheWorkAfter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		room := New(d, Neighbours{})
		call, err := room.Create(t.Context(), d, NewCall{Owner: account(t, d), Type: Outbound})
		if err != nil {
			t.Fatal(err)
		}
		if err := room.SetVariables(t.Context(), call.ID, value.Scalar{Name: "booking", Value: "late"}, value.Scalar{Name: "status", Value: "open"}); err != nil {
			t.Fatal(err)
		}
		call.Evaluation.V = value.Scalars{{Name: "status", Value: true}}
		err = d.Do(t.Context(), func(tx *db.Tx) error { _, err := room.Finish(t.Context(), tx, call); return err })
		if err != nil {
			t.Fatal(err)
		}
		got, err := room.ByID(t.Context(), d, call.ID)
		if err != nil {
			t.Fatal(err)
		}
		booking, _ := got.Variables.V.Get("booking")
		if status, _ := got.Variables.V.Get("status"); booking != "late" || status != true {
			t.Errorf("%v", got.Variables.V)
		}
	})
}
