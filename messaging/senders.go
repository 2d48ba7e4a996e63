package messaging

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/assistants"
	"parley/db"
	"parley/fault"
)

// NewSender is a sender to be attached to an account.
type NewSender struct {
	Phone, DisplayName string
	Carrier, Ref       string
	Credentials        string // sealed
	AssistantID        *assistants.ID
	State              SenderState
}

// Attach stores a sender.
func (m *Messaging) Attach(ctx context.Context, tx *db.Tx, owner accounts.ID, n NewSender) (Sender, error) {
	s := Sender{
		Owner: owner, Phone: n.Phone, DisplayName: n.DisplayName, Status: n.State.Status, Quality: n.State.Quality, Limit: n.State.Limit,
		LimitKnown:  n.State.LimitKnown,
		AssistantID: n.AssistantID, AIEnabled: true, Carrier: n.Carrier, CarrierRef: n.Ref, Credentials: n.Credentials,
		CreatedAt: db.At(tx.Now()),
	}
	s.UpdatedAt, s.SyncedAt = s.CreatedAt, s.CreatedAt
	err := tx.Get(ctx, &s.ID, `INSERT INTO wa_senders (account_id, phone_number, display_name, status, quality_rating, messaging_limit, limit_known, assistant_id,
		carrier, carrier_ref, credentials, synced_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12) RETURNING id`,
		owner, s.Phone, s.DisplayName, s.Status, s.Quality, s.Limit, s.LimitKnown, s.AssistantID, s.Carrier, s.CarrierRef, s.Credentials,
		s.CreatedAt)
	if db.IsUniqueOf(err, "wa_senders_phone_number_key", "wa_senders.phone_number") {
		return s, senderExists()
	}
	return s, err
}

// Free refuses a phone number that another sender than except has.
func (m *Messaging) Free(ctx context.Context, q db.Q, phone string, except SenderID) error {
	var taken bool
	err := q.Get(ctx, &taken, `SELECT EXISTS (SELECT 1 FROM wa_senders WHERE phone_number = $1 AND id <> $2)`, phone, except)
	if err == nil && taken {
		err = senderExists()
	}
	return err
}

func senderExists() error {
	return fault.New(fault.Invalid, "SENDER_EXISTS", "A sender with this phone number exists already.")
}

// Joining is a sender that a customer has at a platform and wants to use here.
type Joining struct {
	Owner              accounts.ID
	Carrier            string
	Phone, DisplayName string
	Credentials        map[string]string // as the carrier names them
}

// Joined is what a platform says of such a sender.
type Joined struct {
	Ref         string // its identifier there
	Credentials string // sealed
	State       SenderState
}

// Joiner is a gateway whose senders customers bring along. A *Refusal says that the platform does not know the sender or
// the credentials; a fault names a credential that is missing.
type Joiner interface {
	Join(ctx context.Context, n Joining) (Joined, error)
}

// Join attaches a customer's sender after its platform confirmed it.
func (m *Messaging) Join(ctx context.Context, n Joining, ch SenderChange) (s Sender, err error) {
	platform, ok := m.Joiners[n.Carrier]
	if !ok {
		return s, fault.Input(fault.Bad("carrier", "in"))
	}
	var taken bool
	if err := m.DB.Get(ctx, &taken, `SELECT EXISTS (SELECT 1 FROM wa_senders WHERE phone_number = $1)`, n.Phone); err != nil {
		return s, err
	}
	if taken { // before the platform makes anything of it
		return s, senderExists()
	}
	there, err := platform.Join(ctx, n)
	if r, refused := errors.AsType[*Refusal](err); refused {
		return s, fault.New(fault.Invalid, "PROVIDER_ERROR_"+r.Code, "%s", r.Message)
	}
	if err != nil {
		return s, err
	}
	name := n.DisplayName
	if name == "" {
		name = there.State.DisplayName
	}
	err = m.DB.Do(ctx, func(tx *db.Tx) error {
		made, err := m.Attach(ctx, tx, n.Owner, NewSender{Phone: n.Phone, DisplayName: name, Carrier: n.Carrier, Ref: there.Ref,
			Credentials: there.Credentials, State: there.State})
		if err == nil {
			s, err = m.updateSender(ctx, tx, n.Owner, made.ID, ch)
		}
		return err
	})
	return s, err
}

// SenderAt finds the sender that a platform's callback speaks of.
func (m *Messaging) SenderAt(ctx context.Context, carrier, ref string) (Sender, error) {
	var s Sender
	err := m.DB.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE carrier = $1 AND carrier_ref = $2`, carrier, ref)
	if errors.Is(err, db.ErrNone) {
		err = noSender()
	}
	return s, err
}

// SenderChange is what a customer may change; nil leaves a thing alone.
type SenderChange struct {
	Assistant     **assistants.ID
	AIEnabled     *bool
	ResponseDelay **int64
	ReceiptsURL   *string
	DisplayName   *string
}

// UpdateSender changes our side of a sender.
func (m *Messaging) UpdateSender(ctx context.Context, owner accounts.ID, id SenderID, ch SenderChange) (s Sender, err error) {
	err = m.DB.Do(ctx, func(tx *db.Tx) error {
		s, err = m.updateSender(ctx, tx, owner, id, ch)
		return err
	})
	return s, err
}

func (m *Messaging) updateSender(ctx context.Context, tx *db.Tx, owner accounts.ID, id SenderID, ch SenderChange) (Sender, error) {
	s, err := m.locked(ctx, tx, owner, id)
	if err != nil {
		return s, err
	}
	set(&s.AssistantID, ch.Assistant)
	set(&s.AIEnabled, ch.AIEnabled)
	set(&s.ResponseDelay, ch.ResponseDelay)
	set(&s.ReceiptsURL, ch.ReceiptsURL)
	set(&s.DisplayName, ch.DisplayName)
	s.UpdatedAt = db.At(tx.Now())
	_, err = tx.Exec(ctx, `UPDATE wa_senders SET assistant_id = $1, ai_enabled = $2, response_delay = $3, receipts_url = $4, display_name = $5, updated_at = $6 WHERE id = $7`,
		s.AssistantID, s.AIEnabled, s.ResponseDelay, s.ReceiptsURL, s.DisplayName, s.UpdatedAt, id)
	return s, err
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

// RemoveSender detaches a sender from the account; its conversations stay readable.
func (m *Messaging) RemoveSender(ctx context.Context, owner accounts.ID, id SenderID) error {
	n, err := m.DB.Exec(ctx, `DELETE FROM wa_senders WHERE id = $1 AND account_id = $2`, id, owner)
	if err == nil && n == 0 {
		return noSender()
	}
	return err
}

// DetachAssistant takes a deleted assistant off its senders.
func (m *Messaging) DetachAssistant(ctx context.Context, q db.Q, assistant assistants.ID) error {
	_, err := q.Exec(ctx, `UPDATE wa_senders SET assistant_id = NULL WHERE assistant_id = $1`, assistant)
	return err
}
