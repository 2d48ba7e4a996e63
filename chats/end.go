package chats

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/db"
	"parley/fault"
	"parley/jobs"
	"parley/mind"
	"parley/value"
)

const (
	kindQuiet  = "chats.quiet"
	kindReport = "chats.report"
)

// evaluationTime is how long the model may think about what a conversation came to.
const evaluationTime = time.Minute

type quietArgs struct {
	ID int64 `json:"id"`
}

type reportArgs struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
	At     int64  `json:"at"`                // microseconds
	Cause  string `json:"request,omitempty"` // id of the request that ended it
}

// watch sees to it that the conversation ends when it stays quiet.
func (s *Chats) watch(ctx context.Context, tx *db.Tx, c Conversation) error {
	a, err := s.assistants.ByID(ctx, tx, c.Assistant)
	if fault.Is(err, fault.NotFound) || err == nil && a.ConversationInactivityTimeout == nil {
		return nil
	}
	if err != nil {
		return err
	}
	at := c.LastMessageAt.Add(minutes(a))
	return s.runner.Add(ctx, tx, jobs.New{Kind: kindQuiet, Args: quietArgs{int64(c.ID)}, RunAt: at,
		Unique: fmt.Sprintf("%s:%d", kindQuiet, c.ID)})
}

func minutes(a assistants.Assistant) time.Duration {
	return time.Duration(value.Or(a.ConversationInactivityTimeout, 0)) * time.Minute
}

// quiet ends a conversation in which nothing was said for the assistant's time-out.
func (s *Chats) quiet(ctx context.Context, job jobs.Job) error {
	var args quietArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	var later time.Time
	err := s.db.Do(ctx, func(tx *db.Tx) error {
		later = time.Time{}
		c, err := s.locked(ctx, tx, ID(args.ID))
		if err != nil || c.State != Open {
			return err
		}
		a, err := s.assistants.ByID(ctx, tx, c.Assistant)
		if err != nil || a.ConversationInactivityTimeout == nil {
			return err
		}
		if due := c.LastMessageAt.Add(minutes(a)); due.After(s.db.Now()) {
			later = due
			return nil
		}
		return s.end(ctx, tx, c, Inactivity)
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err == nil && !later.IsZero():
		return jobs.Snooze(later)
	}
	return err
}

// end closes an open conversation and has it evaluated and reported.
func (s *Chats) end(ctx context.Context, tx *db.Tx, c Conversation, reason string) error {
	now := s.db.Now()
	n, err := tx.Exec(ctx, `UPDATE conversations SET state = 'ended', end_reason = $2, ended_at = $3, updated_at = $3 WHERE id = $1 AND state = 'open'`,
		int64(c.ID), reason, db.At(now))
	if err != nil || n == 0 {
		return err
	}
	s.tell(tx, c, "state", 0)
	if c.Type == Test {
		return nil
	}
	return s.runner.Add(ctx, tx, jobs.New{Kind: kindReport, Args: reportArgs{int64(c.ID), reason, now.UnixMicro(), fault.RequestID(ctx)}})
}

// End closes a conversation on request: by its owner, or where it may be read without a key.
func (s *Chats) End(ctx context.Context, caller accounts.ID, ref value.Ref, public string) error {
	c, err := s.Readable(ctx, caller, ref, public)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, func(tx *db.Tx) error {
		if c, err = s.locked(ctx, tx, c.ID); err != nil || c.State == Ended {
			return err
		}
		return s.end(ctx, tx, c, Closed)
	})
}

// reopen decides what a customer's message does to an ended conversation; ErrEnded refuses it. Its row is locked.
func (s *Chats) reopen(ctx context.Context, tx *db.Tx, c *Conversation, a assistants.Assistant) error {
	page := c.Type == Widget || c.Type == Test
	switch {
	case c.State == Open:
		return nil
	case c.EndReason == Inactivity && a.ConversationEndedRetrigger, c.EndReason == Closed && !page:
	case page:
		return ErrEnded
	default: // answered as usual, but it stays ended and is never reported again
		return nil
	}
	c.State = Open
	_, err := tx.Exec(ctx, `UPDATE conversations SET state = 'open', ended_at = NULL WHERE id = $1`, int64(c.ID))
	s.tell(tx, *c, "state", 0)
	return err
}

