package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

type row struct {
	ID          int64            `db:"id"`
	Owner       int64            `db:"account_id"`
	Name        string           `db:"name"`
	Description string           `db:"description"`
	Endpoint    string           `db:"endpoint"`
	Method      string           `db:"method"`
	BodyFormat  string           `db:"body_format"`
	Timeout     int64            `db:"timeout"`
	Headers     string           `db:"headers"`
	Static      string           `db:"static_fields"`
	Params      db.JSON[[]Param] `db:"params"`
	CreatedAt   db.Time          `db:"created_at"`
	UpdatedAt   db.Time          `db:"updated_at"`
}

const columns = `id, account_id, name, description, endpoint, method, body_format, timeout, headers, static_fields, params, created_at, updated_at`

func (t *Tools) open(r row) (Tool, error) {
	out := Tool{ID: ID(r.ID), Owner: accounts.ID(r.Owner), CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		Definition: Definition{
			Name: r.Name, Description: r.Description, Endpoint: r.Endpoint, Method: r.Method, BodyFormat: r.BodyFormat, Timeout: r.Timeout,
			Params: r.Params.V,
		}}
	err := errors.Join(unseal(t.box, r.Headers, &out.Headers), unseal(t.box, r.Static, &out.Static))
	if err != nil {
		return out, fmt.Errorf("tool %d: %w", r.ID, err)
	}
	return out, nil
}

func unseal(box Box, sealed string, dst any) error {
	b, err := box.Open(sealed)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, dst)
}

func seal(box Box, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return box.Seal(b)
}

