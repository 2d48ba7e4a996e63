package api

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"time"

	"parley/chats"
	"parley/events"
	"parley/wire"
)

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 20 * time.Second

type conversationStreamIn struct {
	conversationRef
	resume
}

// Events of a conversation's stream.
type (
	typingOut struct {
		ID string `json:"conversation_id"`
	}
	saidOut struct {
		ID string `json:"conversation_id"`
		entryOut
	}
	stateOut struct {
		ID        string `json:"conversation_id"`
		State     string `json:"state"`
		AIEnabled bool   `json:"ai_enabled"`
	}
)

// followConversation streams what happens in a conversation: message, typing, state. The id of an event is that of the
// last message; a client that comes back with it gets the messages it missed.
func (a *API) followConversation(ctx context.Context, in *conversationStreamIn, w http.ResponseWriter) error {
	c, err := a.Chats.Readable(ctx, owner(ctx), in.UUID, a.PublicHistory)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := a.Live.Subscribe(ctx, int64(c.Owner), 0)
	after, known := in.after(ctx)
	if !known {
		if after, err = a.Chats.Last(ctx, a.DB, c.ID); err != nil {
			return err
		}
	}
	out, err := wire.NewEvents(w)
	if err != nil {
		return err
	}
	if err := out.Mark(itoa(after)); err != nil {
		return nil
	}
	f := chatFollower{a: a, chat: c, out: out, last: after}
	for err = f.said(ctx, math.MaxInt64); err == nil; {
		select {
		case e, ok := <-changes:
			if !ok {
				return nil // it comes back and catches up
			}
			err = f.pass(ctx, e)
		case <-time.After(heartbeat):
			err = out.Ping()
		}
	}
	return nil // the client is gone
}

// chatFollower is one client that watches a conversation.
type chatFollower struct {
	a     *API
	chat  chats.Conversation
	out   *wire.Events
	last  int64 // entry sent last
	spoke int64 // entry of the assistant sent last
}

// pass sends what a change of the account means for this conversation.
func (f *chatFollower) pass(ctx context.Context, e events.Event) error {
	var change chats.Event
	if e.Kind != "conversation" || json.Unmarshal(e.Data, &change) != nil || change.UUID != f.chat.UUID {
		return nil
	}
	switch change.Kind {
	case "message":
		return f.said(ctx, change.Entry)
	case "typing":
		if f.spoke > change.Entry { // it is done already
			return nil
		}
		return f.out.Send("", change.Kind, typingOut{f.chat.UUID})
	}
	now, err := f.a.Chats.ByID(ctx, f.a.DB, f.chat.ID)
	if err != nil {
		return err
	}
	return f.out.Send("", change.Kind, stateOut{now.UUID, now.State, now.AIEnabled})
}

// said sends the messages up to one that the client has not seen.
func (f *chatFollower) said(ctx context.Context, to int64) error {
	if to <= f.last {
		return nil
	}
	entries, err := f.a.Chats.Since(ctx, f.a.DB, f.chat.ID, f.last)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.ID > to {
			break
		}
		if f.last = e.ID; e.Role == chats.System {
			continue
		}
		if e.Role == chats.Assistant {
			f.spoke = e.ID
		}
		if err := f.out.Send(itoa(e.ID), "message", saidOut{f.chat.UUID, showEntry(e)}); err != nil {
			return err
		}
	}
	return nil
}
