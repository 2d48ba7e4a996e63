package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/calls"
	"parley/db"
	"parley/db/dbtest"
	"parley/jobs"
	"parley/ssrf"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if childMain() {
		return
	}
	goleak.VerifyTestMain(m)
}

type plainBox struct{}

func (plainBox) Seal(b []byte) (string, error) { return "sealed:" + string(b), nil }
func (plainBox) Open(s string) ([]byte, error) { return []byte(strings.TrimPrefix(s, "sealed:")), nil }

// got is one request that a receiver saw.
type got struct {
	Path, Body string
	Header     http.Header
}

// lab is the room on a manual clock with a receiver.
type lab struct {
	t      *testing.T
	d      *db.DB
	room   *Webhooks
	runner *jobs.Runner
	srv    *httptest.Server

	mu     sync.Mutex
	seen   []got
	answer func(n int, r *http.Request) (int, string) // n counts from 1
}

// each runs a test on both databases with a running lab.
func each(t *testing.T, fn func(t *testing.T, l *lab)) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) { fn(t, newLab(t, open(t, db.Manual()))) })
	}
}

func newLab(t *testing.T, d *db.DB) *lab {
	t.Helper()
	l := newLabOf(t, d, func(d *db.DB) *jobs.Runner { return jobs.NewRunner(d) })
	l.start(l.runner)
	return l
}

// newLabOf leaves it to the test to start the runner.
func newLabOf(t *testing.T, d *db.DB, runner func(*db.DB) *jobs.Runner) *lab {
	t.Helper()
	l := &lab{t: t, d: d, answer: func(int, *http.Request) (int, string) { return 200, `{"ok":true}` }}
	if _, err := d.Exec(t.Context(), `INSERT INTO accounts (name, email, kind, timezone, plan, payment_method, created_at, updated_at)
		VALUES ('Ada', 'ada@p.example', 'direct', 'UTC', '{}', 'ok', 0, 0)`); err != nil {
		t.Fatal(err)
	}
	l.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.seen = append(l.seen, got{r.URL.Path, string(body), r.Header})
		n := len(l.seen)
		l.mu.Unlock()
		status, text := l.answer(n, r)
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	l.runner = runner(d)
	l.room = New(d, l.runner, ssrf.New(netip.MustParsePrefix("127.0.0.0/8")), plainBox{}, true, nil)
	t.Cleanup(func() { l.room.Close(); l.srv.Close() })
	return l
}

func (l *lab) start(r *jobs.Runner) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	l.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			l.t.Error(err)
		}
	})
}

func (l *lab) add(e Event) {
	l.t.Helper()
	if e.URL == "" {
		e.URL = l.srv.URL + "/hook"
	}
	e.Owner = 1
	if err := l.d.Do(l.t.Context(), func(tx *db.Tx) error { return l.room.Add(l.t.Context(), tx, e) }); err != nil {
		l.t.Fatal(err)
	}
}

// advance moves the clock and waits until all work is done.
func (l *lab) advance(by time.Duration) {
	l.t.Helper()
	if _, settled, err := l.runner.Advance(l.t.Context(), by); err != nil || !settled {
		l.t.Fatal("not settled:", err)
	}
}

