package switchboard

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"parley/agent"
	"parley/mind"
	"parley/placeholders"
	"parley/toolbox"
	"parley/voice"
)

// What a briefing ends with, beside the reasons of every conversation.
const (
	accepted voice.Reason = "accepted"
	declined voice.Reason = "declined"
)

const (
	briefingTime  = 3 * time.Minute  // a briefing lasts at most
	briefingQuiet = 20 * time.Second // a supervisor who says nothing is waited for
	askAgainAfter = 5 * time.Second
	oneKey        = 200 * time.Millisecond // after which a key counts, without a stop key
)

// brief tells a supervisor what a call is about and asks whether to connect it: a second conversation, with the assistant's own
// engines, which the caller does not hear and which is not part of the call's record.
func (x *transfer) brief(ctx context.Context, t *toolbox.WarmCallTransfer, p *party) (status string) {
	cfg, parts := x.cfg, x.parts
	cfg.Greeting, cfg.WaitForCaller, cfg.Language = x.spoken(t.BriefingInitialMessage), false, x.asked.Language
	cfg.MaxDuration, cfg.Funds, cfg.MaxSilence, cfg.MaxInitialSilence = briefingTime, 0, briefingQuiet, 0
	cfg.ReengageEvery, cfg.ReengagePrompt = askAgainAfter, ""
	cfg.Keypad, cfg.Fillers, cfg.Hints = &voice.Keypad{Timeout: oneKey, Stop: '#'}, nil, nil
	cfg.Answering = &voice.Answering{HangUp: true, Opening: cfg.Greeting}
	parts.Thinker, parts.ThinkerFallback = &briefer{transfer: x, instructions: t.SummaryInstructions}, nil
	parts.Ended, parts.Observe = nil, x.observeBriefing
	report := voice.New(cfg, p.leg.Media(), parts).Run(ctx)
	switch report.Reason {
	case accepted:
		return isConnected
	case declined, voice.CustomerHangup:
		return isDeclined
	case voice.Voicemail, voice.VoicemailLeft:
		return isVoicemail
	case voice.SilenceTimeout, voice.MaxDuration:
		return noAnswer
	}
	return isFailed
}

// observeBriefing lets the log of the call show what was asked of the engines. What was said is between the two of them.
func (x *transfer) observeBriefing(e voice.Event) {
	switch e.Type {
	case "llm.request", "llm.first_token", "tts.request", "stt.request", "warning", "error":
		x.live.observe(e)
	}
}

// briefer thinks for the conversation with a supervisor.
type briefer struct {
	*transfer
	instructions string
	briefed      bool
}

// Think answers a supervisor: the summary comes first, then the question. Plain words and keys decide without a model.
func (b *briefer) Think(ctx context.Context, q voice.Thinking) iter.Seq2[voice.Thought, error] {
	return func(yield func(voice.Thought, error) bool) {
		said := ""
		if n := len(q.History); q.Purpose != agent.PurposeReengage && n > 0 && q.History[n-1].Role == agent.RoleUser {
			said = q.History[n-1].Text
		}
		words := briefingIn(q.Language)
		switch {
		case words.refuses(said):
			yield(voice.Thought{Text: words.regret, Then: declined}, nil)
		case words.agrees(said, b.briefed):
			yield(voice.Thought{Then: accepted}, nil)
		case b.briefed && q.Purpose == agent.PurposeReengage:
			yield(voice.Thought{Text: words.question}, nil)
		default:
			b.tell(ctx, q, words, yield)
		}
	}
}

// tell has the model sum the call up, or answer what the supervisor wants to know of it, and asks.
func (b *briefer) tell(ctx context.Context, q voice.Thinking, words briefingWords, yield func(voice.Thought, error) bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var then voice.Reason
	more := true
	send := func(t voice.Thought) bool {
		if more && !yield(t, nil) {
			more = false
			stop()
		}
		return more
	}
	turn := b.turnFor(q, &then)
	turn.Observe = func(e agent.Event) { send(voice.Thought{Event: &e, Then: then}) }
	for text, err := range turn.Sentences(ctx) {
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			b.board.Log.Warn("briefing not made", "call", b.live.call.ID, "error", err)
			send(voice.Thought{Text: words.plain})
		default:
			send(voice.Thought{Text: text})
		}
	}
	b.briefed = true
	if then == "" {
		send(voice.Thought{Text: words.question})
	}
}

// turnFor is the turn of thought: the caller's conversation is what it is about, the supervisor's the occasion.
func (b *briefer) turnFor(q voice.Thinking, then *voice.Reason) *agent.Turn {
	turn := b.speaker.Turn(mind.Occasion{Engine: b.engine, History: b.asked.History, Language: q.Language, Spoken: true,
		Purpose: agent.PurposeBriefing, Instruction: b.instruction(q)})
	turn.Functions, turn.Recall = nil, nil
	if b.briefed {
		end := func(name, about string, r voice.Reason) agent.Function {
			return agent.Function{Tool: agent.Tool{Name: name, Description: about, Parameters: agent.Object()},
				Run: func(context.Context, json.RawMessage) agent.Result {
					*then = r
					return agent.Result{Value: map[string]any{"status": r}, Over: true}
				}}
		}
		turn.Functions = []agent.Function{end("accept", "The supervisor takes the call.", accepted),
			end("decline", "The supervisor does not take the call.", declined)}
	}
	return turn
}

// instruction says who is listening now, and what was said between the two so far.
func (b *briefer) instruction(q voice.Thinking) string {
	about := placeholders.Fill(b.instructions, b.speaker.Values, placeholders.Written)
	if !b.briefed {
		return "The caller is on hold. You speak to the supervisor now, not to the caller. " + about
	}
	var s strings.Builder
	s.WriteString("The caller is on hold. You speak to the supervisor now, not to the caller. So far the two of you said:\n")
	for _, m := range q.History {
		switch {
		case m.Text == "":
		case m.Role == agent.RoleUser:
			s.WriteString("Supervisor: " + m.Text + "\n")
		case m.Role == agent.RoleAssistant:
			s.WriteString("You: " + m.Text + "\n")
		}
	}
	s.WriteString("Answer the supervisor in one or two sentences, from what the caller said. Call accept or decline once they have decided.")
	return s.String()
}
