package chats

import (
	"context"
	"fmt"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/db"
	"parley/ids"
	"parley/value"
)

type row struct {
	ID            int64                  `db:"id"`
	UUID          string                 `db:"uuid"`
	Owner         int64                  `db:"account_id"`
	Assistant     int64                  `db:"assistant_id"`
	AssistantUUID string                 `db:"assistant_uuid"`
	AssistantName string                 `db:"assistant_name"`
	Speaker       int64                  `db:"speaker_id"`
	Switches      int                    `db:"switches"`
	Type          string                 `db:"type"`
	State         string                 `db:"state"`
	EndReason     *string                `db:"end_reason"`
	AIEnabled     bool                   `db:"ai_enabled"`
	Variables     db.JSON[value.Scalars] `db:"variables"`
	External      *string                `db:"external_identifier"`
	SenderID      *ids.Sender            `db:"sender_id"`
	SenderPhone   string                 `db:"sender_phone"`
	SenderName    string                 `db:"sender_name"`
	CustomerPhone string                 `db:"customer_phone"`
	CustomerName  string                 `db:"customer_name"`
	Messages      int                    `db:"message_count"`
	Cost          int64                  `db:"total_cost"`
	CreatedAt     db.Time                `db:"created_at"`
	UpdatedAt     db.Time                `db:"updated_at"`
	LastMessageAt db.Time                `db:"last_message_at"`
	EndedAt       db.Time                `db:"ended_at"`
}

const columns = `c.id, c.uuid, c.account_id, coalesce(c.assistant_id, 0) AS assistant_id, coalesce(a.uuid, '') AS assistant_uuid,
	coalesce(a.name, '') AS assistant_name, coalesce(c.speaker_id, 0) AS speaker_id, c.switches, c.type,
	c.state, c.end_reason, c.ai_enabled, c.variables, c.external_identifier, c.sender_id, c.sender_phone, c.sender_name, c.customer_phone,
	c.customer_name, c.message_count, c.total_cost, c.created_at, c.updated_at, c.last_message_at, c.ended_at`

const from = ` FROM conversations c LEFT JOIN assistants a ON a.id = c.assistant_id`

func (r row) conversation() Conversation {
	c := Conversation{ID: ID(r.ID), UUID: r.UUID, Owner: accounts.ID(r.Owner), Assistant: assistants.ID(r.Assistant),
		AssistantUUID: r.AssistantUUID,
		AssistantName: r.AssistantName, Speaker: assistants.ID(r.Speaker), Type: r.Type, State: r.State, AIEnabled: r.AIEnabled,
		Variables: r.Variables.V, Sender: Sender{Phone: r.SenderPhone, Name: r.SenderName}, Customer: Customer{r.CustomerPhone, r.CustomerName},
		Messages: r.Messages, Cost: value.Money(r.Cost), CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		LastMessageAt: r.LastMessageAt.Time(), EndedAt: r.EndedAt.Time(), switches: r.Switches}
	if r.EndReason != nil {
		c.EndReason = *r.EndReason
	}
	if r.External != nil {
		c.External = *r.External
	}
	if r.SenderID != nil {
		c.Sender.ID = *r.SenderID
	}
	return c
}

func (s *Chats) load(ctx context.Context, q db.Q, rest string, args ...any) ([]Conversation, error) {
	var rows []row
	err := q.Select(ctx, &rows, `SELECT `+columns+from+` WHERE `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("load conversations: %w", err)
	}
	out := make([]Conversation, len(rows))
	for i, r := range rows {
		out[i] = r.conversation()
	}
	return out, nil
}

func (s *Chats) one(ctx context.Context, q db.Q, where string, args ...any) (Conversation, error) {
	list, err := s.load(ctx, q, where, args...)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Conversation{}, err
	}
	return list[0], nil
}

// ByUUID finds a conversation whoever owns it.
func (s *Chats) ByUUID(ctx context.Context, q db.Q, uuid string) (Conversation, error) {
	return s.one(ctx, q, `c.uuid = $1`, uuid)
}

// ByID finds a conversation for the server's own use.
func (s *Chats) ByID(ctx context.Context, q db.Q, id ID) (Conversation, error) {
	return s.one(ctx, q, `c.id = $1`, int64(id))
}

// Get finds a conversation of an account by uuid or id.
func (s *Chats) Get(ctx context.Context, q db.Q, owner accounts.ID, ref value.Ref) (Conversation, error) {
	return s.one(ctx, q, `c.account_id = $1 AND (c.id = $2 OR c.uuid = $3)`, int64(owner), ref.ID, ref.UUID)
}

