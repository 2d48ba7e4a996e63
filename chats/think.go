package chats

import (
	"context"
	"errors"
	"strings"

	"parley/agent"
	"parley/mind"
	"parley/placeholders"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
)

// thought is an answer before it is stored.
type thought struct {
	text  string
	uses  []agent.Use
	trace []agent.Message
	then  Then
}

// maxSwitches bounds how often a conversation is handed to another assistant.
const maxSwitches = 5

// thought has the conversation's speaker answer a message. An assistant that takes over without a greeting
// answers in the same breath.
func (s *Chats) thought(ctx context.Context, c Conversation, message int64) (*thought, error) {
	entries, err := s.History(ctx, s.db, c.ID)
	if err != nil {
		return nil, err
	}
	t := &thought{then: Then{Speaker: c.Speaker}}
	history := messages(before(entries, message))
	for {
		switches := t.then.Switches
		if err := s.turn(ctx, c, t, append(history[:len(history):len(history)], t.trace...)); err != nil {
			return nil, err
		}
		if t.then.Switches == switches || t.then.End || t.text != "" {
			break
		}
	}
	if t.text == "" {
		return nil, agent.ErrSilent
	}
	return t, nil
}

// turn is one turn of thought of the present speaker.
func (s *Chats) turn(ctx context.Context, c Conversation, t *thought, history []agent.Message) error {
	a, err := s.assistants.ByID(ctx, s.db, t.then.Speaker)
	if err != nil {
		return err
	}
	if s.mind.Engine == nil {
		return errors.New("there is no text model")
	}
	engine, err := s.mind.Engine(ctx, a)
	if err != nil {
		return err
	}
	var greeting []string
	speaker, err := s.mind.Speaker(ctx, a, s.values(c, a), tools.Conversation{ConversationID: c.UUID})
	if err != nil {
		return err
	}
	turn := speaker.Turn(mind.Occasion{Engine: engine, History: history, Channel: s.channel(c, speaker, t, &greeting)})
	said, err := turn.Text(ctx)
	if err != nil {
		return err
	}
	t.text = strings.TrimSpace(strings.Join(append([]string{t.text, said}, greeting...), "\n"))
	t.uses = append(t.uses, turn.Uses()...)
	t.trace = append(t.trace, turn.Added()...)
	for _, g := range greeting {
		t.trace = append(t.trace, agent.Message{Role: agent.RoleAssistant, Text: g})
	}
	return nil
}

// channel is what built-in tools can do in a chat.
func (s *Chats) channel(c Conversation, speaker *mind.Speaker, t *thought, greeting *[]string) toolbox.Channel {
	return toolbox.Channel{
		EndCall:  func(context.Context) error { t.then.End = true; return nil },
		Calendar: speaker.Calendar,
		SwitchTo: func(ctx context.Context, tool *toolbox.AssistantTransfer) error {
			said, err := s.handOver(ctx, c, speaker.Values, t, tool)
			*greeting = append(*greeting, said...)
			return err
		},
	}
}

// handOver makes another assistant the speaker and returns what is said about it.
func (s *Chats) handOver(ctx context.Context, c Conversation, v placeholders.Values, t *thought,
	spec *toolbox.AssistantTransfer) ([]string, error) {
	if c.switches+t.then.Switches >= maxSwitches {
		return nil, errors.New("this conversation was handed over too often")
	}
	target, err := s.assistants.Get(ctx, s.db, c.Owner, value.Ref{ID: spec.AssistantID.ID})
	if err != nil {
		return nil, errors.New("the other assistant does not exist any more")
	}
	t.then.Speaker, t.then.Switches = target.ID, t.then.Switches+1
	var said []string
	if spec.MessageBeforeTransfer != nil {
		said = append(said, placeholders.Fill(*spec.MessageBeforeTransfer, v, placeholders.Spoken))
	}
	if spec.SpeakTransferGreeting {
		said = append(said, placeholders.Fill(target.InitialMessage, s.values(c, target), placeholders.Spoken))
	}
	return said, nil
}

// before is the history that ends with a message: those sent after it wait, and what was answered meanwhile precedes it.
func before(entries []Entry, message int64) (out []Entry) {
	var last []Entry
	for _, e := range entries {
		switch {
		case e.ID == message:
			last = append(last, e)
		case e.Role != User || e.ID < message:
			out = append(out, e)
		}
	}
	return append(out, last...)
}

// messages is the history as a model reads it.
func messages(entries []Entry) []agent.Message {
	var out []agent.Message
	for _, e := range entries {
		switch {
		case e.Role == System:
		case len(e.trace) > 0:
			out = append(out, e.trace...)
		case e.Role == Assistant:
			out = append(out, agent.Message{Role: agent.RoleAssistant, Text: e.Text})
		default:
			out = append(out, agent.Message{Role: agent.RoleUser, Text: withFiles(e)})
		}
	}
	return out
}

// withFiles names the files of a message to a model that cannot look at them.
func withFiles(e Entry) string {
	parts := []string{}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	for _, f := range e.Attachments {
		if f.Type == "image" {
			parts = append(parts, "[Image]")
		} else {
			parts = append(parts, "[File: "+f.Filename+"]")
		}
	}
	return strings.Join(parts, "\n")
}
