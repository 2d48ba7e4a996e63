package switchboard

import (
	"slices"
	"strings"
	"unicode"
)

// briefingWords are what is said to a supervisor, and understood of one, without a model.
type briefingWords struct {
	question, regret, plain string
	yes, no                 []string // whole answers; those of now are understood before the summary too
	now                     []string
}

func briefingIn(language string) briefingWords {
	if w, ok := briefings[language]; ok {
		return w
	}
	return briefings["en"]
}

// refuses and agrees understand short answers, and the keys 1 and 2.
func (w briefingWords) refuses(said string) bool {
	return said == keyed("2") || slices.Contains(w.no, plain(said))
}

func (w briefingWords) agrees(said string, briefed bool) bool {
	return said == keyed("1") || slices.Contains(w.now, plain(said)) || briefed && slices.Contains(w.yes, plain(said))
}

// keyed is how a conversation reports a key.
func keyed(key string) string { return "[Keypad input: " + key + "]" }

// plain is an answer in lower case without punctuation.
func plain(said string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(said, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\''
	}), " ")
}

func answers(list string) []string { return strings.Split(list, "|") }

var briefings = map[string]briefingWords{
	"en": {"Will you take the call? Say yes or press one, say no or press two.", "All right, I will tell them. Goodbye.",
		"A caller is on the line and asked for a person.",
		answers("yes|yeah|yep|yes please|sure|ok|okay|of course|yes i will|i will|i'll take it|yes i'll take it|go ahead|all right|alright|fine|one|yes put them through|accept|i accept"),
		answers("no|nope|no thanks|no thank you|not now|no not now|i can't|no i can't|sorry no|two|decline|i decline|i'm busy|no sorry|not really"),
		answers("put them through|put him through|put her through|connect them|connect me|connect us|put them through please|yes put them through")},
	"de": {"Nehmen Sie den Anruf an? Sagen Sie Ja oder drücken Sie die Eins, sagen Sie Nein oder drücken Sie die Zwei.",
		"In Ordnung, ich richte es aus. Auf Wiederhören.", "Es ist jemand am Apparat, der mit einem Menschen sprechen möchte.",
		answers("ja|ja bitte|ja gerne|gerne|ja gern|gern|okay|ok|in ordnung|klar|natürlich|einverstanden|eins|mache ich|ja mache ich"),
		answers("nein|nein danke|jetzt nicht|nein jetzt nicht|leider nicht|leider nein|geht nicht|zwei|ich kann nicht"),
		answers("stellen sie durch|stellen sie ihn durch|stellen sie sie durch|verbinden sie uns|ja stellen sie durch|ja verbinden sie")},
	"fr": {"Prenez-vous l'appel ? Dites oui ou appuyez sur un, dites non ou appuyez sur deux.", "Très bien, je transmets. Au revoir.",
		"Une personne en ligne demande à parler à quelqu'un.",
		answers("oui|oui merci|d'accord|bien sûr|ok|volontiers|oui je le prends|un|allez y|oui allez y"),
		answers("non|non merci|pas maintenant|je ne peux pas|non désolé|désolé non|deux"), answers("passez le moi|passez la moi|passez le|mettez nous en relation")},
	"es": {"¿Acepta la llamada? Diga sí o pulse uno, diga no o pulse dos.", "De acuerdo, se lo diré. Adiós.",
		"Hay una persona en línea que pide hablar con alguien.",
		answers("sí|si|sí por favor|claro|de acuerdo|vale|por supuesto|uno|adelante|sí adelante|bueno"),
		answers("no|no gracias|ahora no|no puedo|lo siento no|dos"), answers("páselo|pásemelo|pásemela|conéctenos")},
	"it": {"Accetta la chiamata? Dica sì o prema uno, dica no o prema due.", "Va bene, lo riferisco. Arrivederci.",
		"C'è una persona in linea che chiede di parlare con qualcuno.",
		answers("sì|si|sì grazie|certo|va bene|d'accordo|ok|uno|certamente"), answers("no|no grazie|non ora|non posso|mi dispiace no|due"),
		answers("me lo passi|me la passi|lo passi|la passi")},
	"pt": {"Aceita a chamada? Diga sim ou prima um, diga não ou prima dois.", "Está bem, eu transmito. Adeus.",
		"Está uma pessoa em linha que pede para falar com alguém.",
		answers("sim|sim por favor|claro|está bem|ok|pode ser|um|com certeza"), answers("não|não obrigado|não obrigada|agora não|não posso|dois"),
		answers("pode passar|passe a chamada|pode ligar")},
	"ro": {"Preluați apelul? Spuneți da sau apăsați unu, spuneți nu sau apăsați doi.", "În regulă, transmit. La revedere.",
		"Cineva pe fir cere să vorbească cu o persoană.", answers("da|da vă rog|sigur|bine|în regulă|desigur|unu"),
		answers("nu|nu mulțumesc|nu acum|nu pot|doi"), answers("faceți legătura|dați mi l|da faceți legătura")},
	"da": {"Tager du opkaldet? Sig ja eller tryk et, sig nej eller tryk to.", "I orden, jeg giver besked. Farvel.",
		"Der er en i røret, som gerne vil tale med et menneske.", answers("ja|ja tak|selvfølgelig|okay|ok|fint|et|gerne|ja gerne"),
		answers("nej|nej tak|ikke nu|jeg kan ikke|to"), answers("stil om|stil ham om|stil hende om|ja stil om")},
	"lt": {"Ar priimsite skambutį? Sakykite taip arba spauskite vieną, sakykite ne arba spauskite du.", "Gerai, perduosiu. Viso gero.",
		"Laukia skambinantis žmogus, kuris nori pakalbėti su darbuotoju.", answers("taip|taip prašau|gerai|žinoma|sutinku|vienas"),
		answers("ne|ne ačiū|ne dabar|negaliu|du"), answers("sujunkite|taip sujunkite")},
	"ar": {"هل تقبل المكالمة؟ قل نعم أو اضغط واحد، قل لا أو اضغط اثنين.", "حسنا، سأبلغه. مع السلامة.", "هناك متصل على الخط يطلب التحدث إلى شخص.",
		answers("نعم|أجل|حسنا|طبعا|بالتأكيد|موافق|واحد"), answers("لا|لا شكرا|ليس الآن|لا أستطيع|اثنين|اثنان"), answers("حوله|حولها|صلني به")},
}

