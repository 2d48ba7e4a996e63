package responder

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"parley/english"
)

// kind is the grammar of a slot.
type kind int

const (
	text kind = iota
	number
	date
	clock
	phone
	email
	yesno
	name
	choice
)

// value is what a grammar understood: plain for functions and records, spoken for reading back.
type value struct {
	plain  any // string, float64 or bool
	spoken string
}

// kindOf guesses the grammar from what the thing is called and how it is described. jsonType may be empty.
func kindOf(label, description, jsonType string) kind {
	low := " " + strings.Join(english.Tokens(label+" . "+description), " ") + " "
	has := func(list ...string) bool {
		for _, w := range list {
			if strings.Contains(low, " "+w+" ") {
				return true
			}
		}
		return false
	}
	switch {
	case jsonType == "boolean":
		return yesno
	case has("email", "e mail", "mail"):
		return email
	case jsonType != "number" && jsonType != "integer" && (isPersonsNumber(label) || isPersonsNumber(description)):
		return phone
	case has("phone", "telephone", "mobile", "phone number", "callback number"):
		return phone
	case jsonType == "number" || jsonType == "integer":
		return number
	case has("date", "day", "birthday", "which day", "what day"):
		return date
	case has("time", "what time", "hour"):
		return clock
	case jsonType != "string" && has("how many", "how much", "how old", "number of", "amount", "quantity", "count", "guests", "party size", "age"):
		return number
	case isPersonName(label) || isPersonName(description) || has("your name", "full name", "first name", "last name", "name of the customer", "name of the caller",
		"customers name", "callers name"):
		return name
	case has("yes or no"):
		return yesno
	}
	return text
}

// isPersonsNumber tells "number of the caller" from "number of guests" and "order number".
func isPersonsNumber(label string) bool {
	toks := english.Tokens(label)
	return slices.Contains(toks, "number") && !slices.ContainsFunc(toks, func(w string) bool {
		return w != "number" && w != "callback" && w != "contact" && w != "call" && w != "back" && w != "reach" && (!personWords[w] || w == "booking" || w == "customer" && toks[len(toks)-1] == "number")
	})
}

// isPersonName tells "customer name" from "company name".
func isPersonName(label string) bool {
	found := false
	for _, w := range english.Tokens(label) {
		if w == "name" {
			found = true
		} else if things[w] {
			return false
		}
	}
	return found
}

// things have names that no person has.
var things = wordSet("company business firm product street city town country file project item brand shop store restaurant hotel school event place " +
	"medicine street road book film song game website domain file folder model team department number")

var personWords = wordSet("full first last your customer caller contact user guest booking family lead patient person child pupil student client of the")

// parse reads said by the grammar k; bare says that it answers a question for just this, so a lone word will do.
func parse(k kind, said string, options []string, now time.Time, bare bool) (value, bool) {
	switch k {
	case number:
		if n, ok := parseNumber(said); ok {
			return value{n, strconv.FormatFloat(n, 'f', -1, 64)}, true
		}
	case date:
		if d, ok := parseDate(said, now); ok {
			return value{d.Format("2006-01-02"), d.Format("Monday, January 2")}, true
		}
	case clock:
		if h, m, ok := parseTime(said, bare); ok {
			return value{fmt.Sprintf("%02d:%02d", h, m), spokenTime(h, m)}, true
		}
	case phone:
		if p, ok := parsePhone(said); ok {
			return value{p, spell(p)}, true
		}
	case email:
		if m, ok := parseEmail(said); ok {
			return value{m, m}, true
		}
	case yesno:
		switch polarity(said) {
		case yes:
			return value{true, "yes"}, true
		case no:
			return value{false, "no"}, true
		}
	case name:
		if n, ok := parseName(said, bare); ok {
			return value{n, n}, true
		}
	case choice:
		return parseChoice(said, options)
	case text:
		if t := strings.TrimRight(strings.TrimSpace(said), ".!"); bare && t != "" {
			return value{t, t}, true
		}
	}
	return value{}, false
}

var units = map[string]float64{
	"zero": 0, "oh": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}

var tens = map[string]float64{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

var decimals = regexp.MustCompile(`-?\d+(?:[.,]\d{3})*(?:\.\d+)?`)

// parseNumber reads the first number, in digits or in words: "12", "2.5", "a hundred and twenty", "two point five".
func parseNumber(said string) (float64, bool) {
	if m := decimals.FindString(said); m != "" {
		if strings.Count(m, ",") > 0 {
			m = strings.ReplaceAll(m, ",", "")
		}
		n, err := strconv.ParseFloat(m, 64)
		return n, err == nil
	}
	total, part, seen, fraction := 0.0, 0.0, false, 0.0
	for _, w := range english.Tokens(said) {
		u, isUnit := units[w]
		t, isTen := tens[w]
		switch {
		case w == "oh" && !seen:
		case isUnit && fraction > 0:
			part, fraction = part+u*fraction, fraction/10
		case isUnit:
			part, seen = part+u, true
		case isTen:
			part, seen = part+t, true
		case w == "hundred":
			part, seen = max(part, 1)*100, true
		case w == "thousand":
			total, part, seen = total+max(part, 1)*1000, 0, true
		case w == "point" && seen:
			fraction = 0.1
		case w == "couple" && !seen:
			part, seen = 2, true
		case w == "dozen":
			part, seen = max(part, 1)*12, true
		case w == "half" && seen:
			part += 0.5
		case w == "and" || w == "a" || w == "an":
		default:
			if seen {
				return total + part, true
			}
		}
	}
	return total + part, seen
}

var (
	isoDate  = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`)
	dayMonth = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (january|february|march|april|may|june|july|august|september|october|november|december)\b(?:,? (\d{4}))?`)
	monthDay = regexp.MustCompile(`\b(january|february|march|april|may|june|july|august|september|october|november|december) (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`)
	ordinals = map[string]string{
		"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8", "ninth": "9",
		"tenth":    "10",
		"eleventh": "11", "twelfth": "12", "thirteenth": "13", "fourteenth": "14", "fifteenth": "15", "sixteenth": "16", "seventeenth": "17",
		"eighteenth": "18", "nineteenth": "19", "twentieth": "20", "thirtieth": "30",
	}
)

