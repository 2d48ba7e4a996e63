package switchboard

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/assistants"
	"parley/lines"
	"parley/lines/linetest"
	"parley/mind"
	"parley/toolbox"
	"parley/tools"
	"parley/voice"
)

// talkative is a model that sums up, and decides when it is asked something.
type talkative struct{ call string }

func (m talkative) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		switch {
		case m.call == "fail":
			yield(agent.Chunk{}, errors.New("broken"))
		case len(r.Tools) > 0 && m.call != "":
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "1", Name: m.call, Arguments: []byte(`{}`)}}, nil)
		default:
			yield(agent.Chunk{Text: "They want a refund."}, nil)
		}
	}
}

// What supervisors do with a briefing: they say yes or no, press a key, ask back, say nothing, go on talking for ever.
//
// Contract: 4.4
func TestBriefing(t *testing.T) {
	heard := func(words ...string) []string { return words }
	for name, c := range map[string]struct {
		says  []string // the first after 3 s, then one every 8 s
		keys  string
		model talkative
		want  string
	}{
		"yes, yes":                 {says: heard("Yes.", "Yes, please."), want: isConnected},
		"at once":                  {says: heard("Put them through, please."), want: isConnected},
		"yes alone is for hearing": {says: heard("Yes."), want: noAnswer},
		"no":                       {says: heard("No, not now."), want: isDeclined},
		"yes, then no":             {says: heard("Yes?", "I'm busy."), want: isDeclined},
		"key 1":                    {keys: "1", want: isConnected},
		"key 2":                    {keys: "2", want: isDeclined},
		"another key":              {keys: "7", want: noAnswer},
		"nothing":                  {want: noAnswer},
		"asks back, model agrees":  {says: heard("Hello?", "Since when?", "Well, if it must be me."), model: talkative{"accept"}, want: isConnected},
		"model refuses":            {says: heard("Hello?", "I would rather be left alone today."), model: talkative{"decline"}, want: isDeclined},
		"no model":                 {says: heard("Hello?", "Yes."), model: talkative{"fail"}, want: isConnected},
		"talks for ever":           {says: make([]string, 60), want: noAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leg := linetest.NewLeg(lines.Info{ID: "2"})
				if err := leg.Answer(t.Context()); err != nil {
					t.Fatal(err)
				}
				ear := &scripted{says: c.says}
				m := mind.Mind{Now: time.Now}
				speaker, err := m.Speaker(t.Context(), assistants.Assistant{Settings: assistants.Settings{LanguageID: 1, Timezone: "UTC"}}, nil, tools.Conversation{})
				if err != nil {
					t.Fatal(err)
				}
				x := &transfer{thinker: &thinker{board: &Switchboard{Deps: Deps{Log: slog.New(slog.DiscardHandler)}}, live: &live{}, speaker: speaker,
					engine: agent.Engine{Model: c.model},
					cfg:    voice.Config{Language: "en", EndSilence: 300 * time.Millisecond, Interruptible: true, InterruptAfter: time.Second, MaxSilence: time.Minute},
					parts: voice.Parts{Transcriber: voice.NamedTranscriber{Open: ear.open}, Synthesizer: voice.NamedSynthesizer{Synthesizer: tone{}},
						Log: slog.New(slog.DiscardHandler)}},
					asked: voice.Thinking{Language: "en", History: []agent.Message{{Role: agent.RoleUser, Text: "I want a refund"}}}}
				over := make(chan struct{})
				go func() {
					for i := range max(len(c.says), len(c.keys)) {
						select {
						case <-time.After(map[bool]time.Duration{true: 3 * time.Second, false: 8 * time.Second}[i == 0]):
						case <-over:
							return
						}
						if i < len(c.keys) {
							leg.Line().Notice(lines.Event{Kind: lines.Digit, Digit: c.keys[i], At: time.Now()})
							continue
						}
						say(leg.Line())
					}
				}()
				began := time.Now()
				status := x.brief(t.Context(), &toolbox.WarmCallTransfer{BriefingInitialMessage: "A caller."}, &party{leg: leg})
				if status != c.want {
					t.Errorf("%s, want %s", status, c.want)
				}
				if took := time.Since(began); took > briefingTime {
					t.Errorf("took %v", took)
				}
				close(over)
				leg.FarHangup()
			})
		})
	}
}

// scripted hears one thing after the other.
type scripted struct {
	says []string
	n    int
}

func (s *scripted) open(context.Context, voice.Transcription) (voice.Transcriber, error) {
	return &scriptedEar{&transcriber{make(chan voice.Transcript, 8), make(chan struct{})}, s}, nil
}

type scriptedEar struct {
	*transcriber
	script *scripted
}

func (e *scriptedEar) EndTurn() error {
	text := "well well well"
	if e.script.n < len(e.script.says) && e.script.says[e.script.n] != "" {
		text = e.script.says[e.script.n]
	}
	e.script.n++
	e.out <- voice.Transcript{Text: text, Final: true}
	return nil
}
