package responder

import (
	"regexp"
	"strings"

	"parley/agent"
	"parley/english"
	"parley/sentences"
)

// excerpt is the part of the passages that answers a question: up to two neighbouring sentences of the best one.
func excerpt(asked string, passages []agent.Passage, before []string) (string, bool) {
	f, ok := nearestFact(asked, factsOf(passages), before)
	return f.text, ok
}

// factsOf are the sentences of passages, each with the one that leans back on it.
func factsOf(passages []agent.Passage) (out []fact) {
	for rank, p := range passages {
		list := sentencesOf(p.Text)
		for i, s := range list {
			if i+1 < len(list) && (strings.HasSuffix(s, "?") || len(s) < 40 || leansBack.MatchString(list[i+1])) {
				f := newFact(s+" "+list[i+1], p.Document, rank)
				f.asked = english.Content(s)
				out = append(out, f)
				continue
			}
			out = append(out, newFact(s, p.Document, rank))
		}
	}
	return out
}

// leansBack begins a sentence that means little without the one before it.
var leansBack = regexp.MustCompile(`^(After that|Otherwise|Then|It|They|This|That|These|Those|If not|However|But|Later)\b`)

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
