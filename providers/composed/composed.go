// Package composed makes a realtime engine of a transcriber, a model and a synthesizer. It leaves the end of the caller's turns to
// the conversation, so that it takes turns like a pipeline of the three.
package composed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"parley/agent"
	"parley/safe"
	"parley/sentences"
	"parley/voice"
)

// Parts are what the engine is made of.
type Parts struct {
	Transcriber voice.OpenTranscriber
	Model       agent.Model
	Synthesizer voice.Synthesizer // may be nil where answers are text
}

// Open implements voice.OpenRealtime.
func (p Parts) Open(ctx context.Context, how voice.RealtimeSetting) (voice.Realtime, error) {
	ears, err := p.Transcriber(ctx, voice.Transcription{Rate: how.Rate, Languages: how.Languages, Hints: how.Hints})
	if err != nil {
		return nil, err
	}
	t := &talk{parts: p, how: how, ears: ears, asks: make(chan voice.Ask, mostAsks), news: make(chan struct{}, 1)}
	t.ctx, t.stop = context.WithCancelCause(ctx)
	for _, m := range how.History {
		t.said = append(t.said, saying{Message: m})
	}
	t.work.Go("composed engine: ears", t.listen)
	t.work.Go("composed engine: answers", t.answers)
	return t, nil
}

// mostAsks is how many wishes may wait.
const mostAsks = 64

// talk is one conversation.
type talk struct {
	parts Parts
	ears  voice.Transcriber
	ctx   context.Context
	stop  context.CancelCauseFunc
	work  safe.Group
	asks  chan voice.Ask
	news  chan struct{} // has a token when there are events

	mu      sync.Mutex
	how     voice.RealtimeSetting
	said    []saying
	events  []voice.RealtimeEvent
	made    int // answers
	current string
	cancel  context.CancelFunc
}

// saying is a message, and of an answer the items that it consists of.
type saying struct {
	agent.Message
	items []piece
}

type piece struct{ item, text string }

func (t *talk) EndsTurns() bool            { return false }
func (t *talk) Hear(pcm []int16) error     { return t.ears.Write(pcm) }
func (t *talk) EndTurn() error             { return t.ears.EndTurn() }
func (t *talk) Tell(m agent.Message) error { t.remember(saying{Message: m}); return nil }

func (t *talk) Result(call string, result json.RawMessage) error {
	t.remember(saying{Message: agent.Message{Role: agent.RoleTool, CallID: call, Text: string(result)}})
	return nil
}

func (t *talk) Note(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.how.Notes = append(t.how.Notes, text)
	return nil
}

func (t *talk) Respond(a voice.Ask) error {
	select {
	case t.asks <- a:
		return nil
	default:
		return fmt.Errorf("more than %d answers are waited for", mostAsks)
	}
}

func (t *talk) Stop(answer string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == answer {
		t.cancel()
	}
	return nil
}

func (t *talk) Heard(item string, _ time.Duration, words string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.said {
		for j := range t.said[i].items {
			if t.said[i].items[j].item == item {
				t.said[i].items[j].text = words
				t.said[i].join()
			}
		}
	}
	return nil
}

func (t *talk) Recv() (voice.RealtimeEvent, error) {
	for {
		t.mu.Lock()
		if len(t.events) > 0 {
			ev := t.events[0]
			t.events = t.events[1:]
			t.mu.Unlock()
			return ev, nil
		}
		t.mu.Unlock()
		select {
		case <-t.news:
		case <-t.ctx.Done():
			return voice.RealtimeEvent{}, context.Cause(t.ctx)
		}
	}
}

func (t *talk) Close() error {
	t.stop(io.EOF)
	err := t.ears.Close()
	t.work.Wait()
	return err
}

func (t *talk) tell(ev voice.RealtimeEvent) {
	t.mu.Lock()
	t.events = append(t.events, ev)
	t.mu.Unlock()
	select {
	case t.news <- struct{}{}:
	default:
	}
}

func (t *talk) remember(s saying) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, s)
}

// listen passes on what the transcriber understands. When it fails, so does the engine.
func (t *talk) listen() {
	for {
		heard, err := t.ears.Recv()
		if err != nil {
			t.stop(err)
			return
		}
		if heard.Final && heard.Text != "" {
			t.remember(saying{Message: agent.Message{Role: agent.RoleUser, Text: heard.Text}})
		}
		t.tell(voice.RealtimeEvent{Kind: voice.CallerSaid, Text: heard.Text, Final: heard.Final, Language: heard.Language})
	}
}

