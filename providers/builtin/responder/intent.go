package responder

import (
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
	silence
	voicemail
	hello
	thanks
)

// phrases by intent; an utterance has the intent of the first table that matches.
// Whole phrases must be the whole utterance, give or take polite words; parts may stand anywhere in it.
var phrases = []struct {
	intent intent
	whole  []string
	part   []string
}{
	{voicemail, nil, []string{"leave a message", "leave your message", "after the tone", "after the beep",
		"not available right now to take your call", "reached the voicemail", "reached the mailbox", "record your message"}},
	{goodbye, []string{"bye", "goodbye", "good bye", "bye bye", "see you", "talk to you later", "have a nice day", "have a good day",
		"thats all", "that is all", "that was all", "thats it", "nothing else", "no thats all", "no thats it", "no nothing else", "no goodbye",
		"hang up", "end the call", "good night", "im done", "no im good", "no im fine"},
		[]string{"goodbye", "bye bye", "thats all for now", "have to go now", "please hang up", "nothing else thank"}},
	{person, []string{"operator", "agent", "representative", "human", "a person please", "a human please", "real person"},
		[]string{"talk to a person", "speak to a person", "talk to a human", "speak to a human", "speak with a human", "talk with a human",
			"speak with a person", "talk with a person", "real person", "real human", "speak to someone", "talk to someone", "speak with someone",
			"talk with someone", "human agent", "live agent", "speak to an agent", "talk to an agent", "speak to a representative",
			"talk to a representative", "transfer me", "connect me to", "connect me with", "put me through", "speak to your manager",
			"speak to a manager", "talk to a manager", "speak to your supervisor", "speak to a supervisor"}},
	{repeat, []string{"repeat", "again", "say again", "what", "pardon", "sorry", "excuse me", "come again", "what was that", "once more",
		"one more time", "huh"},
		[]string{"repeat that", "repeat it", "say that again", "say it again", "say again please", "could you repeat", "can you repeat",
			"please repeat", "didnt understand you", "did not understand you", "didnt hear", "did not hear", "didnt catch", "did not catch",
			"what did you say"}},
	{slower, []string{"slower", "slowly", "more slowly", "too fast"}, []string{"speak slower", "speak more slowly", "speak slowly",
		"talk slower", "talk more slowly", "more slowly", "slow down", "too fast", "bit slower"}},
	{thanks, []string{"thanks", "thank you", "thank you very much", "many thanks", "great thanks", "ok thanks", "perfect thank you",
		"thanks a lot", "great thank you", "okay thank you", "ok thank you", "wonderful thank you"}, nil},
	{hello, []string{"hello", "hi", "hey", "good morning", "good afternoon", "good evening", "hello there", "hi there", "hello hello",
		"anybody there", "is anyone there", "are you there"}, nil},
	{no, []string{"no", "nope", "nah", "no thanks", "no thank you", "not really", "wrong", "thats wrong", "that is wrong", "incorrect",
		"not correct", "thats not right", "that is not right", "thats not correct", "no its not", "no it isnt", "negative", "not at all",
		"i dont", "i do not", "dont", "no i dont", "rather not", "not now", "never"}, nil},
	{yes, []string{"yes", "yeah", "yep", "yup", "sure", "correct", "right", "thats right", "that is right", "thats correct", "that is correct",
		"exactly", "ok", "okay", "of course", "absolutely", "definitely", "please do", "go ahead", "affirmative", "yes please", "sounds good",
		"i do", "yes i do", "fine", "perfect", "great", "true", "alright", "all right", "that works", "yes it is", "yes thats right",
		"yes correct", "i would", "uh huh", "mhm", "good", "it is", "thats fine", "yes go ahead", "yes thats fine"}, nil},
}

var polite = wordSet("please um uh er well so and then just oh actually hm sir madam")

// intentOf finds the control intent of an utterance.
func intentOf(said string) intent {
	toks := english.Tokens(said)
	if len(toks) == 0 {
		return silence
	}
	all := " " + strings.Join(toks, " ") + " "
	bare := strings.Join(slices.DeleteFunc(slices.Clone(toks), func(w string) bool { return polite[w] }), " ")
	for _, p := range phrases {
		if slices.Contains(p.whole, bare) || slices.Contains(p.whole, strings.TrimSpace(all)) {
			return p.intent
		}
		for _, part := range p.part {
			if strings.Contains(all, " "+part+" ") {
				return p.intent
			}
		}
	}
	if last := toks[len(toks)-1]; last == "bye" || last == "goodbye" {
		return goodbye
	}
	if first := toks[0]; len(toks) <= 4 { // "yes it is me", "no not today"
		switch first {
		case "yes", "yeah", "yep", "correct":
			return yes
		case "no", "nope":
			return no
		}
	}
	return none
}

// leads says with which word of agreement or refusal an utterance begins, whatever follows.
func leads(said string) (intent, string) {
	toks := strings.Fields(said)
	if len(toks) == 0 {
		return none, ""
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(said), toks[0]))
	switch strings.Trim(strings.ToLower(toks[0]), ",.!") {
	case "yes", "yeah", "yep", "sure", "correct":
		return yes, rest
	case "no", "nope", "nah":
		return no, rest
	}
	return none, said
}

var questionWords = wordSet(`what when where who why how which whose do does did is are can could will would may am have has whats wheres tell explain should`)

// asks reports that an utterance is a question or asks for information.
func asks(said string) bool {
	if strings.Contains(said, "?") {
		return true
	}
	toks := english.Tokens(said)
	for len(toks) > 0 && (polite[toks[0]] || toks[0] == "ok" || toks[0] == "okay" || toks[0] == "hi" || toks[0] == "hello" ||
		toks[0] == "yes" || toks[0] == "no") {
		toks = toks[1:]
	}
	if len(toks) == 0 {
		return false
	}
	if questionWords[toks[0]] {
		return true
	}
	all := strings.Join(toks, " ")
	for _, p := range []string{"want to know", "like to know", "wondering", "question about", "information about", "information on",
		"do you know", "can you tell", "need to know"} {
		if strings.Contains(all, p) {
			return true
		}
	}
	return false
}
