package providers

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/audio"
	"parley/fault"
	"parley/knowledge"
	"parley/providers/rest"
	"parley/safe"
	"parley/voice"
)

const (
	checkEvery   = 30 * time.Second
	checkTime    = 10 * time.Second // that a check may take
	mostFailures = 3                // requests in a row after which an engine is not well
)

// Names of a vendor's engines for their health. A model goes by its own.
const (
	transcribing = "\x00transcriber"
	synthesizing = "\x00synthesizer"
	embedding    = "\x00embedder"
)

// health is what is known of how a vendor is.
type health struct {
	mu     sync.Mutex
	voices time.Time            // when the vendor's list of them was read
	down   bool                 // its last check failed, and nothing was answered since
	failed map[string]int       // requests in a row, by engine
	tried  map[string]time.Time // although it was not well
	last   error                // what went wrong last; nil once something was answered
	at     time.Time            // of the last check
}

// well reports whether an engine's last check and one of its last three requests succeeded.
func (h *health) well(engine string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.down && h.failed[engine] < mostFailures
}

// tryEvery is how often an engine that is not well is tried where there is another one.
const tryEvery = 30 * time.Second

// broken reports that an engine is not worth asking where there is another one: it is not well, and was tried lately.
func (h *health) broken(engine string) bool {
	if h.well(engine) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.tried[engine]) >= tryEvery {
		h.tried[engine] = time.Now()
		return false
	}
	return true
}

// note takes the outcome of a request. A request that was refused for what it asked, or given up, says nothing.
func (h *health) note(engine string, err error) {
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Kind != fault.Unavailable && f.Kind != fault.Internal ||
		errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last = err; err != nil {
		h.failed[engine]++
		return
	}
	h.down = false
	delete(h.failed, engine)
}

// checked takes the outcome of a check; changed says that it is another than the last one's. The end of an outage ends
// what requests suffered of it.
func (h *health) checked(err error) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = h.down != (err != nil)
	h.down, h.last, h.at = err != nil, err, time.Now()
	if changed && err == nil {
		clear(h.failed)
	}
	return changed
}

func (v Vendor) healthy(engine string) func() bool {
	if v.health == nil {
		return nil
	}
	return func() bool { return v.health.well(engine) }
}

// check asks the vendor once, and notes what it says.
func (v Vendor) check(ctx context.Context) error {
	limited, stop := context.WithTimeout(ctx, checkTime)
	defer stop()
	err := safe.Do("vendor check", func() error { return v.Check(limited) })
	if ctx.Err() != nil {
		return err
	}
	if v.health.checked(err) {
		slog.Info("vendor checked", "vendor", v.Code, "well", err == nil, "error", err)
	}
	return err
}

// tell writes into an operator's list how the vendor is.
func (h *health) tell(l *Listed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		l.Healthy = false
	}
	for _, n := range h.failed {
		l.Healthy = l.Healthy && n < mostFailures
	}
	if h.last != nil {
		l.LastError = inWords(h.last)
	}
	if h.at.After(l.CheckedAt) {
		l.CheckedAt = h.at
	}
}

// inWords is what is wrong with a vendor, for its operators, and with the vendor's own words where it gave any.
func inWords(err error) string {
	if r, ok := errors.AsType[*rest.Refusal](err); ok {
		return r.InWords()
	}
	return fault.Say(err, "It does not answer.")
}

// watch makes a vendor whose engines note how their requests end.
func watch(v Vendor) Vendor {
	h := &health{failed: map[string]int{}, tried: map[string]time.Time{}}
	v.health = h
	if open := v.Transcriber; open != nil {
		v.Transcriber = func(ctx context.Context, how voice.Transcription) (voice.Transcriber, error) {
			t, err := open(ctx, how)
			if err != nil {
				h.note(transcribing, err)
				return nil, err
			}
			return watchedTranscriber{t, h}, nil
		}
	}
	if v.Synthesizer != nil {
		v.Synthesizer = watchedSynthesizer{v.Synthesizer, h}
	}
	if model := v.Model; model != nil {
		v.Model = func(name string) agent.Model { return watchedModel{model(name), h, name} }
	}
	if open := v.Realtime; open != nil {
		v.Realtime = func(ctx context.Context, how voice.RealtimeSetting) (voice.Realtime, error) {
			r, err := open(ctx, how)
			if err != nil {
				h.note(how.Model, err)
				return nil, err
			}
			return watchedRealtime{r, h, how.Model}, nil
		}
	}
	if v.Embedder != nil {
		v.Embedder = watchedEmbedder{v.Embedder, h}
	}
	return v
}