func (s *Chats) insert(ctx context.Context, tx *db.Tx, c *Conversation) error {
	c.State, c.AIEnabled, c.Speaker = Open, true, c.Assistant
	c.CreatedAt = s.db.Now()
	c.UpdatedAt, c.LastMessageAt = c.CreatedAt, c.CreatedAt
	var variables *string
	if c.Variables != nil {
		b, err := value.Marshal(c.Variables)
		if err != nil {
			return err
		}
		variables = text(string(b))
	}
	var sender *ids.Sender
	var assistant *assistants.ID
	if c.Sender.ID != 0 {
		sender = &c.Sender.ID
	}
	if c.Assistant != 0 {
		assistant = &c.Assistant
	}
	err := tx.Get(ctx, (*int64)(&c.ID), `
		INSERT INTO conversations (account_id, uuid, assistant_id, speaker_id, type, state, variables, external_identifier, sender_id,
			sender_phone, sender_name, customer_phone, customer_name, created_at, updated_at, last_message_at)
		VALUES ($1, $2, $3, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11, $12, $12, $12) RETURNING id`,
		int64(c.Owner), c.UUID, assistant, c.Type, variables, text(c.External), sender,
		c.Sender.Phone, c.Sender.Name, c.Customer.Phone, c.Customer.Name, db.At(c.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert conversation: %w", err)
	}
	return nil
}

// text is NULL for the empty string.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// append stores an entry, counts it, and starts the clock of inactivity anew.
func (s *Chats) append(ctx context.Context, tx *db.Tx, c *Conversation, e *Entry, waitsUntil db.Time) error {
	e.At = s.db.Now()
	var uses, trace, files *string
	for _, j := range []struct {
		to    **string
		empty bool
		v     any
	}{{&uses, len(e.Uses) == 0, e.Uses}, {&trace, len(e.trace) == 0, e.trace}, {&files, len(e.Attachments) == 0, e.Attachments}} {
		if j.empty {
			continue
		}
		b, err := value.Marshal(j.v)
		if err != nil {
			return err
		}
		*j.to = text(string(b))
	}
	if e.Role != System { // locks the conversation first, so that its entries appear in the order of their ids
		_, err := tx.Exec(ctx, `UPDATE conversations SET message_count = message_count + 1, updated_at = $2,
			last_message_at = CASE WHEN last_message_at > $2 THEN last_message_at ELSE $2 END WHERE id = $1`, int64(c.ID), db.At(e.At))
		if err != nil {
			return err
		}
	}
	err := tx.Get(ctx, &e.ID, `
		INSERT INTO conversation_entries (conversation_id, role, content, uses, trace, attachments, waits_until, created_at, ref, answers)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`,
		int64(c.ID), e.Role, e.Text, uses, trace, files, waitsUntil, db.At(e.At), text(e.ref), text(e.answers))
	if err != nil {
		return fmt.Errorf("insert entry: %w", err)
	}
	if e.Role == System {
		return nil
	}
	c.Messages, c.LastMessageAt, c.UpdatedAt = c.Messages+1, e.At, e.At
	s.tell(tx, *c, "message", e.ID)
	return s.watch(ctx, tx, *c)
}

type entryRow struct {
	ID          int64                    `db:"id"`
	Role        string                   `db:"role"`
	Content     string                   `db:"content"`
	Uses        db.JSON[[]agent.Use]     `db:"uses"`
	Trace       db.JSON[[]agent.Message] `db:"trace"`
	Attachments db.JSON[[]Attachment]    `db:"attachments"`
	CreatedAt   db.Time                  `db:"created_at"`
}

// History are all entries of a conversation, oldest first, marks included.
func (s *Chats) History(ctx context.Context, q db.Q, id ID) ([]Entry, error) {
	return s.Since(ctx, q, id, 0)
}

// Last is the id of a conversation's newest entry, 0 when it has none.
func (s *Chats) Last(ctx context.Context, q db.Q, id ID) (entry int64, err error) {
	err = q.Get(ctx, &entry, `SELECT COALESCE(MAX(id), 0) FROM conversation_entries WHERE conversation_id = $1`, int64(id))
	return entry, err
}

// Since are the entries after another, oldest first.
func (s *Chats) Since(ctx context.Context, q db.Q, id ID, entry int64) ([]Entry, error) {
	return s.entries(ctx, q, `conversation_id = $1 AND id > $2 ORDER BY id`, int64(id), entry)
}

func (s *Chats) entries(ctx context.Context, q db.Q, rest string, args ...any) ([]Entry, error) {
	var rows []entryRow
	err := q.Select(ctx, &rows, `SELECT id, role, content, uses, trace, attachments, created_at FROM conversation_entries WHERE `+rest,
		args...)
	if err != nil {
		return nil, fmt.Errorf("load history: %w", err)
	}
	out := make([]Entry, len(rows))
	for i, r := range rows {
		out[i] = Entry{ID: r.ID, Role: r.Role, Text: r.Content, Uses: r.Uses.V, Attachments: r.Attachments.V, At: r.CreatedAt.Time(),
			trace: r.Trace.V}
	}
	return out, nil
}

// Filter narrows the list of conversations. Zero fields take everything.
type Filter struct {
	Type          string
	Assistant     value.Ref
	CustomerPhone string
	SenderPhone   string
	External      string
}

// where writes the filter as SQL with its arguments: only what is asked for, so that an index can serve it.
func (f Filter) where(owner accounts.ID) (string, []any) {
	sql, args := `c.account_id = $1`, []any{int64(owner)}
	add := func(cond string, v any) {
		args = append(args, v)
		sql += fmt.Sprintf(` AND `+cond+` $%d`, len(args))
	}
	for _, is := range []struct{ column, value string }{{`c.type`, f.Type}, {`c.customer_phone`, f.CustomerPhone},
		{`c.sender_phone`, f.SenderPhone}, {`c.external_identifier`, f.External}} {
		if is.value != "" {
			add(is.column+` =`, is.value)
		}
	}
	for _, words := range []struct{ asked, sql string }{ // of the indexes
		{f.CustomerPhone, ` AND c.customer_phone <> ''`}, {f.SenderPhone, ` AND c.sender_phone <> ''`},
		{f.External, ` AND c.external_identifier IS NOT NULL`}} {
		if words.asked != "" {
			sql += words.sql
		}
	}
	switch {
	case f.Assistant.UUID != "":
		add(`c.assistant_id = (SELECT id FROM assistants WHERE uuid =`, f.Assistant.UUID)
		sql += `)`
	case f.Assistant.ID != 0:
		add(`c.assistant_id =`, f.Assistant.ID)
	}
	return sql, args
}

// Place is a position in the list, newest activity first: entries after (older) or before (newer) a moment and id.
type Place struct {
	At    int64 // microseconds; 0 = the start of the list
	ID    int64
	Newer bool
}

// PlaceOf is the position of a conversation.
func PlaceOf(c Conversation) Place { return Place{At: int64(db.At(c.UpdatedAt)), ID: int64(c.ID)} }

// rest is what follows the columns in the query of a list.
func (f Filter) rest(owner accounts.ID, at Place, limit int) (string, []any) {
	order, beyond := `DESC`, `<`
	if at.Newer {
		order, beyond = `ASC`, `>`
	}
	where, args := f.where(owner)
	if at.At != 0 {
		args = append(args, at.At, at.ID)
		where += fmt.Sprintf(` AND (c.updated_at, c.id) %s ($%d, $%d)`, beyond, len(args)-1, len(args))
	}
	args = append(args, limit+1)
	return fmt.Sprintf(`%s ORDER BY c.updated_at %s, c.id %s LIMIT $%d`, where, order, order, len(args)), args
}

// List gives an account's conversations, newest activity first, up to limit from a place; more says that there are
// further ones in its direction.
func (s *Chats) List(ctx context.Context, owner accounts.ID, f Filter, at Place, limit int) (list []Conversation, more bool, err error) {
	rest, args := f.rest(owner, at, limit)
	list, err = s.load(ctx, s.db, rest, args...)
	if err != nil {
		return nil, false, err
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	if at.Newer {
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	return list, more, nil
}

// merge puts variables over those of a conversation, key by key.
func (s *Chats) merge(ctx context.Context, tx *db.Tx, c Conversation, with value.Scalars) (Conversation, error) {
	if len(with) == 0 {
		return c, nil
	}
	c, err := s.locked(ctx, tx, c.ID)
	if err != nil {
		return c, err
	}
	c.Variables = c.Variables.With(with...)
	b, err := value.Marshal(c.Variables)
	if err != nil {
		return c, err
	}
	_, err = tx.Exec(ctx, `UPDATE conversations SET variables = $2 WHERE id = $1`, int64(c.ID), string(b))
	return c, err
}
