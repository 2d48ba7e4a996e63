package builtin

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWordings(t *testing.T) {
	for in, want := range map[string]string{
		"We're open 8:30 to 17:00, closed on Dec 25th.": "we're open eight thirty to seventeen o'clock closed on dec twenty fifth",
		"It costs $120 (or 99.5%)":                      "it costs one hundred twenty dollars | or ninety nine point five percent",
		"Call 5550199! 9am - 1pm":                       "call five five five oh one nine nine | nine a m one p m",
		"Since 1998, Dr. Smith":                         "since nineteen ninety eight dr smith",
		"2024 or 4,500":                                 "two thousand twenty four or four thousand five hundred",
		"Fußball":                                       "",
		"such a " + strings.Repeat("e", 41) + " word":   "such a word", // nobody says that
	} {
		var lines []string
		for _, w := range wordings(in) {
			lines = append(lines, strings.Join(w, " "))
		}
		if got := strings.Join(lines, " | "); got != want {
			t.Errorf("wordings(%q) = %q, want %q", in, got, want)
		}
	}
}

// In a correct model the probabilities of all words after a history add up to one.
func TestTrigramsAddUpToOne(t *testing.T) {
	model := newTrigrams()
	for _, s := range []string{"a b c", "a b d", "b b", "c a b c", "d"} {
		model.add(strings.Fields(s), 1)
	}
	prob, back := readARPA(t, model.arpa())
	var chance func(h []string, w string) float64
	chance = func(h []string, w string) float64 {
		if p, ok := prob[strings.Join(append(slices.Clone(h), w), " ")]; ok {
			return math.Pow(10, p)
		}
		if len(h) == 0 {
			t.Fatalf("%q has no probability", w)
		}
		return math.Pow(10, back[strings.Join(h, " ")]) * chance(h[1:], w)
	}
	words := append(model.words(), sentenceEnd)
	for _, h := range [][]string{{}, {"a"}, {"b"}, {"d"}, {"<s>"}, {"a", "b"}, {"<s>", "a"}, {"b", "b"}, {"d", "d"}} {
		sum := 0.0
		for _, w := range words {
			sum += chance(h, w)
		}
		if math.Abs(sum-1) > 0.01 {
			t.Errorf("after %v: %.4f", h, sum)
		}
	}
	if chance([]string{"a"}, "b") < chance([]string{"a"}, "d") {
		t.Error("what was seen is not more likely than what was not")
	}
}

func readARPA(t *testing.T, file []byte) (prob, back map[string]float64) {
	prob, back = map[string]float64{}, map[string]float64{}
	counted, listed := [4]int{}, [4]int{}
	order := 0
	sc := bufio.NewScanner(bytes.NewReader(file))
	for sc.Scan() {
		line := sc.Text()
		var n, c int
		if _, err := fmt.Sscanf(line, "ngram %d=%d", &n, &c); err == nil {
			counted[n] = c
		} else if _, err := fmt.Sscanf(line, "\\%d-grams:", &n); err == nil {
			order = n
		} else if f := strings.Fields(line); order > 0 && len(f) > order {
			listed[order]++
			key := strings.Join(f[1:order+1], " ")
			prob[key], _ = strconv.ParseFloat(f[0], 64)
			if len(f) == order+2 {
				back[key], _ = strconv.ParseFloat(f[order+1], 64)
			}
		}
	}
	if counted != listed {
		t.Errorf("the head says %v, listed are %v", counted, listed)
	}
	return prob, back
}

func TestNarrowBandsAreTheLowerWideBands(t *testing.T) {
	// A spectrum that is smooth enough for 13 cepstra of 25 bands must have the same cepstra in the lower 18 bands,
	// whether computed from its bands or from its wide cepstra.
	var bandsEnergy [wideBands]float64
	var wide [wideBands]float64
	for q := range 6 {
		for j := range wideBands {
			bandsEnergy[j] += float64(3-q) * dct(q, j, wideBands)
		}
		wide[q] = float64(3 - q)
	}
	change := bandChange()
	for i := range cepstra {
		var direct, mapped float64
		for j := range narrowBands {
			direct += dct(i, j, narrowBands) * bandsEnergy[j] * lift(i)
		}
		for q := range wideBands {
			mapped += change[i][q] * wide[q]
		}
		if math.Abs(direct-mapped) > 1e-9 {
			t.Errorf("cepstrum %d: %v from the bands, %v from the wide cepstra", i, direct, mapped)
		}
	}
	if top := narrowTop(); top < 3400 || top > 3500 {
		t.Errorf("the narrow bands end at %.0f Hz", top)
	}
}

func TestTidy(t *testing.T) {
	if got := tidy("send it by e. mail at nine p. m."); got != "send it by email at nine p m" {
		t.Errorf("got %q", got)
	}
}
