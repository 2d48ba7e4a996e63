package voice

import "strings"

// phrases are what the platform itself says.
type phrases struct{ holding, apology, farewell, failure string }

// phrase is said in the conversation's language, or in English where we have none.
func phrase(language string) phrases {
	if p, ok := spoken[language]; ok {
		return p
	}
	return spoken["en"]
}

var spoken = map[string]phrases{
	"en": {"One moment, please.", "I'm sorry, something went wrong on my side. Could you say that again?",
		"I'm sorry, we have to end the call here. Goodbye.", "I'm sorry, I have a technical problem and must end the call. Goodbye."},
	"de": {"Einen Moment, bitte.", "Entschuldigung, bei mir ist etwas schiefgegangen. Können Sie das noch einmal sagen?",
		"Leider müssen wir das Gespräch hier beenden. Auf Wiederhören.",
		"Leider habe ich ein technisches Problem und muss das Gespräch beenden. Auf Wiederhören."},
	"fr": {"Un instant, s'il vous plaît.", "Désolé, quelque chose n'a pas marché de mon côté. Pouvez-vous répéter ?",
		"Je suis désolé, nous devons terminer l'appel ici. Au revoir.",
		"Je suis désolé, j'ai un problème technique et je dois terminer l'appel. Au revoir."},
	"es": {"Un momento, por favor.", "Lo siento, algo ha fallado por mi parte. ¿Puede repetirlo?",
		"Lo siento, tenemos que terminar la llamada aquí. Adiós.", "Lo siento, tengo un problema técnico y debo terminar la llamada. Adiós."},
	"it": {"Un momento, per favore.", "Mi scusi, qualcosa è andato storto da parte mia. Può ripetere?",
		"Mi dispiace, dobbiamo chiudere qui la chiamata. Arrivederci.",
		"Mi dispiace, ho un problema tecnico e devo chiudere la chiamata. Arrivederci."},
	"pt": {"Um momento, por favor.", "Desculpe, algo correu mal do meu lado. Pode repetir?",
		"Lamento, temos de terminar a chamada aqui. Adeus.", "Lamento, tenho um problema técnico e preciso terminar a chamada. Adeus."},
	"ro": {"Un moment, vă rog.", "Îmi pare rău, ceva nu a mers din partea mea. Puteți repeta?",
		"Îmi pare rău, trebuie să încheiem apelul aici. La revedere.",
		"Îmi pare rău, am o problemă tehnică și trebuie să închei apelul. La revedere."},
	"da": {"Et øjeblik.", "Undskyld, noget gik galt hos mig. Kan du sige det igen?", "Vi er desværre nødt til at slutte opkaldet her. Farvel.",
		"Jeg har desværre et teknisk problem og må slutte opkaldet. Farvel."},
	"lt": {"Vieną akimirką.", "Atsiprašau, kažkas nepavyko. Ar galite pakartoti?", "Deja, turime baigti pokalbį. Viso gero.",
		"Deja, turiu techninių problemų ir turiu baigti pokalbį. Viso gero."},
	"ar": {"لحظة من فضلك.", "عذرا، حدث خطأ من جانبي. هل يمكنك الإعادة؟", "عذرا، علينا إنهاء المكالمة هنا. مع السلامة.",
		"عذرا، لدي مشكلة تقنية وعلي إنهاء المكالمة. مع السلامة."},
}

// of are the phrases of a category.
func (f Fillers) of(category string) []string {
	switch category {
	case "positive":
		return f.Positive
	case "negative":
		return f.Negative
	case "question":
		return f.Question
	}
	return f.Neutral
}

var (
	agrees  = set(`yes yeah yep sure okay ok great good fine right exactly correct perfect ja genau gut oui d'accord sí si vale claro sim da tak`)
	refuses = set(`no nope not never don't can't won't wrong nein nicht falsch non pas não nu nie`)
	asks    = set(`what when where who why how which can could do does did is are will would may was wann wo wer warum wie welche
		können kann quoi quand où qui pourquoi comment est-ce qué cuándo dónde quién cómo puede cosa quando dove chi perché come`)
)

// categoryOf says what kind of thing the caller said: a question, agreement, refusal, or anything else.
func categoryOf(text string) string {
	words := plainWords(text)
	switch {
	case strings.HasSuffix(strings.TrimSpace(text), "?"), len(words) > 0 && asks[words[0]]:
		return "question"
	case len(words) > 0 && refuses[words[0]]:
		return "negative"
	case len(words) > 0 && agrees[words[0]]:
		return "positive"
	}
	return "neutral"
}
