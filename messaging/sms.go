package messaging

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/once"

	"github.com/google/uuid"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// SMS is a sent text message.
type SMS struct {
	ID       int64       `db:"id"`
	Owner    accounts.ID `db:"account_id"`
	From     string      `db:"from_number"`
	To       string      `db:"to_number"`
	Body     string      `db:"body"`
	Segments int         `db:"segments"`
	Price    int64       `db:"price"`
	Ref      string      `db:"ref"`
	SID      *string     `db:"sid"`
	Status   string      `db:"status"`
	Created  db.Time     `db:"created_at"`
}

// SendSMS sends a text from an owned number; the checks are those of contract 12, in its order.
func (m *Messaging) SendSMS(ctx context.Context, owner accounts.ID, from Number, known bool, to, body string) (SMS, error) {
	if s, found, err := m.textMade(ctx, owner); found || err != nil {
		return s, err
	}
	bad := func(sentence string) error { return fault.New(fault.Malformed, "", "%s", sentence) }
	switch {
	case !known:
		return SMS{}, bad("The sending number is not in your account.")
	case !from.SMSCapable:
		return SMS{}, bad("This phone number cannot send SMS. Choose one that can.")
	case !from.Active:
		return SMS{}, bad("Phone number subscription is not active")
	case !strictE164.MatchString(to):
		return SMS{}, bad("The recipient's number cannot be used. Write it in E.164 form.")
	case !m.Phones.Allows(to):
		return SMS{}, bad("Texts to this destination are not allowed.")
	}
	s := SMS{Owner: owner, From: from.Phone, To: to, Body: body, Segments: Segments(body), Status: "sending"}
	key, _ := once.Ref(ctx)
	s.Ref = cmp.Or(key, uuid.NewString())
	s.Price = int64(s.Segments) * m.Prices.SMS(to)
	err := m.DB.Do(ctx, func(tx *db.Tx) error {
		if err := m.Ledger.Hold(ctx, tx, owner, s.Ref, s.Price); err != nil {
			if fault.Is(err, fault.NeedsPayment) {
				return bad("Your balance does not cover this SMS. Add funds, then try again.")
			}
			return err
		}
		s.Created = db.At(tx.Now())
		err := tx.Get(ctx, &s.ID, `INSERT INTO sms (account_id, from_number, to_number, body, segments, price, ref, status, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`, owner, s.From, s.To, s.Body, s.Segments, s.Price, s.Ref, s.Status, s.Created)
		if err != nil {
			return err
		}
		if err := once.Begun(ctx, tx); err != nil {
			return err
		}
		return m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.abandoned", Args: abandonedArgs{SMS: s.ID}, RunAt: tx.Now().Add(abandonAfter)})
	})
	if err != nil {
		return SMS{}, err
	}
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	sid, err := m.Texter.SMS(limited, s.From, to, body, s.Ref)
	stop()
	return m.smsDone(context.WithoutCancel(ctx), s, sid, err)
}

func (m *Messaging) smsDone(ctx context.Context, s SMS, sid string, cause error) (SMS, error) {
	if cause != nil {
		return m.smsRefused(ctx, s, cause)
	}
	s.Status, s.SID = "queued", &sid
	err := m.DB.Do(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE sms SET status = $1, sid = $2 WHERE id = $3 AND status IN ('sending', 'lost')`, s.Status, s.SID, s.ID)
		if err != nil || n == 0 { // the same request, repeated, has found it and booked it
			return err
		}
		return m.Ledger.Settle(ctx, tx, s.Owner, s.Ref, "sms", s.Price, nil)
	})
	return s, err
}

func (m *Messaging) smsRefused(ctx context.Context, s SMS, cause error) (SMS, error) {
	s.Status = "failed"
	err := once.Ending(ctx, m.DB, func(tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE sms SET status = $1 WHERE id = $2 AND status IN ('sending', 'lost')`, s.Status, s.ID)
		if err != nil || n == 0 { // the same request, repeated, has found it and booked it
			return err
		}
		return m.Ledger.Release(ctx, tx, s.Owner, s.Ref)
	})
	if err != nil {
		return s, err
	}
	text := "The carrier did not answer."
	if r, ok := errors.AsType[*Refusal](cause); ok {
		text = r.Message
	}
	return s, fault.Final((&fault.Fault{Kind: fault.Internal, Message: "The SMS could not be sent. Try again in a moment.",
		Cause: cause}).With("error", text))
}
