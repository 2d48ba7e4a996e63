package voice

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"parley/agent"
)

// Config is what one conversation is to be like. It does not change while the conversation runs.
type Config struct {
	Greeting      string // initial message, placeholders filled
	WaitForCaller bool   // the greeting waits for the caller's first utterance

	Language string   // ISO 639-1, primary
	Others   []string // further languages the caller may switch to
	Hints    []string // sentences this conversation is likely to contain, for the transcriber
	Speech   Speech   // voice, speed, stability …; Text and Language are filled in per sentence

	Denoise        bool          // noise is taken out before speech is looked for
	Semantic       bool          // endpoint_type "ai": an unfinished sentence is given more time
	EndSilence     time.Duration // silence after the caller's last sound that ends the turn; at least 100 ms are waited
	Interruptible  bool
	InterruptAfter time.Duration // continuous caller speech that stops the assistant
	InterruptWords int           // words needed besides; 0 = none

	MaxDuration       time.Duration // counted from answer
	MaxSilence        time.Duration // quiet time that ends the call
	MaxInitialSilence time.Duration // quiet time before the caller's first sound; 0 = no limit
	ReengageEvery     time.Duration // quiet time after which the assistant asks; and each further multiple
	ReengagePrompt    string        // instruction for that line; empty = the built-in one
	Funds             time.Duration // what is paid for, counted from answer; 0 = no limit

	Ambience       string  // a loop of package sounds that is heard under everything; empty = none
	AmbienceVolume float64 // 0-1, linear in amplitude; 1 lies 12 dB below the voice

	Keypad  *Keypad            // collect_keypad; nil = keys are only reported
	Fillers map[string]Fillers // by language, ISO 639-1; nil = none are spoken

	Answering *Answering // of a call we placed: find out who picked up; nil = a person
}

// Transcription is what a transcriber of this conversation is opened with on a line of rate Hz.
func (c Config) Transcription(rate int) Transcription {
	return Transcription{Rate: rate, Languages: append([]string{c.Language}, c.Others...), Hints: c.Hints,
		Turns: c.Semantic, EndSilence: c.EndSilence}
}

// Keypad says when a sequence of keys is complete.
type Keypad struct {
	Timeout time.Duration // after the last key
	Stop    byte          // '#' or '*': ends it at once and is not part of it
}

// Answering says what to do when somebody else than a person picks up.
type Answering struct {
	HangUp  bool   // on a machine, once the message was left if there is one
	Message string // for a machine, placeholders filled; empty = none
	Opening string // how a call begins, for who asks who is calling and why
}

// Fillers are short phrases played when no speech is ready 0.4 s after the caller's turn, by the kind of what was said.
type Fillers struct{ Positive, Negative, Question, Neutral []string }

// Parts are the engines of one conversation. A fallback may be its zero value.
type Parts struct {
	Transcriber, TranscriberFallback NamedTranscriber
	Thinker, ThinkerFallback         Thinker
	Synthesizer, SynthesizerFallback NamedSynthesizer
	// Realtime, if not nil, hears, answers and, unless its answers are text, speaks in their place. They stand in where it cannot:
	// Thinker and Transcriber when it is gone for good, SynthesizerFallback for words of our own.
	Realtime *Talker

	Greeting *Opened // the initial message as it was begun while it rang; nil = it is begun when it is due

	// Observe sees every event in order, on the session's goroutine: it must not block.
	Observe func(Event)
	// Ended, if not nil, is told once that the conversation is over, before its last words are written down: the line
	// can be hung up. It must not block.
	Ended func(Reason)
	Log   *slog.Logger // nil = the default logger
}

// NamedTranscriber is a transcriber with the name it goes by in events.
type NamedTranscriber struct {
	Open     OpenTranscriber
	Provider string
}

// NamedSynthesizer is a synthesizer with the name it goes by in events. Voice, when set, replaces the configured voice code.
type NamedSynthesizer struct {
	Synthesizer
	Provider string
	Voice    string
}

// Thinker answers: it yields what is to be said, sentence by sentence, and what it does meanwhile. Breaking off or ctx
// ends the work. A tool must not run before the thought that carries its tool.call event has been taken.
type Thinker interface {
	Think(ctx context.Context, t Thinking) iter.Seq2[Thought, error]
}

// Thinking is one question to a Thinker.
type Thinking struct {
	Purpose     agent.Purpose
	History     []agent.Message
	Instruction string   // what to do instead of answering; empty for an answer
	Notes       []string // further facts for this request: hints of a person listening, a limit that is near
	Language    string   // ISO 639-1 the answer must be in
}

// Thought is one step of an answer: a sentence, an observation, or a change of who talks to whom. The thinker goes on when it
// was taken; after Pause and Park, when everything of the turn so far was heard besides.
type Thought struct {
	Text  string       // to be said
	Event *agent.Event // llm.request, llm.first_token, tool.call, tool.result
	Then  Reason       // ends the conversation once everything of this turn was heard; empty = it goes on

	Pause     bool
	Park      *Parking   // then the caller waits, until Resume
	Resume    bool       // the wait is over, before Text is said
	Successor *Successor // takes over once everything of this turn was heard
}

// Entry is one line of the transcript: only what was really played or heard.
type Entry struct {
	Assistant   bool
	Text        string
	At          time.Time // first sound
	Interrupted bool
}

// Report is a finished conversation.
type Report struct {
	Reason   Reason
	Began    time.Time // answered
	Ended    time.Time
	Entries  []Entry
	History  []agent.Message // for the evaluation: tool calls included
	Keypad   string          // the last keypad input
	Spoke    bool            // the caller ever made a sound or pressed a key
	Answered string          // human, machine or unknown picked up; empty when nobody asked
	Language string          // the language spoken last
	Usage    []VendorUsage   // what vendors counted
}

// Reason is why a conversation ended, in the words of a call's ended_reason. It is the cause to cancel a session with.
type Reason string

func (r Reason) Error() string { return string(r) }

// The reasons a conversation itself can end for, and those its owner cancels it with.
const (
	CustomerHangup   Reason = "customer_hangup"
	AssistantHangup  Reason = "assistant_hangup"
	Voicemail        Reason = "voicemail_detected"
	VoicemailLeft    Reason = "voicemail_message_left"
	FaxDetected      Reason = "fax_detected"
	MaxDuration      Reason = "max_duration"
	SilenceTimeout   Reason = "silence_timeout"
	InitialSilence   Reason = "initial_silence_timeout"
	BalanceExhausted Reason = "balance_exhausted"
	EngineFailure    Reason = "engine_failure"
	ServerShutdown   Reason = "server_shutdown"
	Transferred      Reason = "transferred"
	WarmTransferred  Reason = "warm_transferred"
)
