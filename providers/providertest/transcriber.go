package providertest

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"parley/fault"
	"parley/voice"
)

// Utterance is recorded speech and the words in it, lower case without marks.
type Utterance struct {
	PCM   []int16
	Words string
}

// Transcriber tests a transcriber with two utterances at the rate of l. At least half of each one's words must be
// recognised: how good it is, and what it hears before a turn's end, is for its own tests to say.
func Transcriber(t *testing.T, open voice.OpenTranscriber, l voice.Transcription, first, second Utterance) {
	listen := func(t *testing.T) voice.Transcriber {
		t.Helper()
		tr, err := open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	t.Run("hears turn after turn", func(t *testing.T) {
		tr := listen(t)
		for i, u := range []Utterance{first, second} {
			_, final := Recognise(t, tr, l.Rate, u.PCM)
			if d := Errors(u.Words, final); 2*d > len(strings.Fields(u.Words)) {
				t.Errorf("turn %d: heard %q, said %q", i+1, final, u.Words)
			}
		}
		Finish(t, tr)
	})
	t.Run("a turn without words is empty", func(t *testing.T) {
		tr := listen(t)
		if err := tr.EndTurn(); err != nil {
			t.Fatal(err)
		}
		if partials, final := Recognise(t, tr, l.Rate, nil); len(partials) > 0 || final != "" {
			t.Errorf("heard %q and %q in nothing", partials, final)
		}
		if _, final := Recognise(t, tr, l.Rate, make([]int16, l.Rate)); final != "" {
			t.Errorf("heard %q in silence", final)
		}
		Finish(t, tr)
	})
	t.Run("closes with work left", func(t *testing.T) {
		tr := listen(t)
		for range 5 {
			if err := tr.Write(first.PCM); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.EndTurn(); err != nil {
			t.Fatal(err)
		}
		Finish(t, tr)
		if err := tr.Write(first.PCM); err == nil {
			t.Error("Write after Close succeeds")
		}
		if err := tr.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
	t.Run("refuses a language it does not know", func(t *testing.T) {
		strange := l
		strange.Languages = []string{"tlh"}
		tr, err := open(t.Context(), strange)
		if err == nil {
			Finish(t, tr) // a transcriber may know every language
			return
		}
		if _, ok := errors.AsType[*fault.Fault](err); !ok {
			t.Errorf("the refusal is no fault: %v", err)
		}
	})
}

// Recognise writes one turn in frames of 20 ms and returns what was heard during it and at its end.
func Recognise(t *testing.T, tr voice.Transcriber, rate int, pcm []int16) (partials []string, final string) {
	t.Helper()
	for frame := range slices.Chunk(pcm, rate/50) {
		if err := tr.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.EndTurn(); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := tr.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if got.Final {
			return partials, got.Text
		}
		partials = append(partials, got.Text)
	}
}

// Finish closes a transcriber and reads it to its end, which must be io.EOF.
func Finish(t *testing.T, tr voice.Transcriber) {
	t.Helper()
	if err := tr.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for {
		if _, err := tr.Recv(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("Recv after Close: %v", err)
			}
			return
		}
	}
}

// Errors is how many words of said were not heard, were heard wrong or were heard without being said.
func Errors(said, heard string) int {
	a, b := strings.Fields(strings.ToLower(said)), strings.Fields(strings.ToLower(heard))
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
