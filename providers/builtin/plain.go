package builtin

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var (
	email     = regexp.MustCompile(`\b[\w.+-]+@[\w-]+(\.[\w-]+)+\b`)
	address   = regexp.MustCompile(`\b(?:https?://)?(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|co|uk|us|ai|app)\b(?:/[\w/-]*)?`)
	telephone = regexp.MustCompile(`\+?\d[\d() -]{6,}\d`)
	clock     = regexp.MustCompile(`\b(\d{1,2}):(\d\d)\b`)
	blanks    = regexp.MustCompile(`\s+`)
)

var marks = strings.NewReplacer(
	"‘", "'", "’", "'", "“", `"`, "”", `"`, "…", "...", "–", ", ", "—", ", ", " - ", ", ",
	"€", " euro ", "£", " pound ", "°", " degrees ", "№", " number ", "×", " times ", "½", " a half ",
	"&", " and ", "+", " plus ", "=", " equals ", "*", "", "_", " ", "`", "", "#", " number ", "~", " about ",
	"/", " slash ", "\\", " ", "|", ", ", "<", " ", ">", " ", "{", " ", "}", " ", "[", " ", "]", " ",
)

// plain rewrites text into what flite reads well: plain ASCII, with addresses and digits spelled the way people say them.
func plain(text string) string {
	text = email.ReplaceAllStringFunc(text, func(s string) string { return spell(strings.Replace(s, "@", " at ", 1)) })
	text = address.ReplaceAllStringFunc(text, func(s string) string {
		return spell(strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://"))
	})
	text = telephone.ReplaceAllStringFunc(text, digits)
	text = clock.ReplaceAllStringFunc(text, hours)
	text = marks.Replace(text)
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r < 128 && (unicode.IsPrint(r) || unicode.IsSpace(r)):
			b.WriteRune(r)
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ø' || r == 'Ø':
			b.WriteString("o")
		case r == 'æ' || r == 'Æ':
			b.WriteString("ae")
		case !unicode.Is(unicode.Mn, r):
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(blanks.ReplaceAllString(b.String(), " "))
}

// spell reads the punctuation of an e-mail or web address.
func spell(s string) string {
	return strings.NewReplacer(".", " dot ", "-", " dash ", "_", " underscore ", "/", " slash ", "+", " plus ").Replace(s)
}

// digits reads a telephone number digit by digit, in the groups it is written in.
func digits(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '+':
			b.WriteString("plus ")
		case r >= '0' && r <= '9':
			b.WriteRune(r)
			b.WriteByte(' ')
		case b.Len() > 0 && !strings.HasSuffix(b.String(), ", "):
			b.WriteString(", ")
		}
	}
	return strings.ReplaceAll(b.String(), " , ", ", ")
}

// hours reads 15:30 as "15 30", 9:00 as "9 o'clock" and 9:05 as "9 oh 5".
func hours(s string) string {
	h, m, _ := strings.Cut(s, ":")
	switch {
	case m == "00":
		return h + " o'clock"
	case m[0] == '0':
		return h + " oh " + m[1:]
	}
	return h + " " + m
}