type watchedTranscriber struct {
	voice.Transcriber
	health *health
}

func (w watchedTranscriber) Recv() (voice.Transcript, error) {
	t, err := w.Transcriber.Recv()
	if !errors.Is(err, io.EOF) {
		w.health.note(transcribing, err)
	}
	return t, err
}

type watchedRealtime struct {
	voice.Realtime
	health *health
	name   string
}

func (w watchedRealtime) Recv() (voice.RealtimeEvent, error) {
	ev, err := w.Realtime.Recv()
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		w.health.note(w.name, err)
	case err == nil && ev.Kind == voice.AnswerOver:
		w.health.note(w.name, ev.Err)
	}
	return ev, err
}

type watchedSynthesizer struct {
	voice.Synthesizer
	health *health
}

func (w watchedSynthesizer) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	return watched(ctx, w.Synthesizer.Speak(ctx, s), w.health, synthesizing)
}

// Broken implements voice.Breaker.
func (w watchedSynthesizer) Broken() bool { return w.health.broken(synthesizing) }

// Open implements voice.Speaker. What speaks sentence by sentence does so here, each sentence watched.
func (w watchedSynthesizer) Open(ctx context.Context, s voice.Speech) voice.Utterance {
	if speaker, ok := w.Synthesizer.(voice.Speaker); ok {
		return &watchedUtterance{Utterance: speaker.Open(ctx, s), ctx: ctx, health: w.health}
	}
	return voice.Open(ctx, struct{ voice.Synthesizer }{w}, s)
}

// watchedUtterance notes how an utterance went, once. One that was given up is good for its first sound.
type watchedUtterance struct {
	voice.Utterance
	ctx    context.Context
	health *health
	once   sync.Once
	heard  atomic.Bool
}

func (w *watchedUtterance) note(err error) { w.once.Do(func() { w.health.note(synthesizing, err) }) }

// Recv implements voice.Utterance.
func (w *watchedUtterance) Recv() (voice.Sound, error) {
	s, err := w.Utterance.Recv()
	switch {
	case err == nil:
		w.heard.Store(true)
	case !errors.Is(err, io.EOF) && w.ctx.Err() == nil:
		w.note(err)
	}
	return s, err
}

// Close implements voice.Utterance.
func (w *watchedUtterance) Close() {
	if w.heard.Load() {
		w.note(nil)
	}
	w.Utterance.Close()
}

type watchedModel struct {
	agent.Model
	health *health
	name   string
}

// Broken implements voice.Breaker.
func (w watchedModel) Broken() bool { return w.health.broken(w.name) }

func (w watchedModel) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return watched(ctx, w.Model.Reply(ctx, r), w.health, w.name)
}

// watched notes how an answer in pieces went. One that was cut off by who asked for it is good for its first piece.
func watched[T any](ctx context.Context, answer iter.Seq2[T, error], h *health, engine string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last error
		pieces := 0
		defer func() {
			if last != nil && ctx.Err() == nil || last == nil && pieces > 0 {
				h.note(engine, last)
			}
		}()
		for piece, err := range answer {
			last, pieces = err, pieces+1
			if !yield(piece, err) {
				return
			}
		}
	}
}

type watchedEmbedder struct {
	knowledge.Embedder
	health *health
}

func (w watchedEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := w.Embedder.Embed(ctx, texts)
	if ctx.Err() == nil {
		w.health.note(embedding, err)
	}
	return out, err
}
