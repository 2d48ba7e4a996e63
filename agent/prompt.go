package agent

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Prompt is everything the system message is made of.
type Prompt struct {
	Text     string // the assistant's system_prompt, placeholders unfilled
	Values   Values
	Language string    // ISO 639-1 the answer must be in
	Now      time.Time // in the assistant's time zone
	Spoken   bool      // the answer is heard, not read
	Notes    []string  // further sentences true for this request, such as a limit that is near
	Passages []Passage // found in the knowledgebase for the last message
}

// Passage is a piece of a document.
type Passage struct {
	DocumentID int64   `json:"document_id"`
	Document   string  `json:"document"`
	Text       string  `json:"text"`
	Score      float64 `json:"score"`
}

const (
	notesHead    = "\n\n## About this conversation\n"
	passagesHead = "\n\n## Passages from the knowledgebase\nAnswer from these where they fit; say so when they do not hold the answer.\n"
)

// System is the first message of every model request. This function is the only place that assembles it.
func (p Prompt) System() string {
	var b strings.Builder
	b.WriteString(Fill(p.Text, p.Values, Written))
	b.WriteString(notesHead)
	fmt.Fprintf(&b, "- Answer in %s.\n", LanguageName(p.Language))
	fmt.Fprintf(&b, "- It is %s, %s, in the time zone %s.\n", p.Now.Format("Monday"), p.Now.Format("2006-01-02 15:04"), p.Now.Location())
	if p.Spoken {
		b.WriteString("- This is a phone call: speak in short plain sentences, without lists, markup or symbols.\n")
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	if len(p.Passages) > 0 {
		b.WriteString(passagesHead)
		for i, x := range p.Passages {
			fmt.Fprintf(&b, "[%d] %s: %s\n", i+1, oneLine(x.Document), oneLine(x.Text))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Split takes an assembled system message apart again: the assistant's own prompt and the passages, "name: text" each.
func Split(system string) (prompt string, passages []string) {
	prompt, notes, ok := cutLast(system, notesHead)
	if !ok {
		return system, nil
	}
	if _, list, ok := cutLast(notes, passagesHead); ok {
		for line := range strings.SplitSeq(list, "\n") {
			if _, text, ok := strings.Cut(line, "] "); ok {
				passages = append(passages, text)
			}
		}
	}
	return prompt, passages
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// LanguageName is the English name of an ISO 639-1 code; an unknown code stands for itself.
func LanguageName(code string) string {
	if code == "" {
		return "English"
	}
	tag, err := language.Parse(code)
	if err != nil {
		return code
	}
	if n := display.English.Languages().Name(tag); n != "" {
		return n
	}
	return code
}
