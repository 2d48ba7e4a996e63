package media

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// hearing is the ring of caller audio between the pacer (writer) and one reader.
type hearing struct {
	buf     []int16 // a power of two long
	written atomic.Uint64
	read    atomic.Uint64
	waiting atomic.Bool
	ready   chan struct{}
}

func (h *hearing) init(size int) {
	h.buf = make([]int16, size)
	h.ready = make(chan struct{}, 1)
}

// put appends pcm, or as much of it as fits, and returns how much that was. Pacer only.
func (h *hearing) put(pcm []int16) int {
	w := h.written.Load()
	n := min(len(pcm), len(h.buf)-int(w-h.read.Load()))
	at := int(w) & (len(h.buf) - 1)
	k := copy(h.buf[at:], pcm[:n])
	copy(h.buf, pcm[k:n])
	h.written.Store(w + uint64(n))
	return n
}

// wake lets a waiting reader go on. Pacer only.
func (h *hearing) wake() {
	if h.waiting.Load() && h.written.Load() != h.read.Load() {
		select {
		case h.ready <- struct{}{}:
		default:
		}
	}
}

func (h *hearing) take(buf []int16) int {
	r := h.read.Load()
	n := min(len(buf), int(h.written.Load()-r))
	at := int(r) & (len(h.buf) - 1)
	k := copy(buf[:n], h.buf[at:])
	copy(buf[k:n], h.buf)
	h.read.Store(r + uint64(n))
	return n
}

func (h *hearing) hear(ctx context.Context, buf []int16, over <-chan struct{}) (int, error) {
	for {
		if n := h.take(buf); n > 0 || len(buf) == 0 {
			return n, nil
		}
		h.waiting.Store(true)
		if h.written.Load() == h.read.Load() {
			select {
			case <-h.ready:
			case <-ctx.Done():
				h.waiting.Store(false)
				return 0, context.Cause(ctx)
			case <-over:
				if h.written.Load() == h.read.Load() {
					return 0, io.EOF
				}
			}
		}
		h.waiting.Store(false)
	}
}

const chunkLen = 2048 // samples

type chunk [chunkLen]int16

// speech is the queue of samples to be sent. Producers share a mutex among themselves; the pacer takes samples without a
// lock. Chunks are made on demand, so an idle call holds none.
type speech struct {
	read    atomic.Int64 // samples taken or cleared: the pacer and Clear move it by compare-and-swap
	done    atomic.Int64 // samples the pacer no longer looks at: chunks below it can be used again
	written atomic.Int64 // samples queued
	cleared atomic.Int64 // samples dropped by Clear: they do not count in positions
	waiting atomic.Bool  // a producer waits for room
	room    chan struct{}

	mu       sync.Mutex
	chunks   []*chunk // a ring
	spare    []*chunk
	freed    int64 // chunks below this index were taken back
	clears   int   // number of calls of clear
	capacity int64
}

func (q *speech) init(rate int) {
	q.capacity = int64(20 * rate)
	q.chunks = make([]*chunk, q.capacity/chunkLen+2)
	q.room = make(chan struct{}, 1)
}

// taken is what one take found.
type taken struct {
	n       int   // samples
	from    int64 // position of the first
	cleared int64 // samples ever cleared before it
	last    bool  // the queue is empty now
}

// take moves up to len(dst) samples into dst. Pacer only. The order of the loads makes from right: samples behind a
// Clear are visible only after cleared is.
func (q *speech) take(dst []int16) taken {
	r := q.read.Load()
	q.done.Store(r)
	w := q.written.Load()
	cleared := q.cleared.Load()
	n := min(int64(len(dst)), w-r)
	if n <= 0 || !q.read.CompareAndSwap(r, r+n) {
		return taken{} // nothing there, or cleared at this moment
	}
	for got := int64(0); got < n; {
		at := r + got
		got += int64(copy(dst[got:n], q.chunks[at/chunkLen%int64(len(q.chunks))][at%chunkLen:]))
	}
	q.done.Store(r + n)
	return taken{int(n), r - cleared, cleared, r+n == w}
}

// wake lets a waiting producer go on once there is room for a twentieth. Pacer only.
func (q *speech) wake() {
	if q.waiting.Load() && q.written.Load()-q.done.Load() <= q.capacity-q.capacity/20 {
		select {
		case q.room <- struct{}{}:
		default:
		}
	}
}

// wait lets go of mu until there is room or somebody cleared.
func (q *speech) wait(ctx context.Context, over <-chan struct{}) (err error) {
	q.waiting.Store(true)
	q.mu.Unlock()
	select {
	case <-q.room:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-over:
		err = io.EOF
	}
	q.mu.Lock()
	if err == nil {
		q.waiting.Store(false)
	}
	return err
}

// put copies what fits. Under mu.
func (q *speech) put(pcm []int16) int {
	w, done := q.written.Load(), q.done.Load()
	for ; (q.freed+1)*chunkLen <= done; q.freed++ {
		at := q.freed % int64(len(q.chunks))
		q.spare = append(q.spare, q.chunks[at])
		q.chunks[at] = nil
	}
	n := min(int64(len(pcm)), q.capacity-(w-done))
	for got := int64(0); got < n; {
		at := (w + got) / chunkLen % int64(len(q.chunks))
		if q.chunks[at] == nil {
			q.chunks[at] = q.fresh()
		}
		got += int64(copy(q.chunks[at][(w+got)%chunkLen:], pcm[got:n]))
	}
	q.written.Store(w + n)
	return int(n)
}

func (q *speech) fresh() *chunk {
	if n := len(q.spare); n > 0 {
		c := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return c
	}
	return new(chunk)
}

func (q *speech) clear() (played int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.clears++
	for {
		r, w := q.read.Load(), q.written.Load()
		if q.read.CompareAndSwap(r, w) {
			played = r - q.cleared.Load()
			q.cleared.Add(w - r)
			break
		}
	}
	if q.waiting.Swap(false) {
		select { // a producer waiting for room gives up the rest
		case q.room <- struct{}{}:
		default:
		}
	}
	return played
}

func (q *speech) played() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.read.Load() - q.cleared.Load()
}
