package campaigns

import (
	"errors"
	"fmt"
	"testing"

	"parley/db"
	"parley/fault"
	"parley/ids"
	"parley/value"
)

// TestNumbersAreLookedUpAtOnce looks once at the numbers of a change, however many there are, and names those that the
// account cannot call from together with everything else that is wrong.
//
// Contract: 6.2 14.3
func TestNumbersAreLookedUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world, c *Campaigns, id ID) {
		many := make([]ids.Number, 40)
		for i := range many {
			many[i] = ids.Number(i + 1)
		}
		ch := Change{Numbers: value.Some(many), MaxParallel: value.Some(int64(6)), End: value.Some("00:00")}
		_, err := c.Update(t.Context(), 1, id, func(tx *db.Tx, s Settings) (Settings, error) {
			return c.Changed(t.Context(), tx, 1, ch, s, []fault.Field{{Name: "name", Sentence: "told"}})
		})
		f, _ := errors.AsType[*fault.Fault](err)
		if f == nil {
			t.Fatal(err)
		}
		var names []string
		for _, bad := range f.Fields {
			names = append(names, bad.Name)
		}
		w.want(fmt.Sprint(names, w.looks), "[name max_calls_in_parallel allowed_hours_end_time phone_number_ids.0] 1")
	})
}
