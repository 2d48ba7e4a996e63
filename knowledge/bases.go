package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/accounts"
	"parley/db"
	"parley/value"
)

// BaseChange is the input of create and update; what is absent stays.
type BaseChange struct {
	Name        value.Opt[string] `json:"name" rule:"max=255"`
	Description value.Opt[string] `json:"description" rule:"null max=255"`
}

type baseRow struct {
	ID          int64   `db:"id"`
	Name        string  `db:"name"`
	Description *string `db:"description"`
	CreatedAt   db.Time `db:"created_at"`
	UpdatedAt   db.Time `db:"updated_at"`
	Documents   int64   `db:"documents"`
	Processing  int64   `db:"processing"`
	Failed      int64   `db:"failed"`
	Assistants  int64   `db:"assistants"`
}

// status is derived: what is being read counts most, then what failed.
func (b baseRow) status() string {
	switch {
	case b.Documents == 0:
		return "empty"
	case b.Processing > 0:
		return Processing
	case b.Failed > 0:
		return Failed
	}
	return Active
}

func (r *Room) bases(ctx context.Context, q db.Q, where string, args ...any) ([]Base, error) {
	var rows []baseRow
	err := q.Select(ctx, &rows, `
		SELECT k.id, k.name, k.description, k.created_at, k.updated_at,
		       count(d.id) AS documents,
		       count(d.id) FILTER (WHERE d.status = 'processing') AS processing,
		       count(d.id) FILTER (WHERE d.status = 'failed') AS failed,
		       (SELECT count(*) FROM assistants a WHERE a.knowledgebase_id = k.id AND a.deleted_at IS NULL) AS assistants
		FROM knowledgebases k LEFT JOIN documents d ON d.knowledgebase_id = k.id
		WHERE `+where+` GROUP BY k.id, k.name, k.description, k.created_at, k.updated_at ORDER BY k.id DESC`, args...)
	if err != nil {
		return nil, fmt.Errorf("load knowledgebases: %w", err)
	}
	out := make([]Base, len(rows))
	for i, b := range rows {
		out[i] = Base{ID(b.ID), b.Name, b.Description, b.status(), b.Documents, b.Assistants, b.CreatedAt.Time(), b.UpdatedAt.Time()}
	}
	return out, nil
}

// Bases is the account's knowledgebases, newest first; search keeps those whose name contains it.
func (r *Room) Bases(ctx context.Context, owner accounts.ID, search string) ([]Base, error) {
	list, err := r.bases(ctx, r.db, `k.account_id = $1`, owner)
	search = strings.ToLower(search)
	return slices.DeleteFunc(list, func(b Base) bool { return !strings.Contains(strings.ToLower(b.Name), search) }), err
}

// Base is one knowledgebase of the account, or ErrNoBase.
func (r *Room) Base(ctx context.Context, owner accounts.ID, id ID) (Base, error) {
	return r.base(ctx, r.db, owner, id)
}

func (r *Room) base(ctx context.Context, q db.Q, owner accounts.ID, id ID) (Base, error) {
	list, err := r.bases(ctx, q, `k.account_id = $1 AND k.id = $2`, owner, id)
	if err == nil && len(list) == 0 {
		err = ErrNoBase
	}
	if err != nil {
		return Base{}, err
	}
	return list[0], nil
}

// locked keeps a knowledgebase from being changed by others until tx ends, and its documents from being added, changed and
// removed. What is counted of it is read once it is held.
func (r *Room) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) error {
	err := tx.Get(ctx, &id, `SELECT id FROM knowledgebases WHERE account_id = $1 AND id = $2 {{lock}}`, owner, id)
	if errors.Is(err, db.ErrNone) {
		return ErrNoBase
	}
	return err
}

// Owned are those of ids that are knowledgebases of the account.
func (r *Room) Owned(ctx context.Context, q db.Q, owner accounts.ID, list []ID) (out []ID, err error) {
	in, args := db.In(2, list)
	err = q.Select(ctx, &out, `SELECT id FROM knowledgebases WHERE account_id = $1 AND id IN `+in, append([]any{owner}, args...)...)
	return out, err
}

// CreateBase stores a new, empty knowledgebase.
func (r *Room) CreateBase(ctx context.Context, owner accounts.ID, c BaseChange) (Base, error) {
	now := r.db.Now()
	out := Base{Name: c.Name.V, Description: c.Description.Ptr(), Status: "empty", CreatedAt: now, UpdatedAt: now}
	err := r.db.Get(ctx, &out.ID, `INSERT INTO knowledgebases (account_id, name, description, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $4) RETURNING id`, owner, out.Name, out.Description, db.At(now))
	return out, err
}

// UpdateBase changes name and description.
func (r *Room) UpdateBase(ctx context.Context, owner accounts.ID, id ID, c BaseChange) (out Base, err error) {
	err = r.db.Do(ctx, func(tx *db.Tx) error {
		if err := r.locked(ctx, tx, owner, id); err != nil {
			return err
		}
		if out, err = r.base(ctx, tx, owner, id); err != nil {
			return err
		}
		out.Name, out.UpdatedAt = c.Name.Or(out.Name), r.db.Now()
		if c.Description.Set {
			out.Description = c.Description.Ptr()
		}
		_, err := tx.Exec(ctx, `UPDATE knowledgebases SET name = $1, description = $2, updated_at = $3 WHERE id = $4`,
			out.Name, out.Description, db.At(out.UpdatedAt), id)
		return err
	})
	return out, err
}

// DeleteBase removes a knowledgebase with its documents, their files and passages. Assistants that use it go on without;
// the reading of its documents ends at its next step.
func (r *Room) DeleteBase(ctx context.Context, owner accounts.ID, id ID) error {
	return r.db.Do(ctx, func(tx *db.Tx) error {
		if err := r.locked(ctx, tx, owner, id); err != nil {
			return err
		}
		if err := r.eraseFiles(ctx, tx, `knowledgebase_id = $1`, id); err != nil {
			return err
		}
		if err := r.unindex(ctx, tx, `knowledgebase_id = $1`, id); err != nil {
			return err
		}
		for _, q := range []string{
			`UPDATE assistants SET knowledgebase_id = NULL WHERE knowledgebase_id = $1`,
			`DELETE FROM passages WHERE knowledgebase_id = $1`,
			`DELETE FROM documents WHERE knowledgebase_id = $1`,
			`DELETE FROM knowledgebases WHERE id = $1`,
		} {
			if _, err := tx.Exec(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
}
