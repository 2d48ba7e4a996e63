package responder

import (
	"regexp"
	"slices"
	"strings"

	"parley/english"
)

// intent is what an utterance does with the conversation itself.
type intent int

const (
	none intent = iota
	yes
	no
	repeat
	slower
	person
	goodbye
	settled // that is all; between two questions it means yes
	silence
	voicemail
	hello
	thanks
	wait
	message
	callback
	mistaken
	nevermind
	identity
	wellbeing
	hearing
)

// pattern is a regular expression over the words of an utterance, in lower case, without apostrophes and marks, a blank
// at both ends. In it <x> stands for a class of words.
type pattern struct{ re *regexp.Regexp }

var classes = strings.NewReplacer(
	"<someone>", "(?:someone|somebody|anyone|anybody|person|people|human|human being|agent|representative|operator|manager|supervisor|boss|owner|"+
		"colleague|advis[eo]r|expert|specialist|technician|team|staff|employee|receptionist|secretary)",
	"<want>", "(?:want|wanted|like|love|need|prefer|wish|rather)",
	"<speak>", "(?:speak|talk|discuss|chat|have a word|a word)",
	"<me>", "(?:me|us)",
	"<link>", "(?:connect|transfer|put|pass|hand|forward|get)",
	"<that>", "(?:thats|that is|that was|that will be|thatll be|thatd be|this is|it is|its|that)",
	"<ring>", "(?:call|ring|phone|telephone|ring up|contact|email|mail|text)",
)

func pat(list ...string) pattern {
	return pattern{regexp.MustCompile(classes.Replace(" (?:" + strings.Join(list, "|") + ") "))}
}

func (p pattern) in(words string) bool { return p.re.MatchString(words) }

// The machine speaks of its owner as away, and asks for a message after a signal.
var machine = []pattern{
	pat("(?:leave|record) (?:me |us |him |her )?(?:your|a|any)(?: \\w+){0,4} (?:after|at|when)(?: \\w+){0,3} (?:tone|beep|signal)", "after the (?:tone|beep|signal)"),
	pat("youve reached", "you have reached", "(?:reached|this is) the (?:voice ?mail|mailbox|answering (?:machine|service))",
		"answering (?:machine|service)", "voicemail of", "mailbox of"),
	pat("(?:not|un) ?available", "cant come to the phone", "cannot come to the phone", "cant take your call", "cannot take your call",
		"unable to (?:come|take|answer)\\b.*", "please leave", "record your message"),
}

// ending says that there is nothing more.
var ending = pat("(?:no )?<that>(?: was| is)?(?: really)? (?:all|it|everything|me done|me sorted)", "(?:all|everything) (?:i|we) (?:wanted|needed|need|want)(?: \\w+){0,3}", "nothing else", "nothing more", "(?:im|i am|were|we are) (?:done|all set|sorted)",
	"that answers(?: \\w+){1,3}")

