package builtin

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"
)

//go:embed phrases.txt
var phrasesText string

// phraseRounds is how often a line with classes is counted, each time with the next members; stringRounds as many times
// those where a class repeats, each time with members drawn anew: the model has to know that any digit follows any two.
const (
	phraseRounds = 12
	stringRounds = 16
)

// countPhrases counts what people say on any phone.
func countPhrases(t *trigrams) {
	classes := map[string][]string{}
	turn := map[string]int{}
	dice := rand.New(rand.NewPCG(1, 2)) // the same model every time
	for line := range strings.Lines(phrasesText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name, members, ok := strings.Cut(line, "]: "); ok {
			classes[name+"]"] = strings.Split(members, ", ")
			continue
		}
		words := strings.Fields(strings.ToLower(line))
		if !strings.Contains(line, "[") {
			t.add(words, phraseRounds/3)
			continue
		}
		runs, weight := phraseRounds, 1.0
		if repeats(words) {
			runs, weight = phraseRounds*stringRounds, 1.0/stringRounds*2
		}
		for range runs {
			var said []string
			for _, w := range words {
				members := classes[w]
				if members == nil {
					said = append(said, w)
					continue
				}
				said = append(said, strings.Fields(members[turn[w]%len(members)])...)
				turn[w]++
				if weight != 1 { // digits in any order, not one two three
					turn[w] = dice.IntN(len(members))
				}
			}
			t.add(said, weight)
		}
	}
}

// repeats reports that a class stands in a line more than once, as [d] does in numbers.
func repeats(words []string) bool {
	for i, w := range words {
		if w[0] == '[' && slices.Contains(words[i+1:], w) {
			return true
		}
	}
	return false
}
