package voice

import (
	"strings"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/voice/pickup"
)

// who is what is known of those who picked up a call that we placed, and what we do about it. While it is not known the
// conversation goes on as with a person: nobody waits for it.
type who struct {
	*pickup.Detector
	policy Answering
	told   pickup.Class
	stage  whoStage
	since  time.Time // of the stage
	tries  int       // the message was begun
	tone   time.Time // end of the last one,
	length time.Duration
	passed bool        // who asked who is calling was told; somebody else comes next
	held   atomic.Bool // stage is not talking, for the goroutine that reads the line
}

type whoStage int

const (
	talking whoStage = iota
	biding           // until a machine, or who asks who is calling, has finished
	leaving          // a message
)

const (
	machineQuiet = 1500 * time.Millisecond // ends the greeting of a machine that makes no tone
	askerQuiet   = 700 * time.Millisecond  // and a question
	bidesAtMost  = 45 * time.Second
	// lateTone is how far into the message a tone begins it anew: the greeting had a long pause before its tone.
	lateTone  = 5 * time.Second
	mostTries = 3
	// tonesFor is how long after the answer tones still say something of a person.
	tonesFor = 30 * time.Second
)

func newWho(c Config) *who {
	return &who{Detector: pickup.New(append([]string{c.Language}, c.Others...)...), policy: *c.Answering}
}

// busy reports that the far end is not to be answered.
func (w *who) busy() bool { return w != nil && w.stage != talking }

// tones is what listens for tones, nil when nobody asks.
func (w *who) tones(rate int) *pickup.Tones {
	if w == nil {
		return nil
	}
	return pickup.NewTones(rate)
}

// listenForTones runs on the goroutine that reads the line.
func (s *Session) listenForTones(t *pickup.Tones, pcm []int16) {
	if t == nil || time.Since(s.began) > tonesFor && !s.who.held.Load() {
		return
	}
	for _, tone := range t.Feed(pcm) {
		s.post(s.ctx, toneCame{tone})
	}
}

func (s *Session) whoSpeaks(at time.Time, on bool) {
	w := s.who
	if w == nil {
		return
	}
	w.Speech(at.Sub(s.began), on)
	s.lookWho(time.Now())
	if w.stage == biding {
		s.bide(at)
	}
}

func (s *Session) whoSays(t Transcript, now time.Time) {
	if s.who != nil {
		if s.who.passed && pickup.OnHold(t.Text) {
			s.who.Restart() // somebody else comes next
		} else {
			s.who.Words(t.Text, t.Final)
		}
		s.lookWho(now)
	}
}

func (s *Session) whoHeard(now time.Time) {
	if s.who != nil {
		s.who.Greeted(now.Sub(s.began))
	}
}

func (s *Session) whoPresses(now time.Time) {
	if s.who != nil {
		s.who.Key()
		s.lookWho(now)
	}
}

func (s *Session) whoBeeps(t pickup.Tone, now time.Time) {
	w := s.who
	beep := w.Tone(now.Sub(s.began), t)
	w.tone, w.length = now, t.Length
	s.lookWho(now)
	switch {
	case !beep || s.over != "":
	case w.stage == biding:
		s.greetingOver(now)
	case w.stage == leaving && w.tries < mostTries && (now.Sub(w.since) < lateTone || s.hearing.ended.After(w.since)):
		s.leaveMessage(now)
	}
}

// lookWho asks who picked up and does what follows.
func (s *Session) lookWho(now time.Time) {
	w := s.who
	if w == nil || s.over != "" {
		return
	}
	class, again := w.Look(now.Sub(s.began))
	s.off(whoAlarm)
	if again != pickup.Never {
		s.set(whoAlarm, s.began.Add(again))
	}
	if class == w.told {
		return
	}
	w.told = class
	s.reportWho(now)
	switch class {
	case pickup.Fax:
		s.end(FaxDetected)
	case pickup.Machine:
		s.machine(now)
	case pickup.Screening:
		s.holdBack(now)
	}
}

// reportWho writes down who picked up. A service that asks who is calling is neither person nor machine.
func (s *Session) reportWho(now time.Time) {
	switch s.who.told {
	case pickup.Human:
		s.report.Answered = "human"
	case pickup.Machine, pickup.Fax:
		s.report.Answered = "machine"
	default:
		s.report.Answered = "unknown"
	}
	s.emit(now, "amd", Pickup{s.report.Answered, now.Sub(s.began).Milliseconds()})
}

