package providertest

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/voice"
)

// Conversation is what a realtime engine is tested with: how it is opened, a question in writing and one as sound that it
// answers, and one that has it call a function of how.Tools.
type Conversation struct {
	Open     voice.OpenRealtime
	How      voice.RealtimeSetting
	Question string
	Spoken   Utterance
	Silence  time.Duration // behind it, for an engine that ends turns
	Wish     string
}

// Realtime tests a realtime engine.
func Realtime(t *testing.T, c Conversation) {
	for _, text := range []bool{true, false} {
		name := map[bool]string{true: "in writing", false: "in its own voice"}[text]
		t.Run("answers "+name, func(t *testing.T) {
			r := c.open(t, text)
			c.ask(t, r, "a1", c.Question)
			got := answer(t, r, "a1")
			got.complete(t, text)
			if len(got.calls) > 0 {
				t.Errorf("calls %+v", got.calls)
			}
			End(t, r)
		})
		t.Run("takes a stop "+name, func(t *testing.T) {
			r := c.open(t, text)
			c.ask(t, r, "a1", c.Question)
			stopped := ""
			for {
				ev := next(t, r)
				if (ev.Kind == voice.AnswerText || ev.Kind == voice.AnswerSound) && stopped == "" {
					stopped = ev.Answer
					check(t, r.Stop(stopped))
					check(t, r.Heard(ev.Item, 0, ""))
				}
				if ev.Kind == voice.AnswerOver {
					if ev.Answer != stopped || ev.Err != nil {
						t.Errorf("%s is over: %v", ev.Answer, ev.Err)
					}
					break
				}
			}
			check(t, r.Stop(stopped)) // over already
			check(t, r.Stop("no such answer"))
			c.ask(t, r, "a2", c.Question)
			answer(t, r, "a2").complete(t, text)
			End(t, r)
		})
	}
	t.Run("says exactly what it is told", func(t *testing.T) {
		r := c.open(t, false)
		const words = "Good morning, this is the test."
		check(t, r.Respond(voice.Ask{ID: "a1", Exactly: words}))
		got := answer(t, r, "a1")
		got.complete(t, false)
		if Errors(words, strings.TrimSpace(got.text)) > 0 {
			t.Errorf("said %q", got.text)
		}
		End(t, r)
	})
	t.Run("gives one answer after the other", func(t *testing.T) {
		r := c.open(t, true)
		c.ask(t, r, "a1", c.Question)
		check(t, r.Respond(voice.Ask{ID: "a2", Instruction: "Ask in one short sentence whether they are still there."}))
		check(t, r.Note("The caller is a member."))
		answer(t, r, "a1").complete(t, true)
		answer(t, r, "a2").complete(t, true)
		End(t, r)
	})
	t.Run("has tools called", func(t *testing.T) {
		r := c.open(t, true)
		c.ask(t, r, "a1", c.Wish)
		got := answer(t, r, "a1")
		if len(got.calls) == 0 {
			t.Fatalf("no call in %q", got.text)
		}
		for _, call := range got.calls {
			known := slices.ContainsFunc(c.How.Tools, func(f agent.Tool) bool { return f.Name == call.Name })
			if call.ID == "" || !known || !json.Valid(call.Arguments) {
				t.Errorf("call %+v", call)
			}
			check(t, r.Result(call.ID, json.RawMessage(`{"ok":true}`)))
		}
		check(t, r.Respond(voice.Ask{ID: "a2"}))
		answer(t, r, "a2").complete(t, true)
		End(t, r)
	})
	t.Run("hears turn after turn", func(t *testing.T) { c.hears(t) })
	t.Run("closes with work left", func(t *testing.T) {
		r := c.open(t, false)
		for range 50 {
			check(t, r.Hear(make([]int16, c.How.Rate/50)))
		}
		c.ask(t, r, "a1", c.Question)
		End(t, r)
		if err := r.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

func (c Conversation) open(t *testing.T, text bool) voice.Realtime {
	t.Helper()
	how := c.How
	how.Text = text
	how.History = []agent.Message{{Role: agent.RoleAssistant, Text: "Hello."}, {Role: agent.RoleUser, Text: "Hi."},
		{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: "c1", Name: "earlier", Arguments: json.RawMessage(`{}`)}}},
		{Role: agent.RoleTool, CallID: "c1", Text: `{"ok":true}`}}
	r, err := c.Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c Conversation) ask(t *testing.T, r voice.Realtime, id, question string) {
	t.Helper()
	check(t, r.Tell(agent.Message{Role: agent.RoleUser, Text: question}))
	check(t, r.Respond(voice.Ask{ID: id}))
}

// hears speaks twice and waits for the words of each turn; an engine that ends turns answers by itself.
func (c Conversation) hears(t *testing.T) {
	r := c.open(t, true)
	for range 2 {
		pcm := append(slices.Clone(c.Spoken.PCM), make([]int16, int(c.Silence.Seconds()*float64(c.How.Rate)))...)
		for frame := range slices.Chunk(pcm, c.How.Rate/50) {
			check(t, r.Hear(frame))
		}
		check(t, r.EndTurn())
		var seen []voice.RealtimeKind
		words, over := "", !r.EndsTurns()
		for words == "" || !over {
			ev := next(t, r)
			seen = append(seen, ev.Kind)
			switch {
			case ev.Kind == voice.CallerSaid && ev.Final:
				if words = ev.Text; words == "" {
					t.Fatal("heard nothing")
				}
			case ev.Kind == voice.AnswerBegan && (!r.EndsTurns() || ev.Ask != ""):
				t.Errorf("answers %q", ev.Ask)
			case ev.Kind == voice.AnswerOver:
				over = true
			}
		}
		if d := Errors(c.Spoken.Words, words); 2*d > len(strings.Fields(c.Spoken.Words)) {
			t.Errorf("heard %q, said %q", words, c.Spoken.Words)
		}
		if ends := slices.Contains(seen, voice.CallerStarted) && slices.Contains(seen, voice.CallerStopped); ends != r.EndsTurns() {
			t.Errorf("tells the caller's turns: %v, and says %v", ends, r.EndsTurns())
		}
	}
	End(t, r)
}

// given is one answer.
type given struct {
	text  string
	loud  int
	over  voice.RealtimeEvent
	calls []agent.ToolCall
}

func (s given) complete(t *testing.T, text bool) {
	t.Helper()
	if strings.TrimSpace(s.text) == "" || s.over.Err != nil {
		t.Errorf("answered %q, %v", s.text, s.over.Err)
	}
	if text != (s.loud == 0) {
		t.Errorf("%d loud samples", s.loud)
	}
}

// answer reads the whole answer to an ask; nothing of another one may come in between.
func answer(t *testing.T, r voice.Realtime, ask string) (s given) {
	t.Helper()
	id := ""
	for {
		ev := next(t, r)
		switch ev.Kind {
		case voice.AnswerBegan:
			if ev.Ask != ask || id != "" || ev.Answer == "" {
				t.Fatalf("%+v began, waiting for the answer to %s", ev, ask)
			}
			id = ev.Answer
		case voice.AnswerText, voice.AnswerSound:
			s.text += ev.Text
			for _, x := range ev.Sound.PCM {
				if x > 1000 || x < -1000 {
					s.loud++
				}
			}
			if ev.Item == "" || ev.Answer != id || len(ev.Sound.PCM) > 0 && ev.Sound.Rate < 8000 {
				t.Errorf("%+v", ev)
			}
		case voice.AnswerCall:
			s.calls = append(s.calls, ev.Call)
		case voice.AnswerOver:
			if ev.Answer != id {
				t.Errorf("%s is over", ev.Answer)
			}
			s.over = ev
			return s
		}
	}
}

// next is the next event; a minute without one is a failure.
func next(t *testing.T, r voice.Realtime) voice.RealtimeEvent {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { r.Close() })
	defer late.Stop()
	ev, err := r.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// End closes an engine and reads it to its end, which must be io.EOF.
func End(t *testing.T, r voice.Realtime) {
	t.Helper()
	check(t, r.Close())
	for {
		if _, err := r.Recv(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("Recv after Close: %v", err)
			}
			return
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
