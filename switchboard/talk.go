package switchboard

import (
	"context"
	"errors"
	"time"

	"parley/assistants"
	"parley/calllog"
	"parley/calls"
	"parley/lines"
	"parley/recordings"
	"parley/safe"
	"parley/voice"
)

const (
	hangupTime     = 5 * time.Second // how long the far end may take to confirm a hang-up
	lastHangupTime = time.Second     // and when the process is to stop
)

// converse holds the conversation on an answered leg and closes the record.
func (s *Switchboard) converse(l *live, leg lines.Leg, a assistants.Assistant) {
	call, err := s.Calls.Answers(s.ctx, s.DB, l.call.ID)
	if err != nil {
		s.Log.Error("answer not recorded", "call", l.call.ID, "error", err)
		s.hangUp(leg)
		s.wrapUp(l, calls.Over{Reason: calls.EngineFailure})
		return
	}
	l.call = call
	cfg, parts := l.cfg, l.parts
	cfg.Funds = seconds(call.Paid)
	media := leg.Media()
	rec := s.Logs.Open(s.ctx, call.ID)
	parts.Observe = rec.Observe
	hung := make(chan struct{})
	parts.Ended = func(voice.Reason) {
		if l.joint() != nil {
			close(hung) // the line goes on without us
			return
		}
		safe.Go("hang-up", func() {
			defer close(hung)
			s.hangUp(leg)
		})
	}
	tap := recordings.NewTap(media)
	var tape *recordings.Tape
	if a.Settings.Record {
		if tape, err = s.Recordings.Start(call.ID, media.Rate()); err != nil {
			s.Log.Error("recording not started", "call", call.ID, "error", err)
		} else {
			tap.Record(tape)
		}
	}
	session := voice.New(cfg, media, parts)
	l.open(session, rec, tap)
	report := session.Run(l.ctx)
	<-hung
	over := s.over(report, call, leg)
	if j := l.close(); j != nil {
		l.open(nil, rec, tap)
		s.together(l, leg, j, &over)
	}
	l.open(nil, nil, nil)
	over.Legs = s.endParties(l)
	if tape != nil {
		over.Recording = s.Recordings.Keep(tape, call.ID)
	}
	s.wrapUp(l, over, rec.Finish()...)
}

// open makes the conversation reachable for control, and unreachable with nils.
func (l *live) open(session *voice.Session, rec *calllog.Log, tap *recordings.Tap) {
	l.mu.Lock()
	l.session, l.record, l.tap = session, rec, tap
	l.mu.Unlock()
	l.relay.From(rec)
}

// sendDigits presses keys in the conversation.
func (l *live) sendDigits(ctx context.Context, keys string) error {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	if session == nil {
		return voice.ErrOver
	}
	return session.SendDigits(ctx, keys)
}

// hangUp tells the far end that the call is over and waits a little for its answer: less when the process is to stop.
func (s *Switchboard) hangUp(leg lines.Leg) {
	ctx, stop := context.WithTimeout(context.Background(), hangupTime)
	defer stop()
	defer context.AfterFunc(s.ctx, func() { time.AfterFunc(lastHangupTime, stop) })()
	_ = leg.Hangup(ctx)
}

// over is the end of a conversation as its record has it.
func (s *Switchboard) over(r voice.Report, c calls.Call, leg lines.Leg) calls.Over {
	reason := calls.Reason(r.Reason)
	if r.Reason == voice.CustomerHangup {
		select {
		case <-leg.Done():
			if leg.End().Err != nil {
				reason = calls.MediaTimeout
			}
		default:
		}
	}
	at := r.Ended
	return calls.Over{Reason: reason, At: at, Entries: entriesOf(r.Entries), Keypad: r.Keypad, Spoke: r.Spoke,
		AISeconds: calls.Begun(at.Sub(c.AnsweredReal.Time())), AnsweredBy: calls.AnsweredBy(r.Answered)}
}

func entriesOf(es []voice.Entry) []calls.Entry {
	out := make([]calls.Entry, len(es))
	for i, e := range es {
		out[i] = calls.Entry{Text: e.Text, Assistant: e.Assistant, At: e.At.UnixMicro(), Interrupted: e.Interrupted}
	}
	return out
}

// causeOf is the reason a context was cancelled with, if it was one of ours.
func causeOf(ctx context.Context) (calls.Reason, bool) {
	if ctx.Err() == nil {
		return "", false
	}
	if r, ok := errors.AsType[voice.Reason](context.Cause(ctx)); ok {
		return calls.Reason(r), true
	}
	return calls.ServerShutdown, true
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
