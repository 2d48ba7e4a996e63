package builtin

import (
	"context"
	"slices"
	"sync"
)

// queue is a first-in first-out queue between two goroutines. Putting never waits: of what has weight, the oldest is lost
// when the queue holds more than most. Without a weight nothing is.
type queue[T any] struct {
	mu     sync.Mutex
	items  []T
	weight func(T) int // nil = 0
	most   int
	holds  int
	lost   int // since somebody asked
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
	if q.weight != nil {
		q.holds += q.weight(v)
		q.shed()
	}
	q.signal()
	return true
}

// shed lets the oldest go. Under mu.
func (q *queue[T]) shed() {
	for i := 0; q.holds > q.most; {
		w := q.weight(q.items[i])
		if w == 0 {
			i++
			continue
		}
		q.items = slices.Delete(q.items, i, i+1)
		q.holds, q.lost = q.holds-w, q.lost+w
	}
}

// losses is the weight lost since the last time somebody asked.
func (q *queue[T]) losses() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.lost
	q.lost = 0
	return n
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
			if q.weight != nil {
				q.holds -= q.weight(v)
			}
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
