package providertest

import (
	"context"
	"math"
	"slices"
	"testing"

	"parley/knowledge"
)

// Embedder tests an embedder: a vector for each text, in order, all of one length, the same for the same text.
func Embedder(t *testing.T, e knowledge.Embedder) {
	if first, again := e.Model(), e.Model(); first == "" || again != first {
		t.Errorf("its vectors are kept apart by %q", e.Model())
	}
	texts := []string{"We open at nine.", "Der Laden öffnet um neun.", "A city bike is fifteen euros a day.", "We open at nine."}
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	for i, v := range got {
		var length float64
		for _, x := range v {
			length += float64(x) * float64(x)
		}
		if len(v) == 0 || len(v) != len(got[0]) || length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
			t.Errorf("text %d: %d numbers of length %f", i, len(v), length)
		}
	}
	if !slices.Equal(got[0], got[3]) {
		t.Error("one text has two vectors")
	}
	if slices.Equal(got[0], got[2]) {
		t.Error("two texts have one vector")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Embed(ctx, texts[:1]); err == nil {
		t.Error("works for nobody")
	}
}