// answers makes one answer after the other.
func (t *talk) answers() {
	for {
		select {
		case a := <-t.asks:
			t.answer(a)
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *talk) answer(a voice.Ask) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	t.mu.Lock()
	t.made++
	m := &making{talk: t, ctx: ctx, answer: fmt.Sprintf("answer_%d", t.made)}
	t.current, t.cancel = m.answer, cancel
	t.mu.Unlock()
	t.tell(voice.RealtimeEvent{Kind: voice.AnswerBegan, Answer: m.answer, Ask: a.ID})
	err := safe.Do("composed engine", func() error {
		if a.Exactly != "" {
			return m.say(a.Exactly)
		}
		return m.think(a)
	})
	if ctx.Err() != nil {
		err = nil
	}
	t.tell(voice.RealtimeEvent{Kind: voice.AnswerOver, Answer: m.answer, Err: err})
}

// request is the question to the model.
func (t *talk) request(a voice.Ask) agent.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := agent.Request{Purpose: agent.PurposeTurn, System: t.how.Instructions, Instruction: a.Instruction, Tools: t.how.Tools,
		Wanted: t.how.Wanted}
	for _, n := range t.how.Notes {
		r.System += "\n- " + n
	}
	if len(t.how.Languages) > 0 {
		r.Language = t.how.Languages[0]
	}
	for _, s := range t.said {
		if s.Text != "" || len(s.Calls) > 0 {
			r.Messages = append(r.Messages, s.Message)
		}
	}
	return r
}

func (s *saying) join() {
	s.Text = ""
	for _, p := range s.items {
		if s.Text != "" && p.text != "" {
			s.Text += " "
		}
		s.Text += p.text
	}
}

// making is one answer in the making.
type making struct {
	*talk
	ctx    context.Context
	answer string
	items  int
}

// think says what the model answers, sentence by sentence.
func (m *making) think(a voice.Ask) error {
	var split sentences.Splitter
	var calls []agent.ToolCall
	for chunk, err := range m.parts.Model.Reply(m.ctx, m.request(a)) {
		if err != nil {
			return err
		}
		if chunk.Call != nil {
			calls = append(calls, *chunk.Call)
		}
		for _, sentence := range split.Push(chunk.Text) {
			if err := m.say(sentence); err != nil {
				return err
			}
		}
	}
	if rest := split.Flush(); rest != "" {
		if err := m.say(rest); err != nil {
			return err
		}
	}
	if len(calls) > 0 {
		m.remember(saying{Message: agent.Message{Role: agent.RoleAssistant, Calls: calls}})
	}
	for _, c := range calls {
		m.tell(voice.RealtimeEvent{Kind: voice.AnswerCall, Answer: m.answer, Call: c})
	}
	return m.ctx.Err()
}

// say gives a sentence, an item of its own, as text and, where it is wanted, as sound.
func (m *making) say(text string) error {
	if m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	m.items++
	item := fmt.Sprintf("%s_%d", m.answer, m.items)
	m.keep(piece{item, text})
	m.tell(voice.RealtimeEvent{Kind: voice.AnswerText, Answer: m.answer, Item: item, Text: text + " "})
	if m.how.Text || m.parts.Synthesizer == nil {
		return nil
	}
	sp := m.how.Speech
	sp.Text = text
	if len(m.how.Languages) > 0 {
		sp.Language = m.how.Languages[0]
	}
	for f, err := range m.parts.Synthesizer.Speak(m.ctx, sp) {
		if err != nil {
			return err
		}
		f.PCM = append([]int16(nil), f.PCM...)
		m.tell(voice.RealtimeEvent{Kind: voice.AnswerSound, Answer: m.answer, Item: item, Sound: f})
	}
	return m.ctx.Err()
}

// keep adds an item to what the assistant said in this answer.
func (m *making) keep(p piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.said); m.items > 1 && n > 0 && len(m.said[n-1].items) > 0 {
		m.said[n-1].items = append(m.said[n-1].items, p)
		m.said[n-1].join()
		return
	}
	s := saying{Message: agent.Message{Role: agent.RoleAssistant}, items: []piece{p}}
	s.join()
	m.said = append(m.said, s)
}