func (t *Tools) query(ctx context.Context, q db.Q, where string, args ...any) ([]Tool, error) {
	var rows []row
	if err := q.Select(ctx, &rows, `SELECT `+columns+` FROM tools WHERE `+where, args...); err != nil {
		return nil, fmt.Errorf("load tools: %w", err)
	}
	out := make([]Tool, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = t.open(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// List is the account's tools, newest first; search keeps those whose name contains it.
func (t *Tools) List(ctx context.Context, owner accounts.ID, search string) ([]Tool, error) {
	list, err := t.query(ctx, t.db, `account_id = $1 ORDER BY id DESC`, owner)
	search = strings.ToLower(search)
	return slices.DeleteFunc(list, func(x Tool) bool { return !strings.Contains(strings.ToLower(x.Name), search) }), err
}

// Get is one tool of the account, or ErrNotFound.
func (t *Tools) Get(ctx context.Context, owner accounts.ID, id ID) (Tool, error) {
	return t.one(ctx, t.db, `account_id = $1 AND id = $2`, owner, id)
}

// locked reads a tool that nobody else changes until tx ends.
func (t *Tools) locked(ctx context.Context, tx *db.Tx, owner accounts.ID, id ID) (Tool, error) {
	return t.one(ctx, tx, `account_id = $1 AND id = $2 {{lock}}`, owner, id)
}

func (t *Tools) one(ctx context.Context, q db.Q, where string, args ...any) (Tool, error) {
	list, err := t.query(ctx, q, where, args...)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Tool{}, err
	}
	return list[0], nil
}

// Of is the tools of an assistant, in the order they were assigned.
func (t *Tools) Of(ctx context.Context, owner accounts.ID, list []ID) ([]Tool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	in, args := db.In(2, list)
	own, err := t.query(ctx, t.db, `account_id = $1 AND id IN `+in, append([]any{owner}, args...)...)
	if err != nil {
		return nil, err
	}
	byID := map[ID]Tool{}
	for _, x := range own {
		byID[x.ID] = x
	}
	var out []Tool
	for _, id := range list {
		if x, ok := byID[id]; ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// Owned are those of ids that are tools of the account.
func (t *Tools) Owned(ctx context.Context, q db.Q, owner accounts.ID, list []ID) (out []ID, err error) {
	in, args := db.In(2, list)
	err = q.Select(ctx, &out, `SELECT id FROM tools WHERE account_id = $1 AND id IN `+in, append([]any{owner}, args...)...)
	return out, err
}

// Create stores a new tool, or says everything that is wrong with it; failed are rules that it breaks already.
func (t *Tools) Create(ctx context.Context, owner accounts.ID, c Change, failed ...fault.Field) (Tool, error) {
	d := c.Definition()
	now := t.db.Now()
	headers, err := seal(t.box, d.Headers)
	if err != nil {
		return Tool{}, err
	}
	static, err := seal(t.box, d.Static)
	if err != nil {
		return Tool{}, err
	}
	out := Tool{Owner: owner, Definition: d, CreatedAt: now, UpdatedAt: now}
	err = t.db.Do(ctx, func(tx *db.Tx) error {
		if err := t.judge(ctx, tx, owner, 0, c, failed); err != nil {
			return err
		}
		if err := t.room(ctx, tx, owner); err != nil {
			return err
		}
		return tx.Get(ctx, &out.ID, `INSERT INTO tools (account_id, name, description, endpoint, method, body_format, timeout, headers, static_fields, params, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING id`,
			owner, d.Name, d.Description, d.Endpoint, d.Method, d.BodyFormat, d.Timeout, headers, static, db.JSON[[]Param]{V: d.Params}, db.At(now))
	})
	if sameName(err) {
		return Tool{}, named()
	}
	return out, err
}

// sameName reports whether a tool was refused for its name.
func sameName(err error) bool {
	return db.IsUniqueOf(err, "tools_account_id_name_key", "tools.account_id, tools.name")
}

// room refuses when the plan's tools are used up.
func (t *Tools) room(ctx context.Context, tx *db.Tx, owner accounts.ID) error {
	if t.limit == nil {
		return nil
	}
	most, err := t.limit(ctx, tx, owner)
	if most == nil || err != nil {
		return err
	}
	var have int64
	if err := tx.Get(ctx, &have, `SELECT count(*) FROM tools WHERE account_id = $1`, owner); err != nil {
		return err
	}
	if accounts.Reached(most, have) {
		return full(*most)
	}
	return nil
}

// Update changes a tool, or says everything that is wrong with the change; failed are rules that it breaks already. Running
// conversations keep what they started with.
func (t *Tools) Update(ctx context.Context, owner accounts.ID, id ID, c Change, failed ...fault.Field) (Tool, error) {
	var out Tool
	err := t.db.Do(ctx, func(tx *db.Tx) (err error) {
		if out, err = t.locked(ctx, tx, owner, id); err != nil {
			return err
		}
		if err := t.judge(ctx, tx, owner, id, c, failed); err != nil {
			return err
		}
		out.Definition, out.UpdatedAt = c.Over(out.Definition), t.db.Now()
		return t.store(ctx, tx, out)
	})
	if sameName(err) {
		return Tool{}, named()
	}
	return out, err
}

func (t *Tools) store(ctx context.Context, tx *db.Tx, x Tool) error {
	headers, err := seal(t.box, x.Headers)
	if err != nil {
		return err
	}
	static, err := seal(t.box, x.Static)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE tools SET name = $1, description = $2, endpoint = $3, method = $4, body_format = $5, timeout = $6,
		headers = $7, static_fields = $8, params = $9, updated_at = $10 WHERE id = $11`,
		x.Name, x.Description, x.Endpoint, x.Method, x.BodyFormat, x.Timeout, headers, static, db.JSON[[]Param]{V: x.Params}, db.At(x.UpdatedAt),
		x.ID)
	return err
}

// Delete removes a tool, also from every assistant that has it.
func (t *Tools) Delete(ctx context.Context, owner accounts.ID, id ID) error {
	n, err := t.db.Exec(ctx, `DELETE FROM tools WHERE account_id = $1 AND id = $2`, owner, id)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}
