package builtin

import (
	"strconv"
	"strings"
	"unicode"
)

// wordings splits text into sentences of words as they are spoken and as the transcriber's dictionary writes them:
// lower case, numbers and times in words.
func wordings(text string) [][]string {
	var all [][]string
	var line []string
	end := func() {
		if len(line) > 0 {
			all = append(all, line)
			line = nil
		}
	}
	text = strings.NewReplacer("’", "'", "‘", "'", "“", " ", "”", " ", "&", " and ", "@", " at ", "%", " percent ",
		"€", " euro ", "£", " pound ", "–", " to ", "/", " ").Replace(text)
	for _, block := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r;!?()[]{}\"*#|<>—", r) }) {
		for _, tok := range strings.Fields(block) {
			body := strings.Trim(tok, ".,:'-_`=+~^\\")
			line = append(line, spoken(body)...)
			if strings.HasSuffix(tok, ".") && !abbreviation(body) || strings.HasSuffix(tok, ":") {
				end()
			}
		}
		end()
	}
	return all
}

// maxLetters is the length of the longest word that is expected from a caller. The time to find out how a word is
// pronounced grows faster than its length: that of a hundred thousand letters would never be known.
const maxLetters = 40

// spoken is how one token is said.
func spoken(tok string) []string {
	if tok == "" {
		return nil
	}
	dollars := strings.HasPrefix(tok, "$")
	tok = strings.TrimPrefix(tok, "$")
	if said, ok := spokenNumber(tok); ok {
		if dollars {
			said = append(said, "dollars")
		}
		return said
	}
	var words []string
	for _, part := range strings.FieldsFunc(tok, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		for i, run := range runs(part) {
			if said, ok := spokenNumber(run); ok {
				words = append(words, said...)
			} else if half := strings.ToLower(run); i > 0 && (half == "am" || half == "pm") {
				words = append(words, half[:1], half[1:])
			} else if w := strings.Trim(strings.ToLower(run), "'"); w != "" && len(w) <= maxLetters && isASCII(w) {
				words = append(words, w)
			}
		}
	}
	return words
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 }) }

// runs splits "9am" into "9" and "am", but leaves "1st" whole.
func runs(s string) []string {
	var list []string
	start := 0
	for i := 1; i < len(s); i++ {
		if isDigit(s[i-1]) != isDigit(s[i]) && s[i] != '\'' && s[i-1] != '\'' {
			if suffix := strings.ToLower(s[i:]); suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th" {
				continue
			}
			list = append(list, s[start:i])
			start = i
		}
	}
	return append(list, s[start:])
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

var (
	small = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
		"sixteen seventeen eighteen nineteen")
	tens     = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
	ordinals = strings.Fields("zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth " +
		"fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth")
)

// spokenNumber says whole numbers, decimals, times of day (9:05), ordinals (3rd) and, digit by digit, long numbers.
func spokenNumber(s string) ([]string, bool) {
	s = strings.ReplaceAll(s, ",", "")
	if s == "" || !isDigit(s[0]) {
		return nil, false
	}
	if h, m, ok := strings.Cut(s, ":"); ok && len(m) == 2 {
		return spokenTime(h, m)
	}
	if whole, part, ok := strings.Cut(s, "."); ok {
		said, good := spokenNumber(whole)
		if !good || strings.ContainsFunc(part, func(r rune) bool { return r < '0' || r > '9' }) {
			return nil, false
		}
		return append(append(said, "point"), byDigit(part)...), true
	}
	if len(s) > 2 {
		if n, err := strconv.Atoi(s[:len(s)-2]); err == nil {
			switch strings.ToLower(s[len(s)-2:]) {
			case "st", "nd", "rd", "th":
				return ordinal(n), true
			}
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return nil, false
	}
	if len(s) > 4 || s[0] == '0' && len(s) > 1 {
		return byDigit(s), true
	}
	return cardinal(n), true
}

func spokenTime(h, m string) ([]string, bool) {
	hour, err1 := strconv.Atoi(h)
	minute, err2 := strconv.Atoi(m)
	if err1 != nil || err2 != nil || hour > 24 || minute > 59 {
		return nil, false
	}
	switch {
	case minute == 0:
		return append(cardinal(hour), "o'clock"), true
	case minute < 10:
		return append(cardinal(hour), "oh", small[minute]), true
	}
	return append(cardinal(hour), cardinal(minute)...), true
}

func byDigit(s string) []string {
	var words []string
	for i := range len(s) {
		if s[i] == '0' {
			words = append(words, "oh")
		} else {
			words = append(words, small[s[i]-'0'])
		}
	}
	return words
}

// cardinal says 0 to 9999; years such as 1998 are said in pairs.
func cardinal(n int) []string {
	switch {
	case n < 20:
		return small[n : n+1 : n+1]
	case n < 100:
		words := tens[n/10 : n/10+1 : n/10+1]
		if n%10 > 0 {
			words = append(words, small[n%10])
		}
		return words
	case n < 1000:
		words := []string{small[n/100], "hundred"}
		if n%100 > 0 {
			words = append(words, cardinal(n%100)...)
		}
		return words
	case n >= 1100 && n < 2000 && n%100 > 9:
		return append(cardinal(n/100), cardinal(n%100)...)
	}
	words := append(cardinal(n/1000), "thousand")
	if n%1000 > 0 {
		words = append(words, cardinal(n%1000)...)
	}
	return words
}

// ordinal says 0th to 99th.
func ordinal(n int) []string {
	switch {
	case n < 20:
		return ordinals[n : n+1 : n+1]
	case n%10 == 0 && n < 100:
		return []string{strings.TrimSuffix(tens[n/10], "y") + "ieth"}
	case n < 100:
		return []string{tens[n/10], ordinals[n%10]}
	}
	return cardinal(n % 10000)
}
