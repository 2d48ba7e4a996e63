package switchboard

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"parley/agent"
	"parley/assistants"
	"parley/calls"
	"parley/catalog"
	"parley/lines/linetest"
	"parley/providers/composed"
	"parley/toolbox"
	"parley/value"
	"parley/voice"
)

// conversing makes an inbound assistant whose conversations are held by a realtime engine, and calls it. said is how the
// engine was asked.
func (l *lab) conversing(mode catalog.Mode, brain agent.Model, change func(*assistants.Settings)) (*linetest.Leg, calls.Call, func() string) {
	l.t.Helper()
	var opened voice.RealtimeSetting
	l.Engines().Realtime = map[string]voice.OpenRealtime{"fake": func(ctx context.Context, how voice.RealtimeSetting) (voice.Realtime, error) {
		opened = how
		return composed.Parts{Transcriber: openTranscriber, Model: brain, Synthesizer: tone{}}.Open(ctx, how)
	}}
	l.assistant("inbound", func(f *assistants.Settings) {
		model := l.Catalog.Models(string(mode))[0]
		v, _ := l.Catalog.DefaultVoice(1, mode)
		f.Mode, f.LLMModelID, f.MultimodalModelID, f.VoiceID = string(mode), nil, &model.ID, v.ID
		if change != nil {
			change(f)
		}
	})
	leg := l.call(deskNumber)
	<-leg.Answered()
	return leg, l.until(status(calls.InProgress)), func() string {
		b, err := json.Marshal(opened)
		l.must(err)
		return string(b)
	}
}

// A realtime assistant talks through its engine alone, in dualplex with a synthesizer; nothing is asked of a pipeline's parts.
//
// Contract: 4.2 4.9
func TestRealtimeCalls(t *testing.T) {
	for mode, want := range map[catalog.Mode]string{catalog.Multimodal: "", catalog.Dualplex: "tts.request"} {
		t.Run(string(mode), func(t *testing.T) {
			each(t, func(l *lab) {
				leg, c, asked := l.conversing(mode, parrot{}, func(f *assistants.Settings) {
					f.TurnDetectionThreshold = value.Ptr(0.8)
					f.TTSEmotionEnabled = false
				})
				watched, _, stop, _ := l.watch(c.ID)
				defer stop()
				l.heard(watched, "turn.assistant")
				say(leg.Line())
				l.heard(watched, "turn.assistant")
				if got := leg.Line().Threshold; got != 0.8 {
					t.Errorf("threshold %v", got)
				}
				leg.FarHangup()
				c = l.until(status(calls.Completed))
				log := l.log(c.ID)
				if c.Transcript() != "Assistant: Hi Mia.\nCustomer: hello there\nAssistant: You said hello there." || strings.Contains(log, "stt.request") ||
					strings.Contains(log, "tts.request") != (want != "") || strings.Contains(log, "warning") {
					t.Errorf("%s\n%s", c.Transcript(), log)
				}
				if !strings.Contains(log, `realtime.session {"provider":"fake","model":"live","threshold":0.8,"voice":"v","instructions_sha256":"`) {
					t.Error(log)
				}
				how := asked()
				if !strings.Contains(how, "You are Desk.") || strings.Contains(how, withoutEmotion) != (mode == catalog.Multimodal) ||
					!strings.Contains(how, `"Threshold":0.8`) {
					t.Error(how)
				}
			})
		})
	}
}

// A tool that the engine wants is carried out, and what it answered goes back; with a fallback model, that one decides which.
//
// Contract: 4.2 4.4
func TestRealtimeTools(t *testing.T) {
	for name, fallback := range map[string]bool{"native": false, "chosen by the text model": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(l *lab) {
				results := make(chan string, 8)
				leg, c, _ := l.conversing(catalog.Multimodal, caller{results}, func(f *assistants.Settings) {
					f.Tools = toolbox.Tools{{Type: "end_call", Spec: &toolbox.EndCall{}}, {Type: "dtmf_input", Spec: &toolbox.DTMFInput{}}}
					if fallback {
						f.ChatLLMFallbackID = value.Ptr(l.Catalog.Models(catalog.LLM)[0].ID)
						l.Engines().Models["fake"] = func(string) agent.Model { return chooser{} }
					}
				})
				watched, _, stop, _ := l.watch(c.ID)
				defer stop()
				l.heard(watched, "turn.assistant")
				say(leg.Line())
				c = l.until(status(calls.Completed))
				log := l.log(c.ID)
				digits := map[bool]string{false: "1", true: "22"}[fallback]
				if got := <-results; got != `{"digits":"`+digits+`","status":"sent"}` || !strings.Contains(log, `tool.call {"name":"send_dtmf","arguments":{"digits":"`+digits+`"}}`) ||
					strings.Contains(log, `"purpose":"tool"`) != fallback || *c.Reason != calls.Reason(voice.AssistantHangup) {
					t.Errorf("%s %s\n%s", got, *c.Reason, log)
				}
			})
		})
	}
}

// caller presses a key and then hangs up.
type caller struct{ results chan string }

func (m caller) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case r.Instruction != "":
			yield(agent.Chunk{Text: "Goodbye."}, nil)
		case last.Role == agent.RoleTool:
			m.results <- last.Text
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "c2", Name: "end_call", Arguments: json.RawMessage(`{}`)}}, nil)
		default:
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "c1", Name: "send_dtmf", Arguments: json.RawMessage(`{"digits":"1"}`)}}, nil)
		}
	}
}

// chooser wants other keys, and agrees with everything else.
type chooser struct{}

func (chooser) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		switch {
		case r.Purpose == agent.PurposeEvaluation:
			yield(agent.Chunk{Text: "{}"}, nil)
		case strings.Contains(r.Instruction, "send_dtmf"):
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "x", Name: "send_dtmf", Arguments: json.RawMessage(`{"digits":"22"}`)}}, nil)
		default:
			yield(agent.Chunk{Text: "As you like."}, nil)
		}
	}
}
