package webhooks

import (
	"sync"

	"parley/accounts"
)

// perAccount is how many requests at once this process makes for one account, so that receivers that hang, each at a host
// of its own, leave room for everybody else's.
const perAccount = 64

// seats count the requests under way by account.
type seats struct {
	mu      sync.Mutex
	taken   map[accounts.ID]int
	waiting map[accounts.ID]map[string]bool // hosts that were put off
}

// take takes a seat, or has the host wait for one.
func (s *seats) take(owner accounts.ID, host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[owner] < perAccount {
		s.taken[owner]++
		return true
	}
	if s.waiting[owner] == nil {
		s.waiting[owner] = map[string]bool{}
	}
	s.waiting[owner][host] = true
	return false
}

// leave gives a seat back and takes hosts off the list, as many as there are seats for.
func (s *seats) leave(owner accounts.ID) (next []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[owner]--; s.taken[owner] == 0 {
		delete(s.taken, owner)
	}
	for host := range s.waiting[owner] {
		if len(next) == perAccount-s.taken[owner] {
			return next
		}
		delete(s.waiting[owner], host)
		next = append(next, host)
	}
	delete(s.waiting, owner)
	return next
}
