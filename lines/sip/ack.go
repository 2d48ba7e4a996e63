package sip

import (
	"errors"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
)

// repeater sends our 200 to an INVITE again until it is acknowledged (RFC 3261 §13.3.1.4), at most for 64·T1.
type repeater struct {
	seq    uint32
	stop   func()
	offer  bool // it carried our offer: the ACK has the answer
	finish func()
}

// repeatUntilAck repeats res on tx. finish lets the transaction go.
func (l *Leg) repeatUntilAck(tx sip.ServerTransaction, res *sip.Response, offered bool, finish func()) {
	wait, began := l.s.t1, time.Now()
	r := &repeater{seq: res.CSeq().SeqNo, offer: offered, finish: finish}
	var again func()
	again = func() {
		if l.repeat != r {
			return
		}
		if time.Since(began) >= 64*l.s.t1 {
			l.unacknowledged()
			return
		}
		_ = tx.Respond(res)
		wait = min(2*wait, 8*l.s.t1)
		r.stop = l.after(wait, again)
	}
	r.stop = l.after(wait, again)
	l.repeat = r
}

// unacknowledged: the far end never got our 200, or its ACKs do not reach us.
func (l *Leg) unacknowledged() {
	l.late = nil
	l.acknowledged()
	if l.state == talking {
		l.hangup(lines.End{Err: errors.New("no ACK to our answer")})
	}
}

// acknowledged ends the repetition, whoever proved that the 200 arrived.
func (l *Leg) acknowledged() {
	if l.repeat == nil {
		return
	}
	l.repeat.stop()
	l.repeat.finish()
	l.repeat = nil
	switch l.state {
	case answered:
		l.state = talking
	case hangingUp:
		l.bye()
		return
	}
	late := l.late
	l.late = nil
	for _, f := range late {
		f()
	}
}