var (
	regexpPM = regexp.MustCompile(`\d ?p\.?m\b|\bp\.?m\b`)
	regexpAM = regexp.MustCompile(`\d ?a\.?m\b|\ba\.m\b`)
	pastTo   = regexp.MustCompile(`\b(half|quarter|\d{1,2})(?: minutes)? (past|to) (\d{1,2})\b`)
	spaced   = regexp.MustCompile(`\b(\d{1,2}) (\d{2})\b`)
)

var address = regexp.MustCompile(`[a-z0-9._%+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+`)

// parseEmail reads an address, written or spoken ("mia dot lee at example dot com").
func parseEmail(said string) (string, bool) {
	low := " " + strings.ToLower(strings.TrimRight(strings.TrimSpace(said), ".!?")) + " "
	if m := address.FindString(low); m != "" {
		return strings.TrimRight(m, "."), true
	}
	low = strings.NewReplacer(" at ", "@", " dot ", ".", " underscore ", "_", " dash ", "-", " hyphen ", "-", " minus ", "-").Replace(low)
	at := strings.LastIndexByte(low, '@')
	if at < 0 {
		return "", false
	}
	local := strings.Fields(low[:at])
	if len(local) == 0 {
		return "", false
	}
	keep := local[len(local)-1]
	for i := len(local) - 2; i >= 0 && len(local[i]) == 1; i-- { // spelled letters
		keep = local[i] + keep
	}
	m := address.FindString(keep + "@" + strings.ReplaceAll(strings.TrimSpace(low[at+1:]), " ", ""))
	return m, m != ""
}

// A name follows words that introduce one. After the weak ones, which introduce much else, it takes two words or a capital.
var (
	introduced = regexp.MustCompile(`(?i)\b(?:name is|name's|names|call me|speaking with|you can call me)\s+((?:[\p{L}'’-]+\s?){1,3})`)
	perhaps    = regexp.MustCompile(`(?i)\b(?:this is|here is|i am|i'm|im)\s+((?:[\p{L}'’-]+\s?){1,3})`)
	leadIn     = regexp.MustCompile(`(?i)^(?:(?:oh|uh|um|well|yes|yeah|sure|okay|ok|so|hi|hello|under|for|and)[,:]?\s+)*(?:(?:it's|its|it is|that's|thats|that is|that would be|that'll be|` +
		`it would be|i'm|im|i am|this is|make it|put it|my last name is|his name is|her name is|please|under|for)\s+)*`)
)

var notNames = wordSet(`speaking looking calling interested fine good great sorry here not just going happy trying sure ready okay ok done a an the in on at
	for about from very so too also still only and but with to yes no afraid having got new sick ill late back double triple`)

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// parseName reads "my name is Mia Lee", or a bare answer of one to three words.
func parseName(said string, bare bool) (string, bool) {
	said = strings.TrimRight(strings.TrimSpace(said), ".!?")
	if m := introduced.FindStringSubmatch(said); m != nil {
		if n := titled(strings.Fields(m[1])); n != "" {
			return n, true
		}
	}
	if m := perhaps.FindStringSubmatch(said); m != nil {
		n := titled(strings.Fields(m[1]))
		if n != "" && (bare || strings.Contains(n, " ") || strings.Contains(m[1], n)) {
			return n, true
		}
	}
	if !bare || intentOf(said) != none {
		return "", false
	}
	f := strings.Fields(leadIn.ReplaceAllString(said, ""))
	n := titled(f)
	return n, n != "" && (len(f) <= 3 || len(strings.Fields(n)) == 2)
}

// titled is the run of words that can be a name, each with a capital; common words are none.
func titled(f []string) string {
	var out []string
	for _, w := range f {
		w = strings.Trim(w, ",.;:!?")
		low := strings.ToLower(w)
		_, unit := units[low]
		_, ten := tens[low]
		if w == "" || notNames[low] || unit || ten || english.Stop(low) || questionWords[low] || strings.ContainsAny(w, "0123456789") {
			break
		}
		r := []rune(w)
		out = append(out, string(unicode.ToUpper(r[0]))+string(r[1:]))
	}
	return strings.Join(out, " ")
}

func parseChoice(said string, options []string) (value, bool) {
	have := english.Tokens(said)
	best, score := "", 0.0
	for _, o := range options {
		want := english.Tokens(o)
		if s := english.Coverage(want, have); s > score {
			best, score = o, s
		}
	}
	return value{best, best}, score >= 0.5
}

func hasWord(low, w string) bool {
	for _, x := range english.Tokens(low) {
		if x == w {
			return true
		}
	}
	return false
}
