package voice

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
)

// teller speaks a frame of a second for each letter, and the sentences it was given.
type teller struct {
	said []string
	err  error
}

func (v *teller) Speak(_ context.Context, s Speech) iter.Seq2[audio.Frame, error] {
	v.said = append(v.said, s.Text)
	return func(yield func(audio.Frame, error) bool) {
		for _, r := range s.Text {
			if !yield(audio.Frame{Rate: 8000, PCM: slices.Repeat([]int16{int16(r)}, 8000)}, nil) {
				return
			}
		}
		if v.err != nil {
			yield(audio.Frame{}, v.err)
		}
	}
}

// What speaks sentence by sentence speaks text as it comes, flush by flush.
func TestUtteranceOfSentences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &teller{}
		u := Open(t.Context(), v, Speech{Voice: "v"})
		defer u.Close()
		recv := func(want rune, piece int) {
			t.Helper()
			s, err := u.Recv()
			if want == 0 && s.Last && s.Piece == piece {
				return
			}
			if err != nil || s.Piece != piece || s.PCM[0] != int16(want) {
				t.Fatalf("%c of piece %d: %v %v", want, piece, s.Piece, err)
			}
		}
		u.Write("ab")
		u.Flush()
		recv('a', 0)
		recv('b', 0)
		recv(0, 0)
		u.Write("c")
		u.Write("d")
		synctest.Wait()
		if len(v.said) != 1 {
			t.Errorf("spoken before it was flushed: %q", v.said)
		}
		u.End()
		recv('c', 1)
		recv(' ', 1)
		recv('d', 1)
		recv(0, 1)
		recv(0, 2)
		if _, err := u.Recv(); err != io.EOF {
			t.Error(err)
		}
		if !slices.Equal(v.said, []string{"ab", "c d"}) {
			t.Errorf("%q", v.said)
		}
	})
}

// Sound is made ahead of who receives it, and not without end; who gives up is not waited for.
func TestUtteranceAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe(t.Context())
		made := 0
		go func() {
			for p.Put(Sound{Frame: audio.Frame{Rate: 8000, PCM: make([]int16, 8000)}}) == nil {
				made++
			}
		}()
		synctest.Wait()
		if ahead := time.Duration(made) * time.Second; ahead != mostAhead {
			t.Errorf("%v were made ahead", ahead)
		}
		if _, err := p.Recv(); err != nil {
			t.Error(err)
		}
		p.Close()
		p.Write("x")
		if _, err := p.Recv(); err != io.EOF {
			t.Error(err)
		}
	})
}

// What an engine fails of comes after the sound that it made.
func TestUtteranceThatFails(t *testing.T) {
	v := &teller{err: errors.New("broke")}
	u := Open(t.Context(), v, Speech{})
	defer u.Close()
	u.Write("a")
	u.End()
	if s, err := u.Recv(); err != nil || len(s.PCM) == 0 {
		t.Error(s, err)
	}
	if _, err := u.Recv(); err != v.err {
		t.Error(err)
	}
}
