package sip

import (
	"fmt"
	"mime"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// onInfo takes keys that come as INFO, in either of the two ways in use; neither is a standard. Anything else is refused.
func (l *Leg) onInfo(req *sip.Request, tx sip.ServerTransaction, finish func()) {
	if req.GetHeader("Info-Package") != nil { // RFC 6086 §4.2.2: we asked for none
		l.answerOnce(req, tx, finish, 469)
		return
	}
	if len(req.Body()) == 0 {
		l.answerOnce(req, tx, finish, 200)
		return
	}
	kind := ""
	if h := req.ContentType(); h != nil {
		kind, _, _ = mime.ParseMediaType(h.Value())
	}
	key, ok := infoKey(kind, string(req.Body()))
	if !ok {
		l.answerOnce(req, tx, finish, 415, sip.NewHeader("Accept", "application/dtmf-relay, application/dtmf"))
		return
	}
	l.answerOnce(req, tx, finish, 200)
	if key != 0 && l.audio.stream != nil {
		l.audio.stream.Press(key)
	}
}

// infoKey reads the key of an INFO: `Signal=5` among other lines, or the key alone; numbers from 10 on are events of
// RFC 4733. ok without a key is an event that is no key (a hook flash).
func infoKey(kind, body string) (key byte, ok bool) {
	signal := ""
	switch kind {
	case "application/dtmf":
		signal = body
	case "application/dtmf-relay":
		for line := range strings.Lines(body) {
			if name, value, found := strings.Cut(line, "="); found && strings.EqualFold(strings.TrimSpace(name), "signal") {
				signal = value
			}
		}
	default:
		return 0, false
	}
	const events = "0123456789*#ABCD"
	signal = strings.ToUpper(strings.TrimSpace(signal))
	if n := atoi(signal); len(signal) == 2 && n >= 10 {
		if n < len(events) {
			return events[n], true
		}
		return 0, true
	}
	if len(signal) == 1 && strings.Contains(events, signal) {
		return signal[0], true
	}
	return 0, false
}

// sendKey tells the far end of a key by INFO.
func (l *Leg) sendKey(key byte) {
	l.post(func() {
		if l.state != talking {
			return
		}
		req := l.request(sip.INFO)
		req.AppendHeader(sip.NewHeader("Content-Type", "application/dtmf-relay"))
		req.SetBody(fmt.Appendf(nil, "Signal=%c\r\nDuration=120\r\n", key))
		l.s.spawn(func() { _, _ = l.exchange(req) })
	})
}
