package load

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"parley/lines"
)

// Percentiles of a set of times, in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// percentiles sorts times and picks by nearest rank.
func percentiles(times []time.Duration) Percentiles {
	if len(times) == 0 {
		return Percentiles{}
	}
	slices.Sort(times)
	at := func(share float64) float64 {
		i := int(math.Ceil(share*float64(len(times)))) - 1
		return math.Round(float64(times[max(i, 0)])/1e4) / 100
	}
	return Percentiles{at(.5), at(.95), at(.99), at(1)}
}

// meter collects what all telephones measure.
type meter struct {
	mu                     sync.Mutex
	r                      Report
	failures               map[string]int
	setUp, greeting, first []time.Duration
	answers, stops, jitter []time.Duration
	lost, dry              int64
}

func (m *meter) note(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *meter) failed(err error) {
	why := "error"
	if e, ok := errors.AsType[*lines.DialError](err); ok && e.Code != 0 {
		why = fmt.Sprint(e.Code)
	} else if ok && e.Timeout {
		why = "no answer"
	}
	m.note(func() { m.failures[why]++ })
}

func (m *meter) answered(took time.Duration) {
	m.note(func() { m.r.Answered++; m.setUp = append(m.setUp, took) })
}

func (m *meter) greeted(afterAnswer, afterInvite time.Duration) {
	m.note(func() { m.greeting, m.first = append(m.greeting, afterAnswer), append(m.first, afterInvite) })
}

func (m *meter) responded(took time.Duration) {
	m.note(func() { m.answers = append(m.answers, took) })
}

func (m *meter) stopped(took time.Duration) {
	m.note(func() { m.stops = append(m.stops, took) })
}

func (m *meter) unstopped()  { m.note(func() { m.r.Unstopped++ }) }
func (m *meter) spoke()      { m.note(func() { m.r.Turns++ }) }
func (m *meter) unanswered() { m.note(func() { m.r.Unanswered++ }) }
func (m *meter) cut()        { m.note(func() { m.r.CutOff++ }) }

func (m *meter) over(s lines.Stats) {
	m.note(func() {
		m.r.Received += s.Received
		m.r.Sent += s.Sent
		m.r.Late += s.Late
		m.lost += s.Lost
		m.dry += s.Dry
		m.jitter = append(m.jitter, s.Jitter)
	})
}

func (m *meter) report(took time.Duration) Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.r
	r.Failures, r.Seconds = m.failures, math.Round(took.Seconds()*100)/100
	r.Calls = r.Answered
	for _, n := range m.failures {
		r.Calls += n
	}
	r.SetUp, r.Greeting, r.FirstSound = percentiles(m.setUp), percentiles(m.greeting), percentiles(m.first)
	r.Response, r.Stop, r.Jitter = percentiles(m.answers), percentiles(m.stops), percentiles(m.jitter)
	if all := r.Received + m.lost; all > 0 {
		r.Loss = math.Round(float64(m.lost)/float64(all)*1e4) / 100
		r.Dry = math.Round(float64(m.dry)/float64(all+m.dry)*1e4) / 100
	}
	return r
}