// rules are tried in this order; the first that matches is what was meant.
var rules = []struct {
	intent intent
	in     pattern
}{
	{mistaken, pat("wrong (?:number|place|company|extension)", "misdialed", "misdialled")},
	{message, pat("(?:leave|take|give|send|pass on|pass|note|record)(?: \\w+){0,3} (?:message|note)", "message for", "could you (?:tell|let) (?:him|her|them)(?: know)?",
		"pass (?:it|this|that|something) on")},
	{callback, pat("<ring> (?:me|us) (?:back|later|tomorrow)", "(?:give|gives) (?:me|us) a (?:ring|call|buzz|shout)", "<someone>(?: \\w+){0,2} (?:<ring>|reach|get back to)(?: to)? (?:me|us)",
		"(?:be|get|want|wants|need) (?:called|rung|phoned|a call|a callback|a call back)(?: back)?", "call ?back", "get back to (?:me|us)", "<ring> (?:me|us) please")},
	{identity, pat("who (?:am i|are you|is this|is it|do i)", "whos (?:this|there|that|speaking)", "what (?:is|are) (?:you|your name)", "whats your name",
		"are you (?:an? |really an? )?(?:\\w+ )?(?:person|human|human being|robot|bot|machine|computer|ai|assistant|real)", "(?:talking|speaking) (?:to|with) an? (?:\\w+ )?(?:person|human|robot|bot|machine|computer|ai)")},
	{person, pat("<speak>(?: \\w+){0,3} (?:to|with)(?: \\w+){0,4} <someone>", "<speak>(?: \\w+){0,2} with(?: \\w+){0,4} <someone>", "(?:someone|somebody|<someone>)(?: \\w+){0,3} (?:i|we) (?:can|could|may|might)(?: \\w+){0,3} <speak>",
		"<link> <me> (?:to|with|through|over|on)", "put(?: \\w+){1,4} through", "put(?: \\w+){0,3} <someone>(?: \\w+){0,5} on", "(?:give|get|pass|find) <me>(?: \\w+){0,3} <someone>",
		"(?:real|actual|live|human) (?:person|human|agent|human being|being)", "(?:speak|talk) (?:to|with) (?:mr|mrs|ms|miss|doctor|dr|the|your|my|a|an|one of) \\w+", "(?:speak|talk) (?:to|with) (?:him|her|them)",
		"<someone>(?: \\w+){0,3} to <speak> (?:to|with)", "<want>(?: \\w+){0,2} an? <someone>")},
	{repeat, pat("(?:repeat|say) (?:that|it|this|again)(?: \\w+){0,2}", "say(?: \\w+){0,2} (?:once more|again)", "could you repeat", "can you repeat", "please repeat", "(?:didnt|did not|couldnt|could not|dont|do not) (?:\\w+ )?(?:hear|catch|understand)(?: \\w+)?",
		"what did you say", "what was that", "come again", "once more", "one more time")},
	{slower, pat("(?:speak|talk|go|be|bit|little|more)(?: \\w+){0,2} (?:slower|slowly)", "slow down", "too fast", "slower")},
	{wellbeing, pat("how are you(?: doing| today)*", "hows it going", "how do you do")},
	{hearing, pat("(?:can|could|do) you hear <me>", "are you (?:still )?there", "(?:anybody|anyone|somebody) there")},
	{goodbye, pat("bye", "goodbye", "good bye", "bye bye", "see you(?: \\w+)?", "talk to you (?:later|soon)", "have an? (?:\\w+ ){0,2}(?:day|evening|night|weekend|one|time|afternoon|week)", "hang up", "end the call",
		"(?:have|got) to go(?: now)?", "good night", "take care")},
	{nevermind, pat("never ?mind", "forget (?:it|about it|that)", "doesnt matter")},
	{settled, ending},
	{wait, pat("(?:hang|hold) on", "(?:one|a|just a|half a) (?:second|sec|moment|minute|mo)", "wait(?: \\w+){0,2}", "let me (?:see|look|check|think|find|get)(?: \\w+){0,3}", "bear with me")},
}

// whole are utterances that mean something only when nothing else is said, give or take polite words.
var whole = []struct {
	intent intent
	in     pattern
}{
	{person, pat("<someone>", "an? <someone>")},
	{repeat, pat("repeat", "again", "what", "pardon(?: me)?", "sorry", "excuse me", "huh", "i beg your pardon")},
	{slower, pat("slowly")},
	{thanks, pat("(?:(?:many|great|perfect|ok|okay|wonderful|lovely|super|brilliant|cheers|cool) )*(?:thanks|thank you|cheers|ta)(?: (?:very|so) much| a lot| a million| for (?:your|the) \\w+| again)?(?: for \\w+ \\w+)?",
		"youre welcome", "you too", "same to you")},
	{hello, pat("(?:hello|hi|hey|yo|good (?:morning|afternoon|evening|day)|there)(?: (?:hello|hi|there|again))*")},
}

var polite = wordSet("please um uh er ah eh well so and then just oh actually hm sir madam now ok okay right alright but sorry")

// intentOf finds the control intent of an utterance; none when it is about something.
func intentOf(said string) intent {
	toks := english.Tokens(said)
	if len(toks) == 0 {
		return silence
	}
	all := " " + strings.Join(toks, " ") + " "
	if machineSpeaks(all) {
		return voicemail
	}
	if p := brief(toks); p != none && len(toks) <= 3 && !ending.in(all) {
		return p
	}
	trimmed := " " + strings.Join(withoutPolite(toks), " ") + " "
	for _, r := range whole {
		if m := r.in.re.FindString(trimmed); m == trimmed && m != "  " || r.in.re.FindString(all) == all {
			return r.intent
		}
	}
	for _, r := range rules {
		if !r.in.in(all) || r.intent == wait && len(toks)-len(strings.Fields(r.in.re.FindString(all))) > 3 {
			continue
		}
		if (r.intent == goodbye || r.intent == settled) && strings.Contains(said, "?") {
			continue
		}
		return r.intent
	}
	return brief(toks)
}

// brief is the yes or no of an utterance of a few words that begins with one or holds nothing else.
func brief(toks []string) intent {
	if len(toks) > 5 {
		return none
	}
	for _, w := range toks {
		switch {
		case leadYes[w]:
			return yes
		case leadNo[w]:
			return no
		}
		if !polite[w] {
			break
		}
	}
	all := " " + strings.Join(toks, " ") + " "
	switch {
	case flatNo.re.FindString(all) == all:
		return no
	case agreement.re.FindString(all) == all:
		return yes
	}
	return none
}

