package agent

// Declines is what is said when a model's vendor refuses to let it answer: neutral, in a language of ISO 639-1, in
// English where there is no translation.
func Declines(language string) string {
	if s, ok := declines[language]; ok {
		return s
	}
	return declines["en"]
}

var declines = map[string]string{
	"en": "I'm sorry, I can't help with that.",
	"de": "Dabei kann ich leider nicht helfen.",
	"fr": "Je suis désolé, je ne peux pas vous aider pour cela.",
	"es": "Lo siento, no puedo ayudarle con eso.",
	"it": "Mi dispiace, non posso aiutarla in questo.",
	"pt": "Lamento, não posso ajudar com isso.",
	"ro": "Îmi pare rău, nu vă pot ajuta cu asta.",
	"da": "Det kan jeg desværre ikke hjælpe med.",
	"lt": "Deja, tuo negaliu padėti.",
	"ar": "عذرا، لا أستطيع المساعدة في ذلك.",
}
