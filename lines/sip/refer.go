package sip

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/emiago/sipgo/sip"

	"parley/lines"
)

var _ lines.Referrer = (*Leg)(nil)

// Refer asks the far end to call somebody else (RFC 3515) and waits for what it reports of that call.
func (l *Leg) Refer(ctx context.Context, to string) error {
	if err := l.s.transferable(ctx, to); err != nil {
		return &lines.DialError{Err: err}
	}
	status := make(chan int, 1)
	if err := l.do(ctx, func() error { return l.refer(to, status) }); err != nil {
		return err
	}
	select {
	case code := <-status:
		if code >= 200 && code < 300 {
			return nil
		}
		return &lines.DialError{Code: code, Err: errors.New("the transfer was refused")}
	case <-l.done:
		if l.end.Remote {
			return nil // it hangs up on us once the other call stands
		}
		return ErrOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transferable refuses a URI whose host may not be called by us either.
func (s *Server) transferable(ctx context.Context, to string) error {
	var u sip.Uri
	if !isURI(to) || sip.ParseUri(to, &u) != nil || u.Host == "" {
		return nil // what cannot be an address is refused as such
	}
	_, err := s.resolve(ctx, net.JoinHostPort(strings.Trim(u.Host, "[]"), "5060"), false)
	return err
}

// refer sends REFER. status gets the final answer to it, or that of the call it brought about.
func (l *Leg) refer(to string, status chan int) error {
	if l.state == answered { // the ACK is on its way
		l.late = append(l.late, func() {
			if err := l.refer(to, status); err != nil {
				status <- 500
			}
		})
		return nil
	}
	if l.state != talking || l.referred != nil {
		return ErrOver
	}
	target := to
	if !isURI(to) {
		target = (&sip.Uri{Scheme: "sip", User: escapeUser(l.trunk.dialled(to)), Host: l.target.Host}).String()
	}
	if !headerSafe(target) || strings.ContainsAny(target, "<>") {
		return &lines.DialError{Code: 484, Err: errors.New("no address: " + to)}
	}
	req := l.request(sip.REFER)
	req.AppendHeader(sip.NewHeader("Refer-To", "<"+target+">"))
	req.AppendHeader(sip.NewHeader("Referred-By", "<"+l.local.Address.String()+">"))
	l.referred = status
	l.s.spawn(func() {
		res, err := l.exchange(req)
		code := 408
		if err == nil {
			code = res.StatusCode
		}
		if code < 200 || code > 299 {
			l.post(func() { l.reported(code) })
		}
	})
	return nil
}

// reported ends a wait for the outcome of REFER.
func (l *Leg) reported(code int) {
	if l.referred == nil {
		return
	}
	l.referred <- code
	l.referred = nil
}

// onNotify is news of a call that REFER asked for: the status line of its answer in a message/sipfrag body (RFC 3420).
func (l *Leg) onNotify(req *sip.Request, tx sip.ServerTransaction, finish func()) {
	if h := req.GetHeader("Event"); l.referred == nil || h == nil || !strings.HasPrefix(strings.ToLower(h.Value()), "refer") {
		l.answerOnce(req, tx, finish, 481)
		return
	}
	l.answerOnce(req, tx, finish, 200)
	line, _, _ := strings.Cut(string(req.Body()), "\n")
	if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[0], "SIP/") {
		if code := atoi(fields[1]); code >= 200 {
			l.reported(code)
		}
	}
}
