package sip

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budget limits how many messages one address may send us. Addresses that proved to be a trunk's, and this
// machine itself, are not limited.
type budget struct {
	mu      sync.Mutex
	limits  map[netip.Addr]*spender
	trusted map[netip.Addr]time.Time // until when
	swept   time.Time
}

type spender struct {
	limit *rate.Limiter
	last  time.Time
}

const (
	budgetRate    = 20 // messages per second
	budgetBurst   = 100
	wrongPassword = 20     // messages that a refused password costs: guessing is slow
	budgetSize    = 100000 // addresses remembered; beyond it strangers get nothing
	trustFor      = 10 * time.Minute
)

func newBudget() *budget {
	return &budget{limits: map[netip.Addr]*spender{}, trusted: map[netip.Addr]time.Time{}}
}

// take spends n messages of addr and reports whether it had them.
func (b *budget) take(addr netip.Addr, n int) bool {
	addr = addr.Unmap()
	if addr.IsLoopback() {
		return true
	}
	if addr.Is6() { // one customer has a whole /64
		p, _ := addr.Prefix(64)
		addr = p.Addr()
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if until, ok := b.trusted[addr]; ok && now.Before(until) {
		return true
	}
	b.sweep(now)
	s := b.limits[addr]
	if s == nil {
		if len(b.limits) >= budgetSize {
			return false
		}
		s = &spender{limit: rate.NewLimiter(budgetRate, budgetBurst)}
		b.limits[addr] = s
	}
	s.last = now
	return s.limit.AllowN(now, n)
}

// trust lifts the limit for addr for a while.
func (b *budget) trust(addr netip.Addr) {
	addr = addr.Unmap()
	if addr.Is6() {
		p, _ := addr.Prefix(64)
		addr = p.Addr()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trusted[addr] = time.Now().Add(trustFor)
}

// sweep forgets addresses whose budget is full again.
func (b *budget) sweep(now time.Time) {
	if now.Sub(b.swept) < 10*time.Second {
		return
	}
	b.swept = now
	for a, s := range b.limits {
		if now.Sub(s.last) > budgetBurst/budgetRate*time.Second {
			delete(b.limits, a)
		}
	}
	for a, until := range b.trusted {
		if now.After(until) {
			delete(b.trusted, a)
		}
	}
}
