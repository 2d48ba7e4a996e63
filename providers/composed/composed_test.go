package composed_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/audio"
	"parley/providers/composed"
	"parley/providers/providertest"
	"parley/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRealtimeRole(t *testing.T) {
	providertest.Realtime(t, providertest.Conversation{
		Open: composed.Parts{Transcriber: hear, Model: &model{}, Synthesizer: tone{}}.Open,
		How: voice.RealtimeSetting{Model: "m", Rate: 8000, Languages: []string{"en"}, Instructions: "You sell maps.",
			Tools: []agent.Tool{{Name: "find_map", Parameters: json.RawMessage(`{}`)}}},
		Question: "What do you sell?", Wish: "Find me a map.", Spoken: providertest.Utterance{PCM: make([]int16, 8000), Words: "a map of the town"},
	})
}

// What was not heard of an answer is not remembered, and what was said without the engine is.
func TestRemembersWhatWasHeard(t *testing.T) {
	m := &model{asked: make(chan agent.Request, 8)}
	r, err := composed.Parts{Transcriber: hear, Model: m, Synthesizer: tone{}}.Open(t.Context(), voice.RealtimeSetting{Rate: 8000, Languages: []string{"en"},
		Instructions: "You sell maps.", Notes: []string{"Be short."}, History: []agent.Message{{Role: agent.RoleUser, Text: "Hi."}}})
	if err != nil {
		t.Fatal(err)
	}
	say := func(id string) (items []string) {
		if err := r.Respond(voice.Ask{ID: id}); err != nil {
			t.Fatal(err)
		}
		for {
			ev, err := r.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == voice.AnswerText {
				items = append(items, ev.Item)
			}
			if ev.Kind == voice.AnswerOver {
				<-m.asked
				return items
			}
		}
	}
	items := say("a1")
	if len(items) != 2 {
		t.Fatal(items)
	}
	r.Heard(items[0], 0, "We sell")
	r.Heard(items[1], 0, "")
	r.Note("The caller is a member.")
	r.Tell(agent.Message{Role: agent.RoleUser, Text: "[Keypad input: 1]"})
	r.Respond(voice.Ask{ID: "a2"})
	got := <-m.asked
	var said []string
	for _, x := range got.Messages {
		said = append(said, string(x.Role)+" "+x.Text)
	}
	if s := strings.Join(said, "|"); s != "user Hi.|assistant We sell|user [Keypad input: 1]" || got.System != "You sell maps.\n- Be short.\n- The caller is a member." {
		t.Errorf("asked %q with %q", s, got.System)
	}
	providertest.End(t, r)
}

// model answers in two sentences; a wish for a map calls a function.
type model struct{ asked chan agent.Request }

func (m *model) Reply(_ context.Context, r agent.Request) iter.Seq2[agent.Chunk, error] {
	if m.asked != nil {
		m.asked <- r
	}
	return func(yield func(agent.Chunk, error) bool) {
		if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Text, "Find") {
			yield(agent.Chunk{Call: &agent.ToolCall{ID: "c2", Name: "find_map", Arguments: json.RawMessage(`{"town":"Ulm"}`)}}, nil)
			return
		}
		if yield(agent.Chunk{Text: "We sell maps. "}, nil) {
			yield(agent.Chunk{Text: "Of all towns."}, nil)
		}
	}
}

type tone struct{}

func (tone) Speak(ctx context.Context, s voice.Speech) iter.Seq2[audio.Frame, error] {
	return func(yield func(audio.Frame, error) bool) {
		pcm := make([]int16, 160)
		audio.GenSignal(pcm, 8000, 0, audio.Tone{Hz: 440, Level: 0.5})
		for range len(s.Text) {
			if ctx.Err() != nil || !yield(audio.Frame{Rate: 8000, PCM: pcm}, nil) {
				return
			}
		}
	}
}

type ears struct {
	out chan voice.Transcript
	end context.CancelFunc
	ctx context.Context
}

func hear(ctx context.Context, _ voice.Transcription) (voice.Transcriber, error) {
	ctx, end := context.WithCancel(ctx)
	return &ears{make(chan voice.Transcript, 8), end, ctx}, nil
}

func (e *ears) Write([]int16) error { return nil }
func (e *ears) EndTurn() error {
	e.out <- voice.Transcript{Text: "a map of the town", Final: true}
	return nil
}
func (e *ears) Close() error { e.end(); return nil }
func (e *ears) Recv() (voice.Transcript, error) {
	select {
	case t := <-e.out:
		return t, nil
	case <-e.ctx.Done():
		return voice.Transcript{}, io.EOF
	}
}
