package builtin

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// trigrams is a language model in the making: counts of the word sequences of a conversation's likely sentences,
// smoothed after Witten and Bell.
type trigrams struct {
	count [3]map[gram]float64 // of one, two, three words
}

// gram is up to three words, the unused ones empty.
type gram [3]string

const (
	sentenceStart = "<s>"
	sentenceEnd   = "</s>"
)

func newTrigrams() *trigrams {
	t := &trigrams{}
	for i := range t.count {
		t.count[i] = map[gram]float64{}
	}
	return t
}

// add counts one sentence, weight times.
func (t *trigrams) add(words []string, weight float64) {
	if len(words) == 0 {
		return
	}
	line := append(append([]string{sentenceStart}, words...), sentenceEnd)
	for i := range line {
		for n := 1; n <= 3 && n <= i+1; n++ {
			var g gram
			copy(g[:], line[i+1-n:i+1])
			t.count[n-1][g] += weight
		}
	}
}

// words are the words counted, sorted, without the marks of the sentence.
func (t *trigrams) words() []string {
	var list []string
	for g := range t.count[0] {
		if g[0] != sentenceStart && g[0] != sentenceEnd {
			list = append(list, g[0])
		}
	}
	slices.Sort(list)
	return list
}

// history is how often a history was seen, and followed by how many different words.
type history struct{ tokens, types float64 }

// arpa writes the model in the ARPA format. Each order is interpolated with the next lower one: of a history seen c
// times before T different words, the share T/(c+T) is left to the shorter history.
func (t *trigrams) arpa() []byte {
	after := [3]map[gram]history{{}, {}, {}} // by length of the history
	for n := range 3 {
		for g, c := range t.count[n] {
			if g[0] == sentenceStart && n == 0 {
				continue
			}
			h := g
			h[n] = ""
			a := after[n][h]
			after[n][h] = history{a.tokens + c, a.types + 1}
		}
	}
	vocabulary := float64(len(t.count[0]) - 1)
	var prob func(g gram, n int) float64
	prob = func(g gram, n int) float64 {
		h := g
		h[n-1] = ""
		a := after[n-1][h]
		lower := 1 / vocabulary
		if n > 1 {
			var shorter gram
			copy(shorter[:], g[1:])
			lower = prob(shorter, n-1)
		}
		return (t.count[n-1][g] + a.types*lower) / (a.tokens + a.types)
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	fmt.Fprintf(w, "\\data\\\n")
	for n := range 3 {
		fmt.Fprintf(w, "ngram %d=%d\n", n+1, len(t.count[n]))
	}
	for n := 1; n <= 3; n++ {
		fmt.Fprintf(w, "\n\\%d-grams:\n", n)
		for _, g := range slices.SortedFunc(maps.Keys(t.count[n-1]), compareGrams) {
			p := -99.0
			if g[0] != sentenceStart || n > 1 {
				p = math.Log10(prob(g, n))
			}
			fmt.Fprintf(w, "%.4f %s", p, strings.Join(g[:n], " "))
			if n < 3 {
				if a, ok := after[n][g]; ok {
					fmt.Fprintf(w, " %.4f", math.Log10(a.types/(a.tokens+a.types)))
				} else {
					w.WriteString(" 0.0000")
				}
			}
			w.WriteByte('\n')
		}
	}
	w.WriteString("\n\\end\\\n")
	_ = w.Flush()
	return b.Bytes()
}

func compareGrams(a, b gram) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}
