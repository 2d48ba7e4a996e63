package builtin

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"parley/fault"
	"parley/safe"
	"parley/voice"
)

// callsPerCore is how many conversations one core recognises without falling behind, measured by make bench.
const callsPerCore = 4

// transcribing is what all transcribers share.
type transcribing struct {
	mu     sync.Mutex
	images map[imageKey]*making
	order  []imageKey // tuned images, least recently used first
	open   int        // transcribers
}

func (e *transcribing) init() { e.images = map[imageKey]*making{} }

// drop lets all images go.
func (e *transcribing) drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.images)
	e.order = nil
}

// Capacity is how many conversations the built-in transcriber serves well at once on this machine. Transcriber refuses more.
func (e *Engines) Capacity() int { return callsPerCore * runtime.NumCPU() }

// Transcribers is how many conversations are being listened to.
func (e *Engines) Transcribers() int {
	e.transcribing.mu.Lock()
	defer e.transcribing.mu.Unlock()
	return e.transcribing.open
}

// Warm makes ready what Transcriber with the same l needs, so that the first words of a call are not waited for.
func (e *Engines) Warm(ctx context.Context, l voice.Transcription) error {
	if err := audible(l); err != nil {
		return err
	}
	_, err := e.image(ctx, l)
	return err
}

// Transcriber opens a transcriber for one conversation at 8000 or 16000 Hz. It returns at once: audio waits while the
// transcriber gets ready, about a second for the first conversation with new hints. ctx ends it like Close. Another
// language than English and more than Capacity conversations are a *fault.Fault.
func (e *Engines) Transcriber(ctx context.Context, l voice.Transcription) (voice.Transcriber, error) {
	if err := audible(l); err != nil {
		return nil, err
	}
	e.transcribing.mu.Lock()
	full := e.transcribing.open >= e.Capacity()
	if !full {
		e.transcribing.open++
	}
	e.transcribing.mu.Unlock()
	if full {
		return nil, fault.New(fault.TooMany, "CONCURRENCY_LIMIT",
			"The built-in recogniser serves %d calls at once on this machine. Connect a speech provider for more.", e.Capacity())
	}
	return e.transcribe(ctx, l, func() {
		e.transcribing.mu.Lock()
		e.transcribing.open--
		e.transcribing.mu.Unlock()
	}), nil
}

// transcribe opens a transcriber and calls over when it has ended.
func (e *Engines) transcribe(ctx context.Context, l voice.Transcription, over func()) *stream {
	s := &stream{in: newQueue[work](), out: newQueue[voice.Transcript]()}
	s.in.weight, s.in.most = func(w work) int { return len(w.pcm) }, behind*l.Rate
	s.ctx, s.stop = context.WithCancel(ctx)
	s.done.Go("recogniser", func() {
		defer over()
		s.out.close(safe.Do("recogniser", func() error { return s.run(e, l) }))
	})
	return s
}

func audible(l voice.Transcription) error {
	if len(l.Languages) > 0 && !english(l.Languages[0]) {
		return fault.New(fault.Invalid, "LANGUAGE_NOT_SUPPORTED",
			"The built-in recogniser understands English only, not %q. Connect a speech provider for other languages.", l.Languages[0])
	}
	if _, ok := bands(l.Rate); !ok {
		return fault.New(fault.Invalid, "RATE_NOT_SUPPORTED", "The built-in recogniser takes 8000 or 16000 Hz, not %d.", l.Rate)
	}
	return nil
}

// behind is how many seconds of audio a conversation's transcriber may be late; then the oldest are lost.
const behind = 30

// stream is one conversation's transcriber: a goroutine with its own decoder between two queues.
type stream struct {
	ctx  context.Context
	stop context.CancelFunc
	done safe.Group
	in   *queue[work]
	out  *queue[voice.Transcript]
}

// work is caller audio, or the end of the turn.
type work struct {
	pcm []int16
	end bool
}

var errStreamClosed = errors.New("the transcriber is closed")

func (s *stream) Write(pcm []int16) error {
	return s.put(work{pcm: append([]int16(nil), pcm...)})
}

func (s *stream) EndTurn() error { return s.put(work{end: true}) }

func (s *stream) put(w work) error {
	if !s.in.put(w) {
		return s.out.failure(errStreamClosed)
	}
	return nil
}

func (s *stream) Recv() (voice.Transcript, error) {
	t, ok := s.out.get(context.Background())
	if !ok {
		return voice.Transcript{}, s.out.failure(io.EOF)
	}
	return t, nil
}

func (s *stream) Close() error {
	s.stop()
	s.done.Wait()
	return nil
}

// run recognises until the stream is closed.
func (s *stream) run(e *Engines, l voice.Transcription) (err error) {
	defer s.in.close(nil)
	defer func() {
		if s.ctx.Err() != nil {
			err = nil // closed, or the call is over
		}
	}()
	img, err := e.image(s.ctx, l)
	if err != nil {
		return err
	}
	d, err := e.clone(img, nil)
	if err != nil {
		return err
	}
	defer d.stop()
	d.ctx = s.ctx
	t := turn{decoder: d, rate: l.Rate, longest: longestFrames}
	if err := d.soften(); err != nil {
		return err
	}
	for {
		w, ok := s.in.get(s.ctx)
		if !ok {
			return nil
		}
		text, news := "", false
		if w.end {
			text, err = t.finish()
			news = true
		} else {
			text, news, err = t.hear(w.pcm)
		}
		if err != nil {
			return err
		}
		if news {
			s.out.put(voice.Transcript{Text: text, Final: w.end, Language: "en",
				Lost: time.Duration(s.in.losses()) * time.Second / time.Duration(l.Rate)})
		}
	}
}