// concludeWho says at the end of a call what was not clear before.
func (s *Session) concludeWho(now time.Time) {
	if w := s.who; w != nil && (w.told == pickup.Unknown || w.told == pickup.Screening) {
		if w.told = w.Finish(); w.told != pickup.Unknown || s.report.Answered == "" {
			s.reportWho(now)
		}
	}
}

// machine does what the policy says: leave a message when the greeting is over, hang up, or go on.
func (s *Session) machine(now time.Time) {
	switch p := s.who.policy; {
	case p.Message != "" && !s.who.Deaf:
		s.holdBack(now)
	case p.HangUp:
		s.end(Voicemail)
	}
}

// holdBack silences the assistant until the far end has finished.
func (s *Session) holdBack(now time.Time) {
	w := s.who
	if w.stage == leaving {
		return
	}
	s.hush(now)
	s.greeted, s.quietOn, s.kept = true, true, nil
	w.enter(biding, now)
	s.bide(s.hearing.ended)
}

// hush ends the turn in progress where it is.
func (s *Session) hush(now time.Time) {
	if t := s.turn; t != nil {
		t.cancel()
		s.conclude(t, s.media.Clear())
		s.speaking.quiet(s, now)
		s.turn = nil
	}
	s.settleStopped()
	s.off(gateAlarm, fillerAlarm, fallbackAlarm, holdingAlarm, giveUpAlarm, reengageAlarm)
}

// bide sets the moment at which the far end, silent since then, has finished.
func (s *Session) bide(ended time.Time) {
	w := s.who
	at := w.since.Add(bidesAtMost)
	if !s.hearing.speaking {
		quiet := machineQuiet
		if w.told == pickup.Screening {
			quiet = askerQuiet
		}
		at = later(w.since, ended.Add(quiet))
	}
	s.set(leaveAlarm, at)
}

// greetingOver is the moment to speak.
func (s *Session) greetingOver(now time.Time) {
	if s.who.told == pickup.Screening {
		s.introduce(now)
		return
	}
	s.leaveMessage(now)
}

// leaveMessage speaks the message, from its beginning.
func (s *Session) leaveMessage(now time.Time) {
	w := s.who
	s.hush(now)
	s.off(leaveAlarm)
	w.enter(leaving, now)
	w.tries++
	t := s.begin(messageTurn)
	if w.policy.HangUp {
		t.then = Voicemail // until something of the message was heard
	}
	s.owe(t, now)
	s.add(t, w.policy.Message)
}

func (w *who) enter(stage whoStage, now time.Time) {
	w.stage, w.since = stage, now
	w.held.Store(stage != talking)
}

const introduction = `A service that screens calls asks who is calling and why. Answer it in one or two short sentences. You began this call with: "`

// introduce answers who asks who is calling and why. Whoever comes next is somebody else.
func (s *Session) introduce(now time.Time) {
	w := s.who
	s.off(leaveAlarm)
	w.enter(talking, now)
	w.passed = true
	w.Restart()
	w.told = pickup.Unknown
	t := s.begin(noticeTurn)
	s.owe(t, now)
	s.think(t, Thinking{Purpose: agent.PurposeTurn, Instruction: introduction + strings.ReplaceAll(w.policy.Opening, `"`, "'") + `"`})
}

// beeped reports that what was heard from a moment on is a tone, whatever a transcriber makes of it.
func (w *who) beeped(at time.Time) bool {
	return w.busy() && at.After(w.tone.Add(-w.length-200*time.Millisecond)) && at.Before(w.tone)
}

// unanswered reports words that need no answer: the greeting of a machine, a request to wait, a "thank you".
func (s *Session) unanswered(text string) bool {
	w := s.who
	return w.busy() || w != nil && w.passed && (pickup.OnHold(text) || len(plainWords(text)) < 4 && !hello(text))
}

// putThrough reports once that the first words of the person a call was put through to are a hello.
func (w *who) putThrough(history []agent.Message) bool {
	if w == nil || !w.passed || len(history) == 0 {
		return false
	}
	w.passed = false
	last := history[len(history)-1]
	return last.Role == agent.RoleUser && hello(last.Text)
}
