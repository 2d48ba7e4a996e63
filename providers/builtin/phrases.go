package builtin

import (
	_ "embed"
	"strings"
)

//go:embed phrases.txt
var phrasesText string

// phraseRounds is how often a line with classes is counted, each time with the next members.
const phraseRounds = 12

// countPhrases counts what people say on any phone.
func countPhrases(t *trigrams) {
	classes := map[string][]string{}
	turn := map[string]int{}
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
		for range phraseRounds {
			var said []string
			for _, w := range words {
				members := classes[w]
				if members == nil {
					said = append(said, w)
					continue
				}
				said = append(said, strings.Fields(members[turn[w]%len(members)])...)
				turn[w]++
			}
			t.add(said, 1)
		}
	}
}
