package voice

import (
	"cmp"
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
		lang string
	}{
		{text: "what are your opening hours", want: 0},
		{text: "my number is", want: 2500 * time.Millisecond},
		{text: "i would like to book a table for", want: 2500 * time.Millisecond},
		{text: "yes", want: 0},
		{text: "five", want: 0},
		{text: "my number is five", want: 0},
		{text: "zero one seven two", want: 2500 * time.Millisecond},
		{text: "0172 44", want: 2500 * time.Millisecond},
		{text: "0172 443 1122", want: 0},
		{text: "my name is spelled m e", want: 2500 * time.Millisecond},
		{text: "john at example dot", want: 2500 * time.Millisecond},
		{text: "john at example dot com", want: 0},
		{text: "john at example", want: 0},
		{text: "first,", want: 2 * time.Second},
		{text: "is that all you are?", want: 0},
		{text: "ich hätte gern einen Termin und", want: 2500 * time.Millisecond, lang: "de"},
		{text: "das ist mein son", lang: "de"},
		{text: "", want: 0},
	} {
		if got := patience(c.text, cmp.Or(c.lang, "en")); got != c.want {
			t.Errorf("patience(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	const s = "We open at nine. Call again then."
	for _, c := range []struct {
		part       float64
		said, rest string
	}{
		{0, "", s},
		{0.05, "", s},
		{0.5, "We open at nine.", "Call again then."},
		{0.95, "We open at nine. Call again", "then."},
		{1, s, ""},
	} {
		if said, rest := cut(s, c.part); said != c.said || rest != c.rest {
			t.Errorf("cut at %v: %q, %q", c.part, said, rest)
		}
	}
}

func TestBackChannel(t *testing.T) {
	for text, want := range map[string]bool{
		"mhm": true, "Okay.": true, "uh-huh, right": true, "": false, "yes": false, "okay but wait": false, "no": false,
	} {
		if got := backChannel(text); got != want {
			t.Errorf("backChannel(%q) = %v", text, got)
		}
	}
}

func TestCategory(t *testing.T) {
	for text, want := range map[string]string{
		"When do you open": "question", "you open at nine?": "question", "Yes please": "positive", "no thanks": "negative",
		"I am Tom": "neutral", "": "neutral",
	} {
		if got := categoryOf(text); got != want {
			t.Errorf("categoryOf(%q) = %q, want %q", text, got, want)
		}
	}
}
