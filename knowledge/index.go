package knowledge

import (
	"context"

	"parley/db"
)

// The full-text index is the one thing the two databases do in ways of their own; search_sqlite.go and search_postgres.go hold them.

func (r *Room) index(ctx context.Context, tx *db.Tx, id int64, base ID, terms []string) error {
	if r.db.Postgres() {
		return postgresIndex(ctx, tx, id, base, terms)
	}
	return sqliteIndex(ctx, tx, id, base, terms)
}

// unindex forgets the passages that where selects; they must still be there.
func (r *Room) unindex(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	if r.db.Postgres() {
		return postgresUnindex(ctx, tx, where, args...)
	}
	return sqliteUnindex(ctx, tx, where, args...)
}

// candidates are passages with one of the terms, the likeliest first.
func (r *Room) candidates(ctx context.Context, base ID, asked, wide []string) ([]hit, error) {
	if r.db.Postgres() {
		return r.postgresCandidates(ctx, base, asked, wide)
	}
	return r.sqliteCandidates(ctx, base, wide)
}
