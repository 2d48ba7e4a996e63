package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"parley/chats"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/value"
)

// Incoming is a customer's message as a platform's callback brings it.
type Incoming struct {
	SenderID SenderID
	From     Peer
	ID       string // the platform's identifier of the message: a repeat is dropped
	Name     string
	Text     string
	Files    []File
}

// File is what a customer sent along.
type File struct {
	Type     string `json:"type"`               // image, audio, video or document
	URL      string `json:"url,omitempty"`      // where anybody can fetch it
	Ref      string `json:"ref,omitempty"`      // or the platform's identifier, to be fetched with the sender's credentials
	Filename string `json:"filename,omitempty"` // empty when it has none
	Keep     string `json:"keep,omitempty"`     // the name it is kept under: nobody can guess it, every try knows it
}

// Receive stores a customer's message, restarts the window and has it answered. fresh is false for a repeat.
func (m *Messaging) Receive(ctx context.Context, in Incoming) (fresh bool, err error) {
	err = m.DB.Do(ctx, func(tx *db.Tx) error {
		fresh = false
		s, err := m.inUse(ctx, tx, in.SenderID)
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
	c, err := contactOf(ctx, tx, s.ID, in.From)
	if err != nil {
		return err
	}
	now := tx.Now()
	c.EndsAt, c.CustomerAt = db.At(now.Add(WindowSpan)), db.At(now)
	talk, err := m.talk(ctx, tx, s, &c, in.From, in.Name)
	if err != nil {
		return err
	}
	msg := Message{Owner: s.Owner, SenderID: s.ID, TalkID: &talk.ID, Phone: in.From.Phone, PlatformID: in.From.ID, Kind: "inbound",
		Text: in.Text,
		Ref:  "in:" + itoa(int64(s.ID)) + ":" + in.ID, SID: &in.ID, Status: "received"}
	if msg.EntryID, err = m.hear(ctx, tx, s, talk, in); err != nil {
		return err
	}
	return errors.Join(saveContact(ctx, tx, &c), insertMessage(ctx, tx, &msg))
}

// hear puts the message into the history and has it answered. Files are fetched first, and voice notes recognised.
func (m *Messaging) hear(ctx context.Context, tx *db.Tx, s Sender, talk chats.Conversation, in Incoming) (*int64, error) {
	if m.Open != nil && len(in.Files) > 0 {
		files := slices.Clone(in.Files)
		for i := range files {
			files[i].Keep = rand.Text()
		}
		return nil, m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.files", Args: filesArgs{s.ID, talk.ID, in.Text, files}})
	}
	var files []chats.Attachment
	for _, f := range in.Files {
		files = append(files, f.attachment())
	}
	e, err := m.Chats.Heard(ctx, tx, talk.ID, in.Text, files)
	if err != nil {
		return nil, err
	}
	return &e.ID, m.answerLater(ctx, tx, s, talk)
}

func (f File) attachment() chats.Attachment {
	return chats.Attachment{Type: f.Type, URL: f.URL, Filename: f.Filename}
}

type replyArgs struct {
	Sender SenderID `json:"sender"`
	Talk   chats.ID `json:"talk"`
}

// answerLater queues an answer when the AI is on for the sender and the conversation.
func (m *Messaging) answerLater(ctx context.Context, tx *db.Tx, s Sender, talk chats.Conversation) error {
	if s.AssistantID == nil || !s.AIEnabled || !talk.AIEnabled {
		return nil
	}
	return m.Jobs.Add(ctx, tx, jobs.New{Kind: "messaging.reply", Unique: "reply:" + itoa(int64(talk.ID)), Args: replyArgs{s.ID, talk.ID},
		RunAt: tx.Now().Add(m.delay(s))})
}

func (m *Messaging) delay(s Sender) time.Duration {
	if s.ResponseDelay != nil {
		return time.Duration(*s.ResponseDelay) * time.Second
	}
	return m.ResponseDelay
}

// answerAgain is how long an answer waits for another one that is on its way.
const answerAgain = 15 * time.Second

// reply answers everything that came within the response delay of each other together. After a crash the platform may have
// an answer of which nothing is known here: its callback, or the job "messaging.abandoned", says so before another is made.
func (m *Messaging) reply(ctx context.Context, job jobs.Job) error {
	var args replyArgs
	if err := job.Decode(&args); err != nil {
		return err
	}
	var s Sender
	if err := m.DB.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1`, args.Sender); err != nil {
		return ignoreNone(err)
	}
	talk, err := m.Chats.ByID(ctx, m.DB, args.Talk)
	if err != nil {
		return err
	}
	if due := talk.LastMessageAt.Add(m.delay(s)); due.After(m.DB.Now()) {
		return jobs.Snooze(due)
	}
	switch under, err := m.underWay(ctx, args.Talk); {
	case err != nil:
		return err
	case under:
		return jobs.Snooze(m.DB.Now().Add(answerAgain))
	}
	_, err = m.Chats.Continue(ctx, args.Talk)
	if errors.Is(err, chats.ErrAnswering) {
		return jobs.Snooze(m.DB.Now().Add(answerAgain))
	}
	if f := fault.Of(err); err != nil && f.Kind != fault.Internal && f.Code != "UNKNOWN_ERROR" {
		return jobs.Never(err) // refused for good: no balance, window over
	}
	return err
}

// underWay reports that the platform has not said yet whether it took a message of a conversation.
func (m *Messaging) underWay(ctx context.Context, talk chats.ID) (bool, error) {
	var n int
	err := m.DB.Get(ctx, &n, `SELECT count(*) FROM wa_messages WHERE conversation_id = $1 AND outbound AND status = 'sending'`, talk)
	return n > 0, err
}

func ignoreNone(err error) error {
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	return err
}

type filesArgs struct {
	Sender SenderID `json:"sender"`
	Talk   chats.ID `json:"talk"`
	Text   string   `json:"text,omitempty"`
	Files  []File   `json:"files"`
}

// fileTries is how often a file of the platform is fetched before the message goes on without it.
const fileTries = 3

// files fetches what came with a message, recognises voice notes and passes the message on.
func (m *Messaging) files(ctx context.Context, job jobs.Job) error {
	var args filesArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	var s Sender
	if err := m.DB.Get(ctx, &s, `SELECT `+senderColumns+` FROM wa_senders WHERE id = $1`, args.Sender); err != nil {
		return ignoreNone(err)
	}
	var files []chats.Attachment
	text := args.Text
	for _, f := range args.Files {
		a, words, err := m.Open(ctx, s, f)
		if err != nil && f.Ref != "" && job.Try < fileTries {
			return err
		}
		if text == "" {
			text = words
		}
		files = append(files, a)
	}
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := m.Chats.Heard(ctx, tx, args.Talk, text, files); err != nil {
			return err
		}
		talk, err := m.Chats.ByID(ctx, tx, args.Talk)
		if err != nil {
			return err
		}
		return errors.Join(m.answerLater(ctx, tx, s, talk), job.Complete(ctx, tx))
	})
}

// channel sends what chats say in WhatsApp conversations: freeform messages, charged like any other.
type channel struct{ m *Messaging }

// Send refuses what the window, the sender's state or the balance does not allow.
func (c channel) Send(ctx context.Context, talk chats.Conversation, o chats.Outgoing) error {
	s, err := c.m.Sender(ctx, c.m.DB, talk.Owner, talk.Sender.ID)
	if err != nil {
		return err
	}
	if err := online(s); err != nil {
		return err
	}
	known, err := contactIn(ctx, c.m.DB, talk.ID)
	if err != nil {
		return err
	}
	if !known.window(c.m.DB.Now()).Open() {
		return sessionExpired()
	}
	_, err = c.m.freeform(ctx, s, known, o, "")
	return err
}

// Update is a delivery callback.
type Update struct {
	SID                  string
	Ref                  string // ours, when the platform gives it back: it finds a message whose record a crash prevented
	Status               DeliveryStatus
	ErrorCode, ErrorText string
	ErrorDetails         string    // what the platform says beside it; empty = the text again
	At                   time.Time // the platform's time; zero = not told
}

// Delivery moves a message's delivery forward and reports the step; a late or repeated status changes nothing.
func (m *Messaging) Delivery(ctx context.Context, sender SenderID, u Update) error {
	return m.DB.Do(ctx, func(tx *db.Tx) error {
		msg, err := m.sent(ctx, tx, sender, u)
		if err != nil || !Forward(msg.Status, u.Status) {
			return err
		}
		msg.Status, msg.UpdatedAt = u.Status, db.At(tx.Now())
		if u.Status == Failed || u.Status == Undelivered {
			u.ErrorCode, u.ErrorText = cmp.Or(u.ErrorCode, "UNKNOWN_ERROR"), cmp.Or(u.ErrorText, "The message could not be delivered.")
			u.ErrorDetails = cmp.Or(u.ErrorDetails, u.ErrorText)
			msg.ErrorCode, msg.ErrorText = &u.ErrorCode, &u.ErrorText
			if err := m.Ledger.Refund(ctx, tx, msg.Owner, msg.Ref, "whatsapp_"+msg.Kind); err != nil {
				return err
			}
			if msg.TalkID != nil {
				if err := m.Chats.Refund(ctx, tx, *msg.TalkID, value.Money(msg.Price)); err != nil {
					return err
				}
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE wa_messages SET status = $1, error_code = $2, error_message = $3, updated_at = $4 WHERE id = $5`,
			msg.Status, msg.ErrorCode, msg.ErrorText, msg.UpdatedAt, msg.ID); err != nil {
			return err
		}
		return m.report(ctx, tx, msg, u)
	})
}

