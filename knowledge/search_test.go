package knowledge_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"parley/db"
	"parley/db/dbtest"
	"parley/knowledge"
)

// exam is the evaluation set: passages and paraphrased questions to them.
func exam(t testing.TB) (passages, questions []string) {
	raw, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		passage, question, ok := strings.Cut(line, " | ")
		if !ok {
			t.Fatalf("no question: %s", line)
		}
		passages, questions = append(passages, passage), append(questions, question)
	}
	return passages, questions
}

// sit fills a knowledgebase with the passages and counts the questions answered first, and among the first three.
func sit(l *lab) (base knowledge.ID, hit1, hit3, all int) {
	passages, questions := exam(l.t)
	base = l.base(l.ada, "Exam")
	for _, p := range passages {
		l.settled(l.add(base, txt("Note", p)))
	}
	for i, q := range questions {
		found := l.find(base, q)
		switch at := slices.Index(found, passages[i]); {
		case at == 0:
			hit1++
			hit3++
		case at > 0 && at < 3:
			hit3++
		default:
			l.t.Logf("missed: %s", q)
		}
	}
	return base, hit1, hit3, len(questions)
}

// The search by words must not get worse.
func TestExam(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, hit1, hit3, all := sit(newLab(t, d).work())
		t.Logf("hit@1 %d, hit@3 %d of %d", hit1, hit3, all)
		if hit1 < leastFirst || hit3 < leastThird {
			t.Errorf("hit@1 %d, hit@3 %d of %d; they were %d and %d", hit1, hit3, all, leastFirst, leastThird)
		}
	})
}

const leastFirst, leastThird = 33, 40

// BenchmarkSearch asks the evaluation set and reports how many of its questions are answered.
func BenchmarkSearch(b *testing.B) {
	for name, open := range map[string]func(testing.TB, ...db.Option) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			l := newLab(b, open(b)).work()
			base, hit1, hit3, all := sit(l)
			_, questions := exam(b)
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				l.find(base, questions[i%len(questions)])
			}
			b.ReportMetric(100*float64(hit1)/float64(all), "hit@1%")
			b.ReportMetric(100*float64(hit3)/float64(all), "hit@3%")
		})
	}
}

// nose makes vectors of the letters a text begins with; it fails when told to.
type nose struct{ broken bool }

func (*nose) Model() string { return "nose" }

func (n *nose) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if n.broken {
		return nil, errors.New("out of order")
	}
	var out [][]float32
	for _, t := range texts {
		v := make([]float32, 26)
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				v[r-'a']++
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// With an embedding model both rankings count; when it fails, words alone answer.
func TestSearchByMeaning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		n := &nose{}
		l := newLab(t, d, knowledge.WithEmbedder(n)).work()
		base := l.base(l.ada, "Letters")
		for _, text := range []string{"zzz qqq", "breakfast at seven", "dinner at eight"} {
			l.settled(l.add(base, txt("Note", text)))
		}
		if got := l.find(base, "zqzqzq"); len(got) == 0 || got[0] != "zzz qqq" {
			t.Errorf("by meaning: %q", got)
		}
		if got := l.find(base, "breakfast"); got[0] != "breakfast at seven" {
			t.Errorf("by both: %q", got)
		}
		doc := l.settled(l.add(base, txt("Note", "jjj")))
		if got := l.find(base, "jj"); got[0] != "jjj" {
			t.Errorf("a new document: %q", got)
		}
		if err := l.room.DeleteDocument(l.ctx, l.ada, base, doc.ID); err != nil {
			t.Fatal(err)
		}
		if got := l.find(base, "jj"); slices.Contains(got, "jjj") {
			t.Errorf("a deleted document: %q", got)
		}
		n.broken = true
		if got := l.find(base, "breakfast"); len(got) != 1 {
			t.Errorf("words alone: %q", got)
		}
	})
}

// A PDF that leads its parser astray ends in a process of its own.
func TestIsolatedReading(t *testing.T) {
	l := newLab(t, dbtest.SQLite(t), knowledge.Isolated()).work()
	base := l.base(l.ada, "Files")
	deep := []byte("%PDF-1.4\n1 0 obj\n" + strings.Repeat("[", 2_000_000) + "\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n")
	if doc := l.settled(l.add(base, upload("pdf", "Deep", deep))); doc.Status != knowledge.Failed || *doc.Error != "Damaged file." {
		t.Errorf("%+v", doc)
	}
}
