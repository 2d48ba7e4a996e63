package providertest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"parley/voice"
)

// Speaker tests what speaks text as it comes, or sentence by sentence, with a voice and English text in pieces.
func Speaker(t *testing.T, s voice.Synthesizer, how voice.Speech, pieces ...string) {
	how.Text = ""
	t.Run("speaks piece after piece", func(t *testing.T) {
		u := voice.Open(t.Context(), s, how)
		defer u.Close()
		for _, p := range pieces {
			u.Write(p)
			u.Flush()
		}
		u.End()
		said := receive(t, u, len(pieces))
		for i, p := range pieces {
			if said[i].seconds < float64(len(p))/40 {
				t.Errorf("%.2f s for %q", said[i].seconds, p)
			}
			said[i].check(t, p)
		}
	})
	t.Run("speaks before all is written", func(t *testing.T) {
		u := voice.Open(t.Context(), s, how)
		defer u.Close()
		u.Write(pieces[0])
		u.Flush()
		for {
			got, err := u.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if len(got.PCM) > 0 {
				break
			}
		}
		u.End()
		receive(t, u, 1)
	})
	t.Run("nothing to say", func(t *testing.T) {
		u := voice.Open(t.Context(), s, how)
		defer u.Close()
		u.Write("  ")
		u.Flush()
		u.End()
		if said := receive(t, u, 1); said[0].seconds > 0 {
			t.Errorf("%.2f s of sound", said[0].seconds)
		}
	})
	t.Run("is given up", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for _, giveUp := range []func(u voice.Utterance){voice.Utterance.Close, func(voice.Utterance) { stop() }} {
			u := voice.Open(ctx, s, how)
			u.Write(strings.Repeat(pieces[0]+" ", 20))
			u.Flush()
			giveUp(u)
			u.Write("more")
			u.End()
			for {
				if _, err := u.Recv(); err != nil {
					if !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					break
				}
			}
			u.Close()
			u.Close()
		}
	})
}

// said is what was received of a piece.
type said struct {
	seconds float64
	marks   []voice.Mark
}

func receive(t *testing.T, u voice.Utterance, pieces int) []said {
	t.Helper()
	out, piece := make([]said, pieces), 0
	for {
		s, err := u.Recv()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Piece < piece || s.Piece >= pieces {
			t.Fatalf("sound of piece %d after piece %d", s.Piece, piece)
		}
		piece = s.Piece
		out[piece].seconds += s.Dur().Seconds()
		out[piece].marks = append(out[piece].marks, s.Marks...)
	}
}

// check sees that words are marked in order, inside of the text and inside of its sound.
func (s said) check(t *testing.T, text string) {
	t.Helper()
	last := voice.Mark{}
	for _, m := range s.marks {
		if m.Text < last.Text || m.Text > len(text) || m.At < last.At || m.At.Seconds() > s.seconds+0.5 {
			t.Errorf("mark %d at %v after %d at %v, in %d bytes of %.2f s", m.Text, m.At, last.Text, last.At, len(text), s.seconds)
		}
		last = m
	}
}
