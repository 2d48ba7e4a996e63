package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"parley/agent"
	"parley/providers/rest"
)

// stream is one answer as it comes. It has no end of its own: it just ends, with a reason in its last event.
type stream struct {
	emit     func(agent.Chunk) error
	language string
	begun    bool // something was emitted
	calls    int
	reason   string
}

type event struct {
	Candidates []struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

func (s *stream) read(src io.Reader) error {
	for data, err := range rest.Events(src) {
		if err != nil {
			return err
		}
		if err := s.take(data); err != nil {
			return err
		}
	}
	if slices.Contains(declined, s.reason) && !s.begun {
		return s.out(agent.Chunk{Text: agent.Declines(s.language)})
	}
	return stopped(s.reason)
}

// declined are the reasons for which the vendor lets a model say nothing.
var declined = []string{"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII", "OTHER"}

func (s *stream) take(data string) error {
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if e.Error != nil {
		r := &rest.Refusal{Status: max(e.Error.Code, 400), Message: "error in the stream"}
		r.Read([]byte(data))
		return r
	}
	if e.Feedback.BlockReason != "" {
		s.reason = "PROHIBITED_CONTENT"
	}
	for _, c := range e.Candidates {
		for _, p := range c.Content.Parts {
			if err := s.part(p); err != nil {
				return err
			}
		}
		if c.FinishReason != "" {
			s.reason = c.FinishReason
		}
	}
	return nil
}

func (s *stream) part(p part) error {
	switch {
	case p.Call != nil:
		c := agent.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args, Seal: p.Seal}
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s%d", ours, s.calls)
		}
		if len(c.Arguments) == 0 {
			c.Arguments = json.RawMessage("{}")
		}
		s.calls++
		return s.out(agent.Chunk{Call: &c})
	case p.Text != "" && !p.Thought:
		return s.out(agent.Chunk{Text: p.Text})
	}
	return nil
}

func (s *stream) out(c agent.Chunk) error {
	s.begun = true
	return s.emit(c)
}
