package wire

import (
	"fmt"
	"net/http"
	"parley/value"
	"strings"
	"time"
)

// Events writes a server-sent event stream.
type Events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// NewEvents starts a stream; the route is a Stream of text/event-stream. The stream ends when the handler returns, and
// the handler's context ends when the client goes away or the server shuts down.
func NewEvents(w http.ResponseWriter) (*Events, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	e := &Events{w, http.NewResponseController(w)}
	_ = e.rc.SetWriteDeadline(time.Time{}) // not every connection has deadlines
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
