package assistants

import (
	"context"
	"fmt"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/value"
)

// GroupID names a folder or a label.
type GroupID int64

// Group is a folder or a label.
type Group struct {
	ID    GroupID `db:"id"`
	Name  string  `db:"name"`
	Color *string `db:"color"`
	Uses  int     `db:"uses"` // assistants in it
}

// Groups are the folders or the labels of accounts.
type Groups struct {
	db    *db.DB
	table string // folders or labels
	noun  string
	uses  string
}

// Folders of which an assistant is in one at most.
func Folders(d *db.DB) *Groups {
	return &Groups{d, "folders", "folder", `SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM ` + db.Counted("assistants",
		`account_id = g.account_id AND folder_id = g.id`, false)}
}

// Labels of which an assistant has any number.
func Labels(d *db.DB) *Groups {
	return &Groups{d, "labels", "label", `SELECT count(*) FROM assistant_labels l WHERE l.label_id = g.id`}
}

// GroupChange is what a folder or label is made of.
type GroupChange struct {
	Name  value.Opt[string] `json:"name" rule:"max=255"`
	Color value.Opt[string] `json:"color" rule:"null oneof=gray|slate|red|orange|amber|green|teal|blue|purple|pink"`
}

func (g *Groups) notFound() error {
	return fault.New(fault.NotFound, "", "No %s with this id exists in your account.", g.noun)
}

func (g *Groups) query(rest string) string {
	return `SELECT g.id, g.name, g.color, (` + g.uses + `) AS uses FROM ` + g.table + ` g WHERE g.account_id = $1 ` + rest
}

// Page gives one page, newest first, and how many there are.
func (g *Groups) Page(ctx context.Context, owner accounts.ID, offset, limit int) ([]Group, int, error) {
	var total int
	if err := g.db.Get(ctx, &total, `SELECT count(*) FROM `+g.table+` WHERE account_id = $1`, owner); err != nil {
		return nil, 0, err
	}
	var out []Group
	err := g.db.Select(ctx, &out, g.query(`ORDER BY g.id DESC LIMIT $2 OFFSET $3`), owner, limit, offset)
	return out, total, err
}

// Get finds one.
func (g *Groups) Get(ctx context.Context, owner accounts.ID, id GroupID) (Group, error) {
	var out []Group
	err := g.db.Select(ctx, &out, g.query(`AND g.id = $2`), owner, id)
	if err == nil && len(out) == 0 {
		return Group{}, g.notFound()
	}
	if err != nil {
		return Group{}, err
	}
	return out[0], nil
}

// Create saves a new one. Names are unique per account.
func (g *Groups) Create(ctx context.Context, owner accounts.ID, c GroupChange) (Group, error) {
	var id GroupID
	err := g.db.Get(ctx, &id, `INSERT INTO `+g.table+` (account_id, name, color) VALUES ($1, $2, $3) RETURNING id`,
		owner, c.Name.V, c.Color.Ptr())
	if err != nil {
		return Group{}, g.nameTaken(err)
	}
	return Group{ID: id, Name: c.Name.V, Color: c.Color.Ptr()}, nil
}

// Update changes what was sent.
func (g *Groups) Update(ctx context.Context, owner accounts.ID, id GroupID, c GroupChange) (Group, error) {
	n, err := g.db.Exec(ctx, `
		UPDATE `+g.table+` SET name = CASE WHEN $3 THEN CAST($4 AS TEXT) ELSE name END,
		       color = CASE WHEN $5 THEN CAST($6 AS TEXT) ELSE color END
		WHERE account_id = $1 AND id = $2`,
		owner, id, c.Name.Has(), c.Name.V, c.Color.Set, c.Color.Ptr())
	if err == nil && n == 0 {
		err = g.notFound()
	}
	if err != nil {
		return Group{}, g.nameTaken(err)
	}
	return g.Get(ctx, owner, id)
}

// Delete removes one; its assistants stay.
func (g *Groups) Delete(ctx context.Context, owner accounts.ID, id GroupID) error {
	n, err := g.db.Exec(ctx, `DELETE FROM `+g.table+` WHERE account_id = $1 AND id = $2`, owner, id)
	if err == nil && n == 0 {
		err = g.notFound()
	}
	return err
}

func (g *Groups) nameTaken(err error) error {
	if db.IsUniqueOf(err, g.table+"_account_id_name_key", g.table+".account_id, "+g.table+".name") {
		return fault.Input(fault.Bad("name", "taken"))
	}
	return err
}

// ownedGroups gives those of some ids that an account owns.
func ownedGroups(table string) func(context.Context, db.Q, accounts.ID, []GroupID) ([]GroupID, error) {
	return func(ctx context.Context, q db.Q, owner accounts.ID, list []GroupID) ([]GroupID, error) {
		in, args := db.In(2, list)
		var out []GroupID
		err := q.Select(ctx, &out, `SELECT id FROM `+table+` WHERE account_id = $1 AND id IN `+in, append([]any{owner}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		return out, nil
	}
}
