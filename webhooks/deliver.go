package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/accounts"
	"parley/db"
	"parley/jobs"
	"parley/safe"
	"parley/ssrf"
)

type hostArgs struct {
	Host string `json:"host"`
}

// shift is how long one run serves a host before others get a turn.
const shift = time.Minute

// look is how often a host with requests under way is asked for more.
const look = 200 * time.Millisecond

// serve delivers what is due at one host, perHost requests at once, until nothing is. The job is unique per host, so
// no other node serves it meanwhile, and a dead host holds up nobody else.
func (s *Webhooks) serve(ctx context.Context, job jobs.Job) error {
	var args hostArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	r := run{Webhooks: s, host: args.Host, busy: map[int64]bool{}, done: make(chan int64)}
	ends := time.Now().Add(shift)
	var failed error
	for {
		for more := true; more && failed == nil && ctx.Err() == nil && len(r.busy) < perHost && time.Now().Before(ends); {
			var next []Delivery
			next, more, failed = r.next(ctx)
			for _, d := range next {
				safe.Go("delivery", func() {
					defer func() { r.done <- d.ID }()
					defer s.leave(ctx, d.Owner)
					if _, err := s.deliver(ctx, d, false); err != nil && ctx.Err() == nil {
						slog.ErrorContext(ctx, "delivery not recorded", "delivery", d.ID, "err", err)
					}
				})
			}
		}
		if len(r.busy) == 0 {
			break
		}
		select {
		case id := <-r.done:
			delete(r.busy, id)
		case <-time.After(look): // more may have come meanwhile
		}
	}
	switch {
	case failed != nil || ctx.Err() != nil:
		return errors.Join(failed, ctx.Err())
	case len(r.off) > 0:
		return jobs.Snooze(s.db.Now().Add(answerTime)) // at the latest: who gives back a seat wakes the host
	}
	return s.rest(ctx, args.Host)
}

// run is one shift of a host.
type run struct {
	*Webhooks
	host string
	busy map[int64]bool // deliveries under way
	off  []accounts.ID  // accounts that have no seat left
	done chan int64
}

// next are deliveries that are due and have a seat. putOff reports whether accounts without one were in front of others.
func (r *run) next(ctx context.Context) (out []Delivery, putOff bool, err error) {
	due, err := r.due(ctx, r.host, r.busy, r.off)
	for _, d := range due {
		if !r.seats.take(d.Owner, r.host) {
			r.off, putOff = append(r.off, d.Owner), true
			continue
		}
		r.busy[d.ID] = true
		out = append(out, d)
	}
	return out, putOff, err
}

// leave gives an account's seat back and has the hosts served that waited for one.
func (s *Webhooks) leave(ctx context.Context, owner accounts.ID) {
	for _, host := range s.seats.leave(owner) {
		if err := s.wake(ctx, s.db, host, s.db.Now()); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "host waits longer", "err", err)
		}
	}
}

// rest sleeps until the host's next delivery is due.
func (s *Webhooks) rest(ctx context.Context, host string) error {
	var next db.Time
	err := s.db.Get(ctx, &next, `SELECT min(d.next_at) FROM webhook_deliveries d WHERE d.host = $1 AND d.status = 'pending' AND `+head, host)
	if err != nil {
		return err
	}
	if next.IsZero() {
		return nil
	}
	return jobs.Snooze(next.Time())
}

// deliver makes one request and records what came of it. A last one is not made again.
func (s *Webhooks) deliver(ctx context.Context, d Delivery, last bool) (Attempt, error) {
	secrets, err := s.secrets(ctx, s.db, d.scope)
	if err != nil {
		return Attempt{}, err
	}
	a := Attempt{At: s.db.Now()}
	began := time.Now()
	var res *http.Response
	r, err := d.request(ctx, a.At, secrets)
	if err == nil {
		res, err = s.client.Do(r)
	}
	if err == nil {
		a.Status, a.Response, err = read(res)
	}
	a.Duration = time.Since(began)
	switch {
	case last:
		ctx = context.WithoutCancel(ctx)
	case ctx.Err() != nil:
		return a, ctx.Err() // stopped in the middle: nobody knows, so it is tried again
	}
	if err != nil {
		a.Error = plainly(err)
	}
	return a, s.record(ctx, d, a, !last && !errors.Is(err, ssrf.ErrRefused) && worthRetry(d.Event, a.Status))
}

// request is the delivery, made at a moment.
func (d Delivery) request(ctx context.Context, at time.Time, secrets []string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(d.Body))
	if err != nil {
		return nil, err
	}
	if r.Header, err = d.headers(at, secrets); err != nil {
		return nil, err
	}
	r.Header["Idempotency-Key"] = []string{} // not sent: lets the client try anew when a kept connection turns out to be dead
	return r, nil
}

// read is what is kept of an answer.
func read(res *http.Response) (status int, answer string, err error) {
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, kept))
	if err != nil && len(b) < kept {
		return 0, "", err // an answer that breaks off or comes too late is none
	}
	_, _ = io.CopyN(io.Discard, res.Body, kept) // lets the connection be used again
	return res.StatusCode, text(b), nil
}

// headers are those of a request made at a moment.
func (d Delivery) headers(at time.Time, secrets []string) (http.Header, error) {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "parley-webhooks/1")
	h.Set("X-Webhook-Event", d.Event)
	h.Set("X-Webhook-Attempt", strconv.Itoa(d.Tried+1))
	if d.Replayed {
		h.Set("X-Webhook-Replay", "1")
	}
	if d.requestID != "" {
		h.Set("X-Request-Id", d.requestID)
	}
	return h, sign(h, d.WebhookID, at, []byte(d.Body), secrets)
}

// Get finds a delivery with the headers that a request made now would have, for somebody who makes it himself.
func (s *Webhooks) Get(ctx context.Context, owner accounts.ID, id int64) (Delivery, http.Header, error) {
	d, err := s.byID(ctx, s.db, id)
	if err == nil && d.Owner != owner {
		err = ErrNotFound
	}
	if err != nil {
		return Delivery{}, nil, err
	}
	secrets, err := s.secrets(ctx, s.db, d.scope)
	if err != nil {
		return Delivery{}, nil, err
	}
	h, err := d.headers(s.db.Now(), secrets)
	return d, h, err
}

// text makes a received body storable.
func text(b []byte) string {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}

// plainly is why a request got no answer, in words for the customer.
func plainly(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, ssrf.ErrRefused):
		return ssrf.ErrRefused.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case strings.Contains(err.Error(), "no such host"):
		return "host not found"
	case strings.Contains(err.Error(), "refused"):
		return "connection refused"
	case strings.Contains(err.Error(), "certificate"), strings.Contains(err.Error(), "tls:"):
		return "no trusted TLS connection"
	}
	return "connection failed"
}

// Trial is the answer to a test event.
type Trial struct {
	Success bool
	Status  int // 0 = no answer
	Body    string
}

// Try sends a made-up event once, right away, and keeps it in the log.
func (s *Webhooks) Try(ctx context.Context, e Event) (Trial, error) {
	e.Test = true
	id, err := s.add(ctx, s.db, e, "trying")
	if err != nil {
		return Trial{}, err
	}
	d, err := s.byID(ctx, s.db, id)
	if err != nil {
		return Trial{}, err
	}
	a, err := s.deliver(ctx, d, true)
	if a.Status == 0 {
		a.Response = a.Error
	}
	return Trial{a.Status/100 == 2, a.Status, a.Response}, err
}
