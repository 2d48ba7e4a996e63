package switchboard

import (
	"context"
	"reflect"
	"sync/atomic"

	"parley/agent"
	"parley/assistants"
	"parley/catalog"
	"parley/safe"
	"parley/value"
	"parley/voice"
)

// castRealtime chooses the engine of a realtime assistant. Where it has gone, the parts that stand in are all there is.
func (s *Switchboard) castRealtime(c *cast, a assistants.Assistant) {
	m, ok := s.Catalog.Model(value.Or(a.MultimodalModelID, 0))
	if !ok || !m.Is(string(a.ModeOf())) || s.Engines().Realtime[m.Provider] == nil {
		return
	}
	c.realtime, c.realtimeModel = m.Provider, m.Code
	v, ok := s.Catalog.Voice(a.VoiceID)
	if !ok || a.ModeOf() != catalog.Multimodal {
		return
	}
	c.own = v.Code
	for _, like := range s.Catalog.Voices(catalog.Filter{LanguageID: a.LanguageID}) {
		if like.Provider == c.synthesizer && like.Code == v.Code {
			c.voice = like.Code // the same voice says what the engine cannot
		}
	}
}

const (
	withEmotion    = "Speak with the emotion that fits what is said."
	withoutEmotion = "Speak in a calm, even and neutral tone."
)

// talks gives a conversation its realtime engine. The text model that the assistant names stands in for it; without one a call
// whose engine is gone for good ends.
func (s *Switchboard) talks(a assistants.Assistant, c cast, m *thinker, cfg *voice.Config, p *voice.Parts) {
	opening := voice.Thinking{Language: cfg.Language}
	if c.own != "" {
		local := voice.NamedSynthesizer{Synthesizer: p.Synthesizer.Synthesizer, Provider: c.synthesizer, Voice: c.voice}
		p.Synthesizer, p.SynthesizerFallback = local, local
		cfg.Speech.Voice = c.own
		opening.Notes = []string{withoutEmotion}
		if a.TTSEmotionEnabled {
			opening.Notes = []string{withEmotion}
		}
	}
	turn := m.turn(opening, (&transfer{thinker: m}).channel())
	how := voice.RealtimeSetting{Model: c.realtimeModel, Text: c.own == "", Instructions: turn.Prompt.System(),
		Threshold: a.TurnDetectionThreshold, Wanted: turn.Wanted}
	for _, f := range turn.Functions {
		how.Tools = append(how.Tools, f.Tool)
	}
	h := hands{thinker: *m, choose: a.ChatLLMFallbackID != nil}
	p.Realtime = &voice.Talker{Open: s.Engines().Realtime[c.realtime], Provider: c.realtime, Setting: how, Hands: h}
	if !h.choose && c.realtime != s.Engines().Default {
		p.Thinker, p.ThinkerFallback = nil, nil
	}
}

// hands carry out what a realtime engine wants done: they fill voice.Hands.
type hands struct {
	thinker
	choose bool // the text model decides which function is called, and with what
}

// Use carries one call out.
func (h hands) Use(ctx context.Context, c agent.ToolCall, history []agent.Message, observe func(voice.Thought) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	q := voice.Thinking{Purpose: agent.PurposeTool, History: history}
	if h.choose {
		q.Instruction = "The voice of this assistant wants to call the function " + c.Name + " with " + string(c.Arguments) +
			". Call the function that the conversation needs now, with the right arguments."
	}
	turn := h.observed(q, func(t voice.Thought) bool {
		if !observe(t) {
			stop() // no tool runs any more
			return false
		}
		return true
	})
	if h.choose {
		chosen, err := turn.Choose(ctx)
		switch {
		case err != nil:
			h.board.Log.Warn("the text model did not choose a function", "call", h.live.call.ID, "error", err)
		case chosen != nil:
			c.Name, c.Arguments = chosen.Name, chosen.Arguments
		}
	}
	over, err := turn.Use(ctx, c)
	return over && err == nil
}

// early is a conversation with a realtime engine that is opened while it rings.
type early struct {
	conn  voice.Realtime
	err   error
	done  chan struct{}
	taken atomic.Bool
}

// openEarly opens a conversation at once and gives it to whoever asks for the same first. It ends with ctx, taken or not.
func (s *Switchboard) openEarly(ctx context.Context, open voice.OpenRealtime, how voice.RealtimeSetting) voice.OpenRealtime {
	e := &early{done: make(chan struct{})}
	if !s.spawn(func() {
		defer close(e.done)
		if e.err = safe.Do("realtime engine", func() (err error) { e.conn, err = open(ctx, how); return err }); e.err == nil {
			context.AfterFunc(ctx, e.drop)
		}
	}) {
		return open
	}
	return func(ctx context.Context, asked voice.RealtimeSetting) (voice.Realtime, error) {
		if !reflect.DeepEqual(asked, how) || !e.taken.CompareAndSwap(false, true) {
			return open(ctx, asked)
		}
		select {
		case <-e.done:
			return e.conn, e.err
		case <-ctx.Done():
			safe.Go("realtime engine that nobody waits for", func() {
				if <-e.done; e.err == nil {
					_ = e.conn.Close()
				}
			})
			return nil, ctx.Err()
		}
	}
}

// drop closes a conversation that nobody took.
func (e *early) drop() {
	if e.taken.CompareAndSwap(false, true) {
		_ = e.conn.Close()
	}
}