// reported evaluates an ended conversation and stores its webhook.
func (s *Chats) reported(ctx context.Context, job jobs.Job) error {
	var args reportArgs
	if err := job.Decode(&args); err != nil {
		return jobs.Never(err)
	}
	if args.Cause != "" {
		ctx = fault.WithRequestID(ctx, args.Cause)
	}
	e, wanted, err := s.ending(ctx, args)
	if err != nil || !wanted {
		return err
	}
	return s.db.Do(ctx, func(tx *db.Tx) error {
		b, err := value.Marshal(e.Extracted)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE conversations SET evaluation = $2 WHERE id = $1 AND (ended_at IS NULL OR ended_at <= $3)`,
			args.ID, string(b), args.At); err != nil { // that of a later ending stays
			return err
		}
		if e.URL != "" && s.beside.Report != nil {
			if err := s.beside.Report(ctx, tx, e); err != nil {
				return err
			}
		}
		return job.Complete(ctx, tx)
	})
}

// ending collects what there is to say about an ending; false means nothing.
func (s *Chats) ending(ctx context.Context, args reportArgs) (Ending, bool, error) {
	c, err := s.ByID(ctx, s.db, ID(args.ID))
	if err != nil {
		return Ending{}, false, err
	}
	a, err := s.assistants.ByID(ctx, s.db, c.Assistant)
	if fault.Is(err, fault.NotFound) {
		return Ending{}, false, nil
	}
	if err != nil {
		return Ending{}, false, err
	}
	e := Ending{Conversation: c, Reason: args.Reason, EndedAt: time.UnixMicro(args.At).UTC(), URL: value.Or(a.ConversationEndedWebhookURL, "")}
	if e.Entries, err = s.History(ctx, s.db, c.ID); err != nil {
		return Ending{}, false, err
	}
	spoke := false
	for _, x := range e.Entries {
		spoke = spoke || x.Role == User
	}
	if c.Type == Widget && !spoke {
		return Ending{}, false, nil
	}
	if a.PostCallEvaluation {
		e.Extracted = s.evaluate(ctx, c, a, e.Entries)
	}
	return e, true, nil
}

// evaluate asks the model what the conversation came to. Without an answer every field is null.
func (s *Chats) evaluate(ctx context.Context, c Conversation, a assistants.Assistant, entries []Entry) value.Scalars {
	fields := mind.Wanted(a.PostCallSchema)
	nothing := agent.Undetermined(fields)
	if len(fields) == 0 || s.mind.Engine == nil {
		return nothing
	}
	ctx, stop := context.WithTimeout(ctx, evaluationTime)
	defer stop()
	engine, err := s.mind.Engine(ctx, a)
	if err == nil {
		var got value.Scalars
		got, err = agent.Evaluation{Engine: engine, History: messages(entries), Fields: fields, Temperature: a.LLMTemperature,
			Prompt: agent.Prompt{Text: a.SystemPrompt, Values: s.values(c, a), Language: a.Language(), Now: s.db.Now().In(a.Location())}}.Run(ctx)
		if err == nil {
			return got
		}
	}
	slog.WarnContext(ctx, "chat not evaluated", "conversation", c.ID, "err", err)
	return nothing
}

// Public says which conversations are read by whoever knows their uuid.
const (
	PublicWidget = "widget" // of the types widget and test
	PublicAll    = "all"
	PublicNone   = "none"
)

// Readable finds a conversation for somebody who wants to read it: its owner, or without a key whoever knows the uuid
// of a public one.
func (s *Chats) Readable(ctx context.Context, caller accounts.ID, ref value.Ref, public string) (Conversation, error) {
	if caller != 0 {
		return s.Get(ctx, s.db, caller, ref)
	}
	if ref.UUID == "" {
		return Conversation{}, ErrNotFound
	}
	c, err := s.ByUUID(ctx, s.db, ref.UUID)
	if err != nil {
		return Conversation{}, err
	}
	page := c.Type == Widget || c.Type == Test
	if public == PublicNone || !page && public != PublicAll {
		return Conversation{}, ErrNotFound
	}
	return c, nil
}
