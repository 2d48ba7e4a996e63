package assistants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/value"
)

// Version is an assistant as a change left it.
type Version struct {
	N         int
	At        time.Time
	By        By
	Changed   []string // the fields that differ from the version before; nil for the first
	Assistant          // as it was; who it is and its status are of today
}

// ErrNoVersion is the answer for a version that does not exist.
var ErrNoVersion = fault.New(fault.NotFound, "", "Version not found")

type versionRow struct {
	N        int               `db:"n"`
	At       db.Time           `db:"created_at"`
	By       db.JSON[By]       `db:"made_by"`
	Changed  db.JSON[[]string] `db:"changed"`
	Settings string            `db:"settings"`
	Inbound  *string           `db:"inbound_webhook_url"`
}

// keepVersion stores what a change left, lists included.
func (s *Assistants) keepVersion(ctx context.Context, tx *db.Tx, a Assistant, by By, names []string) error {
	doc, err := s.document(a.Settings)
	if err != nil {
		return err
	}
	var inbound *string
	if a.InboundWebhookURL != "" {
		inbound = &a.InboundWebhookURL
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO assistant_versions (assistant_id, n, created_at, made_by, changed, settings, inbound_webhook_url)
		SELECT CAST($1 AS BIGINT), coalesce(max(n), 0) + 1, CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT)
		FROM assistant_versions WHERE assistant_id = $1`,
		a.ID, db.At(a.UpdatedAt), db.JSON[By]{V: by}, db.JSON[[]string]{V: names}, doc, inbound)
	if err != nil {
		return fmt.Errorf("keep version of assistant: %w", err)
	}
	return nil
}

// Versions are all versions of an assistant, newest first.
func (s *Assistants) Versions(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) ([]Version, error) {
	a, err := s.Get(ctx, q, owner, ref)
	if err != nil {
		return nil, err
	}
	return s.versions(ctx, q, a, `assistant_id = $1 ORDER BY n DESC`, a.ID)
}

func (s *Assistants) versions(ctx context.Context, q db.Q, of Assistant, where string, args ...any) ([]Version, error) {
	var rows []versionRow
	err := q.Select(ctx, &rows, `SELECT n, created_at, made_by, changed, settings, inbound_webhook_url FROM assistant_versions WHERE `+where,
		args...)
	if err != nil {
		return nil, fmt.Errorf("load versions: %w", err)
	}
	out := make([]Version, len(rows))
	for i, r := range rows {
		v := Version{N: r.N, At: r.At.Time(), By: r.By.V, Changed: r.Changed.V, Assistant: of}
		v.InboundWebhookURL, v.UpdatedAt = "", v.At
		if r.Inbound != nil {
			v.InboundWebhookURL = *r.Inbound
		}
		if v.Settings, err = s.memo.fields(r.Settings); err != nil {
			return nil, fmt.Errorf("version %d: %w", r.N, err)
		}
		if err := v.Tools.EachSecret(s.unseal); err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Restore makes a version the present one. What it names and is no longer there is left out, with a warning.
func (s *Assistants) Restore(ctx context.Context, owner accounts.ID, ref value.Ref, n int, by By) (Assistant, []Warning, error) {
	var a Assistant
	var warned []Warning
	err := s.write(ctx, func(tx *db.Tx) error {
		old, err := s.locked(ctx, tx, owner, ref)
		if err != nil {
			return err
		}
		list, err := s.versions(ctx, tx, old, `assistant_id = $1 AND n = $2`, old.ID, n)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return ErrNoVersion
		}
		a = old
		a.Settings, a.InboundWebhookURL = list[0].Settings, list[0].InboundWebhookURL
		a.Status = old.Status
		if warned, err = s.mend(ctx, tx, old, &a); err != nil {
			return err
		}
		return s.save(ctx, tx, old, &a, by)
	})
	if err != nil {
		return Assistant{}, nil, err
	}
	s.tell(owner, a.ID)
	return a, warned, nil
}

// mend drops from restored fields what the rules refuse today; what cannot be dropped refuses the restore.
func (s *Assistants) mend(ctx context.Context, tx *db.Tx, old Assistant, a *Assistant) ([]Warning, error) {
	var warned []Warning
	for range 8 { // dropping one thing can uncover another, never many
		dropped := map[string]bool{}
		sent := a.Settings
		j, err := s.judge(ctx, tx, a.Owner, &old, Change{Patch: value.Whole(sent)})
		if err != nil || len(j.bad) == 0 {
			return warned, err
		}
		var left []fault.Field
		for _, f := range slices.Backward(j.bad) { // from the end, so that indexes stay true
			if dropped[element(f.Name)] {
				continue
			}
			if a.drop(f.Name) {
				dropped[element(f.Name)] = true
				warned = append(warned, Warning{f.Name, "Left out: " + f.Sentence})
			} else {
				left = append(left, f)
			}
		}
		if len(left) > 0 {
			return nil, fault.Input(left...)
		}
	}
	return nil, errors.New("a version could not be made to fit")
}

// drop empties a field that may be empty and reports whether it did.
func (a *Assistant) drop(key string) bool {
	d := defaults()
	switch head, _, _ := strings.Cut(key, "."); head {
	case "phone_number_id":
		a.PhoneNumberID = d.PhoneNumberID
	case "knowledgebase_id":
		a.KnowledgebaseID = d.KnowledgebaseID
	case "folder_id":
		a.FolderID = d.FolderID
	case "label_ids":
		a.LabelIDs = without(a.LabelIDs, key)
	case "tool_ids":
		a.ToolIDs = without(a.ToolIDs, key)
	case "tools":
		a.Tools = without(a.Tools, key)
	case "synthesizer_provider_id":
		a.SynthesizerProviderID = d.SynthesizerProviderID
	case "transcriber_provider_id":
		a.TranscriberProviderID = d.TranscriberProviderID
	case "chat_llm_fallback_id":
		a.ChatLLMFallbackID = d.ChatLLMFallbackID
	default:
		return false
	}
	return true
}

// element is the part of an error key that names a field or an element of it.
func element(key string) string {
	parts := strings.SplitN(key, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// without is the list without the element that an error key names.
func without[L ~[]T, T any](list L, key string) L {
	_, rest, _ := strings.Cut(key, ".")
	index, _, _ := strings.Cut(rest, ".")
	i, err := strconv.Atoi(index)
	if err != nil || i >= len(list) {
		return L{}
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}
