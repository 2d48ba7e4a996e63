package switchboard

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"parley/agent"
	"parley/assistants"
	"parley/calendar"
	"parley/calls"
	"parley/placeholders"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
	"parley/voice"
	"parley/voice/pickup"
)

// thinker thinks for one call: it fills voice.Thinker with agent's turns.
type thinker struct {
	board     *Switchboard
	live      *live
	assistant assistants.Assistant
	call      calls.Call
	values    placeholders.Values
	engine    agent.Engine
	custom    []tools.Tool
}

func (s *Switchboard) thinker(a assistants.Assistant, l *live, v placeholders.Values, e agent.Engine) (*thinker, error) {
	m := &thinker{board: s, live: l, assistant: a, call: l.call, values: v, engine: e}
	if s.Tools != nil && len(a.ToolIDs) > 0 {
		var err error
		if m.custom, err = s.Tools.Of(s.ctx, a.Owner, a.ToolIDs); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Think runs one turn of thought. Observations, a tool call among them, are yielded before the work goes on.
func (m *thinker) Think(ctx context.Context, q voice.Thinking) iter.Seq2[voice.Thought, error] {
	return func(yield func(voice.Thought, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		hangup, stopped := false, false
		send := func(t voice.Thought) bool {
			if !stopped && !yield(t, nil) {
				stopped = true
				stop() // no tool runs any more
			}
			return !stopped
		}
		turn := m.turn(q, func(context.Context) error { hangup = true; return nil })
		turn.Observe = func(e agent.Event) {
			send(voice.Thought{Event: &e, Hangup: hangup})
		}
		for text, err := range turn.Sentences(ctx) {
			switch {
			case stopped:
				return
			case err != nil:
				yield(voice.Thought{}, err)
				return
			case !send(voice.Thought{Text: text}):
				return
			}
		}
	}
}

func (m *thinker) turn(q voice.Thinking, endCall func(context.Context) error) *agent.Turn {
	a := m.assistant
	t := &agent.Turn{
		Engine: m.engine, History: q.History, Temperature: a.LLMTemperature, Purpose: q.Purpose, Instruction: q.Instruction,
		Wanted: fieldsOf(a.PostCallSchema),
		Prompt: agent.Prompt{Text: a.SystemPrompt, Values: m.values, Language: q.Language, Spoken: true, Notes: q.Notes,
			Now: m.board.DB.Now().In(a.Location())},
	}
	t.Functions = a.Tools.Functions(toolbox.Scene{Channel: m.channel(endCall), Values: m.values, Now: t.Prompt.Now})
	for _, c := range m.custom {
		t.Functions = append(t.Functions, m.function(c))
	}
	if value.Or(a.KnowledgebaseID, 0) != 0 && m.board.Search != nil {
		find := func(ctx context.Context, query string) ([]agent.Passage, error) {
			return m.board.Search(ctx, a, query)
		}
		if a.KnowledgebaseMode == "prompt" {
			t.Recall = find
		} else {
			t.Functions = append(t.Functions, agent.Search(find))
		}
	}
	for i, f := range t.Functions {
		t.Functions[i].Run = unlessStopped(f.Run)
	}
	return t
}

// channel is what built-in tools can do in a call.
func (m *thinker) channel(endCall func(context.Context) error) toolbox.Channel {
	e := toolbox.Channel{EndCall: endCall, SendDigits: m.live.sendDigits}
	if m.board.Calendar != nil {
		e.Calendar = m.calendar
	}
	return e
}

// calendar carries a function of a calendar out; what was booked stays with the call.
func (m *thinker) calendar(ctx context.Context, t *toolbox.CalendarIntegration, function string, args map[string]any) (any, error) {
	found, err := m.board.Calendar(ctx, m.assistant, t, function, args)
	if b, ok := found.(calendar.Booked); ok && err == nil {
		kept := []value.Scalar{{Name: "booking_uid", Value: b.UID}, {Name: "booking_start", Value: b.Start}, {Name: "booking_status", Value: b.Status}}
		if err := m.board.Calls.SetVariables(context.WithoutCancel(ctx), m.call.ID, kept...); err != nil {
			m.board.Log.Error("booking not kept with the call", "call", m.call.ID, "error", err)
		}
	}
	return found, err
}

// unlessStopped keeps a tool from running once nobody listens to the turn any more.
func unlessStopped(run func(context.Context, json.RawMessage) agent.Result) func(context.Context, json.RawMessage) agent.Result {
	return func(ctx context.Context, args json.RawMessage) agent.Result {
		if ctx.Err() != nil {
			return agent.Failed("the conversation went on")
		}
		return run(ctx, args)
	}
}

// function is a custom tool as the model sees it.
func (m *thinker) function(t tools.Tool) agent.Function {
	return agent.Function{
		Tool: agent.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema()},
		Run: func(ctx context.Context, args json.RawMessage) agent.Result {
			return agent.Result{Value: m.board.Tools.Run(ctx, t.Definition, args, tools.Conversation{CallID: fmt.Sprint(m.call.ID), Values: m.values})}
		},
	}
}

// hints are sentences the caller is likely to answer to or to use. They are the same for every call of an assistant, so
// that what an engine learns from them serves all of them.
func hints(a assistants.Assistant) []string {
	v := placeholders.Layer(nil, a.Variables)
	out := []string{placeholders.Fill(a.InitialMessage, v, placeholders.Spoken), placeholders.Fill(a.SystemPrompt, v, placeholders.Spoken)}
	if a.Type == "outbound" {
		out = append(out, pickup.Sentences(a.Language())...)
	}
	for _, t := range a.Tools {
		if about := t.Spec.About(); about != "" {
			out = append(out, about)
		}
	}
	for _, f := range a.PostCallSchema {
		out = append(out, f.Description)
	}
	return out
}
