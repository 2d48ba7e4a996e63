package assistants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/ids"
	"parley/value"

	"github.com/google/uuid"
)

type row struct {
	ID            ID                 `db:"id"`
	UUID          string             `db:"uuid"`
	Owner         accounts.ID        `db:"account_id"`
	Status        string             `db:"status"`
	Paused        bool               `db:"paused"`
	PhoneNumber   *ids.Number        `db:"phone_number_id"`
	Knowledgebase *ids.Knowledgebase `db:"knowledgebase_id"`
	Folder        *GroupID           `db:"folder_id"`
	InboundURL    *string            `db:"inbound_webhook_url"`
	Settings      string             `db:"settings"`
	Tools         *string            `db:"tools"` // position:id, in any order
	Labels        *string            `db:"labels"`
	CreatedAt     db.Time            `db:"created_at"`
	UpdatedAt     db.Time            `db:"updated_at"`
}

// load reads assistants with their tool and label lists.
func (s *Assistants) load(ctx context.Context, q db.Q, where string, args ...any) ([]Assistant, error) {
	var rows []row
	err := q.Select(ctx, &rows, `
		SELECT id, uuid, account_id, status, paused, phone_number_id, knowledgebase_id, folder_id, inbound_webhook_url,
		       settings, created_at, updated_at,
		       (SELECT string_agg(t.position || ':' || t.tool_id, ',') FROM assistant_tools t WHERE t.assistant_id = assistants.id) AS tools,
		       (SELECT string_agg(l.position || ':' || l.label_id, ',') FROM assistant_labels l WHERE l.assistant_id = assistants.id) AS labels
		FROM assistants WHERE deleted_at IS NULL AND `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("load assistants: %w", err)
	}
	out := make([]Assistant, len(rows))
	for i, r := range rows {
		if out[i], err = s.open(r); err != nil {
			return nil, fmt.Errorf("assistant %d: %w", r.ID, err)
		}
	}
	return out, nil
}

// open turns a row into an assistant. Columns win over the document: other rooms detach by column.
func (s *Assistants) open(r row) (Assistant, error) {
	a := Assistant{ID: r.ID, UUID: r.UUID, Owner: r.Owner, Paused: r.Paused,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time()}
	if r.InboundURL != nil {
		a.InboundWebhookURL = *r.InboundURL
	}
	var err error
	if a.Settings, err = s.memo.fields(r.Settings); err != nil {
		return a, err
	}
	a.Status = r.Status
	a.PhoneNumberID, a.KnowledgebaseID, a.FolderID = r.PhoneNumber, r.Knowledgebase, r.Folder
	if a.ToolIDs, err = idList[ids.Tool](r.Tools); err != nil {
		return a, err
	}
	if a.LabelIDs, err = idList[GroupID](r.Labels); err != nil {
		return a, err
	}
	return a, a.Tools.EachSecret(s.unseal)
}

// idList reads a list such as "1:17,0:3" in the order of the positions: sorting here is cheaper than in every query.
// None is empty.
func idList[T ~int64](list *string) ([]T, error) {
	type entry struct{ position, id int64 }
	var entries []entry
	if list != nil {
		for part := range strings.SplitSeq(*list, ",") {
			position, id, _ := strings.Cut(part, ":")
			p, errP := strconv.ParseInt(position, 10, 64)
			n, errN := strconv.ParseInt(id, 10, 64)
			if err := errors.Join(errP, errN); err != nil {
				return nil, err
			}
			entries = append(entries, entry{p, n})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id))
	})
	out := make([]T, len(entries))
	for i, e := range entries {
		out[i] = T(e.id)
	}
	return out, nil
}

// document is the stored form of the fields: calendar keys sealed.
func (s *Assistants) document(f Settings) (string, error) {
	f.Tools = f.Tools.Clone()
	if err := f.Tools.EachSecret(s.seal); err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	b, err := value.Marshal(f)
	return string(b), err
}

func (s *Assistants) seal(key string) (string, error) { return s.box.Seal([]byte(key)) }

func (s *Assistants) unseal(sealed string) (string, error) {
	b, err := s.box.Open(sealed)
	return string(b), err
}

