package sockettest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/fault"
	"parley/providers/providertest"
	"parley/voice"
)

// Vendor is a recogniser to be tested, and what pretends to be its server.
type Vendor struct {
	Open func(base string, patience time.Duration) voice.OpenTranscriber
	Talk func(c *Conn)
	// Novelties are messages that its server never sent so far, or that nobody can read.
	Novelties []string
}

// Faults tests that a recogniser survives what servers do, or says in words why it does not.
func Faults(t *testing.T, v Vendor) {
	t.Run("refusals", func(t *testing.T) { refusals(t, v) })
	t.Run("hangs before it answers", func(t *testing.T) {
		stop := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
		defer func() { close(stop); s.Close() }()
		_, err := v.Open(s.URL, 50*time.Millisecond)(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}})
		if err == nil || fault.Of(err).Message != "the transcription service did not answer in time" {
			t.Error(err)
		}
	})
	first, _ := Utterances(8000)
	t.Run("a connection that is cut in the middle", func(t *testing.T) {
		var n atomic.Int64
		tr := open(t, v, func(c *Conn) {
			if n.Add(1) == 1 {
				for range 5 {
					c.Recv()
				}
				_ = c.conn.CloseNow()
				return
			}
			v.Talk(c)
		})
		if _, final := providertest.Recognise(t, tr, 8000, Pause(first.PCM)); final != first.Words {
			t.Errorf("heard %q", final)
		}
		providertest.Finish(t, tr)
	})
	t.Run("connections that are always cut", func(t *testing.T) {
		tr := open(t, v, func(c *Conn) { c.Recv(); _ = c.conn.CloseNow() })
		_ = tr.Write(first.PCM)
		for {
			_, err := tr.Recv()
			if err == nil {
				continue
			}
			if fault.Of(err).Message != "the transcription service could not be reached" {
				t.Error(err)
			}
			break
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a server that says nothing", func(t *testing.T) {
		tr := open(t, v, func(c *Conn) {
			for ok := true; ok; {
				_, _, ok = c.Recv()
			}
		})
		if _, final := providertest.Recognise(t, tr, 8000, Pause(first.PCM)); final != "" {
			t.Errorf("heard %q", final)
		}
		providertest.Finish(t, tr)
	})
	t.Run("messages that nobody knows", func(t *testing.T) {
		tr := open(t, v, func(c *Conn) {
			for _, m := range append([]string{"{", "", "[]", "null", `"x"`, `{"type":"Novelty","event":{},"x":[1]}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`},
				v.Novelties...) {
				c.Send(m)
			}
			v.Talk(c)
		})
		if _, final := providertest.Recognise(t, tr, 8000, Pause(first.PCM)); final != first.Words {
			t.Errorf("heard %q", final)
		}
		providertest.Finish(t, tr)
	})
	t.Run("a policy that was violated", func(t *testing.T) {
		var n atomic.Int64
		tr := open(t, v, func(c *Conn) { n.Add(1); c.Recv(); c.Refuse(1008, "DATA-0000") })
		_ = tr.Write(first.PCM)
		_, err := tr.Recv()
		if err == nil || errors.Is(err, io.EOF) || fault.Of(err).Message != "the transcription service refused the request" || n.Load() != 1 {
			t.Error(err, n.Load())
		}
		_ = tr.Close()
	})
}

// Pause is sound with two seconds of silence behind it.
func Pause(pcm []int16) []int16 { return append(pcm[:len(pcm):len(pcm)], make([]int16, 16000)...) }

func open(t *testing.T, v Vendor, talk func(c *Conn)) voice.Transcriber {
	t.Helper()
	tr, err := v.Open(Serve(t, talk), 5*time.Second)(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func refusals(t *testing.T, v Vendor) {
	for _, c := range []struct {
		status, times int // refused so many times, then no more
		header, said  string
	}{
		{401, 9, "", "the transcription service refused the API key"},
		{402, 9, "", "the transcription service has no quota left"},
		{403, 9, "", "the transcription service refused the API key"},
		{400, 9, "", "the transcription service refused the request"},
		{429, 9, "60", "the transcription service has too many requests or no quota left"},
		{429, 1, "0.01", ""},
		{503, 9, "", "the transcription service failed"},
		{503, 1, "", ""},
	} {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n++; n > c.times {
				serve(t.Context(), t, w, r, v.Talk)
				return
			}
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.status)
		}))
		tr, err := v.Open(s.URL, 5*time.Second)(t.Context(), voice.Transcription{Rate: 8000, Languages: []string{"en"}})
		if err == nil {
			providertest.Finish(t, tr)
		}
		if said := say(err); said != c.said || c.status < 429 && n > 1 {
			t.Errorf("%d %d times: %q after %d tries", c.status, c.times, said, n)
		}
		s.CloseClientConnections()
		s.Close()
	}
}

func say(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(fault.Of(err).Message)
}
