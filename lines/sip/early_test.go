package sip

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/lines"
)

// A far end that plays something before it answers is heard when somebody asked for that, on the stream that the answer goes on
// with. One that was answered and sends no sound is given up.
//
// Contract: 4.4 14.5
func TestEarlyMedia(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, func(s *Server) { s.deadAir = 300 * time.Millisecond })
	p := newPhone(t, s)
	legs, early := make(chan lines.Leg, 1), make(chan lines.Media, 2)
	go func() {
		l, err := s.Dial(t.Context(), lines.Destination{To: "sip:300@" + p.addr(), Early: func(m lines.Media) { early <- m }}, nil)
		if err != nil {
			t.Error(err)
		}
		legs <- l
	}()
	m := p.expect("INVITE")
	with := func(status string) {
		p.send(strings.Replace(p.answer(m, status, "Contact: <sip:phone@"+p.addr()+">", "Content-Type: application/sdp"),
			"Content-Length: 0\r\n\r\n", "Content-Length: "+strconv.Itoa(len(p.sdp()))+"\r\n\r\n"+p.sdp(), 1))
	}
	p.send(p.answer(m, "180 Ringing"))
	with("183 Session Progress")
	with("183 Session Progress")
	heard := receive(t, early, "early sound")
	with("200 OK")
	p.expect("ACK")
	leg := receive(t, legs, "leg")
	if leg.Media() != heard || len(early) != 0 {
		t.Error("the answer goes on with another stream")
	}
	p.send(p.answer(p.expect("BYE"), "200 OK"))
	receive(t, leg.Done(), "end")
	if leg.End().Err != lines.ErrMediaTimeout {
		t.Errorf("%+v", leg.End())
	}
}
