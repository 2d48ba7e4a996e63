package providertest

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/fault"
	"parley/providers/rest"
	"parley/voice"
)

// Noise is a tone of 100 ms a letter as raw samples, 16 bits with the lower byte first.
func Noise(rate, letters int) []byte {
	out := make([]byte, 0, letters*rate/5)
	for i := range letters * rate / 10 {
		s := int16(9000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
		out = append(out, byte(s), byte(s>>8))
	}
	return out
}

// SpeechFaults tests what becomes of a vendor's faults in a synthesizer of HTTP streams: refusal is its body for a refused
// request, and words are what of it the log has.
func SpeechFaults(t *testing.T, refusal, words string, open func(base string, patience time.Duration) voice.Synthesizer, how voice.Speech) {
	for _, c := range []struct {
		name     string
		patience time.Duration
		said     string // empty = it speaks
		tries    int
		serve    func(try int, w http.ResponseWriter, r *http.Request)
	}{
		{"a refused key", 5 * time.Second, "the speech service refused the API key", 1, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
		}},
		{"a refused request", 5 * time.Second, "the speech service refused the request", 1, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = w.Write([]byte(refusal))
		}},
		{"no quota", 5 * time.Second, "the speech service has no quota left", 1, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(402) }},
		{"too many, for long", 5 * time.Second, "the speech service has too many requests or no quota left", 1, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(429)
		}},
		{"too many, once", 5 * time.Second, "", 2, func(try int, w http.ResponseWriter, _ *http.Request) {
			if try == 1 {
				w.Header().Set("Retry-After", "0.01")
				w.WriteHeader(429)
				return
			}
			_, _ = w.Write(Noise(16000, 10))
		}},
		{"a failure, once", 5 * time.Second, "", 2, func(try int, w http.ResponseWriter, _ *http.Request) {
			if try == 1 {
				w.WriteHeader(503)
				return
			}
			_, _ = w.Write(Noise(16000, 10))
		}},
		{"a failure, always", 5 * time.Second, "the speech service failed", 2, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
		{"it hangs", 50 * time.Millisecond, "the speech service did not answer in time", 1, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"it stops in the middle", 200 * time.Millisecond, "the speech service stopped in the middle of its answer", 1, func(_ int, w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(Noise(16000, 5))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
		{"it is cut in the middle", 5 * time.Second, "the speech service could not be reached", 1, func(_ int, w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(Noise(16000, 5))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"it says nothing", 5 * time.Second, "the speech service could not be reached", 1, func(int, http.ResponseWriter, *http.Request) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tries++
				_, _ = io.Copy(io.Discard, r.Body)
				c.serve(tries, w, r)
			}))
			defer s.Close()
			var last error
			sound := 0
			for f, err := range open(s.URL, c.patience).Speak(t.Context(), how) {
				last, sound = err, sound+len(f.PCM)
			}
			if c.said == "" && (last != nil || sound == 0) || c.said != "" && (last == nil || fault.Of(last).Message != c.said) || tries != c.tries {
				t.Errorf("%v after %d tries, %d samples", last, tries, sound)
			}
			if r, ok := errors.AsType[*rest.Refusal](last); ok && r.Status == 400 && r.Message != words {
				t.Errorf("the log has %q", r.Message)
			}
		})
	}
}
