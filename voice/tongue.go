package voice

import (
	"strings"
	"unicode"
)

// Words that stand in most sentences of a language, and letters that few others have. A recogniser that is asked for several
// languages often does not say which one it heard; its words do.
var tongues = map[string]struct{ words, letters string }{
	"en": {"the and you is to of in it that what do have can i'm please yes no hello thanks thank my your are with for how when would like good", ""},
	"de": {"der die das und ich sie ist nicht ein eine zu mit für wie was wann haben kann bitte ja nein hallo danke guten mein meine auf den sprechen deutsch möchte gerne wir", "äöüß"},
	"fr": {"le la les et je vous est pas un une de du des pour avec que quoi quand comment oui non bonjour merci s'il mon ma suis avez peux voudrais c'est parlez", "àâçèêëîïôùûœ"},
	"es": {"el la los las y yo usted es no un una de para con que qué cuándo cómo sí hola gracias por favor mi quiero puede buenos días tengo está español hablar", "ñ¿¡áíóú"},
	"it": {"il lo la gli e io lei è non un una di per con che cosa quando come sì ciao grazie per favore mio vorrei può buongiorno sono ho parla", "ìòù"},
	"pt": {"o a os as e eu você é não um uma de para com que quando como sim olá obrigado obrigada por favor meu quero pode bom dia tenho está", "ãõçâê"},
	"ro": {"și eu este nu un o de pentru cu ce când cum da bună mulțumesc vă rog meu vreau puteți ziua sunt la în", "ășțâî"},
	"lt": {"ir aš jūs yra ne taip kas kada kaip labas ačiū prašau mano noriu galite diena esu su į ar", "ąčęėįšųūž"},
	"da": {"og jeg du er ikke en et til med for hvad hvornår hvordan ja nej hej tak mit min vil kan gerne god dag har det", "æøå"},
	"nl": {"de het en ik u je is niet een van voor met wat wanneer hoe ja nee hallo dank mijn wil kan graag goedendag heb spreekt", ""},
	"sv": {"och jag du är inte en ett till med för vad när hur ja nej hej tack min vill kan gärna god dag har det", "åäö"},
	"pl": {"i ja pan pani jest nie do z dla co kiedy jak tak cześć dziękuję proszę mój chcę może dzień dobry mam się", "ąćęłńóśźż"},
	"ar": {"", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"},
	"he": {"", "אבגדהוזחטיכלמנסעפצקרשת"},
}

// tongueOf is which of the languages the words are in; empty when they do not tell it clearly from the others.
func tongueOf(text string, languages []string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '¿' && r != '¡' })
	best, top, second := "", 0, 0
	for _, lang := range languages {
		t, score := tongues[lang], 0
		for _, w := range words {
			if strings.Contains(" "+t.words+" ", " "+w+" ") {
				score += 2
			}
			if t.letters != "" && strings.ContainsAny(w, t.letters) {
				score++
			}
		}
		if score > top {
			best, top, second = lang, score, top
		} else {
			second = max(second, score)
		}
	}
	if top < 2 || top == second {
		return ""
	}
	return best
}
