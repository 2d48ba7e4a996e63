package voice

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
	"parley/lines"
)

// Everything that can reach the owner of a conversation is in the list, and has a name of its own.
func TestHappeningsAreListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "take" && fn.Type.Params.NumFields() == 2 {
				if of, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
					there = append(there, of.Name)
				}
			}
		}
	}
	var listed []string
	names := map[string]bool{}
	for _, h := range happenings {
		listed = append(listed, reflect.TypeOf(h).Name())
		if names[h.name()] || h.name() == "" {
			t.Errorf("%T is called %q", h, h.name())
		}
		names[h.name()] = true
	}
	slices.Sort(there)
	slices.Sort(listed)
	if !slices.Equal(there, listed) {
		t.Errorf("there are\n%v\nand listed are\n%v", there, listed)
	}
}

// taped is something that reached the owner, and when.
type taped struct {
	at   time.Duration
	what any // a happening, an event of the line, or the Reason of the end
}

// meter notes how far the line was whenever somebody asked.
type meter struct {
	lines.Media
	w *world
}

func (m meter) note(played int64) int64 {
	m.w.clock.Lock()
	defer m.w.clock.Unlock()
	m.w.played[time.Since(m.w.began)] = played
	return played
}

func (m meter) Played() int64 { return m.note(m.Media.Played()) }
func (m meter) Clear() int64  { return m.note(m.Media.Clear()) }

func seen(e Event, began time.Time) string {
	data, err := json.Marshal(e.Data)
	return fmt.Sprintf("%8.3fs %s %s %v", e.At.Sub(began).Seconds(), e.Type, data, err)
}

// echo is the line of a conversation that is played back: it tells what it told then.
type echo struct {
	rate   int
	began  time.Time
	events chan lines.Event
	played map[time.Duration]int64
	keys   []string
}

func (e *echo) Rate() int                                        { return e.rate }
func (e *echo) Events() <-chan lines.Event                       { return e.events }
func (e *echo) Stats() lines.Stats                               { return lines.Stats{} }
func (e *echo) Record(io.WriteCloser)                            {}
func (e *echo) Join(lines.Media) (func(), error)                 { return nil, io.EOF }
func (e *echo) SendDigits(keys string) error                     { e.keys = append(e.keys, keys); return nil }
func (e *echo) Play(context.Context, []int16) (int64, error)     { return 0, io.EOF }
func (e *echo) Under([]int16, float64)                           {}
func (e *echo) SetThreshold(float32)                             {}
func (e *echo) Clear() int64                                     { return e.Played() }
func (e *echo) Hear(ctx context.Context, _ []int16) (int, error) { <-ctx.Done(); return 0, ctx.Err() }

func (e *echo) Played() int64 {
	now, best := time.Since(e.began), time.Duration(-1)
	for at := range e.played {
		if at <= now && at > best {
			best = at
		}
	}
	return e.played[best]
}

// silent engines do nothing until they are dismissed: what engines did is on the tape.
type silent struct{}

func (silent) Think(ctx context.Context, _ Thinking) iter.Seq2[Thought, error] {
	return func(func(Thought, error) bool) { <-ctx.Done() }
}

func (silent) Speak(ctx context.Context, _ Speech) iter.Seq2[audio.Frame, error] {
	return func(func(audio.Frame, error) bool) { <-ctx.Done() }
}

type deafened chan struct{}

func (deafened) Write([]int16) error         { return nil }
func (deafened) EndTurn() error              { return nil }
func (d deafened) Close() error              { close(d); return nil }
func (d deafened) Recv() (Transcript, error) { <-d; return Transcript{}, io.EOF }

// A conversation whose happenings are played back to an owner without engines and without a line comes to the same
// decisions at the same moments.
func TestPlayedBack(t *testing.T) {
	files, err := filepath.Glob("testdata/*.call")
	if err != nil || len(files) == 0 {
		t.Fatal("no calls", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nengine ") {
			continue // what it is told goes straight to the engine
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".call"), func(t *testing.T) {
			var first *world
			synctest.Test(t, func(t *testing.T) {
				script, _, _ := strings.Cut(string(text), "\n---")
				first = parse(t, script)
				first.run(t)
			})
			synctest.Test(t, func(t *testing.T) { playBack(t, first) })
		})
	}
}

func playBack(t *testing.T, w *world) {
	line := &echo{rate: 8000, began: time.Now(), events: make(chan lines.Event), played: w.played}
	moved := line.began.Sub(w.began)
	var again []string
	open := func(context.Context, Transcription) (Transcriber, error) { return make(deafened), nil }
	parts := Parts{Transcriber: NamedTranscriber{open, "one"}, Thinker: silent{}, Synthesizer: NamedSynthesizer{Synthesizer: silent{}, Provider: "one"},
		Log: slog.New(slog.DiscardHandler), Observe: func(e Event) { again = append(again, seen(e, line.began)) }}
	if w.hears[1] != nil {
		parts.TranscriberFallback = NamedTranscriber{open, "two"}
	}
	if w.thinkers[1] != nil {
		parts.ThinkerFallback = silent{}
	}
	if w.says[1] != nil {
		parts.SynthesizerFallback = NamedSynthesizer{Synthesizer: silent{}, Provider: "two"}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	s := New(w.cfg, line, parts)
	done := make(chan Report, 1)
	go func() { done <- s.Run(ctx) }()
	for _, one := range w.tape {
		<-time.After(time.Until(line.began.Add(one.at)))
		synctest.Wait()
		switch what := one.what.(type) {
		case lines.Event:
			what.At = what.At.Add(moved)
			select {
			case line.events <- what:
			case <-s.gone:
			}
		case happening:
			if came, ok := what.(thoughtCame); ok && came.Thought.Successor != nil {
				next := *came.Thought.Successor
				next.Parts = parts
				came.Thought.Successor = &next
				what = came
			}
			s.post(t.Context(), fresh(what))
		case Reason:
			if what == CustomerHangup {
				close(line.events)
			}
			stop(what)
		}
		synctest.Wait()
	}
	report := <-done
	sorted := func(lines []string) []string {
		lines = slices.Clone(lines)
		slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(a, b) })
		return lines
	}
	if got, want := strings.Join(sorted(again), "\n"), strings.Join(sorted(w.seen), "\n"); got != want {
		t.Errorf("played back:\n%s\nthe first time:\n%s", got, want)
	}
	if report.Reason != w.report.Reason || len(report.Entries) != len(w.report.Entries) {
		t.Fatalf("%s with %d entries, and the first time %s with %d", report.Reason, len(report.Entries), w.report.Reason, len(w.report.Entries))
	}
	for i, e := range report.Entries {
		if was := w.report.Entries[i]; e.Text != was.Text || e.Assistant != was.Assistant || e.Interrupted != was.Interrupted {
			t.Errorf("%+v, and the first time %+v", e, was)
		}
	}
}

// fresh is a happening whose sender waits for nothing.
func fresh(h happening) happening {
	switch h := h.(type) {
	case soundReady:
		h.granted = make(chan struct{})
		return h
	case thoughtCame:
		h.agreed = make(chan struct{})
		return h
	}
	return h
}
