package responder

import (
	"regexp"
	"slices"
	"strings"

	"parley/english"
)

// fact is something that may answer a question.
type fact struct {
	text  string   // what is said
	stems []string // of all that it is about: the question of an FAQ and its answer, a sentence, its condition
	asked []string // of the question of an FAQ alone
	kinds []answerKind
	rank  int      // of the passage it stands in
	words []string // of the question of an FAQ, as they stand
}

// answerKind is what kind of thing a question wants, or a sentence tells: its place in the two lists below.
type answerKind int

// Questions are about a price, a time, a place, a length of time or a number, by their own words; sentences by what stands in them.
var (
	wantsKind = []pattern{
		pat("how much", "(?:cost|costs|price|prices|fee|charge|charges|expensive|cheap|pay|rate|rates|set me back|spend|afford)"),
		pat("when", "what time", "(?:how late|until when|till when|how early|opening hours|open|closed?|hours)", "what days?", "which days?", "(?:on|this|next) (?:mon|tues|wednes|thurs|fri|satur|sun)days?",
			"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", "can (?:i|we) come"),
		pat("where", "wheres", "what address", "(?:your|the) (?:address|location|directions)", "how do (?:i|we) (?:get|find)(?: \\w+){0,2}", "find (?:you|it)"),
		pat("how (?:long|fast|quick|quickly|soon)"),
		pat("how (?:many|big|large|small|old)", "(?:too|old|young) enough", "number of"),
	}
	tellsKind = []*regexp.Regexp{
		regexp.MustCompile(`(?i)[€$£]|\b(euros?|dollars?|pounds?|cents?|free|price|costs?|fee|charge)\b`),
		regexp.MustCompile(`(?i)\b(\d{1,2}(:\d\d)?( ?[ap]\.?m\b| ?o'?clock)|\d\d?:\d\d|(mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|daily|every day|noon|midnight|morning|` +
			`evening|afternoon|around the clock|24 hours|opens?|closed?|(from|until|between|at) \d{1,2}\b|six|nine)\b`),
		regexp.MustCompile(`\b([A-Z]\w+ (Street|Road|Lane|Avenue|Square|Place|Way|Pier)|(Street|Road|Pier) \d+|(behind|next to|opposite|near|in front of|on the \w+ floor|at the|in the|is in|are in) )`),
		regexp.MustCompile(`(?i)\b(\d+|an?|half an?|two|three|four|five|six|seven|eight|ten|twelve|fifteen|twenty|thirty|forty|sixty|several|working) ` +
			`(minutes?|hours?|days?|weeks?|months?|years?)\b`),
		regexp.MustCompile(`(?i)\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred)\b`),
	}
)

func kindsWanted(said string) (out []answerKind) {
	words := " " + strings.Join(english.Tokens(said), " ") + " "
	for k, p := range wantsKind {
		if p.in(words) {
			out = append(out, answerKind(k))
		}
	}
	return out
}

func kindsTold(text string) (out []answerKind) {
	for k, re := range tellsKind {
		if re.MatchString(text) {
			out = append(out, answerKind(k))
		}
	}
	return out
}

func newFact(text, about string, rank int) fact {
	return fact{text: text, stems: english.Content(about + " " + text), kinds: kindsTold(text), rank: rank}
}

// topics are words that say what kind of answer is wanted, light ones what is done with anything; neither is the subject.
var (
	topics       = wordSet("cost price fee charg rate pay expensiv cheap spend open clos hour time address locat find back euro dollar pound long late set when where plac")
	light        = wordSet("tak take com come bring mak make put look find giv keep start go work way mean offer possibl allow problem able abl ready")
	prepositions = wordSet("in at with on during inside from")
)

// wanted is a word of a question and how much it counts.
type wanted struct {
	stem   string
	weight float64
}

// mostWords is how many words of a message are looked at: a question is not longer.
const mostWords = 40

