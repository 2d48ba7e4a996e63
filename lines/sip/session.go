package sip

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
)

// session is the session timer of a leg (RFC 4028). An interval of 0 means none was agreed.
type session struct {
	interval int  // seconds
	ours     bool // we refresh; otherwise the far end does, and silence ends the call
	stop     func()
}

// sessionExpires reads a Session-Expires header: seconds and refresher ("uac", "uas" or "").
func sessionExpires(m interface{ GetHeader(string) sip.Header }) (seconds int, refresher string) {
	h := m.GetHeader("Session-Expires")
	if h == nil {
		h = m.GetHeader("x")
	}
	if h == nil {
		return 0, ""
	}
	parts := strings.Split(h.Value(), ";")
	for _, p := range parts[1:] {
		if k, v, ok := strings.Cut(strings.TrimSpace(p), "="); ok && strings.EqualFold(k, "refresher") {
			refresher = strings.ToLower(strings.TrimSpace(v))
		}
	}
	return atoi(strings.TrimSpace(parts[0])), refresher
}

// lists reports whether a comma-separated header of m (Supported, Require, Allow) has the word.
func lists(m interface{ GetHeaders(string) []sip.Header }, header, word string) bool {
	for _, h := range m.GetHeaders(header) {
		for _, w := range strings.Split(h.Value(), ",") {
			if strings.EqualFold(strings.TrimSpace(w), word) {
				return true
			}
		}
	}
	return false
}

// allows notes what the far end says that it understands.
func (l *Leg) allows(m interface{ GetHeaders(string) []sip.Header }) {
	l.updates = l.updates || lists(m, "Allow", "UPDATE")
	l.audio.infos = l.audio.infos || lists(m, "Allow", "INFO")
}

// agree settles the session timer for a request of the far end (an INVITE, re-INVITE or UPDATE). It returns what
// belongs in the answer, and 422 when the asked interval is too small.
func (l *Leg) agree(req *sip.Request) (headers []sip.Header, code int) {
	l.allows(req)
	knows := lists(req, "Supported", "timer") || lists(req, "k", "timer")
	interval, refresher := sessionExpires(req)
	switch {
	case interval > 0 && interval < l.s.minSE && knows:
		return []sip.Header{sip.NewHeader("Min-SE", strconv.Itoa(l.s.minSE))}, 422
	case interval == 0 && (!knows || l.s.cfg.SessionExpires < 0):
		l.session.interval = 0
		return nil, 0
	case interval == 0:
		interval = int(l.s.cfg.SessionExpires / time.Second)
	case interval < l.s.minSE:
		interval = l.s.minSE
	}
	if refresher != "uas" && refresher != "uac" {
		refresher = "uac"
	}
	if !knows {
		refresher = "uas"
	}
	l.session.interval, l.session.ours = interval, refresher == "uas"
	headers = []sip.Header{sip.NewHeader("Session-Expires", strconv.Itoa(interval)+";refresher="+refresher)}
	if refresher == "uac" {
		headers = append(headers, sip.NewHeader("Require", "timer"))
	}
	return headers, 0
}

// agreed takes the session timer from a 2xx to a request of ours.
func (l *Leg) agreed(res *sip.Response) {
	interval, refresher := sessionExpires(res)
	l.allows(res)
	l.session.interval, l.session.ours = interval, refresher != "uas"
}

// armSession starts the timer anew: to refresh, or to give up on a far end that does not.
func (l *Leg) armSession() {
	if l.session.stop != nil {
		l.session.stop()
		l.session.stop = nil
	}
	if l.session.interval == 0 {
		return
	}
	interval := time.Duration(l.session.interval) * time.Second
	if l.session.ours {
		l.session.stop = l.after(interval/2, l.refresh)
		return
	}
	l.session.stop = l.after(interval-min(32*time.Second, interval/3), l.expired)
}

var errExpired = lineError("the far end no longer refreshes the session")

type lineError string

func (e lineError) Error() string { return string(e) }

func (l *Leg) expired() {
	if l.state == talking {
		l.hangup(lines.End{Err: errExpired})
	}
}

// refresh asks the far end whether it is still there: UPDATE when it knows it, else a re-INVITE that changes nothing.
func (l *Leg) refresh() {
	if l.state != talking {
		return
	}
	if l.asking || l.repeat != nil {
		l.session.stop = l.after(time.Second, l.refresh)
		return
	}
	method := sip.INVITE
	if l.updates {
		method = sip.UPDATE
	}
	req := l.request(method)
	req.AppendHeader(sip.NewHeader("Session-Expires", strconv.Itoa(l.session.interval)+";refresher=uac"))
	req.AppendHeader(sip.NewHeader("Min-SE", strconv.Itoa(l.s.minSE)))
	if method == sip.INVITE {
		setSDP(req, l.audio.offer())
	}
	l.asking = true
	interval := time.Duration(l.session.interval) * time.Second
	l.session.stop = l.after(interval/2-min(32*time.Second, interval/3), l.expired)
	l.s.spawn(func() {
		res, err := l.exchange(req)
		l.post(func() { l.refreshed(req, res, err) })
	})
}

// refreshed is the answer to our refresh.
func (l *Leg) refreshed(req *sip.Request, res *sip.Response, err error) {
	l.asking = false
	if l.state != talking {
		return
	}
	switch {
	case err != nil:
		l.hangup(lines.End{Err: errExpired})
	case res.IsSuccess():
		l.refreshOK(req, res)
	case res.StatusCode == 422:
		if h := res.GetHeader("Min-SE"); h != nil && atoi(h.Value()) > l.session.interval {
			l.session.interval = atoi(h.Value())
			l.refresh()
		}
	case res.StatusCode == 491: // both asked at once (RFC 3261 §14.1)
		l.again(2100*time.Millisecond + rand.N(1900*time.Millisecond))
	case (res.StatusCode == 405 || res.StatusCode == 501) && req.Method == sip.UPDATE:
		l.updates = false
		l.again(0)
	case res.StatusCode == 408 || res.StatusCode == 481:
		l.hangup(lines.End{Err: errExpired})
	}
}

// refreshOK completes a refresh. The answer to a re-INVITE may move the far end's audio.
func (l *Leg) refreshOK(req *sip.Request, res *sip.Response) {
	l.retarget(res.Contact(), res.Source())
	if req.IsInvite() {
		ack := l.request(sip.ACK)
		ack.CSeq().SeqNo = req.CSeq().SeqNo
		l.sendAck(ack)
		if body, ok := sdpBody(res); ok {
			if err := l.audio.accept(body); err == nil {
				err = l.audio.apply()
				if err != nil {
					l.hangup(lines.End{Err: err})
					return
				}
			}
		}
	}
	if interval, _ := sessionExpires(res); interval > 0 {
		l.agreed(res)
	}
	l.armSession()
}

func (l *Leg) again(wait time.Duration) {
	if l.session.stop != nil {
		l.session.stop()
	}
	l.session.stop = l.after(wait, l.refresh)
}
