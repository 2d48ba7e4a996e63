// Package english compares texts by their content words: tokens, stop words, stems and a small table of synonyms. Words of
// other languages pass through as they are.
package english

import (
	"slices"
	"strings"
	"unicode"
)

// Tokens are the words and numbers of s in lower case. An apostrophe is part of its word and left out: don't is dont.
func Tokens(s string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’':
		default:
			flush()
		}
	}
	flush()
	return out
}

// Content are the stems of the words that carry meaning, in order, each once.
func Content(s string) []string {
	var out []string
	for _, w := range Tokens(s) {
		if Stop(w) {
			continue
		}
		if st := base(w); !slices.Contains(out, st) {
			out = append(out, st)
		}
	}
	return out
}

// Stop reports a word that says nothing about the subject.
func Stop(w string) bool { return stop[w] }

// base is the stem of a word, of an irregular form that of its regular one.
func base(w string) string {
	if b, ok := irregular[w]; ok {
		w = b
	}
	return Stem(w)
}

// Stem cuts the common English endings, so that opens, opening and opened meet.
func Stem(w string) string {
	if len(w) < 4 || !ascii(w) {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	for _, end := range []string{"ing", "ed", "ment", "ation"} {
		if root, ok := strings.CutSuffix(w, end); ok && len(root) >= 3 && strings.ContainsAny(root, "aeiouy") {
			w = undouble(root)
			break
		}
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "ly")
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	if len(w) > 5 && strings.HasSuffix(w, "ll") { // cancelled and cancel
		w = w[:len(w)-1]
	}
	return w
}

func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

func ascii(w string) bool {
	for _, r := range w {
		if r > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// Synonyms are the stems that mean about the same as a stem, without itself.
func Synonyms(stem string) []string { return synonyms[stem] }

// Match says how well a stem is found among others: 1 itself, 0.8 by a synonym or a word derived of it, 0 not.
func Match(stem string, in []string) float64 {
	if slices.Contains(in, stem) {
		return 1
	}
	for _, s := range synonyms[stem] {
		if slices.Contains(in, s) {
			return 0.8
		}
	}
	for _, s := range in {
		if derived(stem, s) || derived(s, stem) {
			return 0.8
		}
	}
	return 0
}

// derived reports that a word is another one with an ending that makes a noun or adjective of it: driver of drive.
func derived(word, of string) bool {
	if len(of) < 4 {
		return false
	}
	end, ok := strings.CutPrefix(word, of)
	if !ok {
		end, ok = strings.CutPrefix(word, strings.TrimSuffix(of, "y"))
		end = strings.TrimPrefix(end, "i")
	}
	return ok && endings[end]
}

var endings = set("er or ing ist al able ible ful less ness y ity ance ence ion ist ship hood ish ive")

// Coverage is the share of the stems of want found in have, 0 to 1. Nothing wanted is nothing covered.
func Coverage(want, have []string) float64 {
	if len(want) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range want {
		sum += Match(w, have)
	}
	return sum / float64(len(want))
}
