package calllog

import (
	"context"
	"sync"
	"time"

	"parley/db"
	"parley/safe"
)

// scribe writes the logs and transcripts of all conversations of the process, many in one transaction: a commit costs a
// database the same for one line as for a hundred. It works while there are conversations.
type scribe struct {
	logs  *Logs
	haste chan struct{} // a transcript has changed

	mu      sync.Mutex
	open    map[*Log]struct{}
	writing bool
	over    chan struct{} // closed when nobody is left; made anew with the next conversation
}

const (
	logEvery  = time.Second            // events that are not turns may wait that long
	gathering = 100 * time.Millisecond // turns wait that long for company
	together  = 32                     // conversations in one transaction: others wait for the database meanwhile
)

func newScribe(l *Logs) *scribe {
	return &scribe{logs: l, haste: make(chan struct{}, 1), open: map[*Log]struct{}{}}
}

// join has a conversation written from now on.
func (s *scribe) join(r *Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[r] = struct{}{}
	if !s.writing {
		s.writing, s.over = true, make(chan struct{})
		over := s.over
		safe.Go("scribe", func() { s.run(over) })
	}
}

// leave ends that; the scribe may still be at it.
func (s *scribe) leave(r *Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open, r); len(s.open) == 0 && s.writing {
		s.writing = false
		close(s.over)
	}
}

// hurry asks for what has changed to be written soon.
func (s *scribe) hurry() {
	select {
	case s.haste <- struct{}{}:
	default:
	}
}

func (s *scribe) run(over <-chan struct{}) {
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		urgent := false
		select {
		case <-s.haste:
			urgent = true
		case <-tick.C:
		case <-over:
			return
		}
		if urgent {
			select {
			case <-time.After(gathering):
			case <-over:
				return
			}
		}
		safe.Run("scribe", func() { s.round(urgent) })
	}
}

// round writes what has gathered everywhere, or only where it is urgent.
func (s *scribe) round(urgent bool) {
	s.mu.Lock()
	all := make([]*Log, 0, len(s.open))
	for r := range s.open {
		all = append(all, r)
	}
	s.mu.Unlock()
	var notes []note
	for i, r := range all {
		if n, ok := r.take(urgent); ok {
			notes = append(notes, n)
		}
		if len(notes) == together || i == len(all)-1 && len(notes) > 0 {
			s.write(notes)
			notes = notes[:0]
		}
	}
}

// write puts notes into the database: all at once, or one by one when that fails for another reason than a database that
// is away, so that one does not hold up the others.
func (s *scribe) write(notes []note) {
	err := s.commit(notes)
	if err == nil || len(notes) == 1 || db.Away(err) {
		for _, n := range notes {
			s.done(n, err)
		}
		return
	}
	for i, n := range notes {
		s.done(n, s.commit(notes[i:i+1]))
	}
}

func (s *scribe) done(n note, err error) {
	if err != nil {
		s.logs.log.Error("events not recorded", "call", n.call, "error", err)
	}
	n.done(err == nil)
}

func (s *scribe) commit(notes []note) error {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	return s.logs.db.Do(ctx, func(tx *db.Tx) error {
		for _, n := range notes {
			if err := n.write(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}
