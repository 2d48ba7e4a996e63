package sentences_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/sentences"
)

// early cuts a text that comes word by word.
func early(text string) (out []string) {
	var s sentences.Splitter
	for _, word := range strings.SplitAfter(text, " ") {
		got := s.Push(word)
		if len(got) == 0 {
			if piece := s.Early(); piece != "" {
				got = []string{piece}
			}
		}
		out = append(out, got...)
	}
	return append(out, s.Flush())
}

// The beginning of a long sentence is spoken while the rest comes: at a clause, or after about 40 letters, then in longer
// pieces. Short sentences stay whole.
func TestEarly(t *testing.T) {
	for _, want := range [][]string{
		{"Hello there. ", "How are you today? ", "Fine."},
		{"Well, we open at nine in the morning, ", "and we close at five."},
		{"The bike that you asked me about is still ", "in our shop and it can be picked up on any day of the week by you or by anybody else."},
		{"Thank you for your patience my friend. ", "Good bye."},
	} {
		if got := early(strings.Join(want, "")); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// Nothing is lost or doubled, whatever is cut.
func TestEarlyKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([A-Za-z0-9 ,;.!?\n"é。]|Dr\. |a\.m\. ){0,200}`).Draw(t, "text")
		if got := strings.Join(early(text), ""); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}
