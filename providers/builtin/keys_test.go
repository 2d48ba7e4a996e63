package builtin

import (
	"testing"

	"parley/audio"
	"parley/voice"
)

// Nobody presses keys by speaking: sentences full of vowels, numbers and the names of keys, by every voice.
//
// Contract: 4.4
func TestSpeechIsNoKey(t *testing.T) {
	texts := []string{
		"You are owed a new year's yellow eiderdown, Maureen, and we all know why you are away.",
		"My number is one two three, four five six, seven eight nine, zero zero, star, hash.",
		"Who would do two new blue shoes, or four more, for your aunt in Auckland?",
		"Eee, aaa, ooo. Oh, I see. Mhm. Aha. Really? No! Wow, you are so mean to me.",
		"The quick brown fox jumps over the lazy dog, while the early morning air is warm and the lawn is long.",
	}
	seconds := 0.0
	for _, who := range speakers {
		for _, text := range texts {
			for _, speed := range []float64{0.7, 1, 1.2} {
				f := render(t, voice.Speech{Text: text, Voice: who.code, Speed: speed, Stability: 1, Similarity: 1})
				pcm := audio.NewResampler(f.Rate, 8000).Process(f.PCM)
				seconds += float64(len(pcm)) / 8000
				audio.NewKeys(8000).Feed(pcm, func(key byte) { t.Errorf("%s is heard to press %c in %q", who.code, key, text) })
			}
		}
	}
	if seconds < 60 {
		t.Errorf("only %.0f s of speech", seconds)
	}
}
