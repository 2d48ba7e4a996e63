package voice

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Where a vendor tells when its words are spoken, that decides what was heard; the length of words does from there on.
func TestMarksDecideWhatWasHeard(t *testing.T) {
	const text = "One two three four five six."
	slowly := withVoice(func(_ context.Context, piece int, text string, p *Pipe) { // the first two words take 2 of 3 s
		_ = p.Put(Sound{Piece: piece, Marks: []Mark{{3, 1200 * time.Millisecond}}})
		_ = p.Put(Sound{Frame: loud(8000, 3*time.Second), Piece: piece, Last: true, Marks: []Mark{{7, 2 * time.Second}, {13, 2200 * time.Millisecond},
			{18, 2500 * time.Millisecond}, {23, 2700 * time.Millisecond}, {len(text), 3 * time.Second}}})
	})
	plain := withVoice(func(_ context.Context, piece int, _ string, p *Pipe) {
		_ = p.Put(Sound{Frame: loud(8000, 3*time.Second), Piece: piece, Last: true})
	})
	for _, c := range []struct {
		voice func(*Parts)
		want  string
	}{{slowly, "One"}, {plain, "One two three"}} {
		synctest.Test(t, func(t *testing.T) {
			w := parse(t, "set initial_message\nset wait_for_customer true\ncaller 1s 1s count\nllm 300ms "+text+"\ncaller 4.1s 1s stop it now\nllm 300ms Fine.\nhangup 12s")
			w.tamper = c.voice
			out := w.run(t) // heard from 2.9 s until 4.6 s: 1.7 s of 3
			if !strings.Contains(out, "Assistant | "+c.want+" [interrupted]\n") {
				t.Errorf("want %q\n%s", c.want, out)
			}
		})
	}
}

// Marks that come late, or only of the beginning, are gone on from by the length of words.
func TestMarksOfTheBeginning(t *testing.T) {
	l := &line{text: "One two three four.", start: 1000, end: 9000, marks: []mark{{3, 1000}, {7, 2000}}}
	for played, want := range map[int64]string{1500: "", 2100: "One", 3100: "One two", 6500: "One two three", 9000: "One two three four."} {
		if said, rest := l.cut(played, 480); said != want || join(said, rest) != l.text {
			t.Errorf("at %d: %q and %q, want %q", played, said, rest, want)
		}
	}
}
