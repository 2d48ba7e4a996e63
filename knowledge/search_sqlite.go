package knowledge

import (
	"context"
	"strings"

	"parley/db"
)

// sqliteIndex stores the terms of a passage for full-text search.
func sqliteIndex(ctx context.Context, tx *db.Tx, id int64, base ID, terms []string) error {
	_, err := tx.Exec(ctx, `INSERT INTO passage_terms (rowid, terms) VALUES ($1, $2)`, id, baseTerm(base)+" "+strings.Join(terms, " "))
	return err
}

func sqliteUnindex(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	_, err := tx.Exec(ctx, `DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passages WHERE `+where+`)`, args...)
	return err
}

// sqliteCandidates ranks by BM25, in which rare words count more.
func (r *Room) sqliteCandidates(ctx context.Context, base ID, wide []string) (out []hit, err error) {
	match := baseTerm(base) + ` AND (` + quoted(wide, `"`, " OR ") + `)`
	err = r.db.Select(ctx, &out, `SELECT `+hitColumns+` FROM passage_terms f JOIN passages p ON p.id = f.rowid`+hitFrom+`
		WHERE passage_terms MATCH $1 AND p.knowledgebase_id = $2 ORDER BY f.rank LIMIT $3`, match, base, candidates)
	return out, err
}
