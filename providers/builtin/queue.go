package builtin

import (
	"context"
	"sync"
)

// queue is an unbounded first-in first-out queue between two goroutines.
type queue[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	err    error
	more   chan struct{} // has a token when items or closed changed
}

func newQueue[T any]() *queue[T] { return &queue[T]{more: make(chan struct{}, 1)} }

// put reports false when the queue is closed.
func (q *queue[T]) put(v T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.items = append(q.items, v)
	q.signal()
	return true
}

// close lets what is queued be read and then ends the queue.
func (q *queue[T]) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.err = true, err
	q.signal()
}

func (q *queue[T]) signal() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// get waits for the next item; false when the queue is closed and empty, or ctx is over. One reader.
func (q *queue[T]) get(ctx context.Context) (v T, ok bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			v, q.items = q.items[0], q.items[1:]
			q.mu.Unlock()
			return v, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return v, false
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return v, false
		}
	}
}

// failure is the error the queue was closed with, or instead.
func (q *queue[T]) failure(instead error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	return instead
}
