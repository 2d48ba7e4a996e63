package voice

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"parley/audio"
	"parley/lines"
	"parley/safe"
)

// reader moves the caller's audio from the line to the transcriber, on a goroutine of its own. The line's ring is the only
// queue on the way: writing to a transcriber never waits. It remembers the utterance in progress, for another transcriber.
type reader struct {
	ctx    context.Context
	media  lines.Media
	work   *safe.Group // closes transcribers
	failed func(transcriber int, err error)
	tones  func(pcm []int16)
	orders chan order
	nudge  atomic.Pointer[context.CancelFunc] // ends a wait for audio

	// The rest belongs to the goroutine.
	to      Transcriber // nil while none is there
	id      int         // the one that is, or is being opened
	opening bool
	owed    int  // of the past, samples it did not get yet
	ended   bool // and the end of the turn
	keep    bool // an utterance is in progress
	past    []int16
	frame   []int16
}

// order is what the owner has the reader do.
type order struct {
	kind         orderKind
	transcriber  int
	to           Transcriber
	replay, keep bool
	most         time.Duration // of the past that is replayed; 0 = all
}

type orderKind int

const (
	replace  orderKind = iota // another transcriber is being opened
	attach                    // it is there
	remember                  // an utterance is in progress, or not
	dismiss                   // nobody listens
	endTurn                   // ask for the final transcript
)

const (
	pastIdle = 500 * time.Millisecond // remembered before an utterance
	pastFull = 30 * time.Second       // remembered of an utterance
)

func (s *Session) newReader() *reader {
	r := &reader{ctx: s.ctx, media: s.media, work: &s.wg, orders: make(chan order, 64), tones: func([]int16) {},
		failed: func(id int, err error) { s.post(s.ctx, transcriberFailed{id, err}) }}
	r.frame = make([]int16, r.samples(audio.FrameDur))
	if t := s.who.tones(s.media.Rate()); t != nil {
		r.tones = func(pcm []int16) { s.listenForTones(t, pcm) }
	}
	return r
}

func (r *reader) samples(d time.Duration) int {
	return int(int64(r.media.Rate()) * int64(d) / int64(time.Second))
}

// tell gives an order and never waits. The reader looks at once; so many at a time there are not.
func (r *reader) tell(o order) {
	select {
	case r.orders <- o:
	default:
	}
	if stop := r.nudge.Load(); stop != nil {
		(*stop)()
	}
}

// attach hands an opened transcriber over; who comes too late closes it.
func (r *reader) attach(id int, t Transcriber) {
	select {
	case r.orders <- order{kind: attach, transcriber: id, to: t}:
		if stop := r.nudge.Load(); stop != nil {
			(*stop)()
		}
	case <-r.ctx.Done():
		r.close(t)
	}
	if r.ctx.Err() != nil {
		r.empty()
	}
}

// run reads until the session is over. After the end of the line what was heard is still to be understood.
func (r *reader) run(ctx context.Context) {
	defer r.empty()
	for ctx.Err() == nil {
		wake, stop := context.WithCancel(ctx)
		r.nudge.Store(&stop)
		r.obey()
		var err error
		for err == nil {
			err = r.read(wake)
		}
		stop()
		if errors.Is(err, io.EOF) {
			select {
			case o := <-r.orders:
				r.follow(o)
			case <-ctx.Done():
			}
		}
	}
	r.drop()
}

// read takes what has come from the line, and waits for it. What is there comes before an order that ends the wait.
func (r *reader) read(wake context.Context) error {
	n, err := r.media.Hear(wake, r.frame[:cap(r.frame)])
	if err != nil {
		return err
	}
	r.frame = r.frame[:n]
	r.past = append(r.past, r.frame...)
	if r.opening {
		r.owed += n
	}
	r.forget()
	if r.to != nil {
		if err := safe.Do("transcriber", func() error { return r.to.Write(r.frame) }); err != nil {
			r.lose(err)
		}
	}
	r.tones(r.frame)
	return nil
}

// forget bounds the past.
func (r *reader) forget() {
	most := pastIdle
	if r.keep || r.opening {
		most = pastFull
	}
	if over := len(r.past) - r.samples(most); over > 0 {
		r.past = r.past[over:]
	}
	r.owed = min(r.owed, len(r.past))
}

// lose tells the owner of a transcriber that failed.
func (r *reader) lose(err error) {
	r.drop()
	r.failed(r.id, err)
}

func (r *reader) drop() {
	if r.to != nil {
		r.close(r.to)
		r.to = nil
	}
}

func (r *reader) close(t Transcriber) {
	r.work.Go("end of a transcriber", func() { _ = t.Close() }) // nobody hears of it any more
}

func (r *reader) obey() {
	for {
		select {
		case o := <-r.orders:
			r.follow(o)
		default:
			return
		}
	}
}

func (r *reader) follow(o order) {
	switch o.kind {
	case replace:
		r.drop()
		r.id, r.opening, r.keep, r.ended, r.owed = o.transcriber, true, o.keep, false, 0
		if o.replay {
			r.owed = len(r.past)
			if o.most > 0 {
				r.owed = min(r.owed, r.samples(o.most))
			}
		}
	case dismiss:
		r.drop()
		r.id, r.opening, r.keep, r.ended, r.owed = o.transcriber, false, false, false, 0
	case attach:
		r.take(o)
	case remember:
		r.keep = o.keep
	case endTurn:
		r.end()
	}
}

// take begins to feed a transcriber, with what it did not get while it was opened.
func (r *reader) take(o order) {
	if o.transcriber != r.id || !r.opening {
		r.close(o.to)
		return
	}
	r.to, r.opening = o.to, false
	err := safe.Do("transcriber", func() error {
		for frame := range slices.Chunk(r.past[len(r.past)-r.owed:], cap(r.frame)) {
			if err := o.to.Write(frame); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.lose(err)
	}
	r.owed = 0
	r.forget()
	if r.ended {
		r.end()
	}
}

// end ends the turn, at once or when the transcriber is there.
func (r *reader) end() {
	r.ended = r.to == nil
	if to := r.to; to != nil {
		if err := safe.Do("transcriber", to.EndTurn); err != nil {
			r.lose(err)
		}
	}
}

// empty closes what nobody will feed.
func (r *reader) empty() {
	if r.ctx.Err() == nil {
		return // a panic: it goes on
	}
	for {
		select {
		case o := <-r.orders:
			if o.to != nil {
				r.close(o.to)
			}
		default:
			return
		}
	}
}