func (l *lab) requests() []got {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

func (l *lab) log() []Delivery {
	l.t.Helper()
	list, _, err := l.room.Log(l.t.Context(), 1, Filter{}, Place{}, 100)
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

// TestSignatureVector signs the vector of the contract and asks the reference library.
//
// Contract: 15.6
func TestSignatureVector(t *testing.T) {
	h := http.Header{}
	secret := "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
	body := []byte(`{"event":"call.completed","id":912}`)
	if err := sign(h, "msg_01J0000000000000000000TEST", time.Unix(1803889800, 0), body, []string{secret}); err != nil {
		t.Fatal(err)
	}
	if got := h.Get("webhook-signature"); got != "v1,xNJUbxd6rRqkweuS0lCank5p67AiLjYX7/X5JgnfFX0=" {
		t.Error(got)
	}
	if got := h.Get("X-Signature-256"); got != "sha256=744310b1749949e79a4c7db86a8717f15c5cad344626f635f6ef4bd723d77b73" {
		t.Error(got)
	}
	referee, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := referee.VerifyIgnoringTimestamp(body, h); err != nil {
		t.Error(err)
	}
}

// TestDelivery looks at the request of a delivery.
//
// Contract: 15.1
func TestDelivery(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		payload := struct {
			Event string `json:"event"`
			Text  string `json:"text"`
		}{CallCompleted, "a<b>&c"}
		l.add(Event{Name: CallCompleted, CallID: 7, Payload: payload})
		l.advance(0)
		seen := l.requests()
		if len(seen) != 1 || seen[0].Body != `{"event":"call.completed","text":"a<b>&c"}` {
			t.Fatal(seen)
		}
		h := seen[0].Header
		for k, want := range map[string]string{"Content-Type": "application/json", "User-Agent": "parley-webhooks/1", "X-Webhook-Event": "call.completed", "X-Webhook-Attempt": "1", "X-Webhook-Replay": "", "Webhook-Timestamp": fmt.Sprint(l.d.Now().Unix())} {
			if h.Get(k) != want {
				t.Errorf("%s: %q", k, h.Get(k))
			}
		}
		if id := h.Get("webhook-id"); len(id) != 30 || !strings.HasPrefix(id, "msg_") || strings.Trim(id[4:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Error(id)
		}
		secret, err := l.room.Secret(t.Context(), l.d, AccountScope(1))
		if err != nil {
			t.Fatal(err)
		}
		referee, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := referee.Verify([]byte(seen[0].Body), h); err != nil {
			t.Error(err)
		}
		d := l.log()[0]
		if d.Status != "succeeded" || len(d.Attempts) != 1 || d.Attempts[0].Status != 200 || d.Attempts[0].Response != `{"ok":true}` || !d.NextAt.IsZero() {
			t.Errorf("%+v", d)
		}
		results, err := l.room.Results(t.Context(), l.d, 1, []calls.ID{7, 8})
		if err != nil || len(results) != 1 || string(results[7]) != `{"ok":true}` {
			t.Error(results, err)
		}
	})
}

// TestRolledBackEventIsNeverSent rolls the transaction of an event back.
//
// Contract: 15.1
func TestRolledBackEventIsNeverSent(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		_ = l.d.Do(t.Context(), func(tx *db.Tx) error {
			if err := l.room.Add(t.Context(), tx, Event{Owner: 1, Name: CallCompleted, CallID: 1, URL: l.srv.URL, Payload: 1}); err != nil {
				t.Fatal(err)
			}
			return fmt.Errorf("no")
		})
		l.advance(time.Hour)
		if n := len(l.requests()); n != 0 || len(l.log()) != 0 {
			t.Error(n, l.log())
		}
	})
}

// TestRetries keeps to the schedule to the second, with one webhook-id.
//
// Contract: 5.2 15.1
func TestRetries(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.answer = func(int, *http.Request) (int, string) { return 503, "later" }
		start := l.d.Now()
		l.add(Event{Name: CallCompleted, CallID: 7, Payload: map[string]int{"id": 7}})
		l.advance(0)
		for i, w := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
			l.advance(w - time.Second)
			if n := len(l.requests()); n != i+1 {
				t.Fatalf("after %v: %d requests", l.d.Now().Sub(start), n)
			}
			l.advance(time.Second)
			if n := len(l.requests()); n != i+2 {
				t.Fatalf("after %v: %d requests", l.d.Now().Sub(start), n)
			}
		}
		if r, err := l.room.Results(t.Context(), l.d, 1, []calls.ID{7}); err != nil || len(r) != 0 {
			t.Error("an answer before the last try:", r, err)
		}
		l.advance(24 * time.Hour)
		seen, d := l.requests(), l.log()[0]
		if len(seen) != 7 || len(d.Attempts) != 7 || d.Status != "failed" || !d.NextAt.IsZero() {
			t.Fatal(len(seen), d.Status, len(d.Attempts))
		}
		for i, w := range waits[exact:] {
			gap := d.Attempts[i+4].At.Sub(d.Attempts[i+3].At)
			if gap < w*9/10 || gap > w*11/10 {
				t.Errorf("wait %d is %v", i+exact, gap)
			}
		}
		for i, r := range seen {
			if r.Header.Get("webhook-id") != seen[0].Header.Get("webhook-id") || r.Body != seen[0].Body || r.Header.Get("X-Webhook-Attempt") != fmt.Sprint(i+1) ||
				r.Header.Get("webhook-timestamp") != fmt.Sprint(d.Attempts[i].At.Unix()) {
				t.Errorf("try %d: %v", i+1, r.Header)
			}
		}
		r, err := l.room.Results(t.Context(), l.d, 1, []calls.ID{7})
		if err != nil || string(r[7]) != `{"status":503,"error":"the receiver answered 503"}` {
			t.Error(string(r[7]), err)
		}
	})
}

