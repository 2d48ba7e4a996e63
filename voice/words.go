package voice

import (
	"regexp"
	"strings"
	"unicode"
)

// dangling are words a complete sentence hardly ends with, by language: articles, conjunctions, prepositions,
// possessives, auxiliaries that await their complement, and hesitations.
var dangling = map[string]map[string]bool{
	"en": set(`a an the and or but because so if when while that which who whose than as of to for with from at by in
		into onto about my your his our their its is are was were am be i i'm it's he's she's we're they're there's
		very really like um uh er erm hmm well`),
	"de": set(`der die das den dem ein eine einen einem einer und oder aber weil wenn dass ob mit von für im ins zum zur am
		mein meine ist sind war ich äh ähm also`),
	"fr": set(`le la les un une des et ou mais parce que qui de du pour avec dans à mon ma mes est sont je euh`),
	"es": set(`el la los las un una y o pero porque que de con por para en mi es son eh este`),
	"it": set(`il lo la i gli le un una e o ma perché che di con per in mio mia è sono ehm`),
	"pt": set(`o a os as um uma e ou mas porque que de com por para em meu minha é são hum`),
	"ro": set(`un o și sau dar pentru că cu la în de meu mea este sunt ăă`),
	"da": set(`en et og eller men fordi hvis at med fra til for min mit er jeg øh`),
}

func isDigits(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func letter(w string) bool {
	r := []rune(w)
	return len(r) == 1 && unicode.IsLetter(r[0]) && w != "i" && w != "a"
}

var backChannels = set(`mhm mm mmm hm hmm uh-huh uhhuh aha ah oh ok okay right yeah yep sure uh huh i see got it alright
	ja genau gut ach so d'accord oui vale sí va bene certo da`)

// backChannel reports that text only says "I am listening".
func backChannel(text string) bool {
	words := plainWords(text)
	if len(words) > 3 {
		return false
	}
	for _, w := range words {
		if !backChannels[w] {
			return false
		}
	}
	return len(words) > 0
}

var hellos = set(`hello hi hey yes yeah yep speaking good morning afternoon evening day this is
	hallo ja guten tag morgen abend allô allo bonjour oui hola dígame bueno sí pronto buongiorno olá alô sim bom dia
	alo bună ziua da hej ja`)

// hello reports that text is no more than what people say when they pick up.
func hello(text string) bool {
	words := plainWords(text)
	for _, w := range words {
		if !hellos[w] {
			return false
		}
	}
	return len(words) <= 4
}

var wordRun = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*`)

// plainWords are the words of text in lower case, without punctuation.
func plainWords(text string) []string {
	return wordRun.FindAllString(strings.ToLower(strings.ReplaceAll(text, "’", "'")), -1)
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// mostWords is the longest transcript in bytes: nobody says more in one turn.
const mostWords = 16 << 10

// bounded is text, or its beginning.
func bounded(text string) string {
	if len(text) <= mostWords {
		return text
	}
	return strings.ToValidUTF8(text[:mostWords], "")
}

// cut splits a sentence after the words that fit into the given part (0-1) of its sound.
func cut(text string, part float64) (said, rest string) {
	if part >= 1 {
		return text, ""
	}
	fields := strings.Fields(text)
	total := 0
	for _, f := range fields {
		total += weight(f)
	}
	sum := 0
	for i, f := range fields {
		sum += weight(f)
		if float64(sum) > part*float64(total)+0.5 {
			return strings.Join(fields[:i], " "), strings.Join(fields[i:], " ")
		}
	}
	return text, ""
}

// weight is about how long a word takes to say, pauses after punctuation included.
func weight(word string) int {
	n := 1
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			n += 4
		case strings.ContainsRune(".!?;:", r):
			n += 3
		default:
			n++
		}
	}
	return n
}

// join puts pieces together with single blanks, leaving empty ones out.
func join(pieces ...string) string {
	var kept []string
	for _, p := range pieces {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}