// defaultTexts are the spoken texts of the built-in tools in other languages, by the English one.
var defaultTexts = map[string]map[string]string{
	"Please hold while I connect you with a supervisor.": {
		"de": "Bitte warten Sie, während ich Sie mit einem Mitarbeiter verbinde.", "fr": "Veuillez patienter pendant que je vous mets en relation avec un responsable.",
		"es": "Espere mientras le comunico con un supervisor, por favor.", "it": "Attenda mentre la metto in contatto con un responsabile.",
		"pt": "Aguarde enquanto o ponho em contacto com um supervisor.", "ro": "Vă rog să așteptați cât vă fac legătura cu un supervizor.",
		"da": "Vent venligst, mens jeg stiller dig om til en medarbejder.", "lt": "Palaukite, kol sujungsiu jus su vadovu.",
		"ar": "يرجى الانتظار بينما أوصلك بأحد المشرفين."},
	"You are now connected with a supervisor. I'll leave you to it.": {
		"de": "Sie sind jetzt mit einem Mitarbeiter verbunden. Ich verabschiede mich.", "fr": "Vous êtes maintenant en relation avec un responsable. Je vous laisse.",
		"es": "Ya está en línea con un supervisor. Les dejo.", "it": "Ora è in linea con un responsabile. Vi lascio.",
		"pt": "Está agora em linha com um supervisor. Deixo-os à vontade.", "ro": "Sunteți acum în legătură cu un supervizor. Vă las.",
		"da": "Du er nu i forbindelse med en medarbejder. Jeg lader jer tale.", "lt": "Dabar esate sujungtas su vadovu. Palieku jus.",
		"ar": "أنت الآن على اتصال بأحد المشرفين. أترككما."},
	"Hello, I have a caller who needs a person. May I tell you what it is about?": {
		"de": "Hallo, ich habe einen Anrufer, der einen Menschen braucht. Darf ich Ihnen sagen, worum es geht?",
		"fr": "Bonjour, j'ai un appelant qui a besoin d'une personne. Puis-je vous dire de quoi il s'agit ?",
		"es": "Hola, tengo una persona al teléfono que necesita ayuda. ¿Puedo decirle de qué se trata?",
		"it": "Buongiorno, ho una persona in linea che ha bisogno di aiuto. Posso dirle di cosa si tratta?",
		"pt": "Olá, tenho uma pessoa em linha que precisa de ajuda. Posso dizer-lhe do que se trata?",
		"ro": "Bună ziua, am pe fir o persoană care are nevoie de ajutor. Pot să vă spun despre ce este vorba?",
		"da": "Hej, jeg har en, der har brug for et menneske. Må jeg fortælle, hvad det drejer sig om?",
		"lt": "Sveiki, turiu skambintoją, kuriam reikia žmogaus. Ar galiu papasakoti, apie ką tai?",
		"ar": "مرحبا، لدي متصل يحتاج إلى شخص. هل يمكنني أن أخبرك عن الموضوع؟"},
}
