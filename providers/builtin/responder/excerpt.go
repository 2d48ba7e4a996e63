package responder

import (
	"regexp"
	"strings"

	"parley/agent"
	"parley/english"
	"parley/sentences"
)

// excerpt is the part of the passages that answers a question: up to two neighbouring sentences of the best one.
func excerpt(asked string, passages []agent.Passage) (string, bool) {
	want := english.Content(asked)
	best, score := "", 0.0
	for rank, p := range passages {
		around := english.Content(p.Document + " " + p.Text)
		sentences := sentencesOf(p.Text)
		for i, s := range sentences {
			have := english.Content(s)
			sum := english.Coverage(want, have) + 0.4*english.Coverage(want, around) - 0.02*float64(rank) - 0.05*boolFloat(strings.HasSuffix(s, "?"))
			if sum <= score {
				continue
			}
			best, score = s, sum
			if i+1 < len(sentences) && (strings.HasSuffix(s, "?") || len(s) < 40 || leansBack.MatchString(sentences[i+1])) {
				best += " " + sentences[i+1]
			}
		}
	}
	return best, score >= threshold
}

// leansBack begins a sentence that means little without the one before it.
var leansBack = regexp.MustCompile(`^(After that|Otherwise|Then|It|They|This|That|These|Those|If not|However|But|Later)\b`)

// threshold of excerpt: half of the words asked for stand in the sentence itself, or a third there and the rest around it.
const threshold = 0.55

func sentencesOf(text string) []string {
	var split sentences.Splitter
	var out []string
	for _, s := range append(split.Push(text), split.Flush()) {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// answer finds the question of the FAQ that means the same. Of those that fit about alike, the one whose answer has more of
// the words asked for is meant.
func (p plan) answer(said string) (string, bool) {
	have := english.Content(said)
	best, score := "", 0.0
	for _, f := range p.faq {
		s := 0.5*english.Coverage(have, f.stems) + 0.5*english.Coverage(f.stems, have) + 0.2*english.Coverage(have, f.all)
		if s > score {
			best, score = f.answer, s
		}
	}
	return best, score >= 0.6
}
