package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Answer is a body that must not stall.
type Answer struct {
	res   *http.Response
	ctx   context.Context
	stop  context.CancelCauseFunc
	idle  *time.Timer
	limit time.Duration
}

// Header is a header of the answer.
func (a *Answer) Header(name string) string { return a.res.Header.Get(name) }

func (a *Answer) Read(p []byte) (int, error) {
	n, err := a.res.Body.Read(p)
	a.idle.Reset(a.limit)
	if err != nil && err != io.EOF {
		err = cause(a.ctx, err)
	}
	return n, err
}

// Close gives the answer up, read to its end or not.
func (a *Answer) Close() error {
	a.idle.Stop()
	err := a.res.Body.Close()
	a.stop(nil)
	return err
}

// cause prefers the reason a context was ended for over the error that it led to.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

// longest bounds one line of a stream; tool arguments and whole answers fit many times over.
const longest = 4 << 20

// Lines are the lines of a stream without their ends, and last the error that broke it off, if one did.
func Lines(src io.Reader) iter.Seq2[string, error] {
	r := bufio.NewReaderSize(src, 64<<10)
	return func(yield func(string, error) bool) {
		for {
			line, err := readLine(r)
			if err != nil && err != io.EOF {
				yield("", err)
				return
			}
			if !yield(line, nil) || err == io.EOF {
				return
			}
		}
	}
}

func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part)
		if err != bufio.ErrBufferFull {
			return strings.TrimRight(b.String(), "\r\n"), err
		}
		if b.Len() > longest {
			return "", errors.New("an event is too long")
		}
	}
}

// Events are the data of server-sent events, one line each as all vendors write them. A server that does not stream
// sends its whole answer as one line, which is an event, too.
func Events(src io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for line, err := range Lines(src) {
			if err != nil {
				yield("", err)
				return
			}
			data, ok := strings.CutPrefix(line, "data:")
			if data = strings.TrimSpace(data); !ok && !strings.HasPrefix(data, "{") {
				continue
			}
			if data != "" && !yield(data, nil) {
				return
			}
		}
	}
}

// errLeft says that the listener has heard enough.
var errLeft = errors.New("the listener left")

// Told is what run emits, as a sequence. Once the listener has left emit fails, and run returns that error; any other error of
// run is the last thing told, in words that say which part failed.
func Told[T any](what string, run func(emit func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := run(func(piece T) error {
			if !yield(piece, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			var none T
			yield(none, Explain(what, err))
		}
	}
}
