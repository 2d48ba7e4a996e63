package voice

import (
	"context"
	"time"

	"parley/voice/pickup"
)

// happening is what the goroutines beside the owner tell it, and people who watch. It names turns, lines and transcribers by
// numbers, so that a conversation's happenings can be listed, logged, kept and played back.
type happening interface {
	// name is how logs call it.
	name() string
	// take is what the owner does about it. What belongs to a turn or a transcriber that is over is dropped.
	take(s *Session, now time.Time)
}

// Hearing.
type (
	// wordsCame: a transcriber understood something.
	wordsCame struct {
		Transcriber int
		Transcript  Transcript
	}
	// transcriberFailed: it could not be opened, or broke.
	transcriberFailed struct {
		Transcriber int
		Err         error
	}
	// toneCame: a beep, a fax.
	toneCame struct{ Tone pickup.Tone }
)

// Speaking.
type (
	// soundReady: the first sound of a line is there. Closing granted lets the synthesizer queue it.
	soundReady struct {
		Turn, Attempt, Piece int
		granted              chan struct{}
	}
	// soundBegan: samples of a line were queued at a position of an empty or a waiting queue.
	soundBegan struct {
		Turn, Attempt, Piece int
		Start                int64
	}
	// wordsPlaced: it became known where words of a line are in its sound.
	wordsPlaced struct {
		Turn, Attempt, Piece int
		Marks                []Mark
	}
	// soundMade: all sound of a line is queued. End is the position behind it, -1 when there was none.
	soundMade struct {
		Turn, Attempt, Piece int
		End                  int64
	}
	// speechOver: a synthesizer is done with what it was given, or failed at a piece of which End samples were queued.
	speechOver struct {
		Turn, Attempt, Piece int
		End                  int64
		Err                  error
	}
)

// Answering.
type (
	// thoughtCame: one step of an answer. Closing agreed lets the thinker go on.
	thoughtCame struct {
		Turn, Source int
		Thought      Thought
		agreed       chan struct{}
	}
	// thoughtsOver: a thinker has nothing more to say, or failed.
	thoughtsOver struct {
		Turn, Source int
		Err          error
	}
)

// People who take part from outside.
type (
	// textTyped is the caller's turn in writing.
	textTyped struct{ Text string }
	// hintGiven is for the assistant alone.
	hintGiven struct{ Text string }
	// keysSent went out to the caller.
	keysSent struct{ Keys string }
)

// happenings are all there are, by their zero values.
var happenings = []happening{
	wordsCame{}, transcriberFailed{}, toneCame{},
	soundReady{}, soundBegan{}, wordsPlaced{}, soundMade{}, speechOver{},
	thoughtCame{}, thoughtsOver{},
	textTyped{}, hintGiven{}, keysSent{},
	connected{}, connectionLost{}, engineTold{}, toolsUsed{},
}

func (wordsCame) name() string         { return "words came" }
func (transcriberFailed) name() string { return "transcriber failed" }
func (toneCame) name() string          { return "tone came" }
func (soundReady) name() string        { return "sound ready" }
func (soundBegan) name() string        { return "sound began" }
func (wordsPlaced) name() string       { return "words placed" }
func (soundMade) name() string         { return "sound made" }
func (speechOver) name() string        { return "speech over" }
func (thoughtCame) name() string       { return "thought came" }
func (thoughtsOver) name() string      { return "thoughts over" }
func (textTyped) name() string         { return "text typed" }
func (hintGiven) name() string         { return "hint given" }
func (keysSent) name() string          { return "keys sent" }

func (h textTyped) take(s *Session, now time.Time) { s.typed(h.Text, now) }
func (h hintGiven) take(s *Session, _ time.Time)   { s.remark(h.Text) }
func (h keysSent) take(s *Session, now time.Time)  { s.emit(now, "dtmf.out", KeysSent{h.Keys}) }
func (h toneCame) take(s *Session, now time.Time)  { s.whoBeeps(h.Tone, now) }

// post tells the owner of something; false when ctx or the session is over.
func (s *Session) post(ctx context.Context, h happening) bool {
	select {
	case s.inbox <- h:
		return true
	case <-ctx.Done():
	case <-s.gone:
	}
	return false
}

// do has the owner act on a happening.
func (s *Session) do(h happening) {
	s.note(h)
	s.log.Debug("happened", "what", h.name())
	h.take(s, time.Now())
}