// TestWhatIsTriedAgain answers with every kind of status.
//
// Contract: 15.1
func TestWhatIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		status int
		event  string
		tries  int
	}{
		{204, CallCompleted, 1}, {301, CallCompleted, 4}, {400, CallCompleted, 4}, {408, CallCompleted, 4}, {410, CallCompleted, 1}, {500, CallCompleted, 4},
		{404, MessageStatus, 1}, {410, MessageStatus, 1}, {429, MessageStatus, 4}, {425, MessageStatus, 4}, {302, MessageStatus, 4},
	} {
		l := newLab(t, dbtest.SQLite(t, db.Manual()))
		l.room.longTail = false
		l.answer = func(int, *http.Request) (int, string) { return c.status, "" }
		l.add(Event{Name: c.event, MessageID: 1, ConversationID: 1, Payload: 1})
		l.advance(24 * time.Hour)
		seen := l.requests()
		if len(seen) != c.tries {
			t.Errorf("%d for %s: %d tries", c.status, c.event, len(seen))
		}
		for _, r := range seen {
			if r.Path != "/hook" {
				t.Error("a redirect was followed to", r.Path)
			}
		}
	}
}

// TestOrderWithinACall has the first event of a call fail.
//
// Contract: 15.1 15.3
func TestOrderWithinACall(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.answer = func(n int, r *http.Request) (int, string) {
			if r.Header.Get("X-Webhook-Event") == CallCompleted && n < 3 {
				return 500, ""
			}
			return 200, ""
		}
		l.add(Event{Name: CallCompleted, CallID: 1, Payload: "first"})
		l.add(Event{Name: InboundCallCompleted, CallID: 1, Payload: "second"})
		l.add(Event{Name: InboundCallCompleted, CallID: 2, Payload: "other call"})
		l.add(Event{Name: InboundCallCompleted, CallID: 1, Payload: "other receiver", URL: l.srv.URL + "/other"})
		l.advance(time.Hour)
		var bodies []string
		for _, r := range l.requests() {
			bodies = append(bodies, r.Body)
		}
		first, second := slices.Index(bodies, `"first"`), slices.Index(bodies, `"second"`)
		last := len(bodies) - 1
		if second != last || first > 2 || bodies[last-1] != `"first"` {
			t.Error(bodies)
		}
	})
}

// TestNextStatusOfAMessageGoesAheadAfterFourTries has a receiver refuse the first status.
//
// Contract: 15.1
func TestNextStatusOfAMessageGoesAheadAfterFourTries(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.answer = func(_ int, r *http.Request) (int, string) { return 500, "" }
		l.add(Event{Name: MessageStatus, MessageID: 1, Payload: "sent"})
		l.add(Event{Name: MessageStatus, MessageID: 1, Payload: "delivered"})
		l.advance(209 * time.Second)
		if n := len(l.requests()); n != 3 {
			t.Error(n, "requests in the first 209 s")
		}
		l.advance(time.Second)
		var bodies []string
		for _, r := range l.requests() {
			bodies = append(bodies, r.Body)
		}
		if want := []string{`"sent"`, `"sent"`, `"sent"`, `"sent"`, `"delivered"`}; !slices.Equal(bodies, want) {
			t.Error(bodies)
		}
	})
}

// TestRefusedAddressIsNotTriedAgain sends to a private address.
//
// Contract: 15.7
func TestRefusedAddressIsNotTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.room.client = ssrf.New().Client(ssrf.Options{})
		l.add(Event{Name: CallCompleted, CallID: 3, Payload: 1})
		l.advance(24 * time.Hour)
		d := l.log()[0]
		if len(l.requests()) != 0 || d.Status != "failed" || len(d.Attempts) != 1 || d.Attempts[0].Error != "address not allowed" || d.Attempts[0].Status != 0 {
			t.Errorf("%+v", d)
		}
		r, err := l.room.Results(t.Context(), l.d, 1, []calls.ID{3})
		if err != nil || string(r[3]) != `{"status":0,"error":"address not allowed"}` {
			t.Error(string(r[3]), err)
		}
	})
}

// TestReplay sends a delivery again.
//
// Contract: 15.1 18.1
func TestReplay(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.add(Event{Name: CallCompleted, CallID: 1, Payload: "x"})
		l.advance(time.Minute)
		id := l.log()[0].ID
		if err := l.room.Replay(t.Context(), 2, id); err != ErrNotFound {
			t.Error("a stranger replayed:", err)
		}
		if err := l.room.Replay(t.Context(), 1, id); err != nil {
			t.Fatal(err)
		}
		l.advance(0)
		seen := l.requests()
		if len(seen) != 2 || seen[1].Body != seen[0].Body || seen[1].Header.Get("X-Webhook-Replay") != "1" ||
			seen[1].Header.Get("webhook-id") != seen[0].Header.Get("webhook-id") || seen[1].Header.Get("webhook-timestamp") == seen[0].Header.Get("webhook-timestamp") {
			t.Error(seen)
		}
	})
}

