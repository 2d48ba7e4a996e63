package agent

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"parley/placeholders"
)

// Prompt is everything the system message is made of.
type Prompt struct {
	Text     string // the assistant's system_prompt, placeholders unfilled
	Values   placeholders.Values
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
	b.WriteString(placeholders.Fill(p.Text, p.Values, placeholders.Written))
	b.WriteString(notesHead)
	fmt.Fprintf(&b, "- Answer in %s.\n", LanguageName(p.Language))
	fmt.Fprintf(&b, "- %s %s\n", p.Now.Format(timeNote), p.Now.Location())
	if p.Spoken {
		b.WriteString("- This is a phone call: speak in short plain sentences, without lists, markup or symbols.\n")
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	if len(p.Passages) > 0 {
		b.WriteString(passagesHead)
		for i, x := range p.Passages {
			fmt.Fprintf(&b, "[%d] %s: %s\n", i+1, strings.ReplaceAll(oneLine(x.Document), ": ", " "), oneLine(x.Text))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Parts are what an assembled system message was made of, as far as it can be read back.
type Parts struct {
	Prompt   string    // the assistant's own prompt, filled
	Now      time.Time // wall time at the assistant, as UTC; zero when not stated
	Notes    []string
	Passages []Passage // document and text only
}

const timeNote = "It is Monday, 2006-01-02 15:04, in the time zone"

// Split takes an assembled system message apart again, for models that do not read prose.
func Split(system string) Parts {
	prompt, rest, ok := cutLast(system, notesHead)
	p := Parts{Prompt: prompt}
	if !ok {
		return p
	}
	notes, list, _ := cutLast(rest, passagesHead)
	for line := range strings.SplitSeq(notes, "\n") {
		note, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		if stated, _, ok := cutLast(note, " "); ok {
			if at, err := time.Parse(timeNote, stated); err == nil {
				p.Now = at
			}
		}
		p.Notes = append(p.Notes, note)
	}
	for line := range strings.SplitSeq(list, "\n") {
		_, body, ok := strings.Cut(line, "] ")
		if doc, text, named := strings.Cut(body, ": "); ok && named {
			p.Passages = append(p.Passages, Passage{Document: doc, Text: text})
		}
	}
	return p
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
