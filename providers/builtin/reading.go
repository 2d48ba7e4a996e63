package builtin

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"parley/voice"
)

// reading is one reading of a sentence: what its settings and a little chance make of it.
type reading struct {
	s            voice.Speech
	pitch, tempo float64 // factors, 1 when fully stable
}

func newReading(s voice.Speech) reading {
	if s.Speed == 0 {
		s.Speed = 1
	}
	loose := 1 - max(0, min(1, s.Stability))
	around1 := func(most float64) float64 { return 1 + most*loose*(2*rand.Float64()-1) }
	return reading{s: s, pitch: around1(0.12), tempo: around1(0.07)}
}

// deliver says how the speaker reads one clause. With emotion a question rises, an exclamation is livelier and louder,
// a regret lower and slower; without, everything is read flat.
func (r reading) deliver(who speaker, c clause) delivery {
	similarity := max(0, min(1, r.s.Similarity))
	formants := 1 + (1-similarity)*(who.neutral-1)
	formants = math.Round(formants*100) / 100 // few ratios for the resampler
	d := delivery{
		voice:    who.code,
		stretch:  who.stretch * formants / (r.s.Speed * r.tempo),
		pitch:    (neutralPitch + similarity*(who.pitch-neutralPitch)) * r.pitch / formants,
		spread:   who.spread / formants,
		gain:     who.gain,
		formants: formants,
	}
	if !r.s.Emotion {
		d.spread *= 0.5
		return d
	}
	switch c.mood {
	case question:
		d.pitch *= 1.06
		d.spread *= 1.3
	case exclamation:
		d.pitch *= 1.04
		d.spread *= 1.5
		d.gain *= 1.25
	case regret:
		d.pitch *= 0.94
		d.spread *= 0.8
		d.gain *= 0.85
	}
	return d
}

// neutralPitch is the mean pitch in Hz of every speaker at similarity 0.
const neutralPitch = 120

// pause is the silence before a clause that follows the given mark.
func (r reading) pause(mark byte) time.Duration {
	d := 130 * time.Millisecond
	if strings.IndexByte(".!?", mark) >= 0 {
		d = 300 * time.Millisecond
	}
	return time.Duration(float64(d) / r.s.Speed)
}

type mood int

const (
	statement mood = iota
	question
	exclamation
	regret
)

// clause is a part of a text that is synthesised at once.
type clause struct {
	text   string
	before byte // the mark that ended the clause before, 0 for the first
	mood   mood
}

// longEnough is from how many bytes on a comma ends a clause: flite thinks before it speaks, and longer about more.
const longEnough = 50

// clauses cuts plain text at the ends of sentences, and long sentences at their inner marks.
func clauses(text string) []clause {
	var list []clause
	var before byte
	for start, i := 0, 0; i < len(text); i++ {
		mark := text[i]
		end := i+1 == len(text) || text[i+1] == ' '
		cut := end && (strings.IndexByte(".!?", mark) >= 0 && !abbreviation(text[start:i]) ||
			strings.IndexByte(",;:", mark) >= 0 && i-start >= longEnough)
		if !cut && i+1 < len(text) {
			continue
		}
		part := strings.TrimSpace(text[start : i+1])
		start = i + 1
		if strings.ContainsFunc(part, speakable) {
			list = append(list, clause{part, before, moodOf(part)})
			before = mark
		}
	}
	return list
}

func speakable(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// abbreviation reports whether the dot after s does not end a sentence.
func abbreviation(s string) bool {
	switch strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:]) {
	case "mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "approx", "e.g", "i.e", "a.m", "p.m":
		return true
	}
	return false
}

func moodOf(part string) mood {
	low := strings.ToLower(part)
	for _, w := range []string{"sorry", "apolog", "unfortunately", "afraid", "regret"} {
		if strings.Contains(low, w) {
			return regret
		}
	}
	switch part[len(part)-1] {
	case '?':
		return question
	case '!':
		return exclamation
	}
	return statement
}
