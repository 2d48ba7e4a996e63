package switchboard

import (
	"context"
	"fmt"
	"iter"

	"parley/agent"
	"parley/assistants"
	"parley/calendar"
	"parley/mind"
	"parley/placeholders"
	"parley/toolbox"
	"parley/tools"
	"parley/value"
	"parley/voice"
	"parley/voice/pickup"
)

// thinker thinks for one call: it fills voice.Thinker with the assistant's turns.
type thinker struct {
	board   *Switchboard
	live    *live
	speaker *mind.Speaker
	engine  agent.Engine
	cfg     voice.Config // both of the conversation, without its thinkers
	parts   voice.Parts
}

func (s *Switchboard) thinker(a assistants.Assistant, l *live, v placeholders.Values, e agent.Engine) (*thinker, error) {
	speaker, err := s.Mind.Speaker(s.ctx, a, v, tools.Conversation{CallID: fmt.Sprint(l.call.ID)})
	return &thinker{board: s, live: l, speaker: speaker, engine: e}, err
}

// Broken implements voice.Breaker.
func (m *thinker) Broken() bool {
	b, ok := m.engine.Model.(voice.Breaker)
	return ok && b.Broken()
}

// Think runs one turn of thought. Observations, a tool call among them, are yielded before the work goes on.
func (m *thinker) Think(ctx context.Context, q voice.Thinking) iter.Seq2[voice.Thought, error] {
	return func(yield func(voice.Thought, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		stopped := false
		send := func(t voice.Thought) bool {
			if !stopped && !yield(t, nil) {
				stopped = true
				stop() // no tool runs any more
			}
			return !stopped
		}
		turn := m.observed(q, send)
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

// observed is a turn whose steps are sent as thoughts.
func (m *thinker) observed(q voice.Thinking, send func(voice.Thought) bool) *agent.Turn {
	x := transfer{thinker: m, asked: q, send: send}
	turn := m.turn(q, x.channel())
	turn.Observe = func(e agent.Event) {
		send(voice.Thought{Event: &e, Then: x.then, Successor: x.successor})
	}
	return turn
}

func (m *thinker) turn(q voice.Thinking, can toolbox.Channel) *agent.Turn {
	return m.speaker.Turn(mind.Occasion{
		Engine: m.engine, History: q.History, Language: q.Language, Spoken: true, Notes: q.Notes, Purpose: q.Purpose, Instruction: q.Instruction,
		Channel: can,
	})
}

// calendar carries a function of a calendar out; what was booked stays with the call.
func (m *thinker) calendar(ctx context.Context, t *toolbox.CalendarIntegration, function string, args map[string]any) (any, error) {
	found, err := m.speaker.Calendar(ctx, t, function, args)
	if b, ok := found.(calendar.Booked); ok && err == nil {
		kept := []value.Scalar{{Name: "booking_uid", Value: b.UID}, {Name: "booking_start", Value: b.Start},
			{Name: "booking_status", Value: b.Status}}
		if err := m.board.Calls.SetVariables(context.WithoutCancel(ctx), m.live.call.ID, kept...); err != nil {
			m.board.Log.Error("booking not kept with the call", "call", m.live.call.ID, "error", err)
		}
	}
	return found, err
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
