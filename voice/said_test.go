package voice

import (
	"errors"
	"log/slog"
	"testing"

	"parley/fault"
)

// The events of a call carry the words of faults; what else an engine's error says is for the log.
func TestErrorsOfEnginesInEvents(t *testing.T) {
	var said string
	s := &Session{log: slog.New(slog.DiscardHandler), parts: Parts{Observe: func(e Event) { said = e.Data.(Trouble).Message }}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New(`pq: relation "calls" does not exist`), "The model failed."},
		{fault.New(fault.TooMany, "", "Too many calls at once."), "Too many calls at once."},
		{fault.Wrap(errors.New("dial tcp 10.0.0.7:5432: refused"), "", "The engine is away."), "The engine is away."},
	} {
		if s.fail("llm", c.err); said != c.want {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
}
