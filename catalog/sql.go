package catalog

import (
	"context"
	"errors"
	"fmt"

	"parley/db"
)

// numbering gives every engine, voice and model a number that it keeps.
type numbering struct {
	tx  *db.Tx
	ctx context.Context
}

// id finds or gives the number of a thing. Two processes that start together may pick the same one: the loser's
// insert changes nothing, and it picks the next.
func (n numbering) id(kind, code string) (id int64, err error) {
	for range 100 {
		err = n.tx.Get(n.ctx, &id, `SELECT id FROM catalog_ids WHERE kind = $1 AND code = $2`, kind, code)
		if !errors.Is(err, db.ErrNone) {
			return id, err
		}
		_, err = n.tx.Exec(n.ctx, `
			INSERT INTO catalog_ids (kind, code, id)
			SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), coalesce(max(id), 0) + 1 FROM catalog_ids WHERE kind = $1
			ON CONFLICT DO NOTHING`, kind, code)
		if err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("no number for %s %s", kind, code)
}
