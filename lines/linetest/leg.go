package linetest

import (
	"context"
	"errors"
	"sync"

	"parley/lines"
)

// Leg is one party of a call in memory. Tests play the far end: Answered, Rejected, FarHangup, Lose.
type Leg struct {
	info     lines.Info
	answered chan struct{}
	rejected chan int
	done     chan struct{}

	mu    sync.Mutex
	media *Media
	end   lines.End
	over  bool
}

// NewLeg makes an unanswered inbound leg.
func NewLeg(info lines.Info) *Leg {
	return &Leg{info: info, answered: make(chan struct{}), rejected: make(chan int, 1), done: make(chan struct{})}
}

// Answered is closed when the leg was answered.
func (l *Leg) Answered() <-chan struct{} { return l.answered }

// Rejected delivers the code the leg was refused with.
func (l *Leg) Rejected() <-chan int { return l.rejected }

// FarHangup ends the leg from the far end.
func (l *Leg) FarHangup() { l.finish(lines.End{Remote: true}) }

// Lose ends the leg because of err.
func (l *Leg) Lose(err error) { l.finish(lines.End{Err: err}) }

// Line is the audio of an answered leg, to play the far end on.
func (l *Leg) Line() *Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.media
}

func (l *Leg) finish(e lines.End) {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return
	}
	l.over, l.end = true, e
	m := l.media
	l.mu.Unlock()
	close(l.done) // first: whoever sees the audio end can ask how
	if m != nil {
		m.Close()
	}
}

// Info describes the leg.
func (l *Leg) Info() lines.Info { return l.info }

// Ring does nothing.
func (l *Leg) Ring() error { return nil }

// Answer picks up.
func (l *Leg) Answer(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return errors.New("the leg is over")
	}
	l.media = NewMedia(8000)
	close(l.answered)
	return nil
}

// Reject refuses.
func (l *Leg) Reject(code int) error {
	l.rejected <- code
	l.finish(lines.End{Code: code})
	return nil
}

// Media is the audio of an answered leg.
func (l *Leg) Media() lines.Media { return l.Line() }

// Hangup ends the leg from our side.
func (l *Leg) Hangup(context.Context) error { l.finish(lines.End{}); return nil }

// Done is closed when the leg is over.
func (l *Leg) Done() <-chan struct{} { return l.done }

// End says how.
func (l *Leg) End() lines.End {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}
