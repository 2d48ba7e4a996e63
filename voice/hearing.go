package voice

import (
	"context"
	"errors"
	"io"
	"time"

	"parley/audio"
	"parley/safe"
)

// listener is one opened transcriber: frames go in at audio, end asks for the final transcript.
type listener struct {
	name  string
	ctx   context.Context
	stop  context.CancelFunc
	audio chan []int16
	end   chan struct{}
}

// hearingCommand tells the goroutine that reads the line what to do with what it hears.
type hearingCommand struct {
	to     *listener // feed this transcriber from now on
	replay bool      // beginning with the utterance in progress
	keep   bool      // an utterance is in progress: remember it
}

const (
	backlogIdle  = 25   // frames remembered before an utterance: half a second
	backlogFull  = 1500 // frames remembered of an utterance: 30 s
	listenerSize = backlogFull + 256
)

// hear moves the caller's audio from the line to the transcriber. It never waits for the transcriber: one that stalls
// loses audio, and the fallback gets it from the backlog.
func (s *Session) hear() {
	var (
		to      *listener
		keep    bool
		backlog [][]int16
		tones   = s.who.tones(s.media.Rate())
		frame   = s.media.Rate() * int(audio.FrameDur) / int(time.Second)
	)
	for {
		pcm := make([]int16, frame)
		n, err := s.media.Hear(s.ctx, pcm)
		if err != nil {
			return
		}
		for more := true; more; {
			select {
			case c := <-s.hearing:
				keep = c.keep
				if c.to != nil {
					to = c.to
					if c.replay {
						to.take(backlog...)
					}
				}
			default:
				more = false
			}
		}
		limit := backlogIdle
		if keep {
			limit = backlogFull
		}
		backlog = append(backlog, pcm[:n])
		if over := len(backlog) - limit; over > 0 {
			backlog = append(backlog[:0], backlog[over:]...)
		}
		if to != nil {
			to.take(pcm[:n])
		}
		s.listenForTones(tones, pcm[:n])
	}
}

// take queues frames; what does not fit is lost.
func (l *listener) take(frames ...[]int16) {
	for _, f := range frames {
		select {
		case l.audio <- f:
		default:
			return
		}
	}
}

// listen opens a transcriber and makes it the one that hears the caller, beginning with the utterance in progress if
// replay is set. Its predecessor is closed.
func (s *Session) listen(e NamedTranscriber, replay bool) {
	if s.caller.transcriber != nil {
		s.caller.transcriber.stop()
	}
	ctx, stop := context.WithCancel(s.ctx)
	l := &listener{name: e.Provider, ctx: ctx, stop: stop, audio: make(chan []int16, listenerSize), end: make(chan struct{}, 1)}
	s.caller.transcriber = l
	s.remember(hearingCommand{to: l, replay: replay, keep: s.caller.open || s.caller.awaiting})
	s.emit(time.Now(), "stt.request", ListenRequest{Provider: e.Provider, Language: s.language})
	how := s.cfg.Transcription(s.media.Rate())
	s.wg.Go("transcriber", func() {
		if err := safe.Do("transcriber", func() error { return s.recognise(l, e.Open, how) }); err != nil && ctx.Err() == nil {
			s.post(ctx, func() { s.deaf(l, err) })
		}
	})
}

// remember passes a command to the reader. The reader empties its queue every 20 ms; when it is full the line is over.
func (s *Session) remember(c hearingCommand) {
	select {
	case s.hearing <- c:
	default:
	}
}

// recognise owns the writing side of a transcriber until its context ends or it fails.
func (s *Session) recognise(l *listener, open OpenTranscriber, how Transcription) error {
	t, err := open(l.ctx, how)
	if err != nil {
		return err
	}
	defer t.Close()
	s.wg.Go("transcripts", func() {
		if err := safe.Do("transcripts", func() error { return s.receive(l, t) }); err != nil {
			s.post(l.ctx, func() { s.deaf(l, err) })
		}
	})
	for {
		select {
		case pcm := <-l.audio:
			err = t.Write(pcm)
		case <-l.end:
			err = flush(t, l.audio)
		case <-l.ctx.Done():
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// flush writes what is queued and ends the turn.
func flush(t Transcriber, queued <-chan []int16) error {
	for {
		select {
		case pcm := <-queued:
			if err := t.Write(pcm); err != nil {
				return err
			}
		default:
			return t.EndTurn()
		}
	}
}

// receive passes on what a recogniser understood until it ends or fails.
func (s *Session) receive(l *listener, t Transcriber) error {
	for {
		tr, err := t.Recv()
		switch {
		case errors.Is(err, io.EOF) || l.ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if !s.post(l.ctx, func() { s.heard(l, tr) }) {
			return nil
		}
	}
}

// deaf replaces a transcriber that failed: by the fallback if there is one, by itself after a pause otherwise.
// A third failure in a row is beyond recovery.
func (s *Session) deaf(l *listener, err error) {
	if l != s.caller.transcriber {
		return
	}
	s.fail("stt", err)
	s.failures++
	switch {
	case s.failures >= mostFailures:
		s.breakDown()
	case s.parts.TranscriberFallback.Open != nil:
		s.listen(s.parts.TranscriberFallback, true)
		if s.caller.awaiting {
			s.endTurn()
		}
	default:
		s.set(reopenAlarm, time.Now().Add(time.Duration(s.failures)*500*time.Millisecond))
	}
}

// endTurn asks the transcriber for the final transcript.
func (s *Session) endTurn() {
	select {
	case s.caller.transcriber.end <- struct{}{}:
	default:
	}
}
