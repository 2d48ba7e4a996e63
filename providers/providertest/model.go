package providertest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/agent"
	"parley/fault"
)

// Model tests a model with a question it answers in words.
func Model(t *testing.T, m agent.Model, question agent.Request) {
	t.Run("answers", func(t *testing.T) {
		var said strings.Builder
		for c, err := range m.Reply(t.Context(), question) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Call != nil && (c.Call.ID == "" || c.Call.Name == "" || len(c.Call.Arguments) == 0) {
				t.Errorf("half a call: %+v", *c.Call)
			}
			said.WriteString(c.Text)
		}
		if strings.TrimSpace(said.String()) == "" {
			t.Error("says nothing")
		}
	})
	t.Run("stops when nobody listens", func(t *testing.T) {
		for range m.Reply(t.Context(), question) {
			break
		}
	})
	t.Run("refuses when cancelled before", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		n := 0
		for c, err := range m.Reply(ctx, question) {
			if n++; err == nil {
				t.Fatalf("answered %+v", c)
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		if n != 1 {
			t.Errorf("yielded %d times", n)
		}
	})
	t.Run("serves many at once", func(t *testing.T) {
		answers := make(chan error)
		for range 4 {
			go func() {
				var last error
				for _, err := range m.Reply(t.Context(), question) {
					last = err
				}
				answers <- last
			}()
		}
		for range 4 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

// Away tests what a model says of itself when its vendor cannot be reached: words for the person who waits, and no secrets.
func Away(t *testing.T, m agent.Model, secret string) {
	t.Run("says that it is away", func(t *testing.T) {
		var last error
		for _, err := range m.Reply(t.Context(), agent.Request{}) {
			last = err
		}
		f, ok := errors.AsType[*fault.Fault](last)
		if !ok || f.Kind != fault.Unavailable || f.Message == "" || strings.Contains(f.Message, secret) {
			t.Errorf("%v", last)
		}
	})
}
