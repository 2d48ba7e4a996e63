package messaging

import (
	"context"
	"errors"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/once"
)

// made finds what an earlier try of the request sent, and finishes it. Not found: nothing was sent.
func (m *Messaging) made(ctx context.Context, owner accounts.ID) (r Receipted, found bool, err error) {
	ref, again := once.Ref(ctx)
	if !again {
		return r, false, nil
	}
	var msg Message
	err = m.DB.Get(ctx, &msg, `SELECT `+messageColumns+` FROM wa_messages WHERE ref = $1 AND account_id = $2`, ref, owner)
	if err != nil {
		return r, false, ignoreNone(err)
	}
	var sid string
	if msg.Status == Sending || msg.Status == "lost" {
		sender, err := m.Sender(ctx, m.DB, owner, msg.SenderID)
		if err != nil {
			return r, true, err
		}
		sid, err = whether(ctx, msg.Status == Sending, func(ctx context.Context) (string, error) {
			return m.platform(sender).Sent(ctx, sender, ref)
		})
		switch {
		case errors.Is(err, ErrUntold):
			return r, true, fault.Final(carrierFault(err))
		case err != nil:
			return r, true, err
		case sid == "":
			return r, false, m.unsend(ctx, owner, ref)
		}
	}
	err = m.DB.Do(ctx, func(tx *db.Tx) (err error) {
		r, err = m.accepted(ctx, tx, msg, sid)
		return err
	})
	r.Message.Status = Queued
	return r, true, err
}

// textMade does the same for a text.
func (m *Messaging) textMade(ctx context.Context, owner accounts.ID) (s SMS, found bool, err error) {
	ref, again := once.Ref(ctx)
	if !again {
		return s, false, nil
	}
	err = m.DB.Get(ctx, &s, `SELECT id, account_id, from_number, to_number, body, segments, price, ref, sid, status, created_at
		FROM sms WHERE ref = $1 AND account_id = $2`, ref, owner)
	if err != nil || s.Status == "queued" {
		return s, err == nil, ignoreNone(err)
	}
	sid, err := whether(ctx, s.Status == "sending", func(ctx context.Context) (string, error) { return m.Texter.SentSMS(ctx, ref) })
	switch {
	case errors.Is(err, ErrUntold):
		s, err = m.smsRefused(ctx, s, err)
	case err != nil:
	case sid == "":
		return s, false, m.unsend(ctx, owner, ref)
	default:
		s, err = m.smsDone(ctx, s, sid, nil)
	}
	return s, true, err
}

// whether hears what the platform says it took. One that cannot be asked may still say so by itself, until the message is
// given up.
func whether(ctx context.Context, hoping bool, ask func(ctx context.Context) (sid string, err error)) (string, error) {
	limited, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	sid, err := ask(limited)
	if errors.Is(err, ErrUntold) && hoping {
		err = once.ErrRunning
	}
	return sid, err
}

// unsend takes back what was reserved for a message that the platform never got.
func (m *Messaging) unsend(ctx context.Context, owner accounts.ID, ref string) error {
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		message, err := tx.Exec(ctx, `DELETE FROM wa_messages WHERE ref = $1 AND account_id = $2 AND status IN ('sending', 'lost')`, ref, owner)
		if err != nil {
			return err
		}
		text, err := tx.Exec(ctx, `DELETE FROM sms WHERE ref = $1 AND account_id = $2 AND status IN ('sending', 'lost')`, ref, owner)
		if err == nil && message+text == 0 {
			err = once.ErrRunning // a callback was quicker: the next try finds it
		}
		if err != nil {
			return err
		}
		return m.Ledger.Release(ctx, tx, owner, ref)
	})
}
