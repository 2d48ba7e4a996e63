package voice

import (
	"cmp"
	"testing"
	"time"
)

// What is likely to go on is waited for, and what is not is not.
func TestFinished(t *testing.T) {
	const sure, open, never = 3, 2, 1
	for _, c := range []struct {
		text, asked, lang string
		want              int
	}{
		{text: "", want: sure},
		{text: "what are your opening hours", want: sure},
		{text: "can i bring it in today", want: sure},
		{text: "yes", want: sure},
		{text: "no thank you", want: sure},
		{text: "five", want: sure},
		{text: "tuesday", want: sure},
		{text: "i would like to speak with your manager", want: sure},
		{text: "is that all you are?", want: sure},
		{text: "my bike has a flat tyre", want: open},
		{text: "my number is", want: never},
		{text: "i would like to book", want: never},
		{text: "i would like to book a table for", want: never},
		{text: "i have a question", want: never},
		{text: "first,", want: never},
		{text: "zero one seven two", want: never},
		{text: "0172 44", want: never},
		{text: "0172 443 1122", want: sure},
		{text: "four seven one one", asked: "Tell me the four digits on the card.", want: sure},
		{text: "four seven one", asked: "Tell me the four digits on the card.", want: never},
		{text: "my name is spelled m e", want: never},
		{text: "john at example dot", want: never},
		{text: "john dot miller", want: never},
		{text: "john at example dot com", want: sure},
		{text: "ich hätte gern einen Termin und", want: never, lang: "de"},
		{text: "das ist mein son", want: sure, lang: "de"},
	} {
		p, got := finished(c.text, cmp.Or(c.lang, "en"), c.asked), open
		switch {
		case patience(p) == 0:
			got = sure
		case patience(p) > time.Second:
			got = never
		}
		if got != c.want || p < 0 || p > 1 {
			t.Errorf("finished(%q) = %v, waits %v", c.text, p, patience(p))
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
