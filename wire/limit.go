package wire

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"parley/fault"
)

// Who is the sender of a request, for limits and idempotency.
type Who struct {
	Key     string // the credential's name, which is no secret; empty without one
	Account int64  // 0 without a credential
	Address string // client address without port, of IPv6 its /64
}

// Quota is the state of one limit after it was asked.
type Quota struct {
	Allowed   bool
	Limit     int
	Remaining int
	Reset     time.Time // when a refused request may come again, or the oldest counted one is forgotten
	undo      func()
}

// Limit decides on one request. It counts only what it allows.
type Limit func(ctx context.Context, who Who) (Quota, error)

// Window allows at most n requests of one name in any span of the given length, exactly.
// It lives in memory; its time is real time.
type Window struct {
	n    int
	span time.Duration

	mu    sync.Mutex
	taken map[string][]time.Time // moments within the span, oldest first
	swept time.Time
}

// NewWindow makes a window; n = 0 allows everything.
func NewWindow(n int, span time.Duration) *Window {
	return &Window{n: n, span: span, taken: map[string][]time.Time{}}
}

// Take asks for one request of name.
func (w *Window) Take(name string) Quota {
	if w.n == 0 {
		return Quota{Allowed: true}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.sweep(now)
	moments := w.current(name, now)
	q := Quota{Limit: w.n, Reset: now.Add(w.span)}
	if len(moments) > 0 {
		q.Reset = moments[0].Add(w.span)
	}
	if len(moments) >= w.n {
		w.taken[name] = moments
		return q
	}
	w.taken[name] = append(moments, now)
	q.Allowed, q.Remaining = true, w.n-len(moments)-1
	q.undo = func() { w.giveBack(name, now) }
	return q
}

// Full reports whether the next request of name would be refused.
func (w *Window) Full(name string) (Quota, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	moments := w.current(name, time.Now())
	if w.n == 0 || len(moments) < w.n {
		return Quota{Allowed: true}, false
	}
	return Quota{Limit: w.n, Reset: moments[0].Add(w.span)}, true
}

func (w *Window) current(name string, now time.Time) []time.Time {
	moments := w.taken[name]
	gone := 0
	for gone < len(moments) && now.Sub(moments[gone]) >= w.span {
		gone++
	}
	return moments[gone:]
}

func (w *Window) giveBack(name string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, t := range w.taken[name] {
		if t.Equal(at) {
			w.taken[name] = append(w.taken[name][:i], w.taken[name][i+1:]...)
			return
		}
	}
}

// sweep forgets names that were quiet for a whole span.
func (w *Window) sweep(now time.Time) {
	if now.Sub(w.swept) < w.span {
		return
	}
	w.swept = now
	for name := range w.taken {
		if len(w.current(name, now)) == 0 {
			delete(w.taken, name)
		}
	}
}

// PerKey limits each credential.
func PerKey(n int, span time.Duration) Limit {
	w := NewWindow(n, span)
	return func(_ context.Context, who Who) (Quota, error) { return w.Take(who.Key), nil }
}

// PerAccount limits each account, all its keys together.
func PerAccount(n int, span time.Duration) Limit {
	w := NewWindow(n, span)
	return func(_ context.Context, who Who) (Quota, error) {
		return w.Take(strconv.FormatInt(who.Account, 10)), nil
	}
}

// PerAddress limits each client address of requests without a credential.
func PerAddress(n int, span time.Duration) Limit {
	w := NewWindow(n, span)
	return func(_ context.Context, who Who) (Quota, error) {
		if who.Key != "" {
			return Quota{Allowed: true}, nil
		}
		return w.Take(who.Address), nil
	}
}

// Pass asks all limits and gives the narrowest one's quota, or the fault of the first that refuses; in that case
// none has counted the request.
func pass(ctx context.Context, who Who, limits []Limit) (Quota, error) {
	var narrow Quota
	asked := make([]Quota, 0, len(limits))
	for _, limit := range limits {
		q, err := limit(ctx, who)
		if err == nil && q.Allowed {
			asked = append(asked, q)
			if narrow.Limit == 0 || q.Limit > 0 && (q.Limit < narrow.Limit || q.Limit == narrow.Limit && q.Remaining < narrow.Remaining) {
				narrow = q
			}
			continue
		}
		for _, a := range asked {
			if a.undo != nil {
				a.undo()
			}
		}
		if err != nil {
			return q, err
		}
		return q, q.Refusal()
	}
	return narrow, nil
}

// Refusal is the 429 answer of a quota that is used up.
func (q Quota) Refusal() error { return fault.Exceeded(q.Limit, q.Reset) }

func (q Quota) head(h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(q.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(q.Remaining))
	if !q.Allowed {
		h.Set("X-RateLimit-Reset", strconv.FormatInt(q.Reset.Unix(), 10))
	}
}
