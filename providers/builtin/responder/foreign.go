package responder

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"parley/agent"
	"parley/english"
)

// foreign are the few sentences it has in languages whose grammar it does not know, and the words by which their speakers leave.
var foreign = map[string]struct{ unknown, there, farewell, leaving string }{
	"de": {"Das weiß ich leider nicht. Was möchten Sie noch wissen?", "Sind Sie noch da?", "Vielen Dank. Auf Wiederhören.", "tschüss auf wiederhören auf wiedersehen ciao"},
	"fr": {"Je suis désolé, je ne le sais pas. Que voulez-vous savoir d'autre ?", "Êtes-vous toujours là ?", "Merci. Au revoir.", "au revoir bonne journée à bientôt"},
	"es": {"Lo siento, no lo sé. ¿Qué más desea saber?", "¿Sigue usted ahí?", "Gracias. Adiós.", "adiós hasta luego chao"},
	"it": {"Mi dispiace, non lo so. Che altro desidera sapere?", "È ancora in linea?", "Grazie. Arrivederci.", "arrivederci ciao a presto"},
	"pt": {"Lamento, não sei. O que mais deseja saber?", "Ainda está aí?", "Obrigado. Até logo.", "adeus tchau até logo"},
	"ro": {"Îmi pare rău, nu știu. Ce altceva doriți să aflați?", "Mai sunteți acolo?", "Mulțumesc. La revedere.", "la revedere pa"},
	"da": {"Det ved jeg desværre ikke. Hvad vil De ellers vide?", "Er De der stadig?", "Tak. Farvel.", "farvel hej hej"},
	"lt": {"Atsiprašau, to nežinau. Ką dar norėtumėte sužinoti?", "Ar jūs dar čia?", "Ačiū. Viso gero.", "viso gero iki"},
	"ar": {"عذرا، لا أعرف ذلك. ماذا تريد أن تعرف أيضا؟", "هل ما زلت هنا؟", "شكرا. مع السلامة.", "مع السلامة وداعا"},
}

// addressed begins sentences that are for the assistant, not for who calls.
var addressed = regexp.MustCompile(`(?i)^(du |sie sind|sei |bist|vous êtes|tu es |sois |eres|usted es|sé |tu sei |lei è |sii |és |você é|seja |ești|sunteți|fii |du er|vær |tu esi|jūs esate|أنت)`)

// abroad answers in another language than English: with what the prompt or the knowledgebase says in the words of the question.
func abroad(r agent.Request, p agent.Parts) []action {
	own, ok := foreign[r.Language]
	if !ok {
		return []action{{say: fmt.Sprintf("The built-in assistant model speaks English only. Choose a language model to talk in %s.",
			agent.LanguageName(r.Language))}}
	}
	said := ""
	for _, m := range r.Messages {
		if m.Role == agent.RoleUser {
			said = beginning(m.Text)
		}
	}
	switch {
	case quotation.MatchString(r.Instruction):
		return []action{{say: obey(r.Instruction)}}
	case strings.Contains(r.Instruction, "goodbye") || strings.Contains(r.Instruction, "longest duration"):
		return []action{{say: own.farewell}}
	case r.Instruction != "":
		return []action{{say: own.there}}
	case leaves(said, own.leaving):
		out := []action{{say: own.farewell}}
		if find(toolsOf(r.Tools), "end_call") != nil {
			out = append(out, action{call: "end_call", args: map[string]any{}})
		}
		return out
	}
	facts := slices.Concat(planOf(p.Prompt).facts, factsOf(p.Passages))
	facts = slices.DeleteFunc(facts, func(f fact) bool { return addressed.MatchString(f.text) })
	if f, ok := sharing(said, facts); ok {
		return []action{{say: f.text}}
	}
	return []action{{say: own.unknown}}
}

// leaves reports that one of the phrases of leaving ends what was said.
func leaves(said, phrases string) bool {
	words := " " + strings.Join(english.Tokens(said), " ") + " "
	for _, w := range english.Tokens(phrases) {
		if len([]rune(w)) > 3 && strings.HasSuffix(words, " "+w+" ") {
			return true
		}
	}
	return false
}

// sharing is the fact with most of the letters of a question's longer words, or of words that begin alike: nothing is known of
// their forms.
func sharing(said string, facts []fact) (fact, bool) {
	var want []string
	letters := 0
	for _, w := range english.Tokens(said) {
		if len([]rune(w)) > 3 && !slices.Contains(want, w) {
			want, letters = append(want, w), letters+len([]rune(w))
		}
	}
	best, top := fact{}, 0.0
	for _, f := range facts {
		have, met := append(english.Tokens(f.text), f.words...), 0.0
		for _, w := range want {
			if slices.ContainsFunc(have, func(h string) bool { return alike(w, h) }) {
				met += float64(len([]rune(w)))
			}
		}
		if score := met / float64(max(1, letters)); score > top {
			best, top = f, score
		}
	}
	return best, top >= 0.3
}

// alike: the same word, or the same first two thirds of both.
func alike(a, b string) bool {
	x, y := []rune(a), []rune(b)
	n := (2*max(len(x), len(y)) + 2) / 3
	return a == b || n >= 4 && len(x) >= n && len(y) >= n && string(x[:n]) == string(y[:n])
}
