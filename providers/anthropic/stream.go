package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/agent"
	"parley/providers/rest"
)

// stream is one answer as it comes.
type stream struct {
	emit     func(agent.Chunk) error
	language string
	begun    bool // something was emitted
	call     *block
	args     strings.Builder
	over     bool
}

type event struct {
	Type    string `json:"type"`
	Content block  `json:"content_block"`
	Delta   struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Error *kind `json:"error"`
}

// read emits text as it comes and tool calls when they are complete.
func (s *stream) read(src io.Reader) error {
	for data, err := range rest.Events(src) {
		if err != nil {
			return err
		}
		if err := s.take(data); err != nil || s.over {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}

// take follows one event; kinds that are not known here are skipped, as the vendor asks.
func (s *stream) take(data string) error {
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	switch e.Type {
	case "content_block_start":
		if e.Content.Type == "tool_use" {
			s.call = &e.Content
			s.args.Reset()
		}
	case "content_block_delta":
		s.args.WriteString(e.Delta.PartialJSON)
		return s.say(e.Delta.Text)
	case "content_block_stop":
		return s.called()
	case "message_delta":
		return s.stopped(e.Delta.StopReason)
	case "message_stop":
		s.over = true
	case "error":
		return s.refusal(data, e.Error)
	}
	return nil
}

func (s *stream) say(text string) error {
	if text == "" {
		return nil
	}
	s.begun = true
	return s.emit(agent.Chunk{Text: text})
}

func (s *stream) called() error {
	if s.call == nil {
		return nil
	}
	call, err := complete(*s.call, s.args.String())
	s.call = nil
	if err != nil {
		return err
	}
	s.begun = true
	return s.emit(agent.Chunk{Call: call})
}

// stopped looks at why the answer ends. A refusal to answer is something to say; a conversation that is too long is not.
func (s *stream) stopped(reason string) error {
	switch {
	case reason == "refusal" && !s.begun:
		return s.say(agent.Declines(s.language))
	case reason == "model_context_window_exceeded":
		return &rest.Refusal{Status: http.StatusBadRequest, Code: reason, Message: "the conversation is too long for the model"}
	}
	return nil
}

// statuses are those that errors inside a stream stand for.
var statuses = map[string]int{"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504, "overloaded_error": 529}

func (s *stream) refusal(data string, e *kind) error {
	r := &rest.Refusal{Status: http.StatusInternalServerError, Message: "error in the stream"}
	if e != nil && statuses[e.Type] != 0 {
		r.Status = statuses[e.Type]
	}
	r.Read([]byte(data))
	return r
}
