package voice

import (
	"context"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
)

// hostileVoice is a voice that does as it likes with a piece, by its number.
type hostileVoice func(ctx context.Context, piece int, text string, p *Pipe)

func (v hostileVoice) Speak(context.Context, Speech) iter.Seq2[audio.Frame, error] {
	panic("not asked")
}

func (v hostileVoice) Open(ctx context.Context, _ Speech) Utterance {
	p := NewPipe(ctx)
	go func() {
		for in := range p.Flushes() {
			v(p.Context(), in.Piece, in.Text, p)
		}
		p.Finish(nil)
	}()
	return p
}

func loud(rate int, d time.Duration) audio.Frame {
	pcm := make([]int16, int(d.Seconds()*float64(rate)))
	for i := range pcm {
		pcm[i] = int16(8000 * (1 - 2*(i/20%2)))
	}
	return audio.Frame{Rate: rate, PCM: pcm}
}

// hostileEar is a recogniser that does as it likes at the end of a turn.
type hostileEar struct {
	end  func(say func(Transcript))
	out  chan Transcript
	over chan struct{}
	once sync.Once
}

func (e *hostileEar) Write([]int16) error { return nil }
func (e *hostileEar) EndTurn() error      { go e.end(e.say); return nil }
func (e *hostileEar) Close() error        { e.once.Do(func() { close(e.over) }); return nil }

func (e *hostileEar) say(t Transcript) {
	select {
	case e.out <- t:
	case <-e.over:
	}
}

func (e *hostileEar) Recv() (Transcript, error) {
	select {
	case t := <-e.out:
		if t.Text == "BREAK" {
			return Transcript{}, io.ErrUnexpectedEOF
		}
		return t, nil
	case <-e.over:
		return Transcript{}, io.EOF
	}
}

func hostileEars(end func(say func(Transcript))) OpenTranscriber {
	return func(context.Context, Transcription) (Transcriber, error) {
		return &hostileEar{end: end, out: make(chan Transcript), over: make(chan struct{})}, nil
	}
}

// hostileMind is a model that does as it likes.
type hostileMind func(ctx context.Context, yield func(Thought, error) bool)

func (m hostileMind) Think(ctx context.Context, _ Thinking) iter.Seq2[Thought, error] {
	return func(yield func(Thought, error) bool) { m(ctx, yield) }
}

// hostile are vendors by what they do. Those whose names end in ! do no harm, so that there is nothing to be told of them.
var hostile = map[string]func(*Parts){
	"voice: nothing for 12 s": withVoice(func(ctx context.Context, _ int, _ string, _ *Pipe) { _ = wait(ctx, 12*time.Second) }),
	"voice: a megabyte at once!": withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(48000, 10*time.Second), Piece: piece, Last: true})
	}),
	"voice: never comes to an end!": withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		for p.Put(Sound{Frame: loud(8000, time.Second), Piece: piece}) == nil {
		}
	}),
	"voice: sound at no rate": withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: audio.Frame{Rate: 1, PCM: make([]int16, 1<<20)}, Piece: piece})
	}),
	"voice: sound of what nobody wrote": withVoice(func(_ context.Context, _ int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(8000, time.Second), Piece: 7})
	}),
	"voice: sound of a piece far away": withVoice(func(_ context.Context, _ int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(8000, time.Second), Piece: 1 << 60})
	}),
	"voice: says that it is done, and made nothing": withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		_ = p.Put(Sound{Piece: piece, Last: true})
	}),
	"voice: closes in the middle": withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(8000, 300*time.Millisecond), Piece: piece})
		p.Finish(io.ErrUnexpectedEOF)
	}),
	"voice: ends before its text": withVoice(func(_ context.Context, _ int, _ string, p *Pipe) { p.Finish(nil) }),
	"voice: garbage for marks!": withVoice(func(_ context.Context, piece int, text string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(8000, 500*time.Millisecond), Piece: piece, Last: true,
			Marks: []Mark{{-3, -time.Hour}, {1 << 40, 1 << 62}, {2, time.Hour}, {len(text), 1}}})
	}),
	"recogniser: a megabyte!": withEars(func(say func(Transcript)) { say(Transcript{Text: strings.Repeat("when ", 200_000), Final: true}) }),
	"recogniser: answers twice!": withEars(func(say func(Transcript)) {
		say(Transcript{Text: "when do you open", Final: true})
		say(Transcript{Text: "when do you open", Final: true})
	}),
	"recogniser: says one word ten thousand times": withEars(func(say func(Transcript)) {
		for range 10_000 {
			say(Transcript{Text: "when"})
		}
	}),
	"recogniser: breaks in the middle": withEars(func(say func(Transcript)) { say(Transcript{Text: "BREAK"}) }),
	"recogniser: nothing for 12 s":     withEars(func(func(Transcript)) {}),
	"model: talks for ever!": withMind(func(_ context.Context, yield func(Thought, error) bool) {
		for yield(Thought{Text: "And on."}, nil) {
		}
	}),
	"model: nothing for 12 s": withMind(func(ctx context.Context, _ func(Thought, error) bool) { _ = wait(ctx, 12*time.Second) }),
	"model: thoughts without anything!": withMind(func(_ context.Context, yield func(Thought, error) bool) {
		for n := 0; n < 1000 && yield(Thought{Text: " "}, nil); n++ {
		}
	}),
	"model: dies in the middle, always": withMind(func(_ context.Context, yield func(Thought, error) bool) {
		_ = yield(Thought{Text: "At nine"}, nil) && yield(Thought{}, io.ErrUnexpectedEOF)
	}),
	"model: panics": withMind(func(context.Context, func(Thought, error) bool) { panic("model") }),
}

func withVoice(v hostileVoice) func(*Parts) { return func(p *Parts) { p.Synthesizer.Synthesizer = v } }
func withMind(m hostileMind) func(*Parts)   { return func(p *Parts) { p.Thinker = m } }
func withEars(end func(say func(Transcript))) func(*Parts) {
	return func(p *Parts) { p.Transcriber.Open = hostileEars(end) }
}

// Whatever one vendor does, the caller hears something within 3 s of the turn's end, the record says why, it stays small, and
// nothing is left behind: goroutines would keep the bubble from ending.
func TestHostileVendors(t *testing.T) {
	for name, tamper := range hostile {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := parse(t, "set initial_message\nset wait_for_customer true\ncaller 2s 1s when do you open\nllm 300ms Nine.\ntts2 200ms 60ms\nhangup 16s")
				w.tamper = tamper
				out := w.run(t)
				end := 3*time.Second + w.cfg.EndSilence
				if spans := w.media.Spans(); len(spans) == 0 || spans[0].From-end > 3*time.Second {
					t.Errorf("heard: %v", spans)
				}
				if len(w.report.Entries) == 0 {
					t.Error("nothing is in the record")
				}
				if why := strings.Contains(out, " warning ") || strings.Contains(out, " error "); !why && !strings.HasSuffix(name, "!") {
					t.Error("the record does not say why")
				}
				if len(out) > 200<<10 {
					t.Errorf("%d bytes of events", len(out))
				}
				if t.Failed() {
					t.Logf("%.4000s", out)
				}
			})
		})
	}
}

// Sound that never ends is cut off, so that the call goes on.
func TestEndlessSoundIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := parse(t, "set max_duration 300\nhangup 290s")
		w.tamper = hostile["voice: never comes to an end!"]
		out := w.run(t)
		if !strings.Contains(out, `error {"stage":"tts"`) || w.media.Played() > int64(2*200*8000) {
			t.Errorf("%d s were heard\n%.2000s", w.media.Played()/8000, out)
		}
	})
}
