package sentences_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/sentences"
)

func split(chunks ...string) []string {
	var s sentences.Splitter
	var out []string
	for _, c := range chunks {
		out = append(out, s.Push(c)...)
	}
	if rest := s.Flush(); rest != "" {
		out = append(out, rest)
	}
	return out
}

func TestSplitter(t *testing.T) {
	for _, want := range [][]string{
		{"Hello there. ", "How are you? ", "Fine!"},
		{"We open at 9.30 a.m. on weekdays. ", "Come in."},
		{"We close at 5 p.m. ", "See you."},
		{"Dr. Smith and Mr. Jones met J. R. Ewing. ", "They left."},
		{"No. ", "That is room No. 5 then. ", "Good."},
		{"1. First point.\n", "2. Second point."},
		{`He said "go." `, "Then he left… ", "Really?! ", "Yes."},
		{"It costs 3.50 euros at example.com today. ", "Ok."},
		{"東京です。", "はい！", "終わり"},
		{"I am I. ", "And you?"},
		{"one line\n\n", "another line"},
	} {
		if got := split(strings.Join(want, "")); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestSplitterCutsRunOns(t *testing.T) {
	text := strings.Repeat("and so it goes on, ", 40)
	for _, s := range split(text) {
		if len(s) > 300 {
			t.Errorf("piece of %d bytes", len(s))
		}
	}
}

// The time to cut a text grows with its length, whatever it lacks.
func TestSplitterOfLongTexts(t *testing.T) {
	for _, word := range []string{"lorem ipsum ", "x", strings.Repeat("x", 300) + " y. "} {
		text := strings.Repeat(word, 4<<20/len(word)) // minutes, if every piece were looked for in all that is left
		if got := strings.Join(split(text), ""); got != text {
			t.Errorf("%.15q…: %d bytes of %d", word, len(got), len(text))
		}
	}
}

// However the text arrives, the pieces are the same and their sum is the text.
func TestSplitterDoesNotCareForChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([A-Za-z0-9 ,.!?\n"é。]|Dr\. |a\.m\. ){0,120}`).Draw(t, "text")
		var chunks []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		if got := strings.Join(split(chunks...), ""); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}
