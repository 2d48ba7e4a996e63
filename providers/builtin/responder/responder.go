// Package responder is the built-in assistant model. It is no language model: it follows rules, so it needs no key, no
// network and no download, and answers the same question in the same words every time. English; in
// other languages it quotes the prompt.
//
// What it does with a message, in this order:
//   - control: goodbye, a person please, repeat, slower;
//   - the answer to its own question, by a grammar of the wanted type (number, date, time, phone, e-mail, yes or no, name),
//     read back before it is used;
//   - functions whose descriptions speak of what was said;
//   - answers from the prompt's FAQ section and from the knowledgebase, when they are close enough;
//   - the prompt's Steps and Collect sections, then what the assistant's schema wants to know;
//   - otherwise it asks once to rephrase, then offers a person or a call-back.
//
// Sections of the prompt that are read literally:
//
//	FAQ:                                     Collect:                               Steps:
//	Q: When do you open?                     - guests (number): How many people?    1. Welcome to the survey.
//	A: At nine.                              - day (date)                           2. Ask: Are you well? -> well (bool)
//	- Do you deliver? Yes, every day.        - size (small|large, optional)         3. Call: end
//
// All other prose only says what the conversation is about.
package responder

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"parley/agent"
)

// Name is how the model is shown; it says that it is no language model.
const Name = "Built-in assistant model"

// Model is the built-in assistant model.
type Model struct{}

// Reply implements agent.Model. It never fails and never waits.
func (Model) Reply(ctx context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		for i, a := range reply(r) {
			if !yield(chunk(r, i, a), nil) {
				return
			}
		}
	}
}

func chunk(r agent.Request, i int, a action) agent.Chunk {
	if a.call == "" {
		if i > 0 {
			return agent.Chunk{Text: " " + a.say}
		}
		return agent.Chunk{Text: a.say}
	}
	args, err := json.Marshal(a.args)
	if err != nil {
		args = []byte(`{}`)
	}
	return agent.Chunk{Call: &agent.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(r.Messages), i), Name: a.call, Arguments: args}}
}

func reply(r agent.Request) []action {
	parts := agent.Split(r.System)
	if r.Purpose == agent.PurposeEvaluation {
		return []action{{say: evaluate(r, parts)}}
	}
	if r.Language != "" && r.Language != "en" {
		return abroad(r, parts)
	}
	if r.Purpose == agent.PurposeBriefing {
		return []action{{say: briefing(r.Messages)}}
	}
	if r.Instruction != "" {
		return []action{{say: obey(r.Instruction)}}
	}
	d := newDialog(parts, r)
	out := d.replay(r.Messages)
	for _, n := range parts.Notes {
		if strings.Contains(strings.ToLower(n), "goodbye") && !calls(out) {
			out = append(out, action{say: "I am afraid we have to finish now. Goodbye."})
		}
	}
	return out
}

func calls(out []action) bool {
	for _, a := range out {
		if a.call != "" {
			return true
		}
	}
	return false
}

func newDialog(p agent.Parts, r agent.Request) *dialog {
	now := p.Now
	if now.IsZero() {
		now = time.Now().UTC()
	}
	return &dialog{
		now: now, prompt: p.Prompt, plan: planOf(p.Prompt), tools: toolsOf(r.Tools), wanted: wantedSlots(r.Wanted), passages: p.Passages,
		filled: map[string]value{}, skipped: map[string]bool{}, noted: map[string]value{},
	}
}

// wantedSlots are the fields of the schema that a caller can be asked for; judgements about the call are not.
func wantedSlots(fields []agent.Field) []slot {
	var out []slot
	for _, f := range fields {
		if f.Type == "bool" || isJudgement(f) {
			continue
		}
		s := slot{name: f.Name, label: strings.ReplaceAll(f.Name, "_", " ")}
		s.kind = kindOf(s.label, f.Description, f.Type)
		s.question = questionFor(s, f.Description)
		out = append(out, s)
	}
	return out
}

func isJudgement(f agent.Field) bool {
	for _, w := range tokens(f.Name + " " + f.Description) {
		switch w {
		case "summary", "summarize", "summarise", "status", "sentiment", "mood", "outcome", "score", "rating", "goal", "result", "reason",
			"intent", "topic", "category", "transcript", "conversation", "message", "why", "wants", "whether":
			return true
		}
	}
	return false
}
