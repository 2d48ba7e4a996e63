package messaging

import (
	"context"
	"errors"
	"time"

	"parley/db"
	"parley/fault"
	"parley/jobs"
)

// Incoming is a customer's message as a platform's callback brings it.
type Incoming struct {
	SenderID int64
	From     string // E.164; empty when the platform hides it
	ID       string // the platform's identifier of the message: a repeat is dropped
	Name     string
	Text     string
	Media    []Media
}

// Receive stores a customer's message, restarts the window and has it answered. fresh is false for a repeat.
func (m *Messaging) Receive(ctx context.Context, in Incoming) (fresh bool, err error) {
	err = m.DB.Do(ctx, func(tx *db.Tx) error {
		fresh = false
		var s Sender
		err := tx.Get(ctx, &s, `UPDATE wa_senders SET turns = turns + 1 WHERE id = $1 RETURNING `+senderColumns, in.SenderID)
		if errors.Is(err, db.ErrNone) {
			return noSender()
		}
		if err != nil {
			return err
		}
		var n int
		if err := tx.Get(ctx, &n, `SELECT count(*) FROM wa_messages WHERE sender_id = $1 AND sid = $2`, s.ID, in.ID); err != nil || n > 0 {
			return err
		}
		fresh = true
		return m.take(ctx, tx, s, in)
	})
	return fresh, err
}

func (m *Messaging) take(ctx context.Context, tx *db.Tx, s Sender, in Incoming) error {
	now := tx.Now()
	if err := touch(ctx, tx, s.ID, in.From, in.Name, now.Add(WindowSpan), now); err != nil {
		return err
	}
	talk, _, err := m.Conversations.Thread(ctx, tx, Thread{Owner: s.Owner, Assistant: s.AssistantID, Sender: s, Phone: in.From, Name: in.Name}, true, false)
	if err != nil {
		return err
	}
	answer := false
	if s.AssistantID != nil && s.AIEnabled {
		if answer, err = m.Answers(ctx, tx, s.Owner, *s.AssistantID); err != nil {
			return err
		}
	}
	delay := m.ResponseDelay
	if s.ResponseDelay != nil {
		delay = time.Duration(*s.ResponseDelay) * time.Second
	}
	note := m.Transcribe != nil && in.Text == "" && len(in.Media) == 1 && in.Media[0].Type == "audio"
	entry, err := m.Conversations.Arrive(ctx, tx, talk.ID, Said{Customer: true, Text: in.Text, Media: in.Media}, answer && !note, delay)
	if err != nil {
		return err
	}
	if note {
		err = m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.voice_note", Args: noteArgs{talk.ID, entry, in.Media[0], answer, delay}})
		if err != nil {
			return err
		}
	}
	msg := Message{Owner: s.Owner, SenderID: s.ID, TalkID: &talk.ID, EntryID: &entry, Phone: in.From, Kind: "inbound", Text: in.Text, Ref: "in:" + itoa(s.ID) + ":" + in.ID, SID: &in.ID, Status: "received"}
	return insertMessage(ctx, tx, &msg)
}

type noteArgs struct {
	Talk   int64         `json:"talk"`
	Entry  int64         `json:"entry"`
	Media  Media         `json:"media"`
	Answer bool          `json:"answer"`
	Delay  time.Duration `json:"delay"`
}

// Transcripts is what the chats room offers for voice notes; Conversations may fill it.
type Transcripts interface {
	// Transcribed puts words to a stored voice note and, when asked, has it answered.
	Transcribed(ctx context.Context, tx *db.Tx, talk, entry int64, text string, answer bool, delay time.Duration) error
}

// voiceNote recognises a voice note, then lets it be answered. A note nobody can read is answered as a file.
func (m *Messaging) voiceNote(ctx context.Context, job jobs.Job) error {
	var args noteArgs
	if err := job.Decode(&args); err != nil {
		return err
	}
	text, err := m.Transcribe(ctx, args.Media)
	if err != nil && job.Try < 3 {
		return err
	}
	t, ok := m.Conversations.(Transcripts)
	if !ok {
		return errors.New("messaging: conversations take no transcripts")
	}
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		return t.Transcribed(ctx, tx, args.Talk, args.Entry, text, args.Answer, args.Delay)
	})
}

// Answer sends the assistant's words in a conversation: a freeform message, charged like any other. It is dropped, with
// false, when the window is over.
func (m *Messaging) Answer(ctx context.Context, senderID int64, phone, text string) (sent bool, r Receipted, err error) {
	var s Sender
	err = m.DB.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1`, senderID)
	if errors.Is(err, db.ErrNone) {
		return false, r, nil
	}
	if err != nil {
		return false, r, err
	}
	w, err := m.Window(ctx, s.ID, phone)
	if err != nil || !w.Open() || s.Status != SenderOnline {
		return false, r, err
	}
	r, err = m.freeform(ctx, s, phone, text)
	return err == nil, r, err
}

// Update is a delivery callback.
type Update struct {
	SID                  string
	Status               DeliveryStatus
	ErrorCode, ErrorText string
	At                   time.Time // the platform's time; zero = not told
}

// Delivery moves a message's delivery forward and reports the step; a late or repeated status changes nothing.
func (m *Messaging) Delivery(ctx context.Context, sender int64, u Update) error {
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		var msg Message
		err := tx.Get(ctx, &msg, `UPDATE wa_messages SET updated_at = updated_at WHERE sender_id = $1 AND sid = $2 AND outbound RETURNING `+messageColumns, sender, u.SID)
		if errors.Is(err, db.ErrNone) {
			return fault.New(fault.NotFound, "", "Not found")
		}
		if err != nil || !Forward(msg.Status, u.Status) {
			return err
		}
		msg.Status, msg.UpdatedAt = u.Status, db.At(tx.Now())
		if u.Status == Failed || u.Status == Undelivered {
			msg.ErrorCode, msg.ErrorText = orNil(u.ErrorCode), orNil(u.ErrorText)
			if err := m.Ledger.Refund(ctx, tx, msg.Owner, msg.Ref, "whatsapp_"+msg.Kind); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE wa_messages SET status = $1, error_code = $2, error_message = $3, updated_at = $4 WHERE id = $5`,
			msg.Status, msg.ErrorCode, msg.ErrorText, msg.UpdatedAt, msg.ID); err != nil {
			return err
		}
		return m.report(ctx, tx, msg, u)
	})
}

// report queues the message-status webhook of a step.
func (m *Messaging) report(ctx context.Context, tx *db.Tx, msg Message, u Update) error {
	s, err := m.Sender(ctx, tx, msg.Owner, msg.SenderID)
	if err != nil || s.ReceiptsURL == "" || msg.TalkID == nil {
		return err
	}
	talk, err := m.Conversations.Owned(ctx, tx, *msg.TalkID)
	if err != nil {
		return err
	}
	r := Receipt{Message: msg, Sender: s, Talk: talk, At: tx.Now()}
	if !u.At.IsZero() {
		r.Provider = &u.At
	}
	return m.Receipts.Add(ctx, tx, r)
}
