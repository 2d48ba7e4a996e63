package voice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/audio"
)

// scripted is a realtime engine made of the engines of a .call script: what they do, and when, is the same.
type scripted struct {
	w     *world
	text  bool
	ends  bool // it ends the caller's turns, and answers by itself
	conns []*scriptedConn
}

// now is the conversation that is open.
func (e *scripted) now() *scriptedConn {
	if len(e.conns) == 0 {
		return nil
	}
	return e.conns[len(e.conns)-1]
}

// tell shows what an engine was told.
func (c *scriptedConn) told(format string, args ...any) {
	if w := c.e.w; w.show["engine"] {
		w.out = append(w.out, fmt.Sprintf("%8.3fs engine: ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
	}
}

// starts and stops are the caller's turn as the engine hears it.
func (c *scriptedConn) starts() { c.tell(RealtimeEvent{Kind: CallerStarted}) }

func (c *scriptedConn) stops() {
	c.mu.Lock()
	c.turns++
	item, busy := fmt.Sprint("turn", c.turns), c.current != ""
	c.mu.Unlock()
	c.tell(RealtimeEvent{Kind: CallerStopped, Item: item})
	if !busy {
		c.asks <- Ask{}
	}
	_ = c.ear.EndTurn()
}

// lose breaks the connection.
func (c *scriptedConn) lose() { c.stop(errors.New("the line to the engine broke")) }

func (e *scripted) talker() *Talker {
	return &Talker{Open: e.open, Provider: "one", Setting: RealtimeSetting{Model: "m", Text: e.text, Instructions: "Be kind."},
		Hands: scriptedHands{e.w}}
}

type scriptedConn struct {
	e     *scripted
	ear   Transcriber
	ctx   context.Context
	stop  context.CancelCauseFunc
	done  sync.WaitGroup
	asks  chan Ask
	turns int

	mu      sync.Mutex
	out     []RealtimeEvent
	news    chan struct{}
	rest    string // of an answer, behind a tool
	answers int
	current string
	cancel  context.CancelFunc
}

func (e *scripted) open(ctx context.Context, how RealtimeSetting) (Realtime, error) {
	ear, err := e.w.hears[0].open(ctx, Transcription{})
	if err != nil {
		return nil, err
	}
	c := &scriptedConn{e: e, ear: ear, asks: make(chan Ask, 64), news: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	e.conns = append(e.conns, c)
	c.done.Go(func() {
		for {
			t, err := ear.Recv()
			if err != nil {
				return
			}
			c.tell(RealtimeEvent{Kind: CallerSaid, Text: t.Text, Final: t.Final, Language: t.Language})
		}
	})
	c.done.Go(func() {
		for {
			select {
			case a := <-c.asks:
				c.answer(a)
			case <-c.ctx.Done():
				return
			}
		}
	})
	return c, nil
}

func (c *scriptedConn) tell(ev RealtimeEvent) {
	c.mu.Lock()
	c.out = append(c.out, ev)
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *scriptedConn) Recv() (RealtimeEvent, error) {
	for {
		c.mu.Lock()
		if len(c.out) > 0 {
			ev := c.out[0]
			c.out = c.out[1:]
			c.mu.Unlock()
			return ev, nil
		}
		c.mu.Unlock()
		select {
		case <-c.news:
		case <-c.ctx.Done():
			return RealtimeEvent{}, context.Cause(c.ctx)
		}
	}
}

func (c *scriptedConn) Close() error {
	c.stop(io.EOF)
	_ = c.ear.Close()
	c.done.Wait()
	return nil
}

func (c *scriptedConn) EndsTurns() bool    { return c.e.ends }
func (c *scriptedConn) Hear([]int16) error { return nil }

func (c *scriptedConn) Tell(m agent.Message) error {
	c.told("tell %s %q", m.Role, m.Text)
	return nil
}

func (c *scriptedConn) Note(text string) error {
	c.told("note %q", text)
	return nil
}

func (c *scriptedConn) Respond(a Ask) error {
	c.told("respond %s %q %q", a.ID, a.Instruction, a.Exactly)
	c.asks <- a
	return nil
}

func (c *scriptedConn) Result(call string, result json.RawMessage) error {
	c.told("result %q %s", call, result)
	return nil
}

func (c *scriptedConn) Heard(item string, sound time.Duration, words string) error {
	c.told("heard %s %v %q", item, sound, words)
	return nil
}

func (c *scriptedConn) Stop(answer string) error {
	c.told("stop %s", answer)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == answer {
		c.cancel()
	}
	return nil
}

// EndTurn also gives up what was to be said behind a tool.
func (c *scriptedConn) EndTurn() error {
	if c.e.ends {
		return nil
	}
	c.mu.Lock()
	c.rest = ""
	c.mu.Unlock()
	return c.ear.EndTurn()
}

// answer makes one answer, in the steps of the script.
func (c *scriptedConn) answer(a Ask) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	c.mu.Lock()
	c.answers++
	id := fmt.Sprint("answer", c.answers)
	c.current, c.cancel = id, cancel
	text := ""
	if a.Exactly == "" {
		text, c.rest = c.rest, ""
	}
	c.mu.Unlock()
	c.tell(RealtimeEvent{Kind: AnswerBegan, Answer: id, Ask: a.ID})
	var err error
	switch {
	case a.Exactly != "":
		err = c.say(ctx, id, "exact", a.Exactly)
	case text != "":
		err = c.speak(ctx, id, text)
	default:
		m := c.e.w.thinkers[0]
		c.e.w.answers = append(c.e.w.answers, agentCall{0, Thinking{Instruction: a.Instruction}})
		if len(m.answers) == 0 {
			err = errors.New("nothing to say")
			break
		}
		next := m.answers[0]
		m.answers = m.answers[1:]
		if err = wait(ctx, next.after); err == nil {
			err = c.speak(ctx, id, next.text)
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	c.mu.Lock()
	c.current = ""
	c.mu.Unlock()
	c.tell(RealtimeEvent{Kind: AnswerOver, Answer: id, Err: err})
}

func (c *scriptedConn) speak(ctx context.Context, id, text string) error {
	for n := 0; text != ""; n++ {
		i := strings.IndexAny(text, ".?![")
		switch {
		case i < 0:
			i = len(text)
		case text[i] != '[':
			i++
		}
		if i > 0 {
			if err := c.say(ctx, id, fmt.Sprint(id, "-", n), text[:i]); err != nil {
				return err
			}
			text = strings.TrimSpace(text[i:])
			continue
		}
		cmd, rest, _ := strings.Cut(text[1:], "]")
		text = strings.TrimSpace(rest)
		switch f := strings.Fields(cmd); f[0] {
		case "fail":
			return errors.New("model broke")
		case "stall":
			<-ctx.Done()
			return ctx.Err()
		case "tool", "end":
			c.mu.Lock()
			c.rest = text
			c.mu.Unlock()
			c.tell(RealtimeEvent{Kind: AnswerCall, Answer: id, Call: agent.ToolCall{ID: cmd, Name: f[0]}})
			return nil
		default: // what a tool does to the conversation
			c.tell(RealtimeEvent{Kind: AnswerCall, Answer: id, Call: agent.ToolCall{ID: "play [" + cmd + "]" + text, Name: "play"}})
			return nil
		}
	}
	return nil
}

// say gives a sentence as text, or as sound with its words.
func (c *scriptedConn) say(ctx context.Context, answer, item, text string) error {
	c.tell(RealtimeEvent{Kind: AnswerText, Answer: answer, Item: item, Text: text + " "})
	if c.e.text {
		return nil
	}
	for f, err := range c.e.w.says[0].Speak(ctx, Speech{Text: strings.TrimSpace(text)}) {
		if err != nil {
			return err
		}
		c.tell(RealtimeEvent{Kind: AnswerSound, Answer: answer, Item: item, Sound: audio.Frame{Rate: f.Rate, PCM: append([]int16{}, f.PCM...)}})
	}
	return ctx.Err()
}

// scriptedHands carry out the tools of a script.
type scriptedHands struct{ w *world }

func (h scriptedHands) Use(ctx context.Context, c agent.ToolCall, _ []agent.Message, observe func(Thought) bool) bool {
	f := strings.Fields(c.ID)
	switch f[0] {
	case "end":
		return observe(Thought{Then: AssistantHangup})
	case "play":
		h.w.thinkers[0].speak(ctx, strings.TrimPrefix(c.ID, "play "), func(th Thought, err error) bool { return err == nil && observe(th) })
		return true
	}
	if !observe(Thought{Event: &agent.Event{Type: "tool.call", Data: agent.Called{Name: f[1], Arguments: json.RawMessage(`{}`)}}}) {
		return false
	}
	if wait(ctx, h.w.dur(f[2])) != nil {
		return false
	}
	observe(Thought{Event: &agent.Event{Type: "tool.result", Data: agent.Answered{Name: f[1], Result: json.RawMessage(`{"ok":true}`)}}})
	return false
}
