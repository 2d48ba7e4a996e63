package english_test

import (
	"fmt"
	"slices"
	"testing"

	"parley/english"
)

func ExampleContent() {
	fmt.Println(english.Content("When do you open on Saturdays? I'd like to know the opening hours."))
	// Output: [when open saturday hour]
}

func TestStem(t *testing.T) {
	for _, group := range [][]string{
		{"open", "opens", "opened", "opening"}, {"price", "prices", "priced", "pricing"}, {"delivery", "deliveries"}, {"stop", "stopped", "stopping"},
		{"park", "parking", "parked"}, {"box", "boxes"}, {"dish", "dishes"}, {"cancel", "cancelled", "cancelling", "cancels"},
	} {
		for _, w := range group[1:] {
			if got, want := english.Stem(w), english.Stem(group[0]); got != want {
				t.Errorf("%s: %s, want %s", w, got, want)
			}
		}
	}
	for _, w := range []string{"bus", "this", "gas", "öffnungen", "class", "ring", "red"} {
		if got := english.Stem(w); len(got) < 3 {
			t.Errorf("%s became %s", w, got)
		}
	}
}

func TestTokens(t *testing.T) {
	got := english.Tokens("Don't  call +49 30-123, señor! 東京")
	want := []string{"dont", "call", "49", "30", "123", "señor", "東京"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCoverage(t *testing.T) {
	have := english.Content("Our prices: a haircut is 30 euros, open from nine.")
	for _, c := range []struct {
		want string
		min  float64
		max  float64
	}{
		{"haircut price", 1, 1}, {"haircut cost", 0.9, 0.9}, {"parking", 0, 0}, {"", 0, 0}, {"what do you", 0, 0},
	} {
		if got := english.Coverage(english.Content(c.want), have); got < c.min || got > c.max {
			t.Errorf("%q: %v", c.want, got)
		}
	}
}
