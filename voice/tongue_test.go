package voice

import "testing"

// A recogniser that does not say which language it heard is understood by its words, among those the assistant speaks.
//
// Contract: 4.2
func TestTongueOf(t *testing.T) {
	all := []string{"en", "ro", "fr", "es", "de", "lt", "it", "ar", "pt", "da"}
	for text, want := range map[string]string{
		"Guten Tag, ich möchte einen Termin": "de", "Bonjour, je voudrais un rendez-vous": "fr", "Hola, ¿puede ayudarme?": "es", "Buongiorno, vorrei prenotare": "it",
		"Olá, eu quero uma mesa para dois": "pt", "Bună ziua, vreau o programare": "ro", "Laba diena, ar jūs galite padėti": "lt", "Hej, jeg vil gerne bestille et bord": "da",
		"مرحبا أريد موعدا": "ar", "What time do you open?": "en", "Okay": "", "Berlin": "", "": "", "5550199": "",
	} {
		if got := tongueOf(text, all); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := tongueOf("Guten Tag", []string{"en", "fr"}); got != "" {
		t.Errorf("a language nobody asked for: %q", got)
	}
}
