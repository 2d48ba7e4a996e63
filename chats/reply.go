package chats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/fault"
	"parley/once"
	"parley/value"
)

// Reply is the assistant's answer to a message.
type Reply struct {
	Entry
	AIOff bool // the assistant is switched off here: the message was stored and nobody answered
}

// Message is a customer's message on a page or through the API.
type Message struct {
	Caller accounts.ID // 0 without a key
	UUID   string
	Text   string
}

// Answer stores a customer's message and has the assistant answer it, after all messages before it.
// The message stays even when it cannot be answered.
func (s *Chats) Answer(ctx context.Context, m Message) (Reply, error) {
	c, err := s.Readable(ctx, m.Caller, value.Ref{UUID: m.UUID}, PublicWidget)
	if err != nil {
		return Reply{}, err
	}
	if c.Type == WhatsApp {
		return Reply{}, ErrNotFound
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), replyTime)
	defer stop()
	entry, answer, err := s.made(ctx, c.ID)
	switch {
	case err != nil:
		return Reply{}, err
	case answer != nil:
		return Reply{Entry: *answer}, nil
	case entry == nil:
		if entry, err = s.take(ctx, c.ID, m); err != nil {
			return Reply{}, err
		}
	}
	defer func() {
		if err := s.leave(context.WithoutCancel(ctx), c.ID, entry.ID); err != nil {
			slog.ErrorContext(ctx, "chat turn not released", "conversation", c.ID, "err", err)
		}
	}()
	if err := s.await(ctx, c.ID, entry.ID); err != nil {
		return Reply{}, unanswered(err)
	}
	r, err := s.think(ctx, c.ID, entry.ID)
	if err != nil && fault.Of(err).Kind != fault.Internal {
		err = fault.Final(err) // what was said stays
	}
	return r, err
}

// made finds the message that an earlier try of the request stored, and its answer if it has one.
func (s *Chats) made(ctx context.Context, id ID) (message, answer *Entry, err error) {
	ref, again := once.Ref(ctx)
	if !again {
		return nil, nil, nil
	}
	both, err := s.entries(ctx, s.db, `conversation_id = $1 AND (ref = $2 OR answers = $2) ORDER BY id`, int64(id), ref)
	if len(both) > 0 {
		message = &both[0]
	}
	if len(both) > 1 {
		answer = &both[1]
	}
	return message, answer, err
}

// take checks whether the message may be sent, and stores it.
func (s *Chats) take(ctx context.Context, id ID, m Message) (*Entry, error) {
	var e Entry
	err := s.db.Do(ctx, func(tx *db.Tx) error {
		c, err := s.locked(ctx, tx, id)
		if err != nil {
			return err
		}
		a, err := s.assistants.ByID(ctx, tx, c.Assistant)
		if fault.Is(err, fault.NotFound) || err == nil && c.Type == Widget && m.Caller == 0 && !Serves(a) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		if full, err := s.full(ctx, tx, c.ID); err != nil || full {
			return errors.Join(err, tooMany())
		}
		if err := s.reopen(ctx, tx, &c, a); err != nil {
			return err
		}
		if c.AIEnabled && c.Type != Test && s.money.Afford != nil {
			if err := s.money.Afford(ctx, tx, c.Owner); err != nil {
				return balance(err)
			}
		}
		e = Entry{Role: User, Text: m.Text}
		e.ref, _ = once.Ref(ctx)
		if err := s.append(ctx, tx, &c, &e, db.At(time.Now().Add(replyTime))); err != nil {
			return err
		}
		return once.Begun(ctx, tx)
	})
	return &e, err
}

// think makes, stores and delivers the answer to a message.
func (s *Chats) think(ctx context.Context, id ID, message int64) (Reply, error) {
	c, err := s.ByID(ctx, s.db, id)
	if err != nil {
		return Reply{}, err
	}
	if !c.AIEnabled {
		return Reply{AIOff: true}, nil
	}
	last, err := s.Last(ctx, s.db, id)
	if err != nil {
		return Reply{}, err
	}
	s.tell(s.db, c, "typing", last)
	t, err := s.thought(ctx, c, message)
	if err != nil {
		return Reply{}, unanswered(err)
	}
	if channel := s.beside.Channels[c.Type]; channel != nil {
		return s.deliver(ctx, channel, c, t)
	}
	return s.keep(ctx, c, t)
}

