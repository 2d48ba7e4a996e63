package chats

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/value"
)

// Two requests of one customer that each say something else of him: both are kept.
func TestVariablesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		a := l.assistant("")
		c, err := l.room.External(t.Context(), a, "crm-7", nil)
		if err != nil {
			t.Fatal(err)
		}
		say := func(name string) func(context.Context, int) {
			return func(ctx context.Context, round int) {
				if _, err := l.room.External(ctx, a, "crm-7", value.Scalars{{Name: name, Value: fmt.Sprint(name, round)}}); err != nil {
					t.Error(err)
				}
			}
		}
		dbtest.Race(t, l.d, say("a"), say("b"), func(round int) {
			now, err := l.room.ByID(t.Context(), l.d, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				if v, _ := now.Variables.Get(name); v != fmt.Sprint(name, round) {
					t.Errorf("round %d: %s is %v: lost", round, name, v)
				}
			}
		})
	})
}

// Two who take over at once do so once: one mark stands in the history.
func TestTakenOverAtOnce(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		c := l.begin(l.assistant(""), Widget)
		off := func(ctx context.Context, _ int) {
			if err := l.room.SetAI(ctx, 1, value.Ref{ID: int64(c.ID)}, false); err != nil {
				t.Error(err)
			}
		}
		dbtest.Race(t, l.d, off, off, func(round int) {
			history, err := l.room.History(t.Context(), l.d, c.ID)
			if err != nil || len(history) != 2 {
				t.Errorf("round %d: %d entries, want the greeting and one mark: %v", round, len(history), err)
			}
			c = l.begin(l.assistant(""), Widget)
		})
	})
}

// A customer writes in the moment in which the chat would end of silence: it goes on, or it ended and is open again.
func TestHeardInTheMomentOfTheEnd(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		var c Conversation
		begin := func() {
			var err error
			if c, err = l.room.External(t.Context(), l.assistant(`"conversation_ended_retrigger":true`), "crm-7", nil); err != nil {
				t.Fatal(err)
			}
			long := db.At(l.d.Now().Add(-1000 * time.Hour))
			if _, err := l.d.Exec(t.Context(), `UPDATE conversations SET last_message_at = $2 WHERE id = $1`, int64(c.ID), long); err != nil {
				t.Fatal(err)
			}
		}
		begin()
		dbtest.Race(t, l.d, func(ctx context.Context, _ int) {
			err := l.d.Do(ctx, func(tx *db.Tx) error {
				_, err := l.room.Heard(ctx, tx, c.ID, "Still there?", nil)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}, func(ctx context.Context, _ int) {
			err := l.room.quiet(ctx, jobs.Job{Args: fmt.Appendf(nil, `{"id":%d}`, c.ID)})
			if err != nil && !strings.HasPrefix(err.Error(), "snoozed") {
				t.Error(err)
			}
		}, func(round int) {
			if now, err := l.room.ByID(t.Context(), l.d, c.ID); err != nil || now.State != Open {
				t.Errorf("round %d: %s %v", round, now.State, err)
			}
			begin()
		})
	})
}
