package linetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"parley/audio"
	"parley/lines"
)

// Media is the audio of one answered leg in memory; it passes in (virtual) time without a network. Tests say what the
// media plane noticed of the far end with Notice.
type Media struct {
	rate   int
	events chan lines.Event
	over   chan struct{}
	done   chan struct{}

	mu        sync.Mutex
	queued    []int16
	played    int64
	uttered   []int16 // of the far end, still to arrive
	arrived   []int16 // of them, not delivered yet
	began     time.Time
	space     chan struct{} // closed and replaced when queued samples were sent
	spans     []Span
	sent      []int16
	Digits    []string // what SendDigits was asked for
	Threshold float32  // what SetThreshold was asked for; 0 = it was not
	Loops     []Loop   // what Under was asked for
	records   []io.WriteCloser
	joined    *Media // whose far end hears this one's
	closed    bool
}

// Span is a stretch of time in which queued samples were sent, counted from the start of the leg.
type Span struct{ From, To time.Duration }

// Loop is a sound under what we send.
type Loop struct {
	PCM  []int16
	Gain float64
}

// SetThreshold notes it.
func (m *Media) SetThreshold(p float32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Threshold = p
}

// Under notes the loop.
func (m *Media) Under(pcm []int16, gain float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Loops = append(m.Loops, Loop{pcm, gain})
}

// NewMedia starts the audio of a leg at rate Hz. Close ends it.
func NewMedia(rate int) *Media {
	m := &Media{rate: rate, events: make(chan lines.Event, 256), over: make(chan struct{}), done: make(chan struct{}),
		began: time.Now(), space: make(chan struct{})}
	go m.run()
	return m
}

// Close is the end of the leg.
func (m *Media) Close() {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.over)
	}
	m.mu.Unlock()
	<-m.done
}

// Notice delivers an event of the far end.
func (m *Media) Notice(ev lines.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice(ev)
}

func (m *Media) notice(ev lines.Event) {
	if m.closed {
		return
	}
	select {
	case m.events <- ev:
	default:
	}
}

// Spans is when the far end could hear us.
func (m *Media) Spans() []Span {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.spans)
}

// Sent are all samples sent so far, without the silence between them.
func (m *Media) Sent() []int16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

// SentAll waits until so many samples were sent.
func (m *Media) SentAll(ctx context.Context, n int) error {
	for {
		m.mu.Lock()
		there, space := len(m.sent) >= n, m.space
		m.mu.Unlock()
		if there {
			return nil
		}
		if err := m.wait(ctx, space); err != nil {
			return err
		}
	}
}

// phase keeps our clock off the round moments at which test scripts do things: nothing happens at the same instant.
const phase = 5 * time.Millisecond

// run sends a frame every 20 ms.
func (m *Media) run() {
	time.Sleep(phase)
	tick := time.NewTicker(audio.FrameDur)
	defer tick.Stop()
	defer close(m.done)
	defer close(m.events)
	for {
		select {
		case <-tick.C:
			if to, pcm := m.send(); to != nil {
				to.pass(pcm)
			}
		case <-m.over:
			m.mu.Lock()
			for _, w := range m.records {
				w.Close()
			}
			m.mu.Unlock()
			return
		}
	}
}

// send lets a frame pass both ways; what the far end uttered is for the one that it is joined with.
func (m *Media) send() (to *Media, arrived []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	size := m.rate / 50
	arrived = make([]int16, size)
	m.uttered = m.uttered[copy(arrived, m.uttered):]
	m.arrived = append(m.arrived, arrived...)
	n := min(size, len(m.queued))
	out := make([]byte, 4*size)
	for i, v := range m.queued[:n] {
		out[4*i+2], out[4*i+3] = byte(v), byte(uint16(v)>>8)
	}
	for _, w := range m.records {
		w.Write(out)
	}
	if n > 0 {
		if m.played == 0 {
			m.notice(lines.Event{Kind: lines.FirstOut, At: now})
		}
		m.span(now.Sub(m.began))
		m.sent = append(m.sent, m.queued[:n]...)
		m.queued = m.queued[n:]
		m.played += int64(n)
		if len(m.queued) == 0 {
			m.queued = nil
			m.notice(lines.Event{Kind: lines.Drained, At: now, Pos: m.played})
		}
	}
	close(m.space)
	m.space = make(chan struct{})
	return m.joined, arrived
}

func (m *Media) span(at time.Duration) {
	if n := len(m.spans); n > 0 && at-m.spans[n-1].To < audio.FrameDur {
		m.spans[n-1].To = at + audio.FrameDur
		return
	}
	m.spans = append(m.spans, Span{at, at + audio.FrameDur})
}

func (m *Media) Denoise(bool)               {}
func (m *Media) Rate() int                  { return m.rate }
func (m *Media) Events() <-chan lines.Event { return m.events }
func (m *Media) Stats() lines.Stats         { return lines.Stats{} }
func (m *Media) Record(w io.WriteCloser) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, w)
}

// Join lets the far ends hear each other: what one utters is queued for the other.
func (m *Media) Join(other lines.Media) (part func(), err error) {
	to, ok := other.(*Media)
	if !ok {
		return nil, errors.New("linetest: not of this kind")
	}
	m.join(to)
	to.join(m)
	return func() { m.join(nil); to.join(nil) }, nil
}

func (m *Media) join(to *Media) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joined = to
}

func (m *Media) pass(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queued = append(m.queued, pcm...)
}

func (m *Media) SendDigits(keys string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Digits = append(m.Digits, keys)
	return nil
}

// Utter lets the far end make a sound from now on; what it uttered before comes first.
func (m *Media) Utter(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uttered = append(m.uttered, pcm...)
}

// Hear delivers what the far end utters, and silence, as time passes.
func (m *Media) Hear(ctx context.Context, buf []int16) (int, error) {
	for {
		m.mu.Lock()
		n, space := copy(buf, m.arrived), m.space
		m.arrived = m.arrived[n:]
		m.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if err := m.wait(ctx, space); err != nil {
			return 0, err
		}
	}
}

func (m *Media) wait(ctx context.Context, space <-chan struct{}) error {
	select {
	case <-space:
		return nil
	case <-m.over:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Play queues pcm; it blocks while more than 20 s are queued.
func (m *Media) Play(ctx context.Context, pcm []int16) (int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		m.mu.Lock()
		if len(m.queued) <= 20*m.rate {
			start := m.played + int64(len(m.queued))
			m.queued = append(m.queued, pcm...)
			m.mu.Unlock()
			return start, nil
		}
		space := m.space
		m.mu.Unlock()
		if err := m.wait(ctx, space); err != nil {
			return 0, err
		}
	}
}

// Clear drops what is queued.
func (m *Media) Clear() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queued = nil
	return m.played
}

// Played is the number of samples sent.
func (m *Media) Played() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.played
}
