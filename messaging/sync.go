package messaging

import (
	"context"
	"errors"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
)

// SyncSenders takes over the platform's side of every sender (every 5 minutes).
func (m *Messaging) SyncSenders(ctx context.Context, now time.Time) error {
	return m.eachSender(ctx, func(s Sender) error { return m.SyncSender(ctx, s, now) })
}

// SyncTemplates takes over the platform's templates of every sender (every 4 hours).
func (m *Messaging) SyncTemplates(ctx context.Context, now time.Time) error {
	return m.eachSender(ctx, func(s Sender) error { return m.syncTemplates(ctx, s, now) })
}

func (m *Messaging) eachSender(ctx context.Context, do func(Sender) error) error {
	var all []Sender
	if err := m.DB.Select(ctx, &all, `SELECT `+senderColumns+` FROM wa_senders ORDER BY id`); err != nil {
		return err
	}
	var failed error
	for _, s := range all {
		failed = errors.Join(failed, do(s))
	}
	return failed
}

// SyncSender asks the platform about one sender.
func (m *Messaging) SyncSender(ctx context.Context, s Sender, now time.Time) error {
	asked := m.DB.Now()
	state, err := m.platform(s).Sender(ctx, s)
	if err != nil {
		return err
	}
	var phone *string
	if state.Phone != "" {
		phone = &state.Phone
	}
	_, err = m.DB.Exec(ctx, `UPDATE wa_senders SET phone_number = coalesce($1, phone_number), display_name = $2, status = $3, quality_rating = $4, messaging_limit = $5,
		limit_known = $6, synced_at = $7, updated_at = $7 WHERE id = $8 AND updated_at <= $9`, // what changed since is newer than the answer
		phone, state.DisplayName, state.Status, state.Quality, state.Limit, state.LimitKnown, db.At(now), s.ID, db.At(asked))
	return err
}

// SyncTemplatesOf does it for one sender on request and answers its templates.
func (m *Messaging) SyncTemplatesOf(ctx context.Context, owner accounts.ID, sender SenderID) ([]Template, error) {
	s, err := m.Sender(ctx, m.DB, owner, sender)
	if err != nil {
		return nil, err
	}
	if err := m.syncTemplates(ctx, s, m.DB.Now()); err != nil {
		return nil, err
	}
	return m.Templates(ctx, m.DB, s.ID)
}

func (m *Messaging) syncTemplates(ctx context.Context, s Sender, now time.Time) error {
	states, err := m.platform(s).Templates(ctx, s)
	if err != nil {
		return err
	}
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		for _, state := range states {
			if _, err := m.TakeTemplate(ctx, tx, s, state, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// TakeTemplate stores the platform's side of one template: known by its reference, else by name and language, else new.
func (m *Messaging) TakeTemplate(ctx context.Context, tx *db.Tx, s Sender, t TemplateState, now time.Time) (made Template, err error) {
	variables := db.JSON[[]string]{V: list(t.Variables)}
	err = tx.Get(ctx, &made, `UPDATE wa_templates SET carrier_ref = $1, name = $2, language = $3, category = $4, status = $5, body_text = $6, variables = $7,
		asks_call_permission = $8, rejected_reason = $9, synced_at = $10, updated_at = $10
		WHERE sender_id = $11 AND (carrier_ref = $1 AND $1 <> '' OR carrier_ref = '' AND name = $2 AND language = $3) RETURNING `+templateColumns,
		t.Ref, t.Name, t.Language, t.Category, t.Status, t.Body, variables, t.AsksCalls, t.RejectedFor, db.At(now), s.ID)
	if !errors.Is(err, db.ErrNone) {
		return made, err
	}
	err = tx.Get(ctx, &made, `INSERT INTO wa_templates (account_id, sender_id, name, language, category, status, body_text, variables, carrier_ref, asks_call_permission, rejected_reason, synced_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12) RETURNING `+templateColumns,
		s.Owner, s.ID, t.Name, t.Language, t.Category, t.Status, t.Body, variables, t.Ref, t.AsksCalls, t.RejectedFor, db.At(now))
	return made, err
}

// NewTemplate is a template to be handed in.
type NewTemplate struct {
	Name, Language, Category, Body string
	Variables, Examples            []string
}

// CreateTemplate stores a pending template and hands it to the platform; one the platform cannot take now stays without
// an identifier until a later sync finds it.
func (m *Messaging) CreateTemplate(ctx context.Context, owner accounts.ID, sender SenderID, n NewTemplate) (Template, error) {
	s, err := m.Sender(ctx, m.DB, owner, sender)
	if err != nil {
		return Template{}, err
	}
	t := Template{Owner: owner, SenderID: s.ID, Name: n.Name, Language: n.Language, Category: n.Category, Status: TemplatePending,
		Body: n.Body}
	t.Variables.V, t.Examples.V = list(n.Variables), list(n.Examples)
	ref, err := m.platform(s).Submit(ctx, s, t)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return t, fault.New(fault.Invalid, "PROVIDER_ERROR_"+r.Code, "%s", r.Message)
	}
	t.CarrierRef = ref
	t.CreatedAt = db.At(m.DB.Now())
	t.UpdatedAt = t.CreatedAt
	err = m.DB.Get(ctx, &t.ID, `INSERT INTO wa_templates (account_id, sender_id, name, language, category, status, body_text, variables, examples, carrier_ref, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING id`,
		owner, s.ID, t.Name, t.Language, t.Category, t.Status, t.Body, t.Variables, t.Examples, t.CarrierRef, t.CreatedAt)
	return t, err
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
