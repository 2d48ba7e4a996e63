package english

import (
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// Terms are what an index keeps of a text, repetitions included: stems without accents, and pairs of characters for scripts that put
// no blanks between words.
func Terms(s string) []string {
	var out []string
	for _, w := range Tokens(fold(s)) {
		if unspaced(w) {
			out = append(out, pairs(w)...)
		} else if !Stop(w) || questionWord[w] {
			out = append(out, Stem(w))
		}
	}
	return out
}

// Hint reports a question word: it says what kind of thing is wanted, not what it is about.
func Hint(term string) bool { return questionWord[term] }

var questionWord = set("when where")

// fold removes accents: café is cafe.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			t := transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC)
			if out, _, err := transform.String(t, s); err == nil {
				return out
			}
			return s
		}
	}
	return s
}

// unspaced reports a run of a script written without blanks.
func unspaced(w string) bool {
	for _, r := range w {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return true
		}
	}
	return false
}

func pairs(w string) []string {
	r := []rune(w)
	if len(r) == 1 {
		return []string{w}
	}
	var out []string
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}

// Question are the terms of a question, each once.
func Question(s string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range Terms(s) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}
