package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"

	"parley/english"
)

// hit is a passage that may answer a query.
type hit struct {
	ID         int64  `db:"id"`
	DocumentID int64  `db:"document_id"`
	Document   string `db:"document"`
	Title      string `db:"title"`
	Text       string `db:"text"`
	score      float64
}

// candidates is how many passages the database offers for the final ranking.
const candidates = 80

// Search finds the passages of a knowledgebase that answer a query best: by words, and where an embedding model is configured by
// meaning too, fused by rank. Its scores run from 0 to 1.
func (r *Room) Search(ctx context.Context, base ID, query string, limit int) ([]Passage, error) {
	hits, err := r.byWords(ctx, base, query)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if r.embedder != nil {
		near, err := r.byMeaning(ctx, base, query)
		if err != nil { // words alone are an answer too
			slog.WarnContext(ctx, "search by meaning failed", "knowledgebase", base, "err", err)
		} else {
			hits = fuse(hits, near)
		}
	}
	out := []Passage{}
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, Passage{h.DocumentID, h.Document, h.Text, math.Round(h.score*1e4) / 1e4})
	}
	return out, nil
}

// termsOf is what the index keeps of a passage.
func termsOf(document string, p piece) []string {
	return english.Terms(document + "\n" + p.title + "\n" + p.text)
}

// baseTerm stands in the terms of every passage of a knowledgebase, so that the index itself keeps bases apart.
func baseTerm(base ID) string { return fmt.Sprintf("kb%dx", base) }

// byWords lets the index find passages with any word of the query, or a synonym, and ranks them.
func (r *Room) byWords(ctx context.Context, base ID, query string) ([]hit, error) {
	asked := english.Question(query)
	if len(asked) > 32 {
		asked = asked[:32]
	}
	if len(asked) == 0 {
		return nil, nil
	}
	found, err := r.candidates(ctx, base, asked, widen(asked))
	if err != nil {
		return nil, err
	}
	var total int
	if err := r.db.Get(ctx, &total, `SELECT COALESCE(sum(chunks), 0) FROM documents WHERE knowledgebase_id = $1 AND live > 0`,
		base); err != nil {
		return nil, err
	}
	rank(asked, found, total)
	return found, nil
}

// widen adds the synonyms.
func widen(asked []string) []string {
	out := slices.Clone(asked)
	for _, t := range asked {
		for _, s := range english.Synonyms(t) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

const synonymWeight = 0.6

// rank scores hits by the share of the query's words they hold, rare words counting more and repetition a little (BM25 brought to the
// range 0 to 1), and sorts them. total is the number of passages of the knowledgebase.
func rank(asked []string, hits []hit, total int) {
	counts := make([]map[string]float64, len(hits))
	bodies := make([][]string, len(hits))
	lengths, sum := make([]float64, len(hits)), 0.0
	for i, h := range hits {
		counts[i] = map[string]float64{}
		for _, t := range english.Terms(h.Document + "\n" + h.Title) {
			counts[i][t] += 0.5
		}
		bodies[i] = english.Terms(h.Text)
		for _, t := range bodies[i] {
			counts[i][t]++
		}
		lengths[i] = float64(len(bodies[i]))
		sum += lengths[i]
	}
	mean := sum / float64(max(1, len(hits)))
	weights := make([]float64, len(asked))
	best := 0.0
	for q, t := range asked {
		df := 0.0
		for i := range hits {
			if counts[i][t] > 0 {
				df++
			} else if synonym(t, counts[i]) > 0 {
				df += 0.5
			}
		}
		n := float64(max(total, len(hits)))
		weights[q] = math.Log(1 + (n+1)/(df+0.5))
		if english.Hint(t) {
			weights[q] *= 0.4
		}
		best += weights[q]
	}
	for i := range hits {
		score := 0.0
		for q, t := range asked {
			n, weight := counts[i][t], weights[q]
			if n == 0 {
				n, weight = synonym(t, counts[i]), weight*synonymWeight
			}
			if n > 0 {
				score += weight * n * 1.5 / (n + 0.5*(0.6+0.4*lengths[i]/max(1, mean)))
			}
		}
		hits[i].score = score/max(best, 1e-9) + 0.02*float64(neighbours(asked, bodies[i]))
		hits[i].score = min(1, hits[i].score)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID)) })
}

// synonym is how often the commonest synonym of a term stands in a passage.
func synonym(t string, counts map[string]float64) (n float64) {
	for _, s := range english.Synonyms(t) {
		n = max(n, counts[s])
	}
	return n
}

// neighbours counts the pairs of words that stand next to each other in the query and in the text.
func neighbours(asked, body []string) (n int) {
	for q := range len(asked) - 1 {
		for i := range len(body) - 1 {
			if body[i] == asked[q] && body[i+1] == asked[q+1] {
				n++
				break
			}
		}
	}
	return n
}

// fuse joins two rankings by the reciprocals of their ranks; what leads both scores 1.
func fuse(a, b []hit) []hit {
	const k = 60
	scores := map[int64]float64{}
	all := map[int64]hit{}
	for _, list := range [][]hit{a, b} {
		for i, h := range list {
			scores[h.ID] += float64(k+1) / float64(k+1+i) / 2
			all[h.ID] = h
		}
	}
	out := make([]hit, 0, len(all))
	for id, h := range all {
		h.score = scores[id]
		out = append(out, h)
	}
	slices.SortFunc(out, func(x, y hit) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.ID, y.ID)) })
	return out
}

// hitColumns and hitFrom are the query for passages that may be found.
const (
	hitColumns = `p.id, p.document_id, d.name AS document, p.title, p.text`
	hitFrom    = ` JOIN documents d ON d.id = p.document_id AND d.live = p.edition `
)

func quoted(terms []string, quote, join string) string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = quote + strings.ReplaceAll(t, quote, "") + quote
	}
	return strings.Join(out, join)
}
