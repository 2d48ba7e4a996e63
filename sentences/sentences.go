// Package sentences cuts growing text into sentences that can be spoken one by one.
package sentences

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Splitter cuts a growing text into sentences that can be spoken one by one. The pieces, joined, are the text.
type Splitter struct {
	buf   string
	given int // pieces
}

const (
	longest = 280         // bytes after which a sentence without an end is cut at a clause or a blank
	reach   = 4 * longest // bytes within which its end is looked for
)

// Push adds text and returns the sentences that are complete, each with the white space that follows it.
func (s *Splitter) Push(text string) []string {
	s.buf += text
	var out []string
	for {
		n := sentenceEnd(s.buf)
		if n == 0 {
			return out
		}
		out = append(out, s.take(n))
	}
}

func (s *Splitter) take(n int) string {
	piece := s.buf[:n]
	s.buf = s.buf[n:]
	s.given++
	return piece
}

const (
	firstPiece = 40 // letters of an unfinished sentence that can be spoken while the rest is awaited
	clausePart = 0.4
)

// Early returns the beginning of a sentence whose end is awaited, once it is worth speaking: up to the end of a clause, or
// about 40 letters; of the second piece of a text twice as many, and so on. Empty when there is not enough, or the sentence
// may be over.
func (s *Splitter) Early() string {
	limit := firstPiece << min(s.given, 8)
	if limit > longest || strings.ContainsAny(lastOf(s.buf), ".!?…\"”)") {
		return ""
	}
	letters, blank, mark := 0, 0, 0
	for i, r := range s.buf {
		if letters++; unicode.IsSpace(r) && i > 0 {
			blank = i + utf8.RuneLen(r)
			if strings.ContainsRune(",;:–—", lastRune(s.buf[:i])) && float64(letters) >= clausePart*float64(limit) {
				mark = blank
			}
		}
	}
	switch {
	case mark > 0 && mark < len(s.buf):
		return s.take(mark)
	case letters > limit && blank > 0:
		return s.take(blank)
	}
	return ""
}

func lastOf(s string) string { return string(lastRune(strings.TrimSpace(s))) }

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// Flush returns what is left.
func (s *Splitter) Flush() string {
	rest := s.buf
	s.buf = ""
	return rest
}

// sentenceEnd is the length of the first sentence with its trailing white space, or 0 when more text is needed to tell.
func sentenceEnd(s string) int {
	for i, r := range s[:min(len(s), reach)] {
		switch {
		case r == '\n' && strings.TrimSpace(s[:i]) != "":
			return blanks(s, i)
		case strings.ContainsRune("。！？।", r):
			return blanks(s, i+utf8.RuneLen(r))
		case strings.ContainsRune(".!?…؟", r):
			if n := ended(s, i, r); n > 0 {
				return n
			}
		}
	}
	if len(s) > longest {
		return clause(s)
	}
	return 0
}

// ended is the length of the sentence when the mark r at i ends it, else 0.
func ended(s string, i int, r rune) int {
	end := i + utf8.RuneLen(r)
	for end < len(s) {
		c, w := utf8.DecodeRuneInString(s[end:])
		if !strings.ContainsRune(".!?…\"'”’»)]", c) {
			break
		}
		end += w
	}
	after := blanks(s, end)
	if after == end || after == len(s) { // no blank follows, or what follows is not known yet
		return 0
	}
	if r == '.' && abbreviated(s[:i], s[after:]) {
		return 0
	}
	return after
}

func blanks(s string, i int) int {
	for i < len(s) {
		r, w := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			break
		}
		i += w
	}
	return i
}

var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "jr": true, "sr": true, "vs": true, "no": true,
	"e.g": true, "i.e": true, "approx": true, "dept": true, "ext": true, "nr": true, "bzw": true, "z.b": true, "ca": true, "mme": true,
}

// open abbreviations may also end a sentence; a capital letter after them says so.
var open = map[string]bool{"a.m": true, "p.m": true, "etc": true, "inc": true, "ltd": true, "co": true, "u.s": true, "u.k": true,
	"no": true}

func abbreviated(before, after string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	if word == "" {
		return false
	}
	low := strings.ToLower(word)
	next, _ := utf8.DecodeRuneInString(after)
	if low == "no" { // "No. 5" against "No. That is wrong."
		return unicode.IsDigit(next)
	}
	if open[low] {
		return !unicode.IsUpper(next)
	}
	if abbreviations[low] {
		return true
	}
	if utf8.RuneCountInString(word) == 1 && unicode.IsUpper([]rune(word)[0]) && word != "I" { // an initial
		return true
	}
	return isNumber(word) && strings.TrimSpace(before[:len(before)-len(word)]) == "" // "1. first point"
}

func isNumber(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// clause cuts a run-on sentence at its last clause mark, or else at its last blank, or else at the first one after that.
func clause(s string) int {
	if i := strings.LastIndexAny(s[:longest], ",;:"); i > 0 && i+1 < len(s) && s[i+1] == ' ' {
		return blanks(s, i+1)
	}
	if i := strings.LastIndexByte(s[:longest], ' '); i > 0 {
		return blanks(s, i)
	}
	if i := strings.IndexByte(s[longest:], ' '); i >= 0 {
		return blanks(s, longest+i)
	}
	return 0
}