// weigh says how much each word of a message counts: rare ones among the facts more, those that no fact has, light ones and
// those that only tell where or with what less. subject is the weight of those that some fact has.
func weigh(said string, facts []fact, kinds []answerKind) (words []wanted, total, subject float64) {
	aside := false
	said, group := ageGroup(said)
	for _, tok := range append(english.Tokens(said), group...) {
		if prepositions[tok] {
			aside = true
		}
		stems := english.Content(tok)
		if len(words) == mostWords {
			break
		}
		if len(stems) == 0 || slices.ContainsFunc(words, func(w wanted) bool { return w.stem == stems[0] }) {
			continue
		}
		w, n := wanted{stems[0], 0}, 0.0
		for _, f := range facts {
			n += boolFloat(english.Match(w.stem, f.stems) > 0)
		}
		switch {
		case topics[w.stem] && len(kinds) > 0:
			w.weight = 0.15
		case n == 0 && light[w.stem]:
			w.weight = 0.15
		case n == 0:
			w.weight = 0.45
		case light[w.stem]:
			w.weight = 0.35
		default:
			w.weight = 1 / (1 + 0.15*(n-1))
		}
		if aside {
			w.weight *= 0.7
		}
		if n > 0 && !topics[w.stem] {
			subject += w.weight
		}
		words, total = append(words, w), total+w.weight
	}
	return words, total, subject
}

var aged = regexp.MustCompile(`(?i)\b(?:(?:he|she|they|who|it|daughter|son|child|brother|sister|kid|boy|girl)(?:'s| is|'re| are|s)?(?: only| just| already| almost| nearly)?|turns|turned|aged) (\w+)\b|\b(\w+)[ -]years?[ -]old\b`)

// ageGroup puts a word for people of an age in the place of it: "she's only four", "my eight year old".
func ageGroup(said string) (rest string, group []string) {
	at := aged.FindStringSubmatchIndex(said)
	if at == nil {
		return said, nil
	}
	m := aged.FindStringSubmatch(said)
	n, ok := parseNumber(m[1] + m[2])
	switch {
	case !ok || n > 110:
		return said, nil
	case n < 18:
		group = []string{"child"}
	default:
		group = []string{"adult"}
	}
	return said[:at[0]] + said[at[1]:], group
}

// nearestFact is the fact that a message asks for, if one is near enough. A fact is as near as the share of the message's words it
// holds; it gains by being of the kind that is wanted. What was spoken of before counts a little, so that "and how much is it?"
// stays with its subject.
func nearestFact(said string, facts []fact, before []string) (fact, bool) {
	var kinds []answerKind
	question := asks(said)
	if question {
		kinds = kindsWanted(said)
	}
	words, total, subject := weigh(said, facts, kinds)
	best, score := fact{}, 0.0
	for _, f := range facts {
		s := 0.0
		for _, w := range words {
			s += w.weight * max(english.Match(w.stem, f.stems), 1.05*english.Match(w.stem, f.asked))
		}
		if total > 0 {
			s /= total
		}
		kind := kindScore(kinds, f.kinds)
		if s == 0 && subject > 0 {
			kind /= 2
		}
		s += kind + 0.15*english.Coverage(f.asked, stemsOf(words)) - 0.02*float64(f.rank)
		if len(kinds) > 0 && subject < 1 {
			s += 0.2 * english.Coverage(before, f.stems)
		}
		if s > score {
			best, score = f, s
		}
	}
	if question {
		return best, score >= near
	}
	return best, score >= nearStatement
}

func stemsOf(words []wanted) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.stem
	}
	return out
}

// From which score on a fact answers: half of what is asked for, or the right kind of thing and some of it. What is no question
// has to come nearer.
const (
	near          = 0.36
	nearStatement = 0.5
)

func kindScore(wanted, told []answerKind) float64 {
	if len(wanted) == 0 {
		return 0
	}
	met := 0
	for _, k := range wanted {
		if slices.Contains(told, k) {
			met++
		}
	}
	return 0.4*float64(met)/float64(len(wanted)) - 0.15*boolFloat(met == 0)
}
