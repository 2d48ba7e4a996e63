package builtin

import "testing"

// A transcriber that falls behind loses the oldest audio and no end of a turn, says how much, and is never waited for.
func TestQueueLosesTheOldest(t *testing.T) {
	q := newQueue[work]()
	q.weight, q.most = func(w work) int { return len(w.pcm) }, 100
	q.put(work{end: true})
	for i := range 30 {
		q.put(work{pcm: []int16{int16(i), 9: 0}})
	}
	q.put(work{end: true})
	if lost := q.losses(); lost != 200 || q.losses() != 0 {
		t.Errorf("%d lost", lost)
	}
	var ends, first, n int
	for range 12 {
		w, ok := q.get(t.Context())
		if !ok {
			t.Fatal("the queue is empty")
		}
		if w.end {
			ends++
			continue
		}
		if n++; n == 1 {
			first = int(w.pcm[0])
		}
	}
	if ends != 2 || n != 10 || first != 20 || q.holds != 0 {
		t.Errorf("%d ends, %d frames from number %d, %d left", ends, n, first, q.holds)
	}
}
