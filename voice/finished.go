package voice

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// surely is how likely to be finished a caller must be who is answered after the usual silence.
	surely = 0.6
	// longestPatience is how much longer somebody is waited for who cannot be finished.
	longestPatience = 2500 * time.Millisecond
	// goesOn is what a caller who pauses is given above the longest pause they made so far in the middle of a turn.
	goesOn = 250 * time.Millisecond
)

// patience is how much longer than usual a silence must last that ends a turn, when the caller is so likely to be finished.
func patience(finished float64) time.Duration {
	const never = 0.05
	part := (surely - max(finished, never)) / (surely - never)
	return max(0, time.Duration(part*float64(longestPatience)).Round(10*time.Millisecond))
}

// finished is how likely (0-1) it is that a caller who stops behind text has nothing to add. asked is what the assistant said last.
func finished(text, language, asked string) float64 {
	words := plainWords(text)
	if len(words) == 0 {
		return 1
	}
	if p, ok := dictated(words, asked); ok {
		return p
	}
	trimmed := strings.TrimSpace(text)
	switch last := words[len(words)-1]; {
	case strings.HasSuffix(trimmed, ",") || strings.HasSuffix(trimmed, "…") || strings.HasSuffix(trimmed, "-"):
		return 0.15
	case strings.HasSuffix(trimmed, "?") || strings.HasSuffix(trimmed, "!"):
		return 0.95
	case dangling[language][last]:
		return 0.05
	case language != "en":
		return surely
	}
	return finishedEnglish(words, asked)
}

// finishedEnglish looks at how a sentence begins and whether its last word needs another.
func finishedEnglish(words []string, asked string) float64 {
	text, last := strings.Join(words, " "), words[len(words)-1]
	free := slices.Contains(words[:len(words)-1], "what") || slices.Contains(words[:len(words)-1], "which")
	answers := strings.HasSuffix(strings.TrimSpace(asked), "?")
	switch {
	case closing[last] || polite[words[0]] && len(words) <= 5:
		return 0.9
	case preamble.MatchString(text):
		return 0.15
	case needsObject[last] && !free && !(len(words) <= 3 && answers):
		return 0.2
	case question.MatchString(text):
		return 0.9
	case subordinate.MatchString(text) && len(words) < 9:
		return 0.3
	case len(words) <= 3 && answers, len(words) >= 8:
		return 0.65
	case len(words) == 1:
		return surely
	}
	return 0.5
}

var (
	closing = set(`please thanks thank bye goodbye`)
	polite  = set(`yes no please thanks thank bye goodbye okay great perfect nope yep sure exactly correct`)

	needsObject = set(`want wants need needs like likes book have has had get got give gives send sends bring take takes make buy sell
		tell told say said know find found check change move cancel order do does did can could would will should must some any
		another other every not so also just we he she they calling looking asking saying called named going trying wondering`)

	preamble = regexp.MustCompile(`(^|\b)(i have (a|another|one more|two) (question|problem|request)s?|(there is|there's) (another|one more|one|something)( thing| else)?|` +
		`let me (think|see|check|look)|give me (a|one) (second|moment|minute)|(one|just a) (second|moment)|hold on|hang on|wait|you know|i mean|` +
		`(the )?thing is|i think|i guess so|the (first|second|last|other) (one|thing|time))$`)

	// A question's verb stands before its subject.
	question = regexp.MustCompile(`^(and |so |well |but )?(what|where|who|why|how|which|when (do|does|did|is|are|can|will|would|should|were|was|have))\b|` +
		`\b(do|does|did|can|could|would|will|should|may|is|are|was|were|have|has) (i|you|he|she|it|we|they|there|your|the|my|that|this)\b.* \w+ `)

	subordinate = regexp.MustCompile(`^(well |so |and |um |uh )*(when|if|because|since|after|before|while|as soon as|the last time|last time|once) `)

	expects = regexp.MustCompile(`\b(number|code|digits|phone|pin|postcode|zip|spell|e-?mail|address|date of birth)\b`)
	howMany = regexp.MustCompile(`\b(\w+)[ -]digits?\b`)
)

// dictated looks at numbers, letters and addresses that are given piece by piece, which the last question may have asked for.
func dictated(words []string, asked string) (finished float64, ok bool) {
	asked = strings.ToLower(asked)
	last, tail, digits := words[len(words)-1], 0, 0
	for i := len(words) - 1; i >= 0 && (digitsIn(words[i]) > 0 || letter(words[i])); i-- {
		tail++
		digits += digitsIn(words[i])
	}
	if n := countAsked(asked); n > 0 && digits > 0 {
		if digits >= n {
			return 0.95, true
		}
		return 0.1, true
	}
	dotted, at := slices.Contains(words, "dot"), slices.Contains(words, "at")
	switch {
	case last == "dot" || last == "underscore" || last == "plus" || dotted && (last == "at" || !at):
		return 0.1, true
	case dotted:
		return 0.9, slices.Index(words, "dot") > slices.Index(words, "at") || last == "com" || last == "org" || last == "net"
	case digits >= 10 || digits > 0 && slices.ContainsFunc(words, func(w string) bool { return months[w] }) && digits >= 4:
		return 0.9, true
	case months[last] || ordinal.MatchString(last) && len(words) <= 3:
		return 0.3, true
	case digits == tail && tail == 1 || digits == 2 && tail == 1: // one number: a time, an amount, the first of many
		if expects.MatchString(asked) || slices.Contains(words, "number") || slices.Contains(words, "code") {
			return 0.3, true
		}
		if len(words) > 1 && words[len(words)-2] == "is" {
			return 0.4, true
		}
		return surely, true
	case tail >= 2 || tail == 1 && len(words) > 1:
		return 0.1, true
	}
	if expects.MatchString(asked) && len(words) <= 4 && !polite[words[0]] && strings.Contains(" "+strings.Join(words, " "), " is") {
		return 0.2, true
	}
	return 0, false
}

// countAsked is how many digits a question asks for, 0 when it does not say.
func countAsked(asked string) int {
	m := howMany.FindStringSubmatch(asked)
	if m == nil {
		return 0
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n < 40 {
		return n
	}
	return slices.Index(strings.Fields("zero one two three four five six seven eight nine ten eleven twelve"), m[1])
}

var (
	digitWord = set(`zero oh one two three four five six seven eight nine double triple
		null eins zwei drei vier fünf sechs sieben acht neun
		zéro deux trois quatre cinq six sept huit neuf
		cero uno dos tres cuatro cinco seis siete ocho nueve`)
	pairWord = set(`ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
		twenty thirty forty fifty sixty seventy eighty ninety hundred`)
	months  = set(`january february march april may june july august september october november december`)
	ordinal = regexp.MustCompile(`^(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth)$`)
)

// digitsIn is the number of digits that a word stands for.
func digitsIn(w string) int {
	switch {
	case isDigits(w):
		return len(w)
	case digitWord[w]:
		return 1
	case pairWord[w]:
		return 2
	}
	return 0
}
