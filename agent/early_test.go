package agent

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a model that makes a token at a time.
type slow struct {
	text string
	each time.Duration
}

func (m slow) Reply(ctx context.Context, _ Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for token := range slices.Chunk([]byte(m.text), 4) {
			if <-time.After(m.each); !yield(Chunk{Text: string(token)}, nil) {
				return
			}
		}
	}
}

const longSentence = "You can pick up your city bike at our shop in the old town on any day between nine and five if you bring the card that you booked with."

// The first words of a sentence of 28 words are spoken long before its last one is there. What is read, or comes at once, stays
// whole.
func TestLongSentencesBeginEarly(t *testing.T) {
	for _, c := range []struct {
		each   time.Duration
		spoken bool
		most   time.Duration // from the first token
		pieces int
	}{{30 * time.Millisecond, true, 400 * time.Millisecond, 3}, {80 * time.Millisecond, true, time.Second, 3},
		{80 * time.Millisecond, false, time.Hour, 1}, {time.Millisecond, true, time.Hour, 2}} {
		synctest.Test(t, func(t *testing.T) {
			tr := Turn{Engine: Engine{Model: slow{longSentence, c.each}}, Prompt: Prompt{Spoken: c.spoken}}
			began, first, pieces := time.Now().Add(c.each), time.Duration(0), []string{}
			for s, err := range tr.Sentences(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if first == 0 {
					first = time.Since(began)
				}
				pieces = append(pieces, s)
			}
			if first > c.most || len(pieces) > c.pieces || strings.Join(pieces, "") != longSentence {
				t.Errorf("%v a token: first of %q after %v", c.each, pieces, first)
			}
		})
	}
}
