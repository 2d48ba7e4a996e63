package wire

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley/fault"
	"parley/value"
)

const eventStream = "text/event-stream"

// Events writes a server-sent event stream.
type Events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// NewEvents starts a stream; the route is a Stream of text/event-stream. The stream ends when the handler returns, and
// the handler's context ends when the client goes away or the server shuts down.
func NewEvents(w http.ResponseWriter) (*Events, error) {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	e := &Events{w, http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	return e, e.rc.Flush()
}

// Send writes one event with its data as JSON; id and kind may be empty.
func (e *Events) Send(id, kind string, data any) error {
	b, err := value.Marshal(data)
	if err != nil {
		return err
	}
	var out strings.Builder
	if id != "" {
		fmt.Fprintf(&out, "id: %s\n", id)
	}
	if kind != "" {
		fmt.Fprintf(&out, "event: %s\n", kind)
	}
	fmt.Fprintf(&out, "data: %s\n\n", b)
	return e.write(out.String())
}

// Mark tells the client where it stands: it comes back with this id although no event had it yet.
func (e *Events) Mark(id string) error { return e.write("id: " + id + "\n\n") }

// Ping writes a comment that keeps proxies from closing a quiet stream.
func (e *Events) Ping() error { return e.write(": \n\n") }

func (e *Events) write(s string) error {
	if _, err := e.w.Write([]byte(s)); err != nil {
		return err
	}
	return e.rc.Flush()
}

// How many event streams may be open at a time: of one address without a credential, of what they follow, such as a
// conversation, and of one credential.
const (
	streamsPerAddress = 50
	streamsPerPlace   = 20
	streamsPerKey     = 100
)

// stream runs a handler that writes the answer itself. It ends with the server.
func (x *exchange) stream(ctx context.Context) error {
	if x.route.produces == eventStream {
		claims := []claim{{"key " + x.who.Key, streamsPerKey}}
		if x.who.Key == "" {
			claims = []claim{{"address " + x.who.Address, streamsPerAddress}, {"place " + strings.ToLower(x.place()), streamsPerPlace}}
		}
		leave, ok := x.s.streams.take(claims...)
		if !ok {
			return fault.Exceeded(claims[0].most, time.Now().Add(streamAgain))
		}
		defer leave()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(x.s.draining, stop)()
	x.w.Header().Set("Content-Type", x.route.produces)
	return x.route.stream(ctx, x.in, x.w)
}

// streamAgain is when one that found too many streams open may try again.
const streamAgain = 10 * time.Second