// sent finds the message of a callback and keeps other callbacks of it waiting.
func (m *Messaging) sent(ctx context.Context, tx *db.Tx, sender SenderID, u Update) (msg Message, err error) {
	err = tx.Get(ctx, &msg, `SELECT `+messageColumns+` FROM wa_messages WHERE sender_id = $1 AND sid = $2 AND outbound {{lock}}`,
		sender, u.SID)
	if !errors.Is(err, db.ErrNone) {
		return msg, err
	}
	err = tx.Get(ctx, &msg, `SELECT `+messageColumns+` FROM wa_messages WHERE sender_id = $1 AND ref = $2
		AND (status IN ('sending', 'lost') OR sid = $3)`, sender, u.Ref, u.SID) // another callback may have been quicker just now
	if errors.Is(err, db.ErrNone) {
		return msg, fault.New(fault.NotFound, "", "Not found")
	}
	if err != nil {
		return msg, err
	}
	r, err := m.accepted(ctx, tx, msg, u.SID)
	return r.Message, err
}

// report queues the message-status webhook of a step.
func (m *Messaging) report(ctx context.Context, tx *db.Tx, msg Message, u Update) error {
	s, err := m.Sender(ctx, tx, msg.Owner, msg.SenderID)
	if err != nil || s.ReceiptsURL == "" || msg.TalkID == nil {
		return err
	}
	talk, err := m.Chats.ByID(ctx, tx, *msg.TalkID)
	if err != nil {
		return err
	}
	r := Receipt{Message: msg, Sender: s, Talk: talk, At: tx.Now(), Details: orNil(u.ErrorDetails)}
	if !u.At.IsZero() {
		r.Provider = &u.At
	}
	return m.Report(ctx, tx, r)
}