func withoutPolite(toks []string) []string {
	return slices.DeleteFunc(slices.Clone(toks), func(w string) bool { return polite[w] })
}

// machineSpeaks: the signal alone tells, or two of the three kinds of things that only machines say.
func machineSpeaks(words string) bool {
	kinds := 0
	for _, p := range machine {
		if p.in(words) {
			kinds++
		}
	}
	return machine[0].in(words) || kinds >= 2
}

var (
	agreement = pat("(?:yes|yeah|yep|yup|yea|sure|correct|exactly|absolutely|definitely|certainly|affirmative|indeed|mhm|uh huh|of course|go ahead|please do|why not|sounds good|that works|"+
		"perfect|fine|great|good|true|right|alright|all right|ok|okay|wonderful|lovely|super|brilliant|splendid)",
		"i think so", "i guess so", "<that> the one", "<that> (?:it|right|correct)")
	// an answer such as "we do have one", where a yes or a no is expected
	elliptic = pat("(?:i|we|they|he|she|it|there|that|you) (?:do|am|are|is|have|has|would|can|could|will|did|does|was)(?: \\w+){0,2}")
	refusal  = pat("(?:no|nope|nah|not|never|neither|wrong|incorrect|negative|cannot|cant|dont|wont|isnt|arent|doesnt|havent|hasnt|wouldnt|didnt|couldnt|unfortunately not|afraid not|rather not)")
	flatNo   = pat("(?:no|nope|nah|never|negative|wrong|incorrect|not)(?: (?:really|now|today|thanks|thank you|yet|correct|right|at all))*", "(?:i|we) (?:dont|do not|cant|wont)", "<that> (?:not (?:right|correct)|wrong|incorrect)")
	leadYes  = wordSet("yes yeah yep yup sure correct exactly right perfect absolutely definitely")
	leadNo   = wordSet("no nope nah")
)

// polarity reads an answer to a question of yes or no: its first word of either kind, else whether it denies or affirms.
func polarity(said string) intent {
	toks := english.Tokens(said)
	for _, w := range toks {
		switch {
		case leadYes[w]:
			return yes
		case leadNo[w]:
			return no
		case !polite[w]:
			all := " " + strings.Join(toks, " ") + " "
			switch {
			case refusal.in(all):
				return no
			case agreement.in(all), elliptic.in(all):
				return yes
			}
			return none
		}
	}
	if len(toks) > 0 && agreement.in(" "+strings.Join(toks, " ")+" ") {
		return yes
	}
	return none
}

// leads says with which word of agreement or refusal an utterance begins, and what follows.
func leads(said string) (intent, string) {
	rest := strings.TrimSpace(said)
	for rest != "" {
		first, after, _ := strings.Cut(rest, " ")
		word := strings.Trim(strings.ToLower(first), ",.!")
		switch {
		case leadYes[word]:
			return yes, strings.TrimSpace(after)
		case leadNo[word]:
			return no, strings.TrimSpace(after)
		case !polite[word]:
			return none, said
		}
		rest = strings.TrimSpace(after)
	}
	return none, said
}

var questionWords = wordSet(`what when where who why how which whose do does did is are can could will would may am have has whats wheres whos hows
	should must`)

var wonders = pat("until when", "<want> to know", "wondering", "(?:question|information|info) (?:about|on)", "do you know", "(?:tell|explain) (?:to )?<me>", "what(?: \\w+){0,3}", "how (?:much|many|long|late|far|old|big|do|can|is|are|does)(?: \\w+)?",
	"(?:can|could|may|should|must|do|does|is|are|will|would) (?:i|we|you|it|they|he|she|there|that|the|my|your)(?: \\w+)?")

// requests ask for something to be done, not told.
var requests = pat("(?:can|could|may|might) (?:i|we) (?:\\w+ )?(?:get|have|book|order|make|reserve|come|schedule|arrange|sign|register|apply)", "(?:can|could|would|will) you (?:\\w+ )?(?:book|order|make|reserve|send|schedule|arrange|put|note|come)")

// asks reports that an utterance is a question or asks for information.
func asks(said string) bool {
	if strings.Contains(said, "?") {
		return true
	}
	toks := english.Tokens(said)
	for len(toks) > 0 && (polite[toks[0]] || toks[0] == "hi" || toks[0] == "hello" || toks[0] == "yes" || toks[0] == "hey" ||
		toks[0] == "there" || toks[0] == "great" || toks[0] == "cool") {
		toks = toks[1:]
	}
	return len(toks) > 0 && (questionWords[toks[0]] || wonders.in(" "+strings.Join(toks, " ")+" "))
}
