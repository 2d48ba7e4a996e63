package responder

import (
	"regexp"
	"slices"
	"strings"

	"parley/english"
)

// errand is what the prose of a prompt wants to be asked, always or on a condition: "When somebody wants to leave a message, take
// their name and phone number."
type errand struct {
	when  string // the condition in the prompt's words; empty = always
	slots []slot
}

var (
	identityHead = regexp.MustCompile(`^You are ((?:an?|the|our|[A-Z])\b.*?)\.?$`)
	dutyHead     = regexp.MustCompile(`^(?:You (?:answer|work|chat|take|make|book|call|remind|help|sell|rent|handle|talk|speak|schedule|support)\b.*?) (?:of|for|at) ([A-Z].*?)(?:\.| (?:that|about|to|who|and)\b.*)?$`)
	conditional  = regexp.MustCompile(`(?i)^(if|when|whenever|in case of|in case|in an?|for|should)\s+(.+?)[,:]?\s+((?:please )?(?:tell|inform|say|ask|take|write down|note|collect|get|put|transfer|connect|offer|give)\b.*)$`)
	trailing     = regexp.MustCompile(`(?i)^((?:ask|take|write down|note|collect|get)\b.*?),?\s+(?:if|when|whenever)\s+(.+)$`)
	tellThat     = regexp.MustCompile(`(?i)^(?:please )?(?:tell|inform|say)(?: to)?(?: (?:the caller|callers|the customer|customers|the person|people|them|him or her))?,? (that|to|:)?\s*(.+)$`)
	askFor       = regexp.MustCompile(`(?i)\b(?:ask|take|write down|take down|note down|note|collect|get|record|need)\b(?: (?:the caller|callers|the customer|customers|the patient|people|them|him or her|somebody|guests))?` +
		`(?: for| down| about)? ((?:the|their|his|her|a|an|name|phone|full|your|how|what|which|when|where|who|why|whether|if|e-?mail|telephone|number|caller'?s|customer'?s)\b.*)$`)
	directive = regexp.MustCompile(`(?i)^(?:please )?(?:be|answer|ask|take|offer|tell|say|put|never|always|do not|don't|keep|use|write|note|speak|greet|transfer|confirm|collect|end|make|help|respond|stay|` +
		`avoid|give|only|you|your|connect|repeat|introduce|thank|try|talk|reply|mention|remember|act|follow|pretend|call|reach|find out|book|remind|invite|convince|negotiate|explain|welcome|qualify|schedule|request|order|cancel|handle|listen|check|apologi[sz]e|let)\b`)
	perCaller  = regexp.MustCompile(`(?i)\b(?:callers?|customers?|patients?|guests?) (?:who|that|asks?|wants?)\b`)
	itemEnd    = regexp.MustCompile(`(?i)\s*(?:,\s*(?:and\s+)?|\s+and\s+|;\s*)`)
	owner      = regexp.MustCompile(`(?i)^(?:the |their |his |her |a |an |your |our )?(?:(?:caller|customer|patient|guest|client|person|user)'?s? )?`)
	clauseWord = regexp.MustCompile(`(?i)\b(?:calls|is|are|will|can|say|that|then|tell|offer|you|we|they|them|put|be|do)\b`)
)

// readProse sorts the sentences of a prompt that stand in no section: who the assistant is, what it should ask, what it should
// say on a condition, and, of what is left, the facts it may quote.
func (p *plan) readProse(text string) {
	for _, s := range sentencesOf(text) {
		s = strings.TrimSpace(bullet.ReplaceAllString(s, ""))
		if m := identityHead.FindStringSubmatch(s); m != nil {
			p.identity = "I am " + firstPerson(m[1]) + "."
			continue
		}
		if m := dutyHead.FindStringSubmatch(s); m != nil && p.identity == "" {
			p.identity = "I am the automated assistant of " + m[1] + "."
		}
		p.readInstruction(s)
	}
}

