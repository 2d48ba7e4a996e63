// Package agent is one turn of thought: prompt, tools, model. Voice calls and chats both think with it.
package agent

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers a request with text and tool calls, as they come.
type Model interface {
	Reply(ctx context.Context, r Request) iter.Seq2[Chunk, error]
}

// Purpose says why a model is asked; it appears in call events.
type Purpose string

const (
	PurposeTurn       Purpose = "turn"
	PurposeTool       Purpose = "tool"
	PurposeEvaluation Purpose = "evaluation"
	PurposeReengage   Purpose = "reengage"
	PurposeBriefing   Purpose = "briefing"
)

// Request is one question to a model.
type Request struct {
	Purpose     Purpose
	System      string
	Messages    []Message
	Instruction string // what to do now, said after the messages by the platform itself; empty for an ordinary answer
	Tools       []Tool
	Temperature float64         // 0-1
	Language    string          // ISO 639-1 the answer must be in
	Wanted      []Field         // what the conversation should find out, for models that do not read prose
	Schema      json.RawMessage // JSON Schema of the wanted answer; nil = free text. Evaluation only
}

// FromUser are the messages for vendors that want the first word from the user: before a conversation that the assistant
// opened stands that the call is connected.
func (r Request) FromUser() []Message {
	if len(r.Messages) > 0 && r.Messages[0].Role != RoleAssistant || len(r.Messages) == 0 && r.Instruction != "" {
		return r.Messages
	}
	return append([]Message{{Role: RoleUser, Text: "(The call is connected.)"}}, r.Messages...)
}

// Role of a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of the conversation so far.
type Message struct {
	Role   Role
	Text   string
	Calls  []ToolCall // assistant: the tools it asked for
	CallID string     // tool: which call this is the result of
}

// Tool is a function a model may ask for.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage // a JSON object
	Seal      string          // what some vendors want back with the call, unchanged; empty with most
}

// Chunk is a piece of an answer: text, or a complete tool call.
type Chunk struct {
	Text string
	Call *ToolCall
}
