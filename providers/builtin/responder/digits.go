package responder

import (
	"strconv"
	"strings"
	"unicode"
)

// A telephone number is rarely said at once and without a slip: it comes in pieces, with "oh", "double five" and corrections.
const (
	fewestDigits = 6  // of a number said at once
	fullNumber   = 10 // from how many digits on a number that came in pieces is read back
	mostDigits   = 15 // the longest there is
)

// digitsIn are the digits of what was said, in figures or one by one, with a leading plus.
func digitsIn(said string) string {
	var b strings.Builder
	times, ten := 1, false // ten: the word before was twenty, thirty, …
	for _, w := range unmixed(strings.FieldsFunc(strings.ToLower(said),
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",-./()?!;:", r) })) {
		u, isUnit := units[w]
		t, isTen := tens[w]
		switch {
		case w == "plus":
			b.WriteByte('+')
		case w == "double":
			times = 2
			continue
		case w == "triple", w == "treble":
			times = 3
			continue
		case w == "hundred" && b.Len() > 0: // nine hundred
			b.WriteString("00")
		case w == "thousand" && b.Len() > 0:
			b.WriteString("000")
		case isDigits(strings.TrimPrefix(w, "+")):
			b.WriteString(strings.Repeat(w, times))
		case isUnit && ten && u > 0 && u < 10: // twenty five
			number := b.String()
			b.Reset()
			b.WriteString(number[:len(number)-1] + strconv.Itoa(int(u)))
		case isUnit:
			b.WriteString(strings.Repeat(strconv.Itoa(int(u)), times))
		case isTen:
			b.WriteString(strings.Repeat(strconv.Itoa(int(t)), times))
		}
		times, ten = 1, isTen
	}
	p := b.String()
	if i := strings.LastIndexByte(p, '+'); i > 0 {
		p = p[i:]
	}
	return p
}

// sounds are words that recognisers write for digits.
var sounds = map[string]string{"to": "two", "too": "two", "for": "four", "fore": "four", "won": "one", "ate": "eight", "o": "oh"}

// unmixed takes a word that sounds like a digit for one where it stands among several digits.
func unmixed(words []string) []string {
	isUnit := func(i int) bool {
		if i < 0 || i >= len(words) {
			return false
		}
		_, ok := units[words[i]]
		return ok
	}
	digits := 0
	for i := range words {
		digits += int(boolFloat(isUnit(i)))
	}
	for i, w := range words {
		if digit, ok := sounds[w]; ok && digits > 2 && isUnit(i-1) && (isUnit(i+1) || i+1 == len(words)) {
			words[i] = digit
		}
	}
	return words
}

func count(number string) int { return len(strings.TrimPrefix(number, "+")) }

// parsePhone reads a whole number said at once.
func parsePhone(said string) (string, bool) {
	p := digitsIn(said)
	n := count(p)
	return p, n >= fewestDigits && n <= mostDigits
}

// spell reads a number back in groups of three, the last of up to four.
func spell(p string) string {
	plus, digits := "", p
	if rest, ok := strings.CutPrefix(p, "+"); ok {
		plus, digits = "plus ", rest
	}
	var groups []string
	for len(digits) > 4 {
		groups = append(groups, apart(digits[:3]))
		digits = digits[3:]
	}
	return plus + strings.Join(append(groups, apart(digits)), ", ")
}

func apart(s string) string { return strings.Join(strings.Split(s, ""), " ") }

// mend corrects a number by what was said about it: "not 678, 679" replaces the first by the second, a whole number replaces
// all, and a few digits replace those at the named end, or those they differ least from.
func mend(number, said string) (string, bool) {
	wrong, right := contrast(said)
	n := count(right)
	switch {
	case n == 0:
		return number, false
	case n >= fewestDigits && (n >= count(number)-1 || right[0] == '+' || right[0] == '0' && number[0] == '0'):
		return right, n <= mostDigits
	case n > count(number):
		return number, false
	}
	at := strings.LastIndex(number, wrong)
	if wrong == "" || at < 0 || count(wrong) == 0 {
		at, wrong = place(number, right, said), right
	}
	fixed := number[:at] + right + number[at+len(wrong):]
	return fixed, fixed != number
}

// contrast splits "not X but Y", or "Y not X", into the digits of X and of Y; without a "not" all are Y.
func contrast(said string) (wrong, right string) {
	low := " " + strings.ToLower(said) + " "
	i := strings.LastIndex(low, " not ")
	if i < 0 {
		return "", digitsIn(low)
	}
	before, after := low[:i], low[i+5:]
	for _, but := range []string{" but ", " it's ", " its ", " it is ", " that's ", ", "} {
		if x, y, ok := strings.Cut(after, but); ok && digitsIn(x) != "" && digitsIn(y) != "" {
			return digitsIn(x), digitsIn(y)
		}
	}
	if digitsIn(before) != "" {
		return digitsIn(after), digitsIn(before)
	}
	if d := digitsIn(after); len(d)%2 == 0 && len(d) > 2 { // "not six seven eight six seven nine": twice as many
		return d[:len(d)/2], d[len(d)/2:]
	}
	return "", digitsIn(after)
}

// place is where the digits belong.
func place(number, digits, said string) int {
	switch words := " " + strings.Join(tokens(said), " ") + " "; {
	case pat("(?:starts?|begins?|beginning|first)").in(words):
		return len(number) - count(number)
	case pat("(?:ends?|ending|last)").in(words):
		return len(number) - len(digits)
	}
	best, least := len(number)-len(digits), len(digits)+1
	for at := len(number) - len(digits); at >= len(number)-count(number); at-- {
		differ := 0
		for i := range digits {
			if number[at+i] != digits[i] {
				differ++
			}
		}
		if differ > 0 && differ < least {
			best, least = at, differ
		}
	}
	return best
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// dictated reports that what was said is made of digits for the most part.
func dictated(said string) bool {
	digits, others := 0, 0
	for _, w := range tokens(said) {
		_, unit := units[w]
		_, ten := tens[w]
		switch {
		case unit || ten || isDigits(w) || w == "double" || w == "triple" || w == "plus" || w == "hundred":
			digits++
		case !polite[w]:
			others++
		}
	}
	return digits > 0 && digits >= others
}

// completed is what callers say when the number is complete.
var completed = pat("<that>(?: \\w+){0,2} (?:it|all|whole|everything|complete|number)", "(?:done|finished|complete)")

// dictate takes the digits of a telephone number, which may come in pieces; false = there were none.
func (d *dialog) dictate(s slot, said string) bool {
	digits := digitsIn(said)
	words := " " + strings.Join(tokens(said), " ") + " "
	ends := completed.in(words)
	lead, _ := leads(said)
	switch {
	case digits == "" && !(ends && d.partial != ""):
		return false
	case d.partial != "" && (lead == no || corrects.in(words)):
		if fixed, ok := mend(d.partial, said); ok {
			d.partial, digits = "", fixed
		}
	case d.partial == "" && count(digits) > fewestDigits:
		ends = true
	}
	whole := d.partial + digits
	switch n := count(whole); {
	case n > mostDigits:
		d.partial = ""
		return false
	case n < fullNumber && !(ends && n >= fewestDigits):
		d.partial, d.pieces = whole, true
		d.say("Yes, go on.")
		return true
	}
	d.partial = ""
	d.fill(s, value{whole, spell(whole)})
	d.glean(said, &s)
	d.next("")
	return true
}

// corrects are words of a correction.
var corrects = pat("not", "sorry", "wrong", "actually", "i mean", "should be", "instead", "(?:at )?the (?:end|start|beginning)", "the (?:last|first)(?: \\w+)?")
