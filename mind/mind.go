// Package mind puts a turn of thought together, the same for calls and chats: the assistant's prompt, the facts, what the
// knowledgebase holds, its built-in and its own tools, and what each of them does in the conversation at hand.
package mind

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/accounts"
	"parley/agent"
	"parley/assistants"
	"parley/ids"
	"parley/placeholders"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
)

// Mind is what every assistant thinks with. A nil func means that there is no such thing.
type Mind struct {
	// Tools are the mid-call tools with the given ids; Run carries one out and returns what the model reads.
	Tools func(ctx context.Context, owner accounts.ID, list []ids.Tool) ([]tools.Tool, error)
	Run   func(ctx context.Context, d tools.Definition, args json.RawMessage, c tools.Conversation) json.RawMessage
	// Search finds passages in the assistant's knowledgebase.
	Search func(ctx context.Context, a assistants.Assistant, query string) ([]agent.Passage, error)
	// Calendar carries out a function of a calendar_integration tool.
	Calendar func(ctx context.Context, a assistants.Assistant, t *toolbox.CalendarIntegration, function string, args map[string]any) (any,
		error)
	// Now is durable time.
	Now func() time.Time
}

// Values are what placeholders stand for, strongest first: the facts, what the conversation knows, the assistant's own
// variables. Name, id and clock of the facts are filled in.
func (m Mind) Values(a assistants.Assistant, f agent.Facts, known ...value.Scalars) placeholders.Values {
	f.AssistantID, f.AssistantName, f.Now = a.UUID, a.Name, m.Now().In(a.Location())
	return placeholders.Layer(f.Values(), append(known, a.Variables)...)
}

// Speaker is an assistant in one conversation.
type Speaker struct {
	mind      Mind
	Assistant assistants.Assistant
	Values    placeholders.Values
	where     tools.Conversation
	own       []tools.Tool
}

// Speaker reads what of an assistant stays the same for a whole conversation. where names the conversation to its tools.
func (m Mind) Speaker(ctx context.Context, a assistants.Assistant, v placeholders.Values, where tools.Conversation) (*Speaker, error) {
	s := &Speaker{mind: m, Assistant: a, Values: v, where: where}
	s.where.Values = v
	if m.Tools == nil || len(a.ToolIDs) == 0 {
		return s, nil
	}
	own, err := m.Tools(ctx, a.Owner, a.ToolIDs)
	if err != nil {
		return nil, fmt.Errorf("tools of assistant %d: %w", a.ID, err)
	}
	s.own = own
	return s, nil
}

// Occasion is what a turn is about.
type Occasion struct {
	Engine      agent.Engine
	History     []agent.Message // the message to answer included
	Channel     toolbox.Channel // what tools can do here
	Language    string          // ISO 639-1 of the answer; empty = the assistant's
	Spoken      bool            // the answer is heard, not read
	Notes       []string        // further sentences true for this turn
	Purpose     agent.Purpose   // empty = agent.PurposeTurn
	Instruction string          // what to do now instead of answering; empty for an answer
}

// Turn puts the turn together.
func (s *Speaker) Turn(o Occasion) *agent.Turn {
	a := s.Assistant
	if o.Language == "" {
		o.Language = a.Language()
	}
	now := s.mind.Now().In(a.Location())
	t := &agent.Turn{
		Engine: o.Engine, History: o.History, Temperature: a.LLMTemperature, Purpose: o.Purpose, Instruction: o.Instruction,
		Wanted: Wanted(a.PostCallSchema),
		Prompt: agent.Prompt{Text: a.SystemPrompt, Values: s.Values, Language: o.Language, Now: now, Spoken: o.Spoken, Notes: o.Notes},
	}
	if s.mind.Calendar == nil {
		o.Channel.Calendar = nil
	}
	t.Functions = a.Tools.Functions(toolbox.Scene{Channel: o.Channel, Values: s.Values, Now: now})
	for _, x := range s.own {
		t.Functions = append(t.Functions, s.function(x))
	}
	s.recall(t)
	return t
}

// recall lets the turn use the knowledgebase: before it thinks, or when the model asks.
func (s *Speaker) recall(t *agent.Turn) {
	a := s.Assistant
	if a.KnowledgebaseID == nil || s.mind.Search == nil {
		return
	}
	find := func(ctx context.Context, query string) ([]agent.Passage, error) { return s.mind.Search(ctx, a, query) }
	if a.KnowledgebaseMode == "prompt" {
		t.Recall = find
		return
	}
	t.Functions = append(t.Functions, agent.Search(find))
}

// function is one of the account's own tools as the model sees it.
func (s *Speaker) function(t tools.Tool) agent.Function {
	return agent.Function{
		Tool: agent.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema()},
		Run: func(ctx context.Context, args json.RawMessage) agent.Result {
			return agent.Result{Value: s.mind.Run(ctx, t.Definition, args, s.where)}
		},
	}
}

// Calendar carries out a function of the assistant's calendar.
func (s *Speaker) Calendar(ctx context.Context, t *toolbox.CalendarIntegration, function string, args map[string]any) (any, error) {
	return s.mind.Calendar(ctx, s.Assistant, t, function, args)
}

// Wanted are the fields of an assistant's schema.
func Wanted(schema []assistants.SchemaItem) []agent.Field {
	out := make([]agent.Field, len(schema))
	for i, f := range schema {
		out[i] = agent.Field{Name: f.Name, Type: f.Type, Description: f.Description}
	}
	return out
}
