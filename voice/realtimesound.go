package voice

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"parley/audio"
)

// stream is the sound of one item on its way from an engine, which makes it faster than it is heard, to the line. Producer and
// consumer are one goroutine each.
type stream struct {
	ctx    context.Context
	item   string
	rate   int
	pieces chan []int16
	rest   []int16      // that found no place yet
	made   atomic.Int64 // samples
}

const (
	streamPieces  = 512
	streamSeconds = 180 // that one item may last
)

func newStream(ctx context.Context, item string, rate int) *stream {
	return &stream{ctx: ctx, item: item, rate: rate, pieces: make(chan []int16, streamPieces)}
}

// add never waits.
func (st *stream) add(f audio.Frame) {
	if f.Rate != st.rate || st.made.Load() > int64(streamSeconds*st.rate) || len(f.PCM) == 0 {
		return
	}
	st.made.Add(int64(len(f.PCM)))
	if st.rest == nil {
		st.rest = slices.Clone(f.PCM)
	} else {
		st.rest = append(st.rest, f.PCM...)
	}
	select {
	case st.pieces <- st.rest:
		st.rest = nil
	default:
	}
}

// end is called once, after the last piece.
func (st *stream) end(s *Session) {
	if st.rest == nil {
		close(st.pieces)
		return
	}
	s.wg.Go("end of a sound", func() {
		defer close(st.pieces)
		select {
		case st.pieces <- st.rest:
		case <-s.ctx.Done():
		}
	})
}

// engineVoice is the voice of a realtime engine for one line: the sound of an answer, or of words it was asked to say, which
// come later.
type engineVoice struct{ sounds chan *stream }

func (v engineVoice) Speak(ctx context.Context, _ Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		select {
		case st := <-v.sounds:
			if st == nil {
				yield(audio.Frame{}, errNoSound)
				return
			}
			st.play(ctx, yield)
		case <-ctx.Done():
			yield(audio.Frame{}, ctx.Err())
		}
	}
}

func (st *stream) play(ctx context.Context, yield func(audio.Frame, error) bool) {
	for {
		select {
		case pcm, more := <-st.pieces:
			if !more || !yield(audio.Frame{Rate: st.rate, PCM: pcm}, nil) {
				return
			}
		case <-ctx.Done():
			yield(audio.Frame{}, ctx.Err())
			return
		}
	}
}
