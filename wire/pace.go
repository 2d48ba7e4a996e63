package wire

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// How long a client may take. It may be slow, but it must move.
const (
	bodyIdle = 30 * time.Second // without a byte of the body
	bodyTime = time.Hour        // for a whole body: 22 MiB at 6 kB/s

	lingerIdle = 5 * time.Second // the same once the answer is out
	lingerTime = 30 * time.Second
)

// Paced gives h the bodies of requests as they come and closes the connection of a client that does not go on sending. An
// answer does not wait for the rest of the body; what still comes is read for a while, as many clients look for an answer
// only after their last byte.
func Paced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			h.ServeHTTP(w, r)
			return
		}
		b := &pacedBody{ReadCloser: r.Body, rc: http.NewResponseController(w), unasked: r.Header.Get("Expect") != ""}
		b.allow(bodyIdle, bodyTime)
		b.wait()
		_ = b.rc.EnableFullDuplex() // not every connection must be told
		r.Body = b
		h.ServeHTTP(w, r)
		b.settle()
	})
}

// pacedBody is a body that must go on coming.
type pacedBody struct {
	io.ReadCloser
	rc    *http.ResponseController
	idle  time.Duration
	until time.Time

	unasked bool  // the client sends nothing before it is asked to, which the first Read does
	end     error // of reading; io.EOF when all has come
}

func (b *pacedBody) allow(idle, whole time.Duration) {
	b.idle, b.until = idle, time.Now().Add(whole)
}

// wait sets the time by which the next byte must come.
func (b *pacedBody) wait() {
	next := time.Now().Add(b.idle)
	if next.After(b.until) {
		next = b.until
	}
	_ = b.rc.SetReadDeadline(next) // not every connection has deadlines
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.wait()
	b.unasked = false
	n, err := b.ReadCloser.Read(p)
	b.end = err
	if errors.Is(err, io.EOF) {
		_ = b.rc.SetReadDeadline(time.Time{}) // the answer may take longer
	}
	return n, err
}

// settle reads what the client still sends, up to a bound. Without its end nothing that follows could be understood: the
// connection is closed.
func (b *pacedBody) settle() {
	if errors.Is(b.end, io.EOF) {
		return
	}
	_ = b.rc.Flush() // the answer stands, whatever comes
	if b.allow(lingerIdle, lingerTime); b.end == nil && !b.unasked {
		_, _ = io.CopyN(io.Discard, b, 4*maxForm)
	}
	if !errors.Is(b.end, io.EOF) {
		_ = b.rc.SetReadDeadline(time.Now())
		panic(http.ErrAbortHandler)
	}
}