func (s *Assistants) insert(ctx context.Context, tx *db.Tx, a *Assistant) error {
	doc, err := s.document(a.Settings)
	if err != nil {
		return err
	}
	a.UUID, a.CreatedAt = uuid.NewString(), s.db.Now().UTC().Truncate(time.Microsecond)
	a.UpdatedAt = a.CreatedAt
	err = tx.Get(ctx, (*int64)(&a.ID), `
		INSERT INTO assistants (account_id, uuid, name, type, mode, status, paused, phone_number_id, knowledgebase_id,
		                        folder_id, settings, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, FALSE, $7, $8, $9, $10, $11, $11) RETURNING id`,
		a.Owner, a.UUID, a.Name, a.Type, a.Mode, a.Status, a.PhoneNumberID, a.KnowledgebaseID,
		a.FolderID, doc, db.At(a.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert assistant: %w", err)
	}
	return s.link(ctx, tx, *a)
}

func (s *Assistants) update(ctx context.Context, tx *db.Tx, a *Assistant) error {
	doc, err := s.document(a.Settings)
	if err != nil {
		return err
	}
	a.UpdatedAt = s.db.Now().UTC().Truncate(time.Microsecond)
	var inbound *string
	if a.InboundWebhookURL != "" {
		inbound = &a.InboundWebhookURL
	}
	_, err = tx.Exec(ctx, `
		UPDATE assistants SET name = $2, type = $3, mode = $4, status = $5, paused = $6, phone_number_id = $7,
		       knowledgebase_id = $8, folder_id = $9, settings = $10, inbound_webhook_url = $11, updated_at = $12
		WHERE id = $1`,
		a.ID, a.Name, a.Type, a.Mode, a.Status, a.Paused, a.PhoneNumberID, a.KnowledgebaseID,
		a.FolderID, doc, inbound, db.At(a.UpdatedAt))
	if err != nil {
		return fmt.Errorf("update assistant: %w", err)
	}
	return s.link(ctx, tx, *a)
}

// link replaces the rows of tools and labels.
func (s *Assistants) link(ctx context.Context, tx *db.Tx, a Assistant) error {
	err := relink(ctx, tx, a.ID, a.ToolIDs, `DELETE FROM assistant_tools WHERE assistant_id = $1`,
		`INSERT INTO assistant_tools (assistant_id, tool_id, position) VALUES ($1, $2, $3)`)
	if err != nil {
		return err
	}
	return relink(ctx, tx, a.ID, a.LabelIDs, `DELETE FROM assistant_labels WHERE assistant_id = $1`,
		`INSERT INTO assistant_labels (assistant_id, label_id, position) VALUES ($1, $2, $3)`)
}

func relink[T any](ctx context.Context, tx *db.Tx, a ID, list []T, clearing, adding string) error {
	if _, err := tx.Exec(ctx, clearing, a); err != nil {
		return fmt.Errorf("unlink assistant: %w", err)
	}
	for i, id := range list {
		if _, err := tx.Exec(ctx, adding, a, id, i); err != nil {
			return fmt.Errorf("link assistant: %w", err)
		}
	}
	return nil
}

// bury leaves the name and the ids of a deleted assistant and wipes everything else.
func (s *Assistants) bury(ctx context.Context, tx *db.Tx, id ID) error {
	for _, q := range []string{
		`DELETE FROM assistant_tools WHERE assistant_id = $1`,
		`DELETE FROM assistant_labels WHERE assistant_id = $1`,
		`DELETE FROM assistant_versions WHERE assistant_id = $1`,
	} {
		if _, err := tx.Exec(ctx, q, id); err != nil {
			return fmt.Errorf("delete assistant: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `
		UPDATE assistants SET deleted_at = $2, settings = '{}', phone_number_id = NULL, knowledgebase_id = NULL,
		       folder_id = NULL, inbound_webhook_url = NULL, status = 'inactive' WHERE id = $1`, id, db.At(s.db.Now()))
	return err
}

// DetachNumber takes a released number away from its assistants.
func (s *Assistants) DetachNumber(ctx context.Context, q db.Q, number ids.Number) error {
	_, err := q.Exec(ctx, `UPDATE assistants SET phone_number_id = NULL WHERE phone_number_id = $1`, number)
	return err
}

// ByNumber says which assistants of an account have each number, by their ids.
func (s *Assistants) ByNumber(ctx context.Context, owner accounts.ID) (map[ids.Number][]ID, error) {
	var rows []struct {
		ID     ID         `db:"id"`
		Number ids.Number `db:"phone_number_id"`
	}
	err := s.db.Select(ctx, &rows, `SELECT id, phone_number_id FROM assistants
		WHERE account_id = $1 AND phone_number_id IS NOT NULL ORDER BY id`, owner)
	out := make(map[ids.Number][]ID, len(rows))
	for _, r := range rows {
		out[r.Number] = append(out[r.Number], r.ID)
	}
	return out, err
}

// Names are those of an account's assistants with the given ids.
func (s *Assistants) Names(ctx context.Context, q db.Q, owner accounts.ID, list []ID) (map[ID]string, error) {
	in, args := db.In(2, list)
	var rows []struct {
		ID   ID     `db:"id"`
		Name string `db:"name"`
	}
	err := q.Select(ctx, &rows, `SELECT id, name FROM assistants WHERE account_id = $1 AND deleted_at IS NULL AND id IN `+in,
		append([]any{owner}, args...)...)
	out := make(map[ID]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, err
}

// Attachable is a number that an assistant can be given.
type Attachable struct {
	Number
	Held bool // an inbound assistant has it
}

// Attachable lists the account's numbers by id, without those that are scheduled for release.
func (s *Assistants) Attachable(ctx context.Context, owner accounts.ID) ([]Attachable, error) {
	if s.account.Numbers == nil {
		return nil, nil
	}
	list, err := s.account.Numbers(ctx, s.db, owner, nil)
	if err != nil {
		return nil, err
	}
	var held []ids.Number
	err = s.db.Select(ctx, &held, `SELECT phone_number_id FROM assistants
		WHERE account_id = $1 AND type = 'inbound' AND phone_number_id IS NOT NULL`, owner)
	var out []Attachable
	for _, n := range list {
		if !n.Scheduled {
			out = append(out, Attachable{n, slices.Contains(held, n.ID)})
		}
	}
	return out, err
}
