package sip

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/lines"
	"parley/lines/linetest"
	"parley/lines/media"
)

// pair is two servers: a places calls, b takes them.
func pair(t *testing.T, onCall func(lines.Leg), route func(context.Context, Inbound) Decision) (a, b *Server) {
	t.Helper()
	p := plane(t)
	b = serve(t, Config{Media: p, Open: true, OnCall: onCall, Route: route})
	return serve(t, Config{Media: p}), b
}

func dial(t *testing.T, s *Server, to string) (*Leg, []int, error) {
	t.Helper()
	var codes []int
	leg, err := s.Dial(t.Context(), lines.Destination{To: to, From: "+4930111", RingFor: patience}, func(c int) { codes = append(codes, c) })
	if err != nil {
		return nil, codes, err
	}
	return leg.(*Leg), codes, nil
}

func TestCallBothWays(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "tcp"} {
		for _, who := range []string{"caller", "callee"} {
			t.Run(network+" "+who+" hangs up", func(t *testing.T) {
				t.Parallel()
				taken := make(chan lines.Leg, 1)
				a, b := pair(t, func(l lines.Leg) {
					if err := l.Ring(); err != nil {
						t.Error(err)
					}
					if err := l.Answer(t.Context()); err != nil {
						t.Error(err)
					}
					taken <- l
				}, nil)
				out, codes, err := dial(t, a, uri(b, network, "205"))
				if err != nil {
					t.Fatal(err)
				}
				in := receive(t, taken, "inbound leg")
				for _, c := range codes { // an overtaken 180 is not reported
					if c != 100 && c != 180 {
						t.Errorf("provisional answers %v", codes)
					}
				}
				if i := in.Info(); i.To != "205" || i.From != "+4930111" || i.SignalID != out.Info().SignalID || i.Kind != "sip" {
					t.Errorf("%+v", i)
				}
				if out.Media() == nil || in.Media() == nil || out.Media().Rate() != 8000 {
					t.Error("no audio")
				}
				first, second := lines.Leg(out), in
				if who == "callee" {
					first, second = in, out
				}
				if err := first.Hangup(t.Context()); err != nil {
					t.Fatal(err)
				}
				receive(t, first.Done(), "end of the first leg")
				receive(t, second.Done(), "end of the second leg")
				if first.End() != (lines.End{}) || second.End() != (lines.End{Remote: true}) {
					t.Errorf("ends %+v %+v", first.End(), second.End())
				}
				if err := first.Hangup(t.Context()); err != nil {
					t.Errorf("second hangup: %v", err)
				}
				titles := ""
				for _, m := range out.Trace() {
					titles += m.Title + ","
				}
				if !strings.HasPrefix(titles, "INVITE,") || !strings.Contains(titles, "200 OK,ACK,BYE,") {
					t.Errorf("trace %s", titles)
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for code, route := range map[int]bool{486: false, 603: false, 480: true, 404: true} {
		a, b := pair(t, func(l lines.Leg) {
			if err := l.Reject(code); err != nil {
				t.Error(err)
			}
			if <-l.Done(); l.End().Code != code {
				t.Errorf("end %+v", l.End())
			}
		}, func(context.Context, Inbound) Decision {
			if route {
				return Decision{code}
			}
			return Decision{}
		})
		_, _, err := dial(t, a, uri(b, "udp", "205"))
		var e *lines.DialError
		if !errors.As(err, &e) || e.Code != code || e.Timeout {
			t.Errorf("%d: %v", code, err)
		}
		if last := e.Trace[len(e.Trace)-1]; e.Trace[0].Title != "INVITE" || !strings.HasPrefix(last.Title, strconv.Itoa(code)) {
			t.Errorf("%d: trace %+v", code, e.Trace)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	ended := make(chan lines.End, 1)
	a, b := pair(t, func(l lines.Leg) {
		_ = l.Ring()
		<-l.Done()
		ended <- l.End()
	}, nil)
	_, err := a.Dial(t.Context(), lines.Destination{To: uri(b, "udp", "205"), RingFor: time.Second}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 408 || !e.Timeout {
		t.Fatalf("%v", err)
	}
	if end := receive(t, ended, "end"); end != (lines.End{Remote: true, Code: 487}) {
		t.Errorf("callee saw %+v", end)
	}
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	ended, rings := make(chan lines.End, 1), make(chan struct{})
	a, b := pair(t, func(l lines.Leg) {
		_ = l.Ring()
		close(rings)
		<-l.Done()
		if err := l.Answer(context.Background()); err == nil {
			t.Error("answered a cancelled call")
		}
		ended <- l.End()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-rings; cancel() }()
	_, err := a.Dial(ctx, lines.Destination{To: uri(b, "udp", "205")}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 487 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if end := receive(t, ended, "end"); !end.Remote || end.Code != 487 {
		t.Errorf("callee saw %+v", end)
	}
}

func TestNothingAnswersTheSignalling(t *testing.T) {
	t.Parallel()
	a := serve(t, Config{})
	_, err := a.Dial(t.Context(), lines.Destination{To: "sip:1@127.0.0.1:9", RingFor: 200 * time.Millisecond}, nil)
	var e *lines.DialError
	if !errors.As(err, &e) || e.Code != 0 {
		t.Fatalf("%v", err)
	}
	_, err = a.Dial(t.Context(), lines.Destination{To: "sip:1@127.0.0.1:9;transport=tcp"}, nil)
	if !errors.As(err, &e) || e.Code != 0 {
		t.Fatalf("%v", err)
	}
}

// TestKeysByInfo: keys come and go as INFO, whichever of the two bodies; what is no key is refused or passed over.
//
// Contract: 10.7
func TestKeysByInfo(t *testing.T) {
	t.Parallel()
	s, legs := answering(t)
	p := newPhone(t, s)
	leg, _ := p.established(legs, "Allow: INVITE, ACK, BYE, INFO")
	for _, c := range []struct{ kind, body, want string }{
		{"application/dtmf-relay", "Signal= 5\r\nDuration= 160\r\n", "200"},
		{"application/dtmf", "#", "200"},
		{"application/dtmf-relay", "signal=10\r\n", "200"}, // *
		{"application/dtmf-relay", "Signal=16\r\n", "200"}, // a hook flash
		{"application/dtmf", "hello", "415"},
		{"text/plain", "5", "415"},
		{"application/dtmf-relay;charset=x", "Signal=d", "200"},
	} {
		p.send(p.request("INFO", "205", c.body, "Content-Type: "+c.kind))
		p.expect(c.want)
	}
	p.send(p.request("INFO", "205", "5", "Content-Type: application/dtmf", "Info-Package: keys"))
	p.expect("469")
	got := ""
	for range 4 {
		got += string(linetest.Event(t, leg.Media(), lines.Digit).Digit)
	}
	if got != "5#*D" {
		t.Errorf("keys %q", got)
	}
}

// TestSendKeys sends a key as the trunk has it; by itself by the first way that the far end takes.
//
// Contract: 10.7
func TestSendKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dtmf, allow, events, want string }{
		{"auto", "INFO", "a=rtpmap:101 telephone-event/8000", "event"}, {"auto", "INFO", "", "info"}, {"auto", "BYE", "", "tone"},
		{"info", "BYE", "a=rtpmap:101 telephone-event/8000", "info"}, {"inband", "INFO", "a=rtpmap:101 telephone-event/8000", "tone"},
		{"rfc4733", "INFO", "", "none"},
	} {
		t.Run(c.dtmf+" "+c.want, func(t *testing.T) {
			t.Parallel()
			legs := make(chan lines.Leg, 1)
			s := serve(t, Config{OnCall: func(l lines.Leg) { _ = l.Answer(t.Context()); legs <- l },
				Trunks: trunks(Trunk{ID: 1, Number: "205", Extension: true, Auth: "ip", Allowed: loopback, DTMF: c.dtmf})})
			p := newPhone(t, s)
			body := p.sdp()
			if c.events == "" {
				body = strings.Replace(strings.Replace(body, " 101\r\n", "\r\n", 1), "a=rtpmap:101 telephone-event/8000\r\n", "", 1)
			}
			p.send(p.request("INVITE", "205", body, "Allow: "+c.allow))
			p.expect("200")
			p.send(p.request("ACK", "205", ""))
			leg := receive(t, legs, "leg")
			ways := map[media.KeyWay]string{media.KeyEvents: "event", media.KeysSignalled: "info", media.KeyTones: "tone"}
			err := leg.Media().SendDigits("5")
			if c.want == "none" {
				if err == nil {
					t.Error("sent")
				}
				return
			}
			if got := ways[leg.(*Leg).audio.keys()]; err != nil || got != c.want {
				t.Errorf("as %s, %v", got, err)
			}
			if c.want == "info" {
				if m := p.expect("INFO"); m.header.Get("Content-Type") != "application/dtmf-relay" || !strings.HasPrefix(m.body, "Signal=5\r\n") {
					t.Errorf("%s", m.raw)
				}
			}
		})
	}
}

// TestRedirections: a far end that moved the callee is followed to another of its users whom we may call, and to nobody else.
//
// Contract: 14.5
func TestRedirections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contact string // HOST is the far end
		follow  bool
	}{
		"another extension":          {"<sip:301@127.0.0.1>", true},
		"a number that is allowed":   {"<sip:+4930123457@127.0.0.1>", true},
		"a number that is not":       {"<sip:+12684000000@127.0.0.1>", false},
		"one written nationally":     {"<sip:00112684000000@127.0.0.1>", false},
		"digits that are no number":  {"<sip:99999999@127.0.0.1>", false},
		"another far end":            {"<sip:301@127.0.0.2>", false},
		"the same again":             {"<sip:300@127.0.0.1>", false},
		"nowhere":                    {"", false},
		"a program's name":           {"<sip:pay-me@127.0.0.1>", false},
		"a number as somebody wrote": {"<sip:+49-30-123457@127.0.0.1>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, Config{})
			far := newPhone(t, s)
			_, port, _ := strings.Cut(far.addr(), ":")
			s.cfg.Default = &Trunk{Number: "205", Address: "127.0.0.1", Port: atoi(port), Country: "DE"}
			s.cfg.Forward = func(number string) bool { return strings.HasPrefix(number, "+49") }
			done := make(chan error, 1)
			go func() {
				_, err := s.Dial(t.Context(), lines.Destination{To: "300", From: "205", RingFor: patience}, nil)
				done <- err
			}()
			contact := []string{"Contact: " + c.contact}
			if c.contact == "" {
				contact = nil
			}
			far.send(far.answer(far.expect("INVITE"), "302 Moved Temporarily", contact...))
			want := 302
			if c.follow {
				want = 486
				m := far.expect("INVITE")
				if user, _, _ := strings.Cut(strings.TrimPrefix(c.contact, "<sip:"), "@"); !strings.HasPrefix(m.line, "INVITE sip:"+user+"@") {
					t.Errorf("%s", m.line)
				}
				far.send(far.answer(m, "486 Busy Here"))
			}
			var e *lines.DialError
			if err := receive(t, done, "end"); !errors.As(err, &e) || e.Code != want {
				t.Errorf("%v, want %d", err, want)
			}
		})
	}
}