// keep stores an answer where the customer fetches it, and books its price in the same transaction.
func (s *Chats) keep(ctx context.Context, c Conversation, t *thought) (Reply, error) {
	var r Reply
	ctx = context.WithoutCancel(ctx)
	err := s.db.Do(ctx, func(tx *db.Tx) error {
		r = Reply{}
		now, err := s.ByID(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if !now.AIEnabled { // switched off while the answer was made
			r.AIOff = true
			return nil
		}
		if now.EndReason == Closed && now.State == Ended {
			return ErrEnded
		}
		r.Entry = Entry{Role: Assistant, Text: t.text, Uses: t.uses, trace: t.trace}
		r.Entry.answers, _ = once.Ref(ctx)
		if err := s.append(ctx, tx, &now, &r.Entry, 0); err != nil {
			return err
		}
		if c.Type != Test && s.money.Charge != nil {
			cost, err := s.money.Charge(ctx, tx, c, r.Entry.ID)
			if err != nil {
				return balance(err)
			}
			if err := s.spend(ctx, tx, c.ID, cost); err != nil {
				return err
			}
		}
		return s.follow(ctx, tx, now, t.then)
	})
	return r, err
}

// deliver hands an answer to the conversation's channel, which stores it.
func (s *Chats) deliver(ctx context.Context, channel Channel, c Conversation, t *thought) (Reply, error) {
	now, err := s.ByID(ctx, s.db, c.ID)
	if err != nil {
		return Reply{}, err
	}
	if !now.AIEnabled {
		return Reply{AIOff: true}, nil
	}
	if err := channel.Send(ctx, now, Outgoing{Text: t.text, Uses: t.uses, Trace: t.trace, Then: t.then}); err != nil {
		return Reply{}, err
	}
	return Reply{Entry: Entry{Role: Assistant, Text: t.text, Uses: t.uses}}, nil
}

// follow does what the answer's functions asked for.
func (s *Chats) follow(ctx context.Context, tx *db.Tx, c Conversation, t Then) error {
	if t.Switches > 0 {
		_, err := tx.Exec(ctx, `UPDATE conversations SET speaker_id = $2, switches = switches + $3 WHERE id = $1`,
			int64(c.ID), int64(t.Speaker), t.Switches)
		if err != nil {
			return err
		}
	}
	if t.End {
		return s.end(ctx, tx, c, Closed)
	}
	return nil
}

// ErrAnswering says that somebody is at the answer, or was when its process ended: then it may be asked for again
// within replyTime.
var ErrAnswering = errors.New("chats: the message is being answered")

// Continue has the assistant answer what came in over a channel since it last spoke. Nothing happens when it already
// has, or is switched off. Two of them at once do not answer twice: one gets ErrAnswering.
func (s *Chats) Continue(ctx context.Context, id ID) (Reply, error) {
	ctx, stop := context.WithTimeout(ctx, replyTime)
	defer stop()
	history, err := s.History(ctx, s.db, id)
	if err != nil {
		return Reply{}, err
	}
	last := Entry{}
	for _, e := range history {
		if e.Role != System {
			last = e
		}
	}
	if last.Role != User {
		return Reply{}, nil
	}
	n, err := s.db.Exec(ctx, `UPDATE conversation_entries SET waits_until = $2 WHERE id = $1 AND (waits_until IS NULL OR waits_until <= $3)`,
		last.ID, db.At(time.Now().Add(replyTime)), db.At(time.Now()))
	if err != nil {
		return Reply{}, err
	}
	if n == 0 {
		return Reply{}, ErrAnswering
	}
	defer func() {
		if err := s.leave(context.WithoutCancel(ctx), id, last.ID); err != nil {
			slog.ErrorContext(ctx, "chat turn not released", "conversation", id, "err", err)
		}
	}()
	if err := s.await(ctx, id, last.ID); err != nil {
		return Reply{}, unanswered(err)
	}
	c, err := s.ByID(ctx, s.db, id)
	if err != nil {
		return Reply{}, err
	}
	a, err := s.assistants.ByID(ctx, s.db, c.Assistant)
	if fault.Is(err, fault.NotFound) || err == nil && a.Paused {
		return Reply{AIOff: true}, nil
	}
	if err != nil {
		return Reply{}, err
	}
	return s.think(ctx, id, last.ID)
}

// unanswered says why a message got no answer.
func unanswered(err error) error {
	known, ok := errors.AsType[*fault.Fault](err)
	model := ok && known.Kind == fault.Unavailable && !db.Away(err) // it is away, not we
	if ok && known.Kind != fault.Internal && !model {
		return err
	}
	reason := "the model failed"
	switch {
	case model:
		reason = known.Message
	case errors.Is(err, context.DeadlineExceeded):
		reason = "the model took too long"
	}
	f := fault.New(fault.Malformed, "UNKNOWN_ERROR", "The message could not be answered: %s", reason)
	f.Cause = fmt.Errorf("chat answer: %w", err)
	return fault.Final(f) // what was said stays
}
