package voice

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/agent"
	"parley/audio"
)

// Realtime is one conversation with an engine that hears the caller and answers by itself, in words or in its own voice. Recv
// comes from one goroutine, everything else from others. Nothing but Recv waits: what cannot be sent at once is kept, and of
// more than some seconds of audio the oldest is lost.
type Realtime interface {
	// EndsTurns reports that the engine notices itself when the caller's turn is over, and then answers without being asked.
	EndsTurns() bool
	// Hear takes caller audio in order, at the rate it was opened with. It keeps no part of pcm.
	Hear(pcm []int16) error
	// EndTurn tells an engine that does not end turns that the caller's turn is over: exactly one final CallerSaid, possibly
	// empty, must follow. Other engines do nothing.
	EndTurn() error
	// Tell adds what was said without the engine: typed text, words spoken by another voice.
	Tell(m agent.Message) error
	// Note gives a fact or an instruction for the rest of the conversation that the caller does not hear.
	Note(text string) error
	// Respond asks for an answer. It waits until the one in the making is over.
	Respond(a Ask) error
	// Result is what a tool answered to a call of the engine. The engine goes on when it is asked to respond.
	Result(call string, result json.RawMessage) error
	// Stop ends the making of an answer; nothing but its AnswerOver follows. An answer that is over already is no error.
	Stop(answer string) error
	// Heard says what the caller really heard of an item that was not heard to its end: so much of its sound (0 = answers are
	// text) and these words. Nothing at all has the engine forget the item.
	Heard(item string, sound time.Duration, words string) error
	// Recv blocks for the next event; io.EOF after Close. Any other error is the end of the connection; ErrRefused among its
	// causes says that another one would end the same way.
	Recv() (RealtimeEvent, error)
	Close() error
}

// Ask is a wish for an answer.
type Ask struct {
	ID          string // comes back with AnswerBegan; never empty
	Instruction string // what to do now instead of answering; empty for an answer
	Exactly     string // words to be said, and no others; empty = its own
}

// ErrRefused is among the causes of a failure that is the same however often it is tried: a key that does not count, an
// account without money, a model that does not exist.
var ErrRefused = errors.New("refused for good")

// RealtimeKind says what an engine tells.
type RealtimeKind int

const (
	CallerStarted RealtimeKind = iota // the caller began to speak
	CallerStopped                     // the caller's turn is over
	CallerSaid                        // Text is what the caller said in this turn so far; Final: that is all
	AnswerBegan                       // an answer is being made; Ask says who asked for it, empty = nobody
	AnswerText                        // the next piece of text of an item, or of the words of its sound
	AnswerSound                       // the next piece of sound of an item
	AnswerCall                        // the engine wants a tool to run
	AnswerOver                        // nothing more comes of an answer; Err says that it failed
	Troubled                          // something failed, and the conversation goes on
)

// RealtimeEvent is one thing that an engine tells.
type RealtimeEvent struct {
	Kind     RealtimeKind
	Answer   string // the engine's name of the answer
	Ask      string // AnswerBegan: Ask.ID
	Item     string // the engine's name of a piece of the answer that can be cut short
	Text     string
	Final    bool
	Language string // CallerSaid: ISO 639-1 when the engine knows it, else empty
	Sound    audio.Frame
	Call     agent.ToolCall
	Err      error // a *fault.Fault in words for people
	Used     Usage // AnswerOver and a final CallerSaid: what it took
}

// RealtimeSetting is how a conversation with an engine is opened.
type RealtimeSetting struct {
	Model        string
	Rate         int  // Hz of the caller's audio; sound may come at any rate
	Text         bool // answers are wanted as text; else spoken, with their words
	Instructions string
	Tools        []agent.Tool
	Languages    []string // ISO 639-1, the primary first
	Hints        []string // sentences this conversation is likely to contain, for the transcription
	Speech       Speech   // voice, speed and manner of a spoken answer; Text and Language are empty

	Threshold  *float64      // 0-1, loudness or probability that counts as speech; nil = the engine's own
	Semantic   bool          // the end of a turn is found by what was said
	Silence    time.Duration // that ends a turn where Threshold is set
	Interrupts bool          // the engine may stop its own answer at the first sound of the caller

	Wanted  []agent.Field   // what the conversation should find out, for engines that do not read prose
	History []agent.Message // of an earlier connection: texts, tool calls and results
	Notes   []string
}

// OpenRealtime opens a conversation.
type OpenRealtime func(ctx context.Context, how RealtimeSetting) (Realtime, error)

// Usage is what a vendor counted.
type Usage struct {
	InputTokens       int64 `json:"input_tokens,omitempty"` // of text, those from the cache not among them
	CachedInputTokens int64 `json:"cached_input_tokens,omitempty"`
	OutputTokens      int64 `json:"output_tokens,omitempty"` // of text
	InputAudioTokens  int64 `json:"input_audio_tokens,omitempty"`
	OutputAudioTokens int64 `json:"output_audio_tokens,omitempty"`

	Seconds    float64 `json:"seconds,omitempty"`
	Characters int64   `json:"characters,omitempty"`
}

// Plus is the sum.
func (u Usage) Plus(o Usage) Usage {
	return Usage{u.InputTokens + o.InputTokens, u.CachedInputTokens + o.CachedInputTokens, u.OutputTokens + o.OutputTokens,
		u.InputAudioTokens + o.InputAudioTokens, u.OutputAudioTokens + o.OutputAudioTokens, u.Seconds + o.Seconds, u.Characters + o.Characters}
}

// Talker is the realtime engine of a conversation.
type Talker struct {
	Open     OpenRealtime
	Provider string
	Setting  RealtimeSetting // Rate, Languages, turn taking and history are the session's to fill in
	Hands    Hands           // nil = there are no tools
}

// Hands carry out what a realtime engine wants done.
type Hands interface {
	// Use carries one call out. observe is told of each step before it is taken, tool.call and tool.result among them, and returns
	// false when the call is not to be carried out any more. over says that the assistant's part ends here.
	Use(ctx context.Context, call agent.ToolCall, history []agent.Message, observe func(Thought) bool) (over bool)
}