func (p *plan) readInstruction(s string) {
	when, what := "", strings.TrimRight(s, ".")
	if m := conditional.FindStringSubmatch(what); m != nil {
		when, what = m[2], m[3]
	} else if m := trailing.FindStringSubmatch(what); m != nil {
		what, when = m[1], m[2]
	}
	if m := tellThat.FindStringSubmatch(what); m != nil && when != "" && !strings.Contains(strings.ToLower(m[2]), "you ") {
		said := sentence(upperFirst(secondPerson(m[2])))
		if m[1] == "to" {
			said = "Please " + lowerFirst(said)
		}
		p.facts = append(p.facts, newFact(said, when, 0))
		return
	}
	if m := askFor.FindStringSubmatch(what); m != nil && (when != "" || directive.MatchString(what)) {
		if slots := p.slotsOf(m[1]); len(slots) > 0 {
			p.addErrand(when, slots)
			return
		}
	}
	if when == "" && !directive.MatchString(what) && !perCaller.MatchString(what) && len(english.Content(what)) > 1 {
		p.facts = append(p.facts, newFact(sentence(s), "", 0))
	}
}

// addErrand takes "if they cannot come, ask which day" as a question that follows a no.
func (p *plan) addErrand(when string, slots []slot) {
	last, onNo := len(p.errands)-1, refusal.in(" "+strings.Join(tokens(when), " ")+" ")
	if last >= 0 && (onNo || follows.MatchString(when)) {
		before := p.errands[last].slots
		if asked := before[len(before)-1]; asked.kind == yesno {
			for i := range slots {
				slots[i].after, slots[i].onNo = asked.name, onNo
			}
			p.errands[last].slots = append(before, slots...)
			return
		}
	}
	p.errands = append(p.errands, errand{when, slots})
}

var follows = regexp.MustCompile(`(?i)^(?:so|yes|they (?:are|do|can|will|want|would|have|agree))\b`)

// slotsOf reads "the name, the moving date and the number of rooms", "whether they are coming" or "which day suits them".
func (p *plan) slotsOf(list string) (out []slot) {
	if rest, ok := cutPrefixFold(list, "whether "); ok {
		return []slot{whetherSlot(rest)}
	}
	if rest, ok := cutPrefixFold(list, "if "); ok {
		return []slot{whetherSlot(rest)}
	}
	if first := strings.ToLower(strings.Fields(list)[0]); slices.Contains([]string{"how", "what", "which", "when", "where", "who", "why"}, first) {
		q := upperFirst(bareYou.ReplaceAllString(secondPerson(list), "$1 do you $2")) + "?"
		return []slot{{name: slug(list), label: strings.Join(english.Content(list), " "), question: q, kind: kindOf("", list, ""), required: true}}
	}
	for _, item := range itemEnd.Split(strings.ReplaceAll(list, " with ", ", "), -1) {
		label := strings.TrimSpace(owner.ReplaceAllString(strings.TrimSpace(item), ""))
		if label == "" || len(strings.Fields(label)) > 5 || clauseWord.MatchString(label) {
			continue
		}
		if strings.Contains(label, "message") {
			out = append(out, messageSlot)
			continue
		}
		out = append(out, makeSlot(label, "", ""))
	}
	return out
}

// bareYou is where a question lacks its do: "how much you want".
var bareYou = regexp.MustCompile(`(?i)^((?:how \w+|what|which \w+|when|where|why|who)) you (want|need|like|leave|prefer|have|live|work|think|wish|expect|plan|use|pay|give)\b`)

// whetherSlot turns "they are coming" into "Are you coming?".
func whetherSlot(clause string) slot {
	q := strings.TrimSpace(secondPerson(clause))
	f := strings.Fields(q)
	for i, w := range f {
		if i > 0 && i < 4 && aux[strings.ToLower(w)] {
			q = upperFirst(w) + " " + strings.Join(append(slices.Clone(f[:i]), f[i+1:]...), " ")
			break
		}
		if i == 3 || i == len(f)-1 {
			q = "Do " + q
		}
	}
	return slot{name: slug(clause), label: strings.Join(english.Content(clause), " "), question: strings.TrimRight(q, ".") + "?",
		kind: yesno, required: true}
}

var aux = wordSet("are is will would can could have has do does should may")
