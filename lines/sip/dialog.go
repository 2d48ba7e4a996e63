package sip

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"mime/multipart"
	"net/netip"
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
)

// onRequest is a request of the far end inside the dialog. finish lets its transaction go.
func (l *Leg) onRequest(req *sip.Request, tx sip.ServerTransaction, finish func()) {
	l.trace.add(req, false)
	if req.IsAck() {
		finish()
		l.onAck(req)
		return
	}
	seq := req.CSeq().SeqNo
	if seq <= l.rseq && req.Method != sip.CANCEL {
		l.answerOnce(req, tx, finish, 500)
		return
	}
	l.rseq = max(l.rseq, seq)
	switch req.Method {
	case sip.BYE:
		l.remoteBye(func() { l.answerOnce(req, tx, finish, 200) })
	case sip.INVITE:
		l.onReinvite(req, tx, finish)
	case sip.UPDATE:
		l.onUpdate(req, tx, finish)
	case sip.OPTIONS:
		l.answerOnce(req, tx, finish, 200, allowHeader(), supportedHeader())
	case sip.INFO:
		l.onInfo(req, tx, finish)
	case sip.NOTIFY:
		l.onNotify(req, tx, finish)
	case sip.REFER: // whom we call, and what that costs, is not the far end's to say; the call goes on
		l.answerOnce(req, tx, finish, 603)
	case sip.CANCEL: // of a re-INVITE, which is answered at once: too late
		l.answerOnce(req, tx, finish, 481)
	default:
		l.answerOnce(req, tx, finish, 405, allowHeader())
	}
}

// answerOnce gives the final answer to a request.
func (l *Leg) answerOnce(req *sip.Request, tx sip.ServerTransaction, finish func(), code int, headers ...sip.Header) {
	res := l.reply(req, code)
	for _, h := range headers {
		res.RemoveHeader(h.Name())
		res.AppendHeader(h)
	}
	_ = l.respond(tx, res)
	finish()
}

// onAck is the ACK of a 200 of ours. It brings the far end's answer when the 200 carried our offer.
func (l *Leg) onAck(ack *sip.Request) {
	if l.repeat == nil || ack.CSeq().SeqNo != l.repeat.seq {
		return
	}
	if l.repeat.offer {
		body, ok := sdpBody(ack)
		err := errNoAudio
		if ok {
			if err = l.audio.accept(body); err == nil {
				err = l.audio.apply()
			}
		}
		if err == nil {
			l.liveOnce()
		} else {
			l.acknowledged()
			if l.state == talking {
				l.hangup(lines.End{Err: err})
			}
			return
		}
	}
	l.acknowledged()
}

// onReinvite changes the session: hold, another address, another codec, or just a refresh.
func (l *Leg) onReinvite(req *sip.Request, tx sip.ServerTransaction, finish func()) {
	if l.repeat != nil {
		if l.repeat.offer { // its ACK is still on the way, with the answer we wait for
			l.late = append(l.late, func() { l.onReinvite(req, tx, finish) })
			return
		}
		l.acknowledged() // nobody re-invites before the 200 arrived: the ACK was overtaken or lost
	}
	switch {
	case l.state != talking:
		l.answerOnce(req, tx, finish, 500, retryAfter(1))
		return
	case l.asking:
		l.answerOnce(req, tx, finish, 491)
		return
	}
	headers, code := l.agree(req)
	if code != 0 {
		l.answerOnce(req, tx, finish, code, headers...)
		return
	}
	body, offered, code := l.renegotiate(req)
	if code != 0 {
		l.answerOnce(req, tx, finish, code)
		return
	}
	l.retarget(req.Contact(), req.Source())
	res := l.reply(req, 200)
	for _, h := range headers {
		res.AppendHeader(h)
	}
	setSDP(res, body)
	if l.respond(tx, res) != nil {
		finish()
		return
	}
	l.armSession()
	l.repeatUntilAck(tx, res, offered, finish)
}

// renegotiate makes our description for a re-INVITE: an answer, or an offer when it brought none.
func (l *Leg) renegotiate(req *sip.Request) (body []byte, offered bool, code int) {
	theirs, ok := sdpBody(req)
	if !ok {
		if len(req.Body()) > 0 {
			return nil, false, 415
		}
		return l.audio.offer(), true, 0
	}
	body, err := l.audio.answer(theirs)
	if err == nil {
		err = l.audio.apply()
	}
	if err != nil {
		return nil, false, refusal(err)
	}
	return body, false, 0
}

// refusal is the status for a description we cannot take.
func refusal(err error) int {
	if errors.Is(err, errNoAudio) || errors.Is(err, errNoCodec) {
		return 488
	}
	return 400
}

// onUpdate is UPDATE (RFC 3311): as a re-INVITE, without an ACK.
func (l *Leg) onUpdate(req *sip.Request, tx sip.ServerTransaction, finish func()) {
	if l.asking || l.repeat != nil && l.repeat.offer {
		l.answerOnce(req, tx, finish, 491)
		return
	}
	headers, code := l.agree(req)
	if code != 0 {
		l.answerOnce(req, tx, finish, code, headers...)
		return
	}
	var body []byte
	if len(req.Body()) > 0 {
		if l.audio.stream == nil { // our answer to the INVITE's offer is still out
			l.answerOnce(req, tx, finish, 500, retryAfter(3))
			return
		}
		if body, _, code = l.renegotiate(req); code != 0 {
			l.answerOnce(req, tx, finish, code)
			return
		}
	}
	l.retarget(req.Contact(), req.Source())
	res := l.reply(req, 200)
	for _, h := range headers {
		res.AppendHeader(h)
	}
	if body != nil {
		setSDP(res, body)
	}
	_ = l.respond(tx, res)
	finish()
	l.armSession()
}

// retarget follows the Contact of a message inside the dialog (RFC 3261 §12.2.2); from is where that came from.
func (l *Leg) retarget(c *sip.ContactHeader, from string) {
	if before := l.target.Host; l.aim(c) && l.target.Host != before && l.place.transport == "UDP" {
		src, _ := netip.ParseAddrPort(from)
		now, cancel := context.WithCancel(l.s.ctx)
		cancel() // a name is not looked up: the call would wait for it
		l.reachBack(now, netip.AddrPortFrom(src.Addr().Unmap(), src.Port()))
	}
}

// aim takes a Contact as the target of our requests.
func (l *Leg) aim(c *sip.ContactHeader) bool {
	if c == nil || c.Address.Wildcard || c.Address.Host == "" {
		return false
	}
	l.target = *c.Address.Clone()
	return true
}

func retryAfter(seconds int) sip.Header { return sip.NewHeader("Retry-After", strconv.Itoa(seconds)) }

// sdpBody finds the session description of a message, alone or as a part of a multipart body.
func sdpBody(m interface {
	Body() []byte
	ContentType() *sip.ContentTypeHeader
}) ([]byte, bool) {
	if len(m.Body()) == 0 || m.ContentType() == nil {
		return nil, false
	}
	kind, params, err := mime.ParseMediaType(m.ContentType().Value())
	if err != nil {
		return nil, false
	}
	if kind == "application/sdp" {
		return m.Body(), true
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return nil, false
	}
	parts := multipart.NewReader(bytes.NewReader(m.Body()), params["boundary"])
	for {
		p, err := parts.NextPart()
		if err != nil {
			return nil, false
		}
		if kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type")); kind == "application/sdp" {
			var b bytes.Buffer
			if _, err := b.ReadFrom(p); err != nil {
				return nil, false
			}
			return b.Bytes(), true
		}
	}
}
