package voice

import (
	"context"
	"errors"
	"io"
	"time"

	"parley/safe"
)

// hearing is what the session knows of the other side, and the transcriber that hears it.
type hearing struct {
	reader      *reader
	transcriber int    // the one whose words count, by its number
	provider    string // its name
	stop        context.CancelFunc
	broken      int // transcribers in a row that failed

	speaking bool
	faded    time.Time // since when that is without sound; zero = with sound
	gap      dropout
	open     bool      // sound or words since the last turn
	awaiting bool      // the turn is over, its final transcript is on the way
	ever     bool      // any sound in this call
	onset    time.Time // of the speech that goes on, or of the last one
	opened   time.Time // first onset of this turn
	ended    time.Time // last voiced moment
	decided  time.Time // when the last turn was taken to be over
	unheard  bool      // this turn was opened by words, not by sound
	ends     bool      // the transcriber ends turns itself, and is believed
	words    []string  // final transcripts of this turn
	partial  string
	language string // as recognised

	streams  bool          // the transcriber gives words as they are spoken
	pause    time.Duration // the longest they made in the middle of a turn
	why      ending        // of the turn that is over, or will be
	needed   time.Duration // silence that ended it
	finished *float64      // how likely they were to have finished; nil = not asked

	announced bool // a realtime engine hears speech that the line's detector does not
}

// listen opens a transcriber and makes it the one that hears the caller, beginning with the utterance in progress if
// replay is set. Its predecessor is closed.
func (s *Session) listen(e NamedTranscriber, replay bool) {
	h := &s.hearing
	if h.stop != nil {
		h.stop()
	}
	ctx, stop := context.WithCancel(s.ctx)
	h.transcriber, h.provider, h.stop, h.ends = h.transcriber+1, e.Provider, stop, false
	id := h.transcriber
	h.reader.tell(order{kind: replace, transcriber: id, replay: replay, keep: h.open || h.awaiting})
	s.emit(time.Now(), "stt.request", ListenRequest{Provider: e.Provider, Language: s.language})
	how := s.cfg.Transcription(s.media.Rate())
	s.wg.Go("transcriber", func() {
		var t Transcriber
		err := safe.Do("transcriber", func() (err error) {
			t, err = e.Open(ctx, how)
			return err
		})
		if err != nil {
			s.post(ctx, transcriberFailed{id, err})
			return
		}
		h.reader.attach(id, t)
		if err := safe.Do("transcripts", func() error { return s.receive(ctx, id, t) }); err != nil {
			s.post(ctx, transcriberFailed{id, err})
		}
	})
}

// receive passes on what a transcriber understood until it ends or fails.
func (s *Session) receive(ctx context.Context, id int, t Transcriber) error {
	for {
		tr, err := t.Recv()
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if !s.post(ctx, wordsCame{id, tr}) {
			return nil
		}
	}
}

func (w wordsCame) take(s *Session, now time.Time) {
	if w.Transcriber == s.hearing.transcriber {
		s.heard(w.Transcript, now)
	}
}

// take replaces a transcriber that failed: by the fallback if there is one, by itself after a pause otherwise.
// A third failure in a row is beyond recovery.
func (f transcriberFailed) take(s *Session, now time.Time) {
	h := &s.hearing
	if f.Transcriber != h.transcriber {
		return
	}
	s.fail("stt", f.Err)
	h.broken++
	switch {
	case h.broken >= mostFailures:
		s.breakDown()
	case s.parts.TranscriberFallback.Open != nil:
		s.listen(s.parts.TranscriberFallback, true)
		if h.awaiting {
			s.endTurn()
		}
	default:
		s.set(reopenAlarm, now.Add(time.Duration(h.broken)*500*time.Millisecond))
	}
}

// ownEnd is how much longer than usual a transcriber that ends turns itself is waited for.
const ownEnd = 2500 * time.Millisecond

// signed follows what a transcriber makes of the caller's turn, and reports whether it ended it.
func (s *Session) signed(t Transcript, now time.Time) bool {
	c := &s.hearing
	if !s.cfg.Semantic || t.Turn == NoSign {
		return false
	}
	c.ends = true
	if t.Turn != TurnOver || !c.open && c.text() == "" {
		return false
	}
	s.off(endpointAlarm, patienceAlarm, stuckAlarm)
	if c.why = endTold; c.speaking {
		c.ended = now
	}
	s.impatient(now)
	return true
}

// endTurn asks the transcriber for the final transcript.
func (s *Session) endTurn() { s.hearing.reader.tell(order{kind: endTurn}) }

// remember has the reader keep the utterance in progress, or forget it.
func (s *Session) remember(keep bool) { s.hearing.reader.tell(order{kind: remember, keep: keep}) }