// TestRotationOverlaps signs with both secrets for a day.
//
// Contract: 15.1
func TestRotationOverlaps(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		old, err := l.room.Secret(t.Context(), l.d, AccountScope(1))
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := l.room.Rotate(t.Context(), l.d, AccountScope(1))
		if err != nil || fresh == old || !strings.HasPrefix(fresh, "whsec_") {
			t.Fatal(fresh, err)
		}
		verify := func(secret string, r got) error {
			w, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			return w.VerifyIgnoringTimestamp([]byte(r.Body), r.Header)
		}
		l.add(Event{Name: CallCompleted, CallID: 1, Payload: 1})
		l.advance(23 * time.Hour)
		l.add(Event{Name: CallCompleted, CallID: 2, Payload: 1})
		l.advance(time.Hour)
		l.add(Event{Name: CallCompleted, CallID: 3, Payload: 1})
		l.advance(0)
		seen := l.requests()
		for i, oldCounts := range []bool{true, true, false} {
			if err := verify(fresh, seen[i]); err != nil {
				t.Error(i, err)
			}
			if err := verify(old, seen[i]); (err == nil) != oldCounts {
				t.Error(i, "old secret:", err)
			}
		}
		if h := seen[0].Header; len(strings.Fields(h.Get("webhook-signature"))) != 2 {
			t.Error(h)
		}
	})
}

// TestAnswersAreKeptUpTo64k reads long, binary and odd answers.
//
// Contract: 5.2 15.1 17
func TestAnswersAreKeptUpTo64k(t *testing.T) {
	l := newLab(t, dbtest.Postgres(t, db.Manual()))
	l.answer = func(n int, _ *http.Request) (int, string) {
		return 200, []string{strings.Repeat("é", 40_000), "a\x00b\xff", `[1]`, ""}[n-1]
	}
	for i := range 4 {
		l.add(Event{Name: CallCompleted, CallID: calls.ID(i + 1), Payload: 1})
		l.advance(0)
	}
	list := l.log()
	slices.Reverse(list)
	if n := len(list[0].Attempts[0].Response); n < 65_535 || n > 65_540 {
		t.Error(n, "bytes kept")
	}
	if r := list[1].Attempts[0].Response; r != "a\uFFFDb\uFFFD" {
		t.Errorf("%q", r)
	}
	results, err := l.room.Results(t.Context(), l.d, 1, []calls.ID{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	var first struct{ Body string }
	if err := json.Unmarshal(results[1], &first); err != nil || len([]rune(first.Body)) != 1000 {
		t.Error(len(first.Body), err)
	}
	if string(results[3]) != `{"status":200,"body":"[1]"}` || string(results[4]) != `{"status":200,"body":""}` {
		t.Error(string(results[3]), string(results[4]))
	}
}

// TestTry tries a receiver once.
//
// Contract: 15.1 18.1
func TestTry(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t, db.Manual()))
	l.answer = func(int, *http.Request) (int, string) { return 418, "teapot" }
	got, err := l.room.Try(t.Context(), Event{Owner: 1, Name: CallCompleted, CallID: 1, URL: l.srv.URL, Payload: map[string]bool{"test": true}})
	if err != nil || got != (Trial{false, 418, "teapot"}) {
		t.Error(got, err)
	}
	l.advance(time.Hour)
	if d := l.log()[0]; d.Status != "failed" || !d.Test || len(l.requests()) != 1 {
		t.Errorf("%+v", d)
	}
	l.srv.Close()
	if got, err := l.room.Try(t.Context(), Event{Owner: 1, Name: CallCompleted, URL: l.srv.URL, Payload: 1}); err != nil || got.Success || got.Status != 0 || got.Body != "connection refused" {
		t.Error(got, err)
	}
}

// newNode is a second process on the same database.
func newNode(t *testing.T, first *lab, d *db.DB) *lab {
	l := &lab{t: t, d: d, srv: first.srv, runner: jobs.NewRunner(d)}
	l.room = New(d, l.runner, ssrf.New(netip.MustParsePrefix("127.0.0.0/8")), plainBox{}, true, nil)
	l.start(l.runner)
	t.Cleanup(l.room.Close)
	return l
}

// TestReplayDuringATry asks for a replay while a try runs: it comes, whatever the try brings.
//
// Contract: 15.1
func TestReplayDuringATry(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.answer = func(n int, r *http.Request) (int, string) {
			if n == 1 {
				if err := l.room.Replay(r.Context(), 1, 1); err != nil {
					t.Error(err)
				}
			}
			return 200, `{}`
		}
		l.add(Event{Name: CallCompleted, CallID: 1, Payload: "x"})
		l.advance(time.Millisecond)
		l.advance(time.Minute)
		if seen := l.requests(); len(seen) != 2 || seen[1].Header.Get("X-Webhook-Replay") != "1" {
			t.Errorf("%d requests, want the first and its replay", len(seen))
		}
		if d := l.log()[0]; d.Tried != 2 || d.Status != "succeeded" {
			t.Errorf("%d tries, %s", d.Tried, d.Status)
		}
	})
}
