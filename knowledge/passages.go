package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/sentences"
)

const (
	passageSize = 800  // characters a passage aims at
	passageMost = 1200 // and never exceeds
	overlap     = 120  // characters of the end that the next one repeats
)

// piece is a passage before it is stored.
type piece struct {
	title string
	text  string
}

// cut splits a text into passages of about 800 characters at the ends of paragraphs and sentences. Each begins with the
// last sentences of the one before.
func cut(title, text string) []piece {
	var out []piece
	var now strings.Builder
	fresh := false // now holds more than the repeated end
	flush := func() {
		if !fresh {
			return
		}
		whole := strings.TrimSpace(now.String())
		out = append(out, piece{title, whole})
		now.Reset()
		now.WriteString(ending(whole))
		fresh = false
	}
	for _, s := range units(text) {
		if fresh && length(now.String())+length(s) > passageSize {
			flush()
		}
		if !fresh && length(now.String())+length(s) > passageMost {
			now.Reset()
		}
		now.WriteString(s)
		fresh = fresh || strings.TrimSpace(s) != ""
	}
	flush()
	return out
}

// units are the sentences of a text with the white space behind them, none longer than a passage.
func units(text string) []string {
	var split sentences.Splitter
	var out []string
	for _, s := range append(split.Push(tidy(text)), split.Flush()) {
		for len(s) > passageSize && length(s[:min(len(s), utf8.UTFMax*passageSize)]) > passageSize {
			at := lastBlank(s, passageSize)
			out = append(out, s[:at])
			s = s[at:]
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// tidy makes runs of blanks one blank and runs of empty lines one empty line, and joins lines that were only broken by a margin.
func tidy(text string) string {
	var b strings.Builder
	empty, last := 0, ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
			empty++
			continue
		case last == "":
		case empty > 0:
			b.WriteString("\n\n")
		case wrapped(last, line):
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		empty, last = 0, line
	}
	return b.String()
}

// wrapped reports that a sentence goes on from one line to the next.
func wrapped(line, next string) bool {
	end, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return !strings.ContainsRune(".!?:;…", end) && (unicode.IsLower(first) || length(line) > 60 && unicode.IsLetter(first))
}

// ending is the last whole sentences within the overlap.
func ending(text string) string {
	list := units(text)
	from := len(list)
	n := 0
	for from > 0 && n+length(list[from-1]) <= overlap {
		from--
		n += length(list[from])
	}
	end := strings.Join(list[from:], "")
	if end == "" || end == text {
		return ""
	}
	return end + "\n"
}

// lastBlank is the byte after the last blank within the first n characters, or the end of those.
func lastBlank(s string, n int) int {
	at := 0
	for i := range s {
		if n--; n < 0 {
			at = i
			break
		}
	}
	if i := strings.LastIndexAny(s[:at], " \n"); i > 0 {
		return i + 1
	}
	return at
}

func length(s string) int { return utf8.RuneCountInString(s) }
