package chats

import (
	"context"
	"errors"
	"sync"
	"time"

	"parley/db"
	"parley/fault"
)

// turns wakes those who wait on this node; those on other nodes look again after a moment.
type turns struct {
	mu      sync.Mutex
	waiting map[ID]chan struct{} // closed when an answer of the conversation is done
}

func (t *turns) next(id ID) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[id] == nil {
		t.waiting[id] = make(chan struct{})
	}
	return t.waiting[id]
}

func (t *turns) done(id ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.waiting[id]; c != nil {
		close(c)
		delete(t.waiting, id)
	}
}

// look is how often one looks whether a message on another node was answered.
const look = 200 * time.Millisecond

// queue is how many messages of a conversation may be there unanswered: one in work and three behind it.
const queue = 4

// lock keeps other messages of the conversation out until the transaction ends, so that ids follow the order of commits.
func (s *Chats) lock(ctx context.Context, tx *db.Tx, id ID) error {
	return tx.Get(ctx, &id, `SELECT id FROM conversations WHERE id = $1 {{lock}}`, int64(id))
}

// locked reads a conversation that nobody else changes until tx ends. It is read once it is held: what waited for a row sees
// other tables as they were before.
func (s *Chats) locked(ctx context.Context, tx *db.Tx, id ID) (Conversation, error) {
	if err := s.lock(ctx, tx, id); err != nil && !errors.Is(err, db.ErrNone) {
		return Conversation{}, err
	}
	return s.ByID(ctx, tx, id)
}

// full reports whether a further message would wait behind too many. Time is real: a lost process must not block.
func (s *Chats) full(ctx context.Context, tx *db.Tx, id ID) (bool, error) {
	var n int
	err := tx.Get(ctx, &n, `SELECT count(*) FROM conversation_entries WHERE conversation_id = $1 AND waits_until > $2`,
		int64(id), db.At(time.Now()))
	return n >= queue, err
}

// tooMany is the answer when it would.
func tooMany() error { return fault.Exceeded(queue, time.Now().Add(time.Second)) }

// await returns when every message before entry was answered or given up.
func (s *Chats) await(ctx context.Context, id ID, entry int64) error {
	for {
		again := s.turns.next(id)
		var before int
		err := s.db.Get(ctx, &before, `SELECT count(*) FROM conversation_entries WHERE conversation_id = $1 AND id < $2 AND waits_until > $3`,
			int64(id), entry, db.At(time.Now()))
		if err != nil || before == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again:
		case <-time.After(look):
		}
	}
}

// leave ends the wait of an entry, whatever became of it.
func (s *Chats) leave(ctx context.Context, id ID, entry int64) error {
	_, err := s.db.Exec(ctx, `UPDATE conversation_entries SET waits_until = NULL WHERE id = $1`, entry)
	s.turns.done(id)
	return err
}
