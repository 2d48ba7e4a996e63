package knowledge

import (
	"context"
	"strings"

	"parley/db"
)

// postgresIndex stores the terms of a passage for full-text search.
func postgresIndex(ctx context.Context, tx *db.Tx, id int64, base ID, terms []string) error {
	_, err := tx.Exec(ctx, `INSERT INTO passage_terms (id, terms) VALUES ($1, to_tsvector('simple', $2))`,
		id, baseTerm(base)+" "+strings.Join(terms, " "))
	return err
}

func postgresUnindex(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	_, err := tx.Exec(ctx, `DELETE FROM passage_terms WHERE id IN (SELECT id FROM passages WHERE `+where+`)`, args...)
	return err
}

// postgresCandidates ranks by ts_rank, which does not know rare words from common ones; so each word of the query also brings some
// passages of its own.
func (r *Room) postgresCandidates(ctx context.Context, base ID, asked, wide []string) ([]hit, error) {
	var out []hit
	seen := map[int64]bool{}
	add := func(terms []string, limit int) error {
		var part []hit
		err := r.db.Select(ctx, &part, `SELECT `+hitColumns+` FROM passage_terms f JOIN passages p ON p.id = f.id`+hitFrom+`
			WHERE f.terms @@ to_tsquery('simple', $1) AND p.knowledgebase_id = $2
			ORDER BY ts_rank(f.terms, to_tsquery('simple', $3)) DESC, p.id LIMIT $4`,
			baseTerm(base)+` & (`+quoted(terms, `'`, " | ")+`)`, base, quoted(wide, `'`, " | "), limit)
		for _, h := range part {
			if !seen[h.ID] {
				seen[h.ID] = true
				out = append(out, h)
			}
		}
		return err
	}
	if err := add(wide, candidates); err != nil {
		return nil, err
	}
	if len(out) < candidates {
		return out, nil
	}
	for _, t := range asked {
		if err := add([]string{t}, candidates/4); err != nil {
			return nil, err
		}
	}
	return out, nil
}
